package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const (
	unifiedLine = `{"domain":"os","turns":[{"action":"a","observation":"b"}]}`
	chatLine    = `{"messages":[{"role":"user","content":"a"}]}`
	listLine    = `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`
	trajLine    = `{"environment":"main","trajectory":[{"action":"ls","observation":"x","thought":"t"}]}`
	reactLine   = `[{"role":"user","content":"q"},{"role":"assistant","content":"Thought: t\nAction: search[x]"},{"role":"user","content":"Observation: o"}]`
	fencedLine  = "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"```sh\\nls\\n```\"},{\"role\":\"user\",\"content\":\"<returncode>0</returncode>\"}]"
)

// pretty is a record over several lines.
func pretty(record string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(record), "", "  "); err != nil {
		panic(err)
	}
	return b.String()
}

func TestDetect(t *testing.T) {
	tests := []struct {
		name, head string
		format     string
		layout     frame.Layout
		recognised int
	}{
		{"lines", unifiedLine + "\n" + unifiedLine + "\n", "turnmill", frame.Lines, 2},
		{"one line without its end", chatLine, "openai-chat", frame.Lines, 1},
		{"CRLF, blank lines, a byte order mark", "\r\n\uFEFF" + chatLine + "\r\n\r\n" + chatLine + "\r\n", "openai-chat", frame.Lines, 2},
		{"NUL bytes before a record", "\x00\x00" + chatLine + "\n\x00\x00\x00" + chatLine, "openai-chat", frame.Lines, 2},
		{"a line of a log first", "INFO started\n" + trajLine + "\n", "swe-agent", frame.Lines, 1},
		{"a line of a log in brackets first", "[2026-01-05 10:00] started\n" + trajLine + "\n", "swe-agent", frame.Lines, 1},
		{"a bracketed number first", "[12] started\n" + trajLine + "\n" + trajLine + "\n", "swe-agent", frame.Lines, 2},
		{"a cut record first", chatLine[:30] + "\n" + chatLine + "\n", "openai-chat", frame.Lines, 1},
		{"a record cut at a comma first", `{"id":"x",` + "\n" + chatLine + "\n" + chatLine + "\n", "openai-chat", frame.Lines, 2},
		{"a scalar first", "\"started\"\n" + chatLine + "\n", "openai-chat", frame.Lines, 1},
		{"records glued on a line among others", chatLine + "\n" + strings.Repeat(chatLine, 5) + "\n", "openai-chat", frame.Lines, 1},
		{"all records on one line", strings.Repeat(chatLine, 5), "openai-chat", frame.Values, 5},
		{"values over lines", pretty(trajLine) + "\n" + pretty(trajLine), "swe-agent", frame.Values, 2},
		{"values over lines, the first one damaged", strings.Replace(pretty(trajLine), ":", "", 1) + "\n" + pretty(trajLine), "swe-agent", frame.Values, 1},
		{"an array on one line", "[" + trajLine + "," + trajLine + "]", "swe-agent", frame.Array, 2},
		{"an array over lines", "[\n" + pretty(unifiedLine) + ",\n" + pretty(unifiedLine) + "\n]\n", "turnmill", frame.Array, 2},
		{"an array, a record a line", "[\n" + chatLine + ",\n" + chatLine + "\n]\n", "openai-chat", frame.Array, 2},
		{"an array of one, on a line of its own", "[\n" + chatLine + "\n]\n", "openai-chat", frame.Array, 1},
		{"an array damaged after its first record", "[\n" + chatLine + ",\n{oops},\n" + chatLine + "\n]\n", "openai-chat", frame.Array, 1},
		{"a list of messages a line", listLine + "\n" + listLine + "\n", "openai-chat", frame.Lines, 2},
		{"a list of messages over lines", pretty(listLine), "openai-chat", frame.Whole, 1},
		{"an array of lists of messages", "[\n" + listLine + ",\n" + listLine + "\n]", "openai-chat", frame.Array, 2},
		{"the most records win", trajLine + "\n" + chatLine + "\n" + chatLine + "\n", "openai-chat", frame.Lines, 2},
		{"equals go by the order of the table", chatLine + "\n" + trajLine + "\n", "swe-agent", frame.Lines, 1},
		{"a file that ends inside its only record", pretty(trajLine)[:100], "swe-agent", frame.Values, 1},
		{"no more than 32 records", strings.Repeat(chatLine+"\n", 50), "openai-chat", frame.Lines, 32},
		{"documents", `{"kind":"document","text":"x"}`, "turnmill", frame.Lines, 1},
		{"a fenced command that <returncode> answers", fencedLine + "\n" + pretty(fencedLine), "mini-swe-agent", frame.Lines, 1},
		{"a fenced command in a chat", strings.Replace(fencedLine, "<returncode>", "<code>", 1), "openai-chat", frame.Lines, 1},
		{"a text", "Run 7\nQuestion: q\nThought 1: t\nAction 1: Search[x]\n", "react-log", frame.Whole, 1},
		{"a text that is not UTF-8", "\xff\nQuestion: q\nThought 1: t\nAction 1: Search[x]\n", "react-log", frame.Whole, 1},
		{"records in a text", "Question: q\nThought 1: t\nAction 1: Search[x]\n" + chatLine + "\n", "openai-chat", frame.Lines, 1},
		{"steps that are not SWE-agent's", `{"environment":"sql","query":"q","trajectory":[{"action":"a","observation":"b"}]}`, "intercode", frame.Lines, 1},
		{"tool blocks", `{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`, "anthropic", frame.Lines, 1},
		{"typed content", `{"messages":[{"role":"user","content":[{"type":"text","value":"x"}]}]}`, "llama-factory-v1", frame.Lines, 1},
		{"a dialogue without its calls", `{"messages_display":"user: Hi\nassistant: None\ntool: x"}`, "tau-bench-few-shot", frame.Lines, 1},
		{"the ReAct protocol", reactLine, "react-chat", frame.Lines, 1},
		{"the ReAct protocol beside a chat", chatLine + "\n" + reactLine, "react-chat", frame.Lines, 1},
		{"a chat of user and assistant", listLine + "\n" + chatLine, "openai-chat", frame.Lines, 2},
		{"a fenced command beside a chat", chatLine + "\n" + fencedLine, "mini-swe-agent", frame.Lines, 1},
		{"ShareGPT with a call", `{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"{}"}]}`, "sharegpt", frame.Lines, 1},
		{"conversations with roles", `{"conversations":[{"role":"user","content":"q"}]}`, "hf-rows", frame.Lines, 1},
		{"NaN", `{"reward":NaN,` + chatLine[1:], "openai-chat", frame.Lines, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, complete := range []bool{true, false} {
				got, err := Detect([]byte(tt.head), complete)
				if err != nil {
					t.Fatal(err)
				}
				if got.Format.Name != tt.format || got.Layout != tt.layout || got.Recognised != tt.recognised {
					t.Errorf("complete %v: %s, %v, %d of %d; want %s, %v, %d", complete,
						got.Format.Name, got.Layout, got.Recognised, got.Samples, tt.format, tt.layout, tt.recognised)
				}
			}
		})
	}
}

