package chat

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	qwenTokens     = vocabulary{"<|im_start|>", "<|im_end|>", "<|endoftext|>"}
	deepseekTokens = vocabulary{"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"}
)

// TestPublishedTable: each template once, for a built-in that there is, with where it is from.
func TestPublishedTable(t *testing.T) {
	seen := map[string]string{}
	sum, source := regexp.MustCompile(`^[0-9a-f]{64}$`), regexp.MustCompile(`^(npm:.+@[0-9.]+|pypi:[a-z-]+==[0-9.]+/.+|turnmill:.+)$`)
	for _, p := range PublishedTemplates() {
		if !sum.MatchString(p.SHA256) || !source.MatchString(p.Source) || p.Models == "" || !slices.Contains(Names(), p.Chat) {
			t.Errorf("%+v", p)
		}
		if other, twice := seen[p.SHA256]; twice {
			t.Errorf("%s and %s are one template", other, p.Models)
		}
		seen[p.SHA256] = p.Models
	}
	for _, name := range Names() {
		if !slices.ContainsFunc(PublishedTemplates(), func(p Published) bool { return p.Chat == name }) {
			t.Errorf("no published template is known for %s", name)
		}
	}
}

// TestRenders goes by the text of a template alone.
func TestRenders(t *testing.T) {
	data, err := os.ReadFile("testdata/chatml.jinja")
	if err != nil {
		t.Fatal(err)
	}
	own := string(data)
	qwen := qwenTokens
	for _, c := range []struct {
		name, template, chat string
		says                 []string
	}{
		{"its own", own, "chatml", nil},
		{"without the line feed at its end", strings.TrimSuffix(own, "\n"), "chatml", nil},
		{"two line feeds", own + "\n", "", []string{"SHA-256 " + TemplateSHA256(own+"\n"), "none of the"}},
		{"another role", strings.Replace(own, "assistant", "model", 1), "", []string{"none of the"}},
		{"empty", "", "", []string{"none of the"}},
	} {
		p, err := Renders(c.template, qwen)
		if (err == nil) != (c.says == nil) || p.Chat != c.chat {
			t.Errorf("%s: %q, %v", c.name, p.Chat, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: error %q lacks %q", c.name, err, says)
			}
		}
	}
}

// TestRendersByTable: a template says whether the prompt opens reasoning, and a tokenizer that says otherwise, or
// lacks the control tokens, is refused.
func TestRendersByTable(t *testing.T) {
	table := []Published{
		{SHA256: TemplateSHA256("plain"), Chat: "deepseek", Models: "D"},
		{SHA256: TemplateSHA256("opened"), Chat: "deepseek", Models: "R", Think: true},
		{SHA256: TemplateSHA256("qwen"), Chat: "qwen3", Models: "Q", Think: true},
	}
	for _, c := range []struct {
		template string
		tokens   vocabulary
		think    bool
		says     string
	}{
		{"plain", deepseekTokens, false, ""},
		{"plain", append(slices.Clone(deepseekTokens), "<think>", "</think>"), false, "that of D, whose prompt for an answer opens no reasoning"},
		{"opened", deepseekTokens, true, ""},
		{"opened", append(slices.Clone(deepseekTokens), "<think>", "</think>"), true, ""},
		{"qwen", qwenTokens, true, ""},
		{"qwen", deepseekTokens, false, `that of Q, which the tokenizer is not of: --chat qwen3: the tokenizer has no token "<|im_start|>"`},
	} {
		p, err := renders(table, c.template, c.tokens)
		if c.says == "" && (err != nil || p.Think != c.think) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: think %v, error %v", c.template, p.Think, err)
		}
	}
}
