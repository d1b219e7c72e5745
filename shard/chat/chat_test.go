package chat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/toytoken"
)

func newFormat(t *testing.T, name string) *Format {
	t.Helper()
	f, err := New(name, toytoken.Tokenizer{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func decode(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = toytoken.Tokenizer{}.AppendText(b, id)
	}
	return string(b)
}

func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name, format     string
		turn             turnmill.Turn
		place            Place
		want             string
		action, observed string // decoded spans
		straddles        int
	}{
		{
			name: "plain", format: "chatml", turn: turnmill.Turn{Action: "ls", Observation: "a b"},
			want:   "<|im_start|>user\nls<|im_end|>\n<|im_start|>assistant\na b<|im_end|>\n",
			action: "ls<|im_end|>", observed: "a b<|im_end|>",
		},
		{
			name: "state", format: "chatml", turn: turnmill.Turn{Action: "tap", Observation: "x"}, place: Place{State: "home", Last: true},
			want:   "<|im_start|>user\nCurrent state:\nhome\n\nAction:\ntap<|im_end|>\n<|im_start|>assistant\nx<|im_end|>\n",
			action: "tap<|im_end|>", observed: "x<|im_end|>",
		},
		{
			name: "silent", format: "chatml", turn: turnmill.Turn{Action: "true", Observation: ""},
			want:   "<|im_start|>user\ntrue<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n",
			action: "true<|im_end|>", observed: "<|im_end|>",
		},
		{
			// The header's line feed and the content's first ones are one token: its last byte is content.
			name: "straddle", format: "chatml", turn: turnmill.Turn{Action: "a", Observation: "\n\nfoo"},
			want:   "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n\n\nfoo<|im_end|>\n",
			action: "a<|im_end|>", observed: "\n\n\nfoo<|im_end|>", straddles: 1,
		},
		{
			name: "qwen3 in the middle", format: "qwen3", turn: turnmill.Turn{Action: "a", Observation: "b"},
			want:   "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n",
			action: "a<|im_end|>", observed: "b<|im_end|>",
		},
		{
			name: "qwen3 last", format: "qwen3", turn: turnmill.Turn{Action: "a", Observation: "b"}, place: Place{Last: true},
			want:   "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nb<|im_end|>\n",
			action: "a<|im_end|>", observed: "b<|im_end|>",
		},
		{
			name: "llama3", format: "llama3", turn: turnmill.Turn{Action: " ls ", Observation: "a"}, place: Place{Last: true},
			want: "<|start_header_id|>user<|end_header_id|>\n\n ls <|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\na<|eot_id|>",
			action: " ls <|eot_id|>", observed: "a<|eot_id|>",
		},
		{
			name: "llama3, two straddles", format: "llama3", turn: turnmill.Turn{Action: "\nls", Observation: "\n"}, place: Place{Last: true},
			want: "<|start_header_id|>user<|end_header_id|>\n\n\nls<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\n\n<|eot_id|>",
			action: "\n\n\nls<|eot_id|>", observed: "\n\n\n<|eot_id|>", straddles: 2,
		},
		{
			name: "deepseek", format: "deepseek", turn: turnmill.Turn{Action: "\nls", Observation: "\n\n"},
			want:   "<｜User｜>\nls<｜Assistant｜>\n\n<｜end▁of▁sentence｜>",
			action: "\nls<｜Assistant｜>", observed: "\n\n<｜end▁of▁sentence｜>",
		},
		{
			name: "deepseek, silent wait", format: "deepseek", turn: turnmill.Turn{HasAction: true},
			want:   "<｜User｜><｜Assistant｜><｜end▁of▁sentence｜>",
			action: "<｜Assistant｜>", observed: "<｜end▁of▁sentence｜>",
		},
		{
			name: "gemma in the middle", format: "gemma", turn: turnmill.Turn{Action: "a", Observation: "b"},
			want:   "<start_of_turn>user\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n",
			action: "a<end_of_turn>", observed: "b<end_of_turn>",
		},
		{
			name: "gemma first", format: "gemma", turn: turnmill.Turn{Action: "a", Observation: "b"},
			place:  Place{First: &turnmill.SystemPrompt{TaskDescription: "p", Demonstrations: "q\n"}, State: "s"},
			want:   "<start_of_turn>user\np\n\nq\n\n\nCurrent state:\ns\n\nAction:\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n",
			action: "a<end_of_turn>", observed: "b<end_of_turn>",
		},
		{
			// One token crosses the border of prompt and action; no span ends there, but one starts.
			name: "gemma first, straddle", format: "gemma", turn: turnmill.Turn{Action: "\na", Observation: "b"},
			place:  Place{First: &turnmill.SystemPrompt{TaskDescription: "p"}},
			want:   "<start_of_turn>user\np\n\n\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n",
			action: "\n\n\na<end_of_turn>", observed: "b<end_of_turn>", straddles: 1,
		},
		{
			name: "gemma first without a prompt", format: "gemma", turn: turnmill.Turn{Action: "a", Observation: "b"},
			place:  Place{First: &turnmill.SystemPrompt{}},
			want:   "<start_of_turn>user\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n",
			action: "a<end_of_turn>", observed: "b<end_of_turn>",
		},
		{
			name: "only gemma has the prompt in the first turn", format: "llama3.1", turn: turnmill.Turn{Action: "a", Observation: "b"},
			place: Place{First: &turnmill.SystemPrompt{TaskDescription: "p"}},
			want: "<|start_header_id|>user<|end_header_id|>\n\na<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\nb<|eot_id|>",
			action: "a<|eot_id|>", observed: "b<|eot_id|>",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := NewText(toytoken.Tokenizer{})
			newFormat(t, c.format).Turn(text, &c.turn, c.place)
			if diff := cmp.Diff(c.want, decode(text.IDs)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if got := decode(text.IDs[text.Action.Start:text.Action.End]); got != c.action {
				t.Errorf("action span holds %q, want %q", got, c.action)
			}
			if got := decode(text.IDs[text.Observation.Start:text.Observation.End]); got != c.observed {
				t.Errorf("observation span holds %q, want %q", got, c.observed)
			}
			if text.Straddles != c.straddles {
				t.Errorf("%d straddling tokens, want %d", text.Straddles, c.straddles)
			}
		})
	}
}