// TestDetectAnyShape writes the sample of every format in every layout that it reads.
func TestDetectAnyShape(t *testing.T) {
	for _, f := range All() {
		if f.Text {
			continue
		}
		s := f.Doc.Sample
		for name, file := range map[string]string{
			"lines":  s + "\n" + s + "\n",
			"pretty": pretty(s),
			"values": pretty(s) + "\n" + pretty(s),
			"array":  pretty("[" + s + "," + s + "]"),
		} {
			got, err := Detect([]byte(file), true)
			if err != nil || got.Format.Name != f.Name || !slices.Contains(f.Layouts, got.Layout) {
				t.Errorf("%s, %s: %q, %v, %v", f.Name, name, got.Format.Name, got.Layout, err)
				continue
			}
			for _, raw := range records(t, got.Layout, []byte(file)) {
				if err := f.New(Options{}).Decode(raw, new(Decoded)); err != nil {
					t.Errorf("%s, %s: %v", f.Name, name, err)
				}
			}
		}
	}
}

// TestDetectLongRecord has first records that do not end within the head.
func TestDetectLongRecord(t *testing.T) {
	long := strings.Repeat("x\\n", HeadBytes/2)
	for name, tt := range map[string]struct{ file, format string }{
		"state":       {`{"id":"r","domain":"web","turns":[{"index":0,"state":"` + long + `","action":"a","observation":"b"}]}`, "turnmill"},
		"document":    {`{"kind":"document","text":"` + long + `"}`, "turnmill"},
		"message":     {`{"messages":[{"role":"user","content":"` + long + `"}]}`, "openai-chat"},
		"late":        {`{"messages":[{"role":"user","content":"a"},{"content":"` + long + `","role":"assistant"}]}`, "openai-chat"},
		"list":        {`[{"role":"user","content":"` + long + `"}]`, "openai-chat"},
		"step":        {`{"environment":"main","trajectory":[{"action":"a","observation":"` + long + `","thought":"t"}]}`, "swe-agent"},
		"replacement": {`{"history":[{"role":"system","agent":"main","content":"` + long + `"}]}`, "swe-agent"},
	} {
		for shape, file := range map[string]string{"line": tt.file, "lines": tt.file + "\n" + tt.file, "array": "[" + tt.file + "]"} {
			got, err := Detect([]byte(file), false)
			if err != nil || got.Format.Name != tt.format {
				t.Errorf("%s, %s: %q, %v; want %s", name, shape, got.Format.Name, err, tt.format)
			}
			if shape == "lines" && got.Layout != frame.Lines || shape == "array" && got.Layout != frame.Array {
				t.Errorf("%s, %s: layout %v", name, shape, got.Layout)
			}
		}
	}
}

