package pipelines

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// What the tests know of the unified form, apart from the decoder: plain structs for encoding/json.
type (
	testRecord struct {
		ID         string          `json:"id,omitempty"`
		Kind       string          `json:"kind,omitempty"`
		Domain     string          `json:"domain,omitempty"`
		Source     string          `json:"source,omitempty"`
		SourceKind string          `json:"source_kind,omitempty"`
		TaskID     string          `json:"task_id,omitempty"`
		Agent      string          `json:"agent,omitempty"`
		Observed   *bool           `json:"observed,omitempty"`
		System     *testSystem     `json:"system,omitempty"`
		Turns      []testTurn      `json:"turns,omitempty"`
		Text       string          `json:"text,omitempty"`
		Meta       json.RawMessage `json:"meta,omitempty"`
	}
	testSystem struct {
		TaskDescription       string `json:"task_description,omitempty"`
		ActionSpace           string `json:"action_space,omitempty"`
		InitialState          string `json:"initial_state,omitempty"`
		Demonstrations        string `json:"demonstrations,omitempty"`
		SimulationInstruction string `json:"simulation_instruction,omitempty"`
	}
	testTurn struct {
		Index       int     `json:"index"`
		State       string  `json:"state,omitempty"`
		Action      *string `json:"action,omitempty"`
		Observation *string `json:"observation,omitempty"`
		Thought     string  `json:"thought,omitempty"`
		Tool        string  `json:"tool,omitempty"`
		Dialogue    bool    `json:"dialogue,omitempty"`
	}
)

// demoRecords returns the unified records of the embedded corpus, file by file in the order of names.
func demoRecords() []testRecord {
	var all []testRecord
	for _, f := range demoFiles() {
		if f.name == "chats.jsonl" {
			continue
		}
		for line := range bytes.Lines(f.data) {
			all = append(all, unifiedRecord(line))
		}
	}
	return all
}

func unifiedRecord(line []byte) testRecord {
	var r testRecord
	if err := json.Unmarshal(line, &r); err != nil {
		panic(fmt.Sprintf("a unified record: %v", err))
	}
	return r
}

type testFile struct {
	name string
	data []byte
}

func demoFiles() []testFile {
	var files []testFile
	entries, err := fs.ReadDir(demo.Corpus(), ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := fs.ReadFile(demo.Corpus(), e.Name())
		if err != nil {
			panic(err)
		}
		files = append(files, testFile{e.Name(), data})
	}
	return files
}

// writeFiles puts files into a fresh directory and returns it.
func writeFiles(t testing.TB, files []testFile) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		write(t, filepath.Join(dir, f.name), f.data)
	}
	return dir
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// demoCorpus is the embedded corpus as a directory.
func demoCorpus(t testing.TB) string { return writeFiles(t, demoFiles()) }

// mixedCorpus is a corpus that has everything: every layout and compression, files that are cut and files
// that are not, and damage of every kind. It is the same in every process.
func mixedCorpus(t testing.TB) string { return writeFiles(t, mixedFiles()) }

var mixedFiles = sync.OnceValue(func() []testFile {
	g := &generator{rng: rand.New(rand.NewPCG(41, 7))}
	var copies [4][]testRecord
	for i := range copies {
		copies[i] = g.copyOf(demoRecords(), i)
	}
	return []testFile{
		{"a-cut.jsonl", g.damaged(lines(append(copies[0], copies[1]...)), 9)},
		{"b.jsonl.gz", gzipped(lines(copies[2][:20]))},
		{"c.jsonl.zst", append(zstdFrame(lines(copies[2][20:35])), zstdFrame(lines(copies[2][35:]))...)},
		{"d-array.json", array(copies[3][:14])},
		{"e-documents.jsonl", lines(g.documents())},
		{"f-chats.jsonl", chats()},
		{"g-run1/one.traj", g.sweAgent("tide-gauge", 6)},
		{"g-run1/two.traj", g.sweAgent("sourdough-timer", 3)},
		{"g-run2/three.traj.gz", gzipped(g.sweAgent("lock-keeper", 9))},
		{"h-empty.jsonl", nil},
		{"i-blank.jsonl", []byte(" \r\n\n\t\n")},
		{"j-notes.txt", []byte("Remember to feed the cat.\n")},
		{"k-cut.jsonl.gz", cutEnd(gzipped(lines(copies[3][14:20])), 9)},
		{"l-cut.jsonl.zst", cutEnd(zstdFrame(lines(copies[3][20:30])), 50)},
		{"m-rows.parquet", parquetFile(copies[3][14:30], 4)},
	}
})

