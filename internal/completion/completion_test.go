package completion

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// body returns a completion of one choice.
func body(finish, message string) string {
	return `{"model":"m-1","choices":[{"index":0,"finish_reason":` + finish + `,"message":` + message + `}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":3}}}`
}

func TestDecode(t *testing.T) {
	const (
		complete  = turnmill.ReplyComplete
		truncated = turnmill.ReplyTruncated
		refused   = turnmill.ReplyRefused
		failed    = turnmill.ReplyFailed
	)
	for _, c := range []struct {
		name, finish, message string
		state                 turnmill.ReplyState
		text, reasoning, err  string
	}{
		{"plain", `"stop"`, `{"content":"a.txt\n"}`, complete, "a.txt\n", "", ""},
		{"empty text", `"stop"`, `{"content":""}`, complete, "", "", ""},
		{"leading line feed without reasoning", `"stop"`, `{"content":"\nx"}`, complete, "\nx", "", ""},
		{"think block", `"stop"`, `{"content":"<think>\nwhy\n</think>\n\nwhat\n"}`, complete, "what\n", "why", ""},
		{"blanks before the block", `"stop"`, `{"content":" \n<think>why</think>what"}`, complete, "what", "why", ""},
		{"orphan end", `"stop"`, `{"content":"why\n</think>\n\nwhat"}`, complete, "what", "why", ""},
		{"first end counts", `"stop"`, `{"content":"<think>a</think>b</think>c"}`, complete, "b</think>c", "a", ""},
		{"a pair within the text", `"stop"`, `{"content":"cat t: <think>x</think>"}`, complete, "cat t: <think>x</think>", "", ""},
		{"block without end, limit", `"length"`, `{"content":"<think>why"}`, truncated, "", "why", ""},
		{"block without end, stop", `"stop"`, `{"content":"<think>why"}`, failed, "", "why", "the think block has no end, so there is no answer"},
		{"reasoning_content", `"stop"`, `{"content":"\n\nwhat","reasoning_content":"\nwhy\n"}`, complete, "what", "why", ""},
		{"reasoning", `"stop"`, `{"content":"what","reasoning":"why"}`, complete, "what", "why", ""},
		{"both fields", `"stop"`, `{"content":"what","reasoning":"b","reasoning_content":"a"}`, complete, "what", "a", ""},
		{"field and the same block", `"stop"`, `{"content":"<think>why</think>what","reasoning_content":"why"}`, complete, "what", "why", ""},
		{"field and an empty block", `"stop"`, `{"content":"<think>\n\n</think>\n\nwhat","reasoning":"why"}`, complete, "what", "why", ""},
		{"field and another block", `"stop"`, `{"content":"<think>x</think>what","reasoning":"why"}`, complete, "<think>x</think>what", "why", ""},
		{"null reasoning", `"stop"`, `{"content":"what","reasoning_content":null}`, complete, "what", "", ""},
		{"parts", `"stop"`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"w"},{"type":"text","text":"hy"}]},{"type":"text","text":"wh"},{"type":"text","text":"at"}]}`, complete, "what", "why", ""},
		{"refusal part", `"stop"`, `{"content":[{"type":"refusal","refusal":"no"}]}`, refused, "no", "", ""},
		{"truncated", `"length"`, `{"content":"wha"}`, truncated, "wha", "", ""},
		{"truncated before any text", `"length"`, `{"content":null,"reasoning_content":"why"}`, truncated, "", "why", ""},
		{"content filter", `"content_filter"`, `{"content":"wha"}`, refused, "wha", "", ""},
		{"refusal", `"stop"`, `{"content":null,"refusal":"I can't."}`, refused, "I can't.", "", ""},
		{"null refusal", `"stop"`, `{"content":"what","refusal":null}`, complete, "what", "", ""},
		{"null content", `"stop"`, `{"content":null}`, failed, "", "", "the message has no content"},
		{"no content", `"stop"`, `{"role":"assistant"}`, failed, "", "", "the message has no content"},
		{"no finish", `null`, `{"content":"wha"}`, failed, "wha", "", "no finish_reason: whether the model ended its answer is not known"},
		{"unknown finish", `"weird"`, `{"content":"wha"}`, failed, "wha", "", `finish_reason "weird" is none that is known`},
		{"tool call", `"tool_calls"`, `{"content":null,"tool_calls":[]}`, failed, "", "", `the endpoint gave up: finish_reason "tool_calls"`},
		{"lone surrogate", `"stop"`, `{"content":"a\ud83db"}`, complete, "a\uFFFDb", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := Decode([]byte(body(c.finish, c.message)))
			if err != nil {
				t.Fatal(err)
			}
			want := turnmill.Reply{State: c.state, Text: c.text, Reasoning: c.reasoning, Error: c.err, Finish: strings.Trim(c.finish, `"`), Model: "m-1",
				Usage: turnmill.Usage{Prompt: 9, Completion: 7, Reasoning: 3}}
			if c.finish == "null" {
				want.Finish = ""
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRepairs(t *testing.T) {
	_, r, err := Decode([]byte(body(`"stop"`, "{\"content\":\"a\\ud83d \xff\"}")))
	if err != nil || r.LoneSurrogate != 1 || r.BadUTF8 != 1 {
		t.Errorf("repairs %+v, %v: want one surrogate and one byte", r, err)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"empty", ``, ""},
		{"half", `{"choices":[{"mess`, ""},
		{"page", `<html>502</html>`, ""},
		{"list", `[]`, "no chat completion: the body is array, not an object"},
		{"other object", `{"ok":true}`, "no chat completion: the body has no choices"},
		{"no choices", `{"choices":[]}`, "no chat completion: the body has no choices"},
		{"null choice", `{"choices":[null]}`, "no chat completion: choice 0 is null, not an object"},
		{"no message", `{"choices":[{"finish_reason":"stop"}]}`, "no chat completion: choice 0: it has no message"},
		{"content of another kind", `{"choices":[{"finish_reason":"stop","message":{"content":7}}]}`, "no chat completion: choice 0: its content is number, not text"},
		{"unknown part", `{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"image"}]}}]}`, `no chat completion: choice 0: its content has a part of type "image"`},
		{"error", `{"error":{"message":"rate limit","code":429,"type":"x"}}`, "the server says: 429: rate limit"},
		{"error with null choices", `{"choices":null,"error":{"message":"no"}}`, "the server says: no"},
		{"error text", `{"error":"no such model"}`, "the server says: no such model"},
		{"vllm", `{"object":"error","message":"too long","type":"BadRequestError"}`, "the server says: BadRequestError: too long"},
		{"fastapi", `{"detail":[{"msg":"field required"}]}`, `the server says: [{"msg":"field required"}]`},
		{"fastapi text", `{"detail":"Not Found"}`, "the server says: Not Found"},
		{"code alone", `{"error":{"code":"batch_expired"}}`, "the server says: batch_expired"},
		{"other members", `{"error":{"x":1}}`, `the server says: {"x":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Decode([]byte(c.body))
			if err == nil {
				t.Fatal("no error")
			}
			var syntax *jsonscan.SyntaxError
			if c.want == "" && !errors.As(err, &syntax) || c.want != "" && err.Error() != c.want {
				t.Errorf("got  %q\nwant %q", err, c.want)
			}
		})
	}
}

// TestErrorIsBounded: servers quote whole prompts.
func TestErrorIsBounded(t *testing.T) {
	_, _, err := Decode([]byte(`{"error":{"message":"` + strings.Repeat("é ", 1000) + `"}}`))
	var e *Error
	if !errors.As(err, &e) || len(e.Message) > maxMessage+len("…") || !strings.HasSuffix(e.Message, "…") {
		t.Errorf("message %q", e.Message)
	}
	if e := (&Error{Code: "content_filter"}); !e.Refused() {
		t.Error("a content filter's error is no refusal")
	}
}

// TestReadChoices: several choices come in the order of their index.
func TestReadChoices(t *testing.T) {
	got, _, err := Decode([]byte(`{"choices":[{"index":1,"finish_reason":"stop","message":{"content":"b"}},{"index":0,"finish_reason":"stop","message":{"content":"a"}}]}`))
	if err != nil || got.Text != "a" || got.Sample != 0 {
		t.Errorf("first choice %+v, %v", got, err)
	}
}

// TestUsage: counts that are no counts are left out.
func TestUsage(t *testing.T) {
	got, _, err := Decode([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"a"}}],"usage":{"prompt_tokens":-1,"completion_tokens":1e3,"reasoning_tokens":5}}`))
	if want := (turnmill.Usage{Reasoning: 5}); err != nil || got.Usage != want {
		t.Errorf("usage %+v, %v; want %+v", got.Usage, err, want)
	}
}