func TestDetectErrors(t *testing.T) {
	for _, head := range []string{"", "\n \r\n", "\uFEFF\n", strings.Repeat("\x00", 4096)} {
		if _, err := Detect([]byte(head), true); reasonOf(err) != turnmill.ReasonNoRecords {
			t.Errorf("%.20q: %v, want no_records", head, err)
		}
		if _, err := DetectAs("turnmill", []byte(head), true); reasonOf(err) != turnmill.ReasonNoRecords {
			t.Errorf("%.20q with a format: %v, want no_records", head, err)
		}
	}
	if _, err := Detect(make([]byte, HeadBytes), false); reasonOf(err) != turnmill.ReasonUnknownFormat {
		t.Errorf("padding up to the end of the head: %v, want unknown_format", err)
	}
	for head, want := range map[string]string{
		"Thought: look\nAction: search[x]\n": "(nearest: ",
		"[1,2]":                              "openai-chat: a list whose first item is no message",
		"{}":                                 "turnmill: neither turns nor kind \"document\"",
		`{"domain":"web","turns":[{"role":"user"}]}`:                                  "(nearest: turnmill: turns[0] has neither action nor observation",
		`{"conversations":[]}`:                                                        "(nearest: sharegpt: conversations is empty; agentinstruct: conversations is empty",
		`{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}`: "sharegpt: a ShareGPT chat without tools",
		`{"messages":[{"from":"human"},{"from":"gpt"}]}`:                              "openai-chat: messages[0] has no role",
		`{"messages":[{"role":"human","content":""}]}`:                                "openai-chat: messages[0] has a role that is none of a chat's",
		`{"task_id":1,"traj":[{"role":"user"}]}`:                                      "tau-bench: neither reward, trial nor info beside traj",
		`{"traj":[{"role":"user"}],"reward":1}`:                                       "tau-bench: traj without task_id",
		`{"task_id":1,"reward":0,"traj":[{"from":"user"}]}`:                           "tau-bench: traj[0] has no role",
		`{"schema_version":"ATIF-v1.7","steps":[{"source":"bot"}]}`:                   "(nearest: atif: steps[0] has no source",
		`{"schema_version":"ATIF-v1.7"}`:                                              "(nearest: atif: no steps",
		`{"steps":[{"source":"user","message":"x"}]}`:                                 "(nearest: atif: no ATIF schema_version, nor a step_id, a source and an agent",
		`{"type":"assistant","uuid":"a","message":{"role":"assistant"}}`:              "claude-code: an event without a sessionId",
		`{"type":"user","sessionId":"s","message":{"role":"user"}}`:                   "(nearest: claude-code: an event without a uuid",
		`{"type":"user","uuid":"u","sessionId":"s","message":"x"}`:                    "(nearest: claude-code: message is a string, want an object",
		`{"harness":"codex","session_id":"c"}`:                                        "agent-trace: neither traces nor trace",
		`{"session_id":"c","traces":7}`:                                               "(nearest: agent-trace: traces is a number, want an array",
		`{"session_id":"c","traces":[]}`:                                              "(nearest: agent-trace: not two of harness, session_id, file_name and file_path",
		`{"messages":[]}`:                                                             "openai-chat: messages is empty",
		`{"messages":"x"}`:                                                            "openai-chat: messages is a string, want an array",
		`{"history":[{"action":"run"}]}`:                                              "swe-agent: history[0] has no role",
		`{"history":[{"role":"user"}]}`:                                               "swe-agent: history[0] has neither agent nor message_type",
		`{"trajectory":[{"role":"system"}]}`:                                          "swe-agent: trajectory[0] has no action",
		`{"prompt":"a","completion":"b"}`:                                             "(nearest: hf-rows: prompt and completion are texts",
		`{"conversations":[{"role":"user","content":"q"},{"role":"assistant","content":"Think: t\n\nAct: bash"}]}`: "(nearest: hf-rows: texts hold actions",
		`{"conversations":` + fencedLine + "}":             "(nearest: hf-rows: texts follow mini-swe-agent's protocol",
		`{"version": 5, "width": 96, "height": 26}`:        "(nearest: asciicast: asciicast version 5, want 1, 2 or 3",
		`{"conversations":[{"from":"human","value":"q"}]}`: "hf-rows: conversations[0] has from",
	} {
		_, err := Detect([]byte(head), true)
		if reasonOf(err) != turnmill.ReasonUnknownFormat || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant unknown_format, %s", head, err, want)
		}
		if n := strings.Count(fmt.Sprint(err), "; "); err != nil && n < 3 {
			t.Errorf("%s: not three formats and a hint: %v", head, err)
		}
	}
}