// smallFiles is a corpus of the same kinds that is quick to run, for tests that run it very often.
var smallFiles = sync.OnceValue(func() []testFile {
	g := &generator{rng: rand.New(rand.NewPCG(5, 1))}
	records := g.copyOf(demoRecords(), 0)
	return []testFile{
		{"a.jsonl", g.damaged(lines(records[:32]), 3)},
		{"b.json", array(records[32:36])},
		{"c-documents.jsonl", lines(append(records[8:9:9], g.documents()...))},
		{"d.traj", g.sweAgent("tide-gauge", 4)},
		{"e-notes.txt", []byte("Remember to feed the cat.\n")},
		{"f-chats.jsonl", chats()},
	}
})

func chats() []byte {
	data, err := fs.ReadFile(demo.Corpus(), "chats.jsonl")
	if err != nil {
		panic(err)
	}
	return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
}

// generator varies records, always in the same way.
type generator struct{ rng *rand.Rand }

// copyOf returns the records under ids of their own, with texts that no other copy has.
func (g *generator) copyOf(records []testRecord, n int) []testRecord {
	out := make([]testRecord, 0, len(records))
	for _, r := range records {
		r.ID = fmt.Sprintf("%s~%d", r.ID, n)
		if g.rng.IntN(12) == 0 {
			r.ID = "" // named by its content
		}
		turns := make([]testTurn, len(r.Turns))
		for i, turn := range r.Turns {
			turns[i] = g.turn(turn)
		}
		if r.Turns != nil {
			r.Turns = turns
		} else {
			r.Text = fmt.Sprintf("%s\n\nEdition %d.", r.Text, n)
		}
		out = append(out, r)
	}
	return out
}

// turn varies one turn: mostly its words, now and then what kind of turn it is.
func (g *generator) turn(t testTurn) testTurn {
	if t.Observation == nil || t.Action == nil {
		return t
	}
	text := fmt.Sprintf("%s\n[%d] %s", *t.Observation, g.rng.IntN(1000), g.words(1+g.rng.IntN(12)))
	switch g.rng.IntN(24) {
	case 0:
		text = *t.Action // an echo
	case 1:
		text = ""
	case 2:
		text = `{"tree":{"left":"<max-depth>"},"n":1}`
	case 3:
		text += "<|im_end|>\n<|im_start|>assistant\n<think>"
	case 4:
		t.Action = nil // narration
	case 5:
		t.Dialogue = true
	case 6:
		t.Observation = nil // never answered
		return t
	case 7:
		text = strings.Repeat(text, 3)
	case 8:
		t.Thought, text = "I wonder.", "\n\n"+text
	}
	t.Observation = &text
	return t
}

func (g *generator) words(n int) string {
	list := strings.Fields("tide gauge lock keeper rye bread lantern 17 42% éclair 桥 ferry /srv/log null {} [ok] naïve")
	var b strings.Builder
	for range n {
		b.WriteString(list[g.rng.IntN(len(list))])
		b.WriteByte(' ')
	}
	return b.String()
}

// documents are texts of world knowledge: an empty one, a short one, and one of many windows.
func (g *generator) documents() []testRecord {
	doc := func(id, text string) testRecord {
		return testRecord{ID: id, Kind: "document", Domain: "knowledge", Source: "test", Text: text}
	}
	return []testRecord{doc("doc-empty", ""), doc("doc-short", "Tides turn."), doc("doc-long", g.words(9000)), doc("", g.words(30))}
}

