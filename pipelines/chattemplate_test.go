package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/hub"
)

// ownTemplate is the one chat template that the project contains: the plain chatml's.
func ownTemplate(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "shard", "chat", "testdata", "chatml.jinja"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestChatAutoOfSFT: sft takes the built-in that renders the chat template beside the tokenizer, wherever that
// stands, and refuses any other; cpt looks at no template.
func TestChatAutoOfSFT(t *testing.T) {
	own := ownTemplate(t)
	other := strings.Replace(own, "assistant", "model", 1)
	type object = map[string]any
	named := func(templates ...string) string {
		var list []object
		for i := 0; i < len(templates); i += 2 {
			list = append(list, object{"name": templates[i], "template": templates[i+1]})
		}
		return asJSON(t, object{"chat_template": list})
	}
	const config, jinja, processor = "tokenizer_config.json", "chat_template.jinja", "chat_template.json"
	for _, c := range []struct {
		name  string
		files map[string]string
		says  []string // nil: chatml is taken
	}{
		{"text", map[string]string{config: asJSON(t, object{"chat_template": own, "bos_token": object{"content": "x"}})}, nil},
		{"named", map[string]string{config: named("tool_use", other, "default", own)}, nil},
		{"jinja", map[string]string{jinja: own}, nil},
		{"jinja wins", map[string]string{jinja: own, config: asJSON(t, object{"chat_template": other})}, nil},
		{"processor", map[string]string{processor: asJSON(t, object{"chat_template": own}), config: `{"chat_template":null}`}, nil},
		{"none", nil, []string{"no chat template: neither chat_template.jinja", "--chat NAME", "chatml, qwen3, llama3, llama3.1, deepseek, gemma"}},
		{"config without one", map[string]string{config: `{}`}, []string{"no chat template"}},
		{"unknown", map[string]string{config: asJSON(t, object{"chat_template": other})}, []string{config + " beside ", "SHA-256", "none of the", "--chat NAME", "deepseek, gemma"}},
		{"unknown jinja wins", map[string]string{jinja: other, config: asJSON(t, object{"chat_template": own})}, []string{jinja + " beside "}},
		{"empty jinja", map[string]string{jinja: ""}, []string{jinja + " beside ", "SHA-256"}},
		{"no default", map[string]string{config: named("tool_use", own, "rag", own)}, []string{config + ": ", "no template called default, but [tool_use, rag]"}},
		{"no JSON", map[string]string{config: `{"chat_template":`}, []string{config + ": not the JSON object", "--chat NAME"}},
		{"a number", map[string]string{config: `{"chat_template":7}`}, []string{"neither a text nor a list"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "tokenizer.json"), demo.Tokenizer())
			for name, text := range c.files {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			for _, given := range []string{dir, filepath.Join(dir, "tokenizer.json")} {
				o := DefaultOptions()
				o.Tokenizer = given
				if _, _, f, err := o.tokenizer(t.Context()); err != nil || f.name != "chatml" {
					t.Errorf("cpt: %+v, %v", f, err)
				}
				o.Pipeline = pipelineSFT
				_, _, f, err := o.tokenizer(t.Context())
				if c.says == nil {
					if err != nil || f != (form{name: "chatml"}) {
						t.Errorf("sft: %+v, %v", f, err)
					}
					continue
				}
				var usage *UsageError
				if !errors.As(err, &usage) {
					t.Fatalf("sft: %+v, error %v is none of usage", f, err)
				}
				for _, says := range append(c.says, "--chat auto: ") {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("error %q lacks %q", err, says)
					}
				}
				o.Chat = "qwen3"
				if _, _, f, err := o.tokenizer(t.Context()); err != nil || f.name != "qwen3" {
					t.Errorf("--chat qwen3: %+v, %v", f, err)
				}
			}
		})
	}
}

// TestChatAutoOfRepository takes the template of the commit that the tokenizer was of; a hub that fails is no error
// of usage.
func TestChatAutoOfRepository(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	own := ownTemplate(t)
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		answer := ""
		switch {
		case strings.HasSuffix(r.URL.Path, "/tokenizer.json"):
			answer = string(demo.Tokenizer())
		case strings.HasPrefix(r.URL.Path, "/acme/busy/"):
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case strings.HasPrefix(r.URL.Path, "/acme/tiny/") && strings.HasSuffix(r.URL.Path, "/tokenizer_config.json"):
			answer = asJSON(t, map[string]string{"chat_template": own})
		default:
			w.Header().Set("X-Error-Code", "EntryNotFound")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("ETag", `"`+hexSum([]byte(answer))+`"`)
		w.Write([]byte(answer))
	}))
	defer s.Close()
	o := DefaultOptions()
	o.Pipeline, o.Hub = pipelineSFT, hub.Options{Endpoint: s.URL, Cache: t.TempDir()}
	var usage *UsageError
	for range 2 {
		o.Tokenizer = "acme/tiny"
		if _, _, f, err := o.tokenizer(t.Context()); err != nil || f.name != "chatml" {
			t.Errorf("%+v, %v", f, err)
		}
		o.Tokenizer = "acme/bare"
		if _, _, _, err := o.tokenizer(t.Context()); !errors.As(err, &usage) || !strings.Contains(err.Error(), "beside acme/bare@"+commit+": no chat template") {
			t.Errorf("error %v", err)
		}
	}
	if len(asked) != 7 || asked[2] != "/acme/tiny/resolve/"+commit+"/tokenizer_config.json" {
		t.Errorf("asked %q, want each once", asked)
	}
	o.Tokenizer = "acme/busy"
	if _, _, _, err := o.tokenizer(t.Context()); err == nil || errors.As(err, &usage) || !strings.Contains(err.Error(), "answers 503") {
		t.Errorf("error %v", err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	o.Tokenizer = "acme/busy"
	if _, _, _, err := o.tokenizer(ctx); !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
}

// TestChatAutoKnown: the embedded tokenizer has a form of its own, and needs no template.
func TestChatAutoKnown(t *testing.T) {
	o := DefaultOptions()
	o.Pipeline, o.Tokenizer = pipelineSFT, "demo"
	if _, _, f, err := o.tokenizer(t.Context()); err != nil || f != (form{name: "chatml"}) {
		t.Errorf("%+v, %v", f, err)
	}
}