// TestDetectScreens gives screens without a run, which are a part of one.
func TestDetectScreens(t *testing.T) {
	const line = "UIElement(text='a\\'b', content_description=None, class_name='android.view.View', bbox=BoundingBox(x_min=0, x_max=1, y_min=0, y_max=1), bbox_pixels=None, is_checked=False)\n"
	for _, head := range []string{line, line + line, line + "UIElement(text=\"it's\", bbox=None)"} {
		_, err := Detect([]byte(head), true)
		if reasonOf(err) != turnmill.ReasonMissingPart || !strings.Contains(fmt.Sprint(err), "AndroidWorld") {
			t.Errorf("%q: %v", head, err)
		}
	}
	if _, err := Detect([]byte("A class UIElement(text=..., bbox=...) holds an element.\n"), true); reasonOf(err) != turnmill.ReasonUnknownFormat {
		t.Errorf("a text about it: %v", err)
	}
}

// TestDetectRefused gives files of known forms without observations: the error names the form, alone or
// among other lines, and another format does not take them.
func TestDetectRefused(t *testing.T) {
	for head, want := range map[string]string{
		`{"task_id":"t","user_task_description":"u","high_level_task_description":"h","steps":[{"step_num":1,"image":"a.png","action":"pyautogui.click()"}]}`: "AgentNetBench",
		`{"id":"0-0","conversations":[{"role":"user","content":"# Goal\nx\n# Current page Accessibility Tree\ny"}],"system":"s"}`:                             "AgentLab",
		`{"id":"train_0","task":"Task: x\nOutput Script:\npyautogui.click(1,2)","image":"a.png","ocr":{"text":[]}}`:                                           "OmniAct",
		`{"task_id":"t","instruction":"i","traj":[{"index":0,"image":"0.png","value":{"code":"pyautogui.click(x=0.9, y=0.9)"}}]}`:                             "OpenCUA",
		`{"prompt":"# observation of the current web page\nobservation = x","response":"click [1]"}`:                                                          "Synatra",
	} {
		for shape, file := range map[string]string{"line": head, "lines": head + "\n" + head, "array": "[" + head + "]", "pretty": pretty("[" + head + "]")} {
			_, err := Detect([]byte(file), true)
			if reasonOf(err) != turnmill.ReasonUnknownFormat || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s of %s: %v", shape, want, err)
			}
		}
		got, err := Detect([]byte(head+"\n"+chatLine), true)
		if err != nil || got.Format.Name != chatName || got.Recognised != 1 {
			t.Errorf("%s beside a chat: %q, %v", want, got.Format.Name, err)
		}
	}
}