// Content never becomes control: the number of control ids is the template's, whatever the texts hold.
func TestPitfall18ForgedControl(t *testing.T) {
	forged := strings.Join(toytoken.Control[:], "\n")
	for format, want := range map[string]int{"chatml": 4, "qwen3": 4, "llama3": 6, "llama3.1": 6, "deepseek": 3, "gemma": 4} {
		text := NewText(toytoken.Tokenizer{})
		newFormat(t, format).Turn(text, &turnmill.Turn{Action: "cat t", Observation: forged}, Place{})
		if control := controlIDs(text.IDs); control != want || text.Forged != len(toytoken.Control) {
			t.Errorf("%s: %d control ids and %d forged, want %d and %d", format, control, text.Forged, want, len(toytoken.Control))
		}
	}
}

func TestSystem(t *testing.T) {
	one := turnmill.SystemPrompt{InitialState: "files"}
	three := turnmill.SystemPrompt{SimulationInstruction: "e", TaskDescription: "a", Demonstrations: "d"}
	const dated = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: "
	for _, c := range []struct {
		name, format, date string
		parts              turnmill.SystemPrompt
		want               string
	}{
		{"empty", "chatml", "", turnmill.SystemPrompt{}, ""},
		{"one", "chatml", "", one, "<|im_start|>system\nfiles<|im_end|>\n"},
		{"schema order, empty ones left out", "chatml", "", three, "<|im_start|>system\na\n\nd\n\ne<|im_end|>\n"},
		{"a date that nobody asks for", "qwen3", "1 May 2026", one, "<|im_start|>system\nfiles<|im_end|>\n"},
		{"empty", "llama3", "", turnmill.SystemPrompt{}, "<|begin_of_text|>"},
		{"one", "llama3", "", one, "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nfiles<|eot_id|>"},
		{"empty", "llama3.1", "", turnmill.SystemPrompt{}, dated + "26 Jul 2024\n\n<|eot_id|>"},
		{"one", "llama3.1", "1 May 2026", one, dated + "1 May 2026\n\nfiles<|eot_id|>"},
		{"empty", "deepseek", "", turnmill.SystemPrompt{}, "<｜begin▁of▁sentence｜>"},
		{"three", "deepseek", "", three, "<｜begin▁of▁sentence｜>a\n\nd\n\ne"},
		{"empty", "gemma", "", turnmill.SystemPrompt{}, "<bos>"},
		{"in the first turn", "gemma", "", one, "<bos>"},
	} {
		t.Run(c.format+", "+c.name, func(t *testing.T) {
			text := NewText(toytoken.Tokenizer{})
			f, err := New(c.format, toytoken.Tokenizer{}, Options{Date: c.date})
			if err != nil {
				t.Fatal(err)
			}
			f.System(text, &c.parts)
			if got := decode(text.IDs); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	for format, want := range map[string][2]string{
		"chatml": {"", "<|endoftext|>"}, "qwen3": {"", "<|endoftext|>"},
		"llama3": {"<|begin_of_text|>", "<|end_of_text|>"}, "llama3.1": {"<|begin_of_text|>", "<|end_of_text|>"},
		"deepseek": {"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"},
		"gemma":    {"<bos>", "<eos>"},
	} {
		text := NewText(toytoken.Tokenizer{})
		newFormat(t, format).Document(text, "ab")
		if got, want := decode(text.IDs), want[0]+"ab"+want[1]; got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
		if got := text.IDs[text.Observation.Start:text.Observation.End]; decode(got) != "ab"+want[1] || len(got) != 3 {
			t.Errorf("%s: the span holds %q, want text and end token", format, decode(got))
		}
	}
}

func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		format, action, observation string
		place                       Place
		want                        bool
	}{
		{format: "chatml", action: " a", observation: "\n</think> ", place: Place{Last: true}},
		{format: "qwen3", observation: "a</think>b", want: true},
		{format: "qwen3", observation: "\na", place: Place{Last: true}, want: true},
		{format: "qwen3", observation: "\na"},
		{format: "qwen3", action: "\na</think>", observation: "a\n", place: Place{Last: true}},
		{format: "llama3", action: "a b", observation: "c\nd</think>e"},
		{format: "llama3", action: "", observation: ""},
		{format: "llama3", action: "a\n", observation: "c", want: true},
		{format: "llama3", action: "a", observation: "c\u00a0", want: true},
		{format: "llama3", action: "a", observation: "\x1fc", want: true}, // for Python, not for Unicode
		{format: "llama3", action: "a", observation: "\u200bc"},           // a zero-width space is none
		{format: "llama3.1", action: " a", observation: "c", want: true},
		{format: "llama3.1", action: " a", observation: "c", place: Place{State: " s "}}, // inside the message
		{format: "llama3.1", action: "a ", observation: "c", place: Place{State: "s"}, want: true},
		{format: "llama3.1", action: "", observation: "c", place: Place{State: "s"}, want: true}, // the header's line feed
		{format: "deepseek", action: " a ", observation: " </think> ", place: Place{Last: true}},
		{format: "gemma", action: "a", observation: "b", place: Place{First: &turnmill.SystemPrompt{TaskDescription: " p "}}},
		{format: "gemma", action: " a", observation: "b", want: true},
		{format: "gemma", action: "a", observation: "</think>b\n", want: true},
	} {
		if got := newFormat(t, c.format).Differs(&turnmill.Turn{Action: c.action, Observation: c.observation}, c.place); got != c.want {
			t.Errorf("%s, %q, %q, %+v: %v, want %v", c.format, c.action, c.observation, c.place, got, c.want)
		}
	}
}

func TestSystemDiffers(t *testing.T) {
	for _, c := range []struct {
		format string
		prompt turnmill.SystemPrompt
		want   bool
	}{
		{"llama3", turnmill.SystemPrompt{}, false},
		{"llama3", turnmill.SystemPrompt{TaskDescription: "a\n", SimulationInstruction: "\nb"}, false},
		{"llama3", turnmill.SystemPrompt{ActionSpace: "\na", SimulationInstruction: "b"}, true},
		{"llama3.1", turnmill.SystemPrompt{ActionSpace: "a", InitialState: "b\n"}, true},
		{"chatml", turnmill.SystemPrompt{TaskDescription: " a "}, false},
		{"qwen3", turnmill.SystemPrompt{TaskDescription: " a "}, false},
		{"deepseek", turnmill.SystemPrompt{TaskDescription: " a "}, false},
		{"gemma", turnmill.SystemPrompt{TaskDescription: " a "}, false},
	} {
		if got := newFormat(t, c.format).SystemDiffers(&c.prompt); got != c.want {
			t.Errorf("%s, %+v: %v, want %v", c.format, c.prompt, got, c.want)
		}
	}
}

// vocabulary has the named tokens and nothing else.
type vocabulary []string

func (v vocabulary) Size() int { return len(v) }
func (v vocabulary) ID(token string) (int32, bool) {
	for i, s := range v {
		if s == token {
			return int32(i), true
		}
	}
	return 0, false
}
func (v vocabulary) AppendText(dst []byte, id int32) []byte { return append(dst, v[id]...) }

// Gemma 4 has other turn tokens than the Gemmas before it, and is none of the built-ins.
func TestReport25AutoRefusesWhatItDoesNotKnow(t *testing.T) {
	_, err := Auto(vocabulary{"<pad>", "<eos>", "<bos>", "<|turn>", "<turn|>", "<|channel>", "<channel|>"})
	if err == nil {
		t.Fatal("a family that is not built in was taken")
	}
	for _, want := range append(Names(), "try --chat") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
	if _, err := New("qwen3", vocabulary{"<|im_start|>", "<|im_end|>"}, Options{}); err == nil || !strings.Contains(err.Error(), "<|endoftext|>") {
		t.Errorf("a missing control token is not named: %v", err)
	}
	if _, err := New("llama9", toytoken.Tokenizer{}, Options{}); err == nil || !strings.Contains(err.Error(), "chatml") {
		t.Errorf("an unknown name does not list the built-ins: %v", err)
	}
}

// The control tokens that the published tokenizers of each family hold, and some of their others.
func TestAuto(t *testing.T) {
	llama := vocabulary{"<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"}
	v3 := vocabulary{"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "<｜User｜>", "<｜Assistant｜>", "<|EOT|>"}
	for _, c := range []struct {
		want string
		v    turnmill.Vocabulary
	}{
		{"chatml", vocabulary{"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"}},
		{"llama3", llama},
		{"deepseek", v3},
		{"gemma", vocabulary{"<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"}},
		{"chatml", toytoken.Tokenizer{}},
	} {
		name, err := Auto(c.v)
		if err != nil || name != c.want {
			t.Errorf("Auto: %q, %v, want %s", name, err, c.want)
			continue
		}
		f, err := New(name, c.v, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != name {
			t.Errorf("%s is called %s", name, f.Name())
		}
	}
	if _, err := Auto(vocabulary{"<|begin_of_text|>", "<|end_of_text|>", "<|header_start|>", "<|header_end|>", "<|eot|>"}); err == nil {
		t.Error("Llama 4 was taken for Llama 3")
	}
}

// Control lists what is control, marked special or not: DeepSeek's role tokens are not.
func TestControl(t *testing.T) {
	for format, want := range map[string][]string{
		"chatml":   {"<|im_start|>", "<|im_end|>", "<|endoftext|>"},
		"qwen3":    {"<|im_start|>", "<|im_end|>", "<|endoftext|>"},
		"llama3":   {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|end_of_text|>"},
		"llama3.1": {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|end_of_text|>"},
		"deepseek": {"<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"},
		"gemma":    {"<bos>", "<start_of_turn>", "<end_of_turn>", "<eos>"},
	} {
		if diff := cmp.Diff(want, newFormat(t, format).Control()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// What can be told of a format without a tokenizer.
func TestByName(t *testing.T) {
	for _, name := range append(Names(), "alpaca") {
		if got, want := Begins(name), name != "chatml" && name != "qwen3" && name != "alpaca"; got != want {
			t.Errorf("%s: a token begins a row: %v, want %v", name, got, want)
		}
		if got, want := OneEnd(name), name != "deepseek" && name != "alpaca"; got != want {
			t.Errorf("%s: one end token: %v, want %v", name, got, want)
		}
	}
}

// R1's tokenizer has </think>, and its template cuts an answer there; V3's has neither.
func TestDeepSeekCutsByTokenizer(t *testing.T) {
	v3 := vocabulary(newFormat(t, "deepseek").Control())
	r1 := append(vocabulary{"<think>", "</think>"}, v3...)
	for _, c := range []struct {
		v    vocabulary
		want bool
	}{{v3, false}, {r1, true}} {
		f, err := New("deepseek", c.v, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Differs(&turnmill.Turn{Observation: "a</think>b"}, Place{}); got != c.want {
			t.Errorf("%d tokens: %v, want %v", len(c.v), got, c.want)
		}
		if f.Differs(&turnmill.Turn{Action: "</think>", Observation: " b "}, Place{Last: true}) {
			t.Error("the template cuts assistants' contents only")
		}
	}
}

func TestHashes(t *testing.T) {
	seen := map[string]string{}
	for _, name := range Names() {
		var sums []string
		for _, date := range []string{"", DefaultDate, "1 May 2026"} {
			f, err := New(name, toytoken.Tokenizer{}, Options{Date: date})
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, f.SHA256())
		}
		if len(sums[0]) != 64 || sums[0] != sums[1] || (sums[1] != sums[2]) != (name == "llama3.1") {
			t.Errorf("%s: hashes %q for no date, the default one, and another", name, sums)
		}
		if other, again := seen[sums[0]]; again {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[sums[0]] = name
	}
}
