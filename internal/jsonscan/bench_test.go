package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// chatRecord returns one recorded run as an exporter would write it: n exchanges of a long answer with code,
// a tool call whose arguments are JSON inside a string, and the tool's output; every sixth exchange is in
// Chinese. All texts come from a counter, so each run of a benchmark reads the same bytes.
func chatRecord(n int) []byte {
	type call struct {
		ID       string            `json:"id"`
		Type     string            `json:"type"`
		Function map[string]string `json:"function"`
	}
	type message struct {
		Role      string  `json:"role"`
		Content   any     `json:"content"`
		CallID    string  `json:"tool_call_id,omitempty"`
		ToolCalls []call  `json:"tool_calls,omitempty"`
		Seconds   float64 `json:"duration_s"`
	}
	quote := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSpace(b.String())
	}
	var messages []message
	for i := range n {
		var code, out strings.Builder
		for line := range 12 + i%40 {
			fmt.Fprintf(&code, "\tif err := step%d.run(ctx, \"stage-%d\", opts[%d]); err != nil {\n\t\treturn fmt.Errorf(\"stage %%d: %%w\", %d, err)\n\t}\n", line, line*i, line%7, line)
			fmt.Fprintf(&out, "2026-03-%02d 10:%02d:11 INFO  worker-%d  compiled package number %d of the tree in %d ms\n", line%28+1, line%60, i, line, 17*line)
		}
		said := "I read the failing test first, then the two callers, and I think the loop keeps a stale index. Let me change it and run the tests again.\n"
		if i%6 == 0 {
			said = strings.Repeat("我先看一下失败的测试，再看两个调用方，循环里的下标没有更新，改好以后重新运行。", 6)
		}
		args := quote(map[string]any{"command": "str_replace", "path": fmt.Sprintf("/srv/app/pkg/mod%d/step.go", i), "new_str": code.String(), "view_range": []int{i, i + 40}})
		id := fmt.Sprintf("call_%08x", i*2654435761)
		messages = append(messages,
			message{Role: "assistant", Content: said, ToolCalls: []call{{id, "function", map[string]string{"name": "editor", "arguments": args}}}, Seconds: float64(i) * 1.25},
			message{Role: "tool", CallID: id, Content: []map[string]string{{"type": "text", "text": out.String()}}, Seconds: 0.5},
			message{Role: "user", Content: "Go on, please. The next file needs the same change and nothing else should move."},
		)
	}
	return []byte(quote(map[string]any{"id": "run-7", "messages": messages, "meta": map[string]any{"seed": 7, "ok": true, "parent": nil}}))
}

// walk reads every string of v into the arena and returns the bytes that it saw.
func walk(v Value, a *Arena) int {
	n := 0
	switch v.Kind() {
	case String:
		n = len(v.Str(a))
	case Array:
		for e := range v.Elems() {
			n += walk(e, a)
		}
	case Object:
		for k, m := range v.Members() {
			n += len(k.Str(a)) + walk(m, a)
		}
	}
	return n
}

func BenchmarkParse(b *testing.B) {
	data := chatRecord(60)
	var d Doc
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is what a decoder does: parse a record and read each of its strings.
func BenchmarkRead(b *testing.B) {
	data := chatRecord(60)
	var d Doc
	var a Arena
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		a.Reset()
		v, err := d.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		if walk(v, &a) == 0 {
			b.Fatal("no text")
		}
	}
}

// BenchmarkStandardLibrary reads the same record with encoding/json, for comparison.
func BenchmarkStandardLibrary(b *testing.B) {
	data := chatRecord(60)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// kindsOfText are texts that stress different parts of the string code; each is some 7 KB long.
func kindsOfText() []struct{ name, text string } {
	code := strings.Repeat("\tif err := step.run(ctx, \"stage-4\", opts[3]); err != nil {\n\t\treturn err\n\t}\n", 90)
	return []struct{ name, text string }{
		{"plain", strings.Repeat("2026-03-11 10:22:11 INFO compiled package number 12 of the tree in 230 ms ", 95)},
		{"code", code},
		{"quoted", string(AppendQuoted(nil, code[:len(code)/8*7]))},
		{"chinese", strings.Repeat("我先看一下失败的测试，再看两个调用方，循环里的下标没有更新，改好以后重新运行。", 60)},
		{"mixed", strings.Repeat("naïve “quotes” – строка текста, 日本語 & emoji 🙂, x = y\n", 100)},
	}
}

func BenchmarkText(b *testing.B) {
	for _, k := range kindsOfText() {
		data := AppendQuoted(nil, k.text)
		var d Doc
		v, err := d.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		var buf []byte
		run := func(name string, f func()) {
			b.Run(name+"/"+k.name, func(b *testing.B) {
				b.SetBytes(int64(len(k.text)))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("decode", func() { buf = v.AppendString(buf[:0]) })
		run("verbatim", func() { buf, _ = v.AppendVerbatim(buf[:0]) })
		run("quote", func() { buf = AppendQuotedLine(buf[:0], k.text) })
		run("parse", func() {
			if v, err = d.Parse(data); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkGet looks up ten members of an object with fifteen; BenchmarkIterate visits 1,000 elements with
// two members each.
func BenchmarkGet(b *testing.B) {
	names := []string{"id", "role", "content", "name", "tool_calls", "tool_call_id", "model", "usage", "stop_reason", "parent_id"}
	data := []byte(`{"a":1,"bb":2,"ccc":3,"dddd":4,"uuid":[1,2,{"x":[]}],"` + strings.Join(names, `":null,"`) + `":0}`)
	var d Doc
	v, err := d.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			if v.Get(name).Kind() == Invalid {
				b.Fatal(name)
			}
		}
	}
}

func BenchmarkIterate(b *testing.B) {
	data := []byte("[" + strings.Repeat(`{"x":1,"y":"z"},`, 999) + `{"x":1,"y":"z"}]`)
	var d Doc
	v, err := d.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for e := range v.Elems() {
			for k, m := range e.Members() {
				n += int(k.Kind()) + int(m.Kind())
			}
		}
		if n != 1000*(3*int(String)+int(Number)) {
			b.Fatal(n)
		}
	}
}