// TestRefusedRealFiles: published files of such forms are refused by name.
func TestRefusedRealFiles(t *testing.T) {
	files := realFiles(t, "")
	for name, want := range map[string]string{
		"agentnetbench/s_5473959e0f6e21f7.json":     "AgentNetBench",
		"agentnetbench/s_7f27a11115e596eb.json":     "AgentNetBench",
		"adp/nnetnav-wa/sample_sft_agentlab.json":   "AgentLab",
		"adp/go-browse-wa/sample_sft_agentlab.json": "AgentLab",
		"adp/omniact/sample_raw.json":               "OmniAct",
		"adp/synatra/sample_raw.json":               "Synatra",
	} {
		file, ok := files[name]
		if _, err := Detect(file, true); !ok || reasonOf(err) != turnmill.ReasonUnknownFormat || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: there %v, %v; want %s", name, ok, err, want)
		}
	}
}

// TestDetectWhole reads files whose lines make one record.
func TestDetectWhole(t *testing.T) {
	session := Format{Name: "session", Layouts: []frame.Layout{frame.Whole}, Recognise: func(v jsonscan.Value) (string, int) {
		if v.Get("uuid").Present() {
			return "", 1
		}
		return "no uuid", 0
	}}
	for name, head := range map[string]string{
		"lines":  `{"uuid":1}` + "\n" + `{"uuid":2}` + "\n",
		"pretty": pretty(`{"uuid":1,"x":[1]}`),
		"array":  `[{"uuid":1}]`,
	} {
		got, err := detect([]Format{unifiedFormat(), session}, []byte(head), true)
		if err != nil || got.Format.Name != "session" || got.Layout != frame.Whole {
			t.Errorf("%s: %q, %v, %v", name, got.Format.Name, got.Layout, err)
		}
	}
}

func TestDetectAs(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		layout     frame.Layout
	}{
		{"openai-chat", trajLine + "\n" + chatLine, frame.Lines},
		{"openai-chat", pretty(listLine), frame.Whole},
		{"swe-agent", "[" + trajLine + "]", frame.Array},
		{"swe-agent", pretty(chatLine), frame.Values},           // not recognised: the likeliest layout
		{"turnmill", "not even JSON", frame.Lines},              // the same
		{"turnmill", pretty("[" + chatLine + "]"), frame.Array}, // the same
	} {
		got, err := DetectAs(tt.name, []byte(tt.head), true)
		if err != nil || got.Format.Name != tt.name || got.Layout != tt.layout {
			t.Errorf("%s, %.30q: %q, %v, %v; want %v", tt.name, tt.head, got.Format.Name, got.Layout, err, tt.layout)
		}
	}
	_, err := DetectAs("openai", []byte(chatLine), true)
	if err == nil || !strings.Contains(err.Error(), "openai-chat") {
		t.Errorf("unknown name: %v, want the names that exist", err)
	}
}

