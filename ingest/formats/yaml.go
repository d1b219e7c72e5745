package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill"
)

// maxYAML is the number of separators (line ends, commas and the like) above which a text is not read as one
// YAML document: a node takes some 150 bytes and there is a separator for each.
const maxYAML = 1 << 20

// parseYAML reads the documents of a text as nodes. Aliases stay aliases, so that a few lines of them cannot
// grow; the parser allows 10,000 levels of nesting.
func parseYAML(text string) (docs []*yaml.Node, err error) {
	dense := 0
	for i := range len(text) {
		switch text[i] {
		case '\n', ',', '[', '{', ':':
			dense++
		}
	}
	if dense > maxYAML {
		return nil, reject(turnmill.ReasonTooLarge, "more than %d separators in one YAML text", maxYAML)
	}
	defer func() { // the parser is known to panic on damaged texts
		if r := recover(); r != nil {
			docs, err = nil, badYAML(fmt.Errorf("the parser gave up: %v", r))
		}
	}()
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		doc := new(yaml.Node)
		switch err := d.Decode(doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, badYAML(err)
		}
		if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
			docs = append(docs, doc.Content[0])
		}
	}
}

func badYAML(err error) error {
	reason := turnmill.ReasonBadYAML
	if strings.Contains(err.Error(), "exceeded max depth") {
		reason = turnmill.ReasonTooDeep
	}
	return reject(reason, "%w", err)
}

// yamlMember returns the value of a key, nil when there is none. The last of repeated keys counts, as in JSON.
func (d *Decoded) yamlMember(v *yaml.Node, key string) *yaml.Node {
	if v == nil || v.Kind != yaml.MappingNode {
		return nil
	}
	var found *yaml.Node
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Kind == yaml.ScalarNode && v.Content[i].Value == key {
			if found != nil {
				d.note(turnmill.NoteDuplicateKey)
			}
			found = v.Content[i+1]
		}
	}
	return found
}

// yamlText returns a scalar that is neither absent nor null.
func yamlText(v *yaml.Node) (string, bool) {
	if v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null" {
		return "", false
	}
	return v.Value, true
}

// yamlLines finds the offsets of lines as YAML counts them, for lines that are asked about in their order.
type yamlLines struct {
	raw  []byte
	line int // the line that begins at at, from 1
	at   int
}

// offset returns the offset of a line, or of the end.
func (y *yamlLines) offset(line int) int {
	for y.line < line && y.at < len(y.raw) {
		y.at += lineLen(y.raw[y.at:])
		y.line++
	}
	return y.at
}

// lineLen returns the length of the first line of text, its end included. Beside line feeds and carriage
// returns U+0085, U+2028 and U+2029 end a line of YAML.
func lineLen(text []byte) int {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			return i + 1
		case c == '\r':
			if bytes.HasPrefix(text[i+1:], []byte{'\n'}) {
				return i + 2
			}
			return i + 1
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if i += n; r == '\u0085' || r == '\u2028' || r == '\u2029' {
				return i
			}
		}
	}
	return len(text)
}
