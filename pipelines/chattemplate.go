package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/shard/hub"
)

// form is the chat format of a run: its name, and whether the prompt for an answer opens reasoning.
type form struct {
	name  string
	think bool
}

// templateFiles are the files that hold the chat template beside a tokenizer, in the order in which transformers
// lets one win over another.
var templateFiles = [...]string{"chat_template.jinja", "tokenizer_config.json", "chat_template.json"}

// chatForm resolves --chat: auto is for cpt and audit the plain form of the tokenizer's family, for sft the form
// that the model's publisher gave it.
func (o *Options) chatForm(ctx context.Context, t *tokenizer) (form, error) {
	switch {
	case o.Chat != "auto":
		return form{name: o.Chat}, nil
	case o.samples():
		return publishedForm(ctx, t)
	}
	name, err := chat.Auto(t)
	if err != nil {
		return form{}, &UsageError{err}
	}
	return form{name: name}, nil
}

// publishedForm names the built-in that renders the chat template beside a tokenizer.
func publishedForm(ctx context.Context, t *tokenizer) (form, error) {
	if t.known != "" {
		return form{name: t.known}, nil
	}
	template, file, err := chatTemplate(ctx, t)
	if err != nil {
		if ctx.Err() != nil {
			return form{}, context.Cause(ctx)
		}
		var failed *hub.Error
		err = fmt.Errorf("--chat auto: beside %s: %w", t.place, err)
		if errors.As(err, &failed) && !failed.Setting() {
			return form{}, err
		}
		return form{}, &UsageError{fmt.Errorf("%w; %s", err, tryChat())}
	}
	p, err := chat.Renders(template, t)
	if err != nil {
		return form{}, &UsageError{fmt.Errorf("--chat auto: %s beside %s: %w; %s", file, t.place, err, tryChat())}
	}
	return form{name: p.Chat, think: p.Think}, nil
}

func tryChat() string {
	return "name the form that the model was trained on: --chat NAME, one of " + strings.Join(chat.Names(), ", ")
}

// chatTemplate returns the text of the chat template beside a tokenizer, and the file that holds it.
func chatTemplate(ctx context.Context, t *tokenizer) (template, file string, err error) {
	for _, name := range templateFiles {
		data, err := t.beside(ctx, name)
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", name, err)
		}
		if data == nil {
			continue
		}
		if strings.HasSuffix(name, ".jinja") {
			return string(data), name, nil
		}
		template, err := templateIn(data)
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", name, err)
		}
		if template != "" {
			return template, name, nil
		}
	}
	return "", "", fmt.Errorf("no chat template: neither %s nor a chat_template in %s", templateFiles[0], strings.Join(templateFiles[1:], " or "))
}

// templateIn returns the chat template of a configuration: a text, or of a named list the one called default. ""
// means that it has none.
func templateIn(config []byte) (string, error) {
	var c struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return "", fmt.Errorf("not the JSON object that it should be: %w", err)
	}
	var text string
	if len(c.Template) == 0 || json.Unmarshal(c.Template, &text) == nil { // null leaves the text empty
		return text, nil
	}
	var named []struct{ Name, Template string }
	if err := json.Unmarshal(c.Template, &named); err != nil {
		return "", errors.New("chat_template is neither a text nor a list of name and template")
	}
	var names []string
	for _, n := range named {
		if n.Name == "default" {
			return n.Template, nil
		}
		names = append(names, n.Name)
	}
	return "", fmt.Errorf("chat_template has no template called default, but [%s]", strings.Join(names, ", "))
}