// TestClosePrefix cuts records at every byte: what is closed must be JSON, and grow with the cut.
func TestClosePrefix(t *testing.T) {
	tests := map[string]string{
		`{"id":"a","turns":[{"index":0,"state":"Hom`: `{"id":"a","turns":[{"index":0,"state":"Hom"}]}`,
		`{"id":"a","turns":[{"index":0,"sta`:         `{"id":"a","turns":[{"index":0}]}`,
		`{"a":"x\u00e`:                               `{"a":"x"}`,
		`{"a":"x\`:                                   `{"a":"x"}`,
		`{"a":1,"b":tru`:                             `{"a":1}`,
		`{"a":{"b":`:                                 `{"a":{}}`,
		`[1, 2 `:                                     `[1, 2]`,
		`{`:                                          `{}`,
	}
	for cut, want := range tests {
		if got := string(closePrefix(nil, []byte(cut))); got != want {
			t.Errorf("%s: got %s, want %s", cut, got, want)
		}
	}
	for _, record := range []string{
		string(longChat(2)), unifiedFormat().Doc.Sample, sweAgentFormat().Doc.Sample, pretty(openAIChatFormat().Doc.Sample),
		atifFormat().Doc.Sample, claudeCodeFormat().Doc.Sample,
		`{"a":"\"\\\u00e9\ud83d\ude00é","b":[true,false,null,-1.5e+3,{}],"c":{"d":[[]]}}`,
	} {
		for i := 1; i <= len(record); i++ {
			if got := closePrefix(nil, []byte(record[:i])); !json.Valid(got) {
				t.Fatalf("%d bytes of %s: %s", i, record, got)
			}
		}
		if got := string(closePrefix(nil, []byte(record))); got != record {
			t.Errorf("a whole record: got %s, want %s", got, record)
		}
	}
}

// TestDetectRealFiles lists what every published file is taken for.
func TestDetectRealFiles(t *testing.T) {
	files := realFiles(t, "")
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		got, err := Detect(files[name], true)
		if err != nil {
			fmt.Fprintf(&out, "%s\t%s\n", name, reasonOf(err))
			continue
		}
		fmt.Fprintf(&out, "%s\t%s\t%v\t%d/%d\n", name, got.Format.Name, got.Layout, got.Recognised, got.Samples)
	}
	golden(t, "real/detect.tsv", out.String())
}

func FuzzDetect(f *testing.F) {
	for _, format := range All() {
		f.Add([]byte(format.Doc.Sample), true)
		if !format.Text {
			f.Add([]byte(pretty("["+format.Doc.Sample+"]")), false)
		}
	}
	for _, head := range []string{"", "[", "{\"a", "[12] x\n" + chatLine, "\x00\uFEFF\n", listLine, "[" + listLine + "]", chatLine + chatLine} {
		f.Add([]byte(head), true)
	}
	f.Fuzz(func(t *testing.T, head []byte, complete bool) {
		got, err := Detect(head, complete)
		if err != nil {
			if r := reasonOf(err); r != turnmill.ReasonUnknownFormat && r != turnmill.ReasonNoRecords {
				t.Fatalf("reason %q of %v", r, err)
			}
			return
		}
		if got.Recognised < 1 || got.Recognised > got.Samples || got.Samples > maxSamples {
			t.Fatalf("%d of %d samples", got.Recognised, got.Samples)
		}
		if _, ok := layoutOf(got.Format, got.Layout); !ok {
			t.Fatalf("%s cannot lie in %v", got.Format.Name, got.Layout)
		}
		again, err := DetectAs(got.Format.Name, head, complete)
		if err != nil || again.Layout != got.Layout {
			t.Fatalf("as %s: %v, %v; want %v", got.Format.Name, again.Layout, err, got.Layout)
		}
	})
}