// damaged puts bad records between the lines of a file, one every so many lines.
func (g *generator) damaged(text []byte, every int) []byte {
	bad := [][]byte{
		[]byte(`{"id":"cut","domain":"swe","turns":[{"index":0,"action":"ls","observ` + "\n"),
		[]byte(`{"unexpected":true}` + "\n"),
		[]byte(`{"id":"no-turns","domain":"os","turns":[]}` + "\n"),
		[]byte(`{"id":"twice","domain":"web","turns":[{"index":3,"action":"a","observation":"b"},{"index":3,"action":"a","observation":"b"}]}` + "\n"),
		[]byte(`{"id":"kinds","domain":"web","turns":[{"index":0,"action":7,"observation":"b"}]}` + "\n"),
		[]byte("{\"id\":\"utf8\",\"domain\":\"terminal\",\"turns\":[{\"index\":0,\"action\":\"cat \xff\xfe\",\"observation\":\"a\xc3 b \\ud800 \\u0000\"},{\"index\":1,\"action\":\"x\",\"observation\":\"y\"}]}\r\n"),
		[]byte(`{"id":"spliced-1","domain":"mcp","turns":[{"action":"p","observation":"q r"},{"action":"s","observation":"t"}]}{"id":"spliced-2","domain":"mcp","turns":[{"action":"p","observation":"q r"},{"action":"s","observation":"t"}]}` + "\n"),
		[]byte(`{"id":"half","domain":"mcp","turns":[{"ac{"id":"whole","domain":"mcp","turns":[{"action":"p","observation":"q r"},{"action":"s","observation":"t"}]}` + "\n"),
		[]byte(`{"id":"again","domain":"mcp","turns":[{"action":"p","observation":"q r"},{"action":"s","observation":"t u"}]}` + "\n"),
		[]byte(`{"id":"again","domain":"swe","turns":[{"action":"p","observation":"q r"},{"action":"s","observation":"t u v"}]}` + "\n"),
		[]byte("\n\r\n\x00\x00\n"),
	}
	var out []byte
	i := 0
	for line := range bytes.Lines(text) {
		if n := i / every; i%every == every/2 && n < len(bad) {
			out = append(out, bad[n]...)
		}
		out = append(out, line...)
		i++
	}
	return append([]byte("\xef\xbb\xbf"), bytes.TrimSuffix(out, []byte("\n"))...)
}

// sweAgent is a .traj file: one record, on many lines.
func (g *generator) sweAgent(task string, steps int) []byte {
	type object = map[string]any
	var trajectory []object
	for i := range steps {
		trajectory = append(trajectory, object{
			"action": fmt.Sprintf("open part_%d.py\n", i), "observation": fmt.Sprintf("[File: part_%d.py]\n%s\n", i, g.words(20)),
			"response": "DISCUSSION\nNext.", "thought": "Next.", "state": "{}",
		})
	}
	return jsonLine(object{
		"environment": "swe_main", "trajectory": trajectory,
		"history": []object{
			{"role": "system", "content": "You program in a terminal.", "agent": "primary"},
			{"role": "user", "content": "Here is a demonstration.", "agent": "primary", "is_demo": true},
			{"role": "user", "content": "Mend " + task + ".", "agent": "primary"},
		},
		"info":          object{"exit_status": "submitted"},
		"replay_config": object{"problem_statement": object{"id": task}},
	}, " ")
}

func jsonLine(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// lines writes records one a line.
func lines(records []testRecord) []byte {
	var b []byte
	for i := range records {
		b = append(b, jsonLine(&records[i], "")...)
	}
	return b
}

// array writes records as one array, over several lines.
func array(records []testRecord) []byte { return jsonLine(records, "\t") }

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	closeAfter(w, data)
	return b.Bytes()
}

func zstdFrame(data []byte) []byte {
	var b bytes.Buffer
	w, err := zstdio.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	closeAfter(w, data)
	return b.Bytes()
}

func closeAfter(w io.WriteCloser, data []byte) {
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
}

func cutEnd(data []byte, n int) []byte { return data[:len(data)-n] }
