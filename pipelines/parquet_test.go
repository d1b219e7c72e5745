package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/parquet"
	"github.com/turnmill/turnmill/stats"
)

// parquetRecord is testRecord as a writer of columns sees it: every row has every column.
type parquetRecord struct {
	ID       string         `parquet:"id,optional"`
	Kind     string         `parquet:"kind,optional"`
	Domain   string         `parquet:"domain,optional"`
	Source   string         `parquet:"source,optional"`
	Kinds    string         `parquet:"source_kind,optional"`
	TaskID   string         `parquet:"task_id,optional"`
	Agent    string         `parquet:"agent,optional"`
	Observed *bool          `parquet:"observed,optional"`
	System   *parquetSystem `parquet:"system,optional"`
	Turns    []parquetTurn  `parquet:"turns,list"`
	Text     string         `parquet:"text,optional"`
	Meta     string         `parquet:"meta,optional"`
}

type parquetSystem struct {
	Task   string `parquet:"task_description,optional"`
	Space  string `parquet:"action_space,optional"`
	State  string `parquet:"initial_state,optional"`
	Demos  string `parquet:"demonstrations,optional"`
	Simple string `parquet:"simulation_instruction,optional"`
}

type parquetTurn struct {
	Index       int64   `parquet:"index"`
	State       string  `parquet:"state,optional"`
	Action      *string `parquet:"action,optional"`
	Observation *string `parquet:"observation,optional"`
	Thought     string  `parquet:"thought,optional"`
	Tool        string  `parquet:"tool,optional"`
	Dialogue    bool    `parquet:"dialogue"`
}

// parquetFile holds records by columns, a few a row group. Their meta is JSON in a text.
func parquetFile(records []testRecord, perGroup int64) []byte {
	var b bytes.Buffer
	w := pq.NewGenericWriter[parquetRecord](&b, pq.MaxRowsPerRowGroup(perGroup), pq.Compression(&pq.Zstd), pq.PageBufferSize(2000))
	for _, r := range records {
		row := parquetRecord{ID: r.ID, Kind: r.Kind, Domain: r.Domain, Source: r.Source, Kinds: r.SourceKind, TaskID: r.TaskID, Agent: r.Agent, Observed: r.Observed, Text: r.Text, Meta: string(r.Meta)}
		if s := r.System; s != nil {
			row.System = &parquetSystem{s.TaskDescription, s.ActionSpace, s.InitialState, s.Demonstrations, s.SimulationInstruction}
		}
		for _, t := range r.Turns {
			row.Turns = append(row.Turns, parquetTurn{int64(t.Index), t.State, t.Action, t.Observation, t.Thought, t.Tool, t.Dialogue})
		}
		if _, err := w.Write([]parquetRecord{row}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// manyRecords are the records of the embedded corpus, a few times over.
func manyRecords() []testRecord {
	g := &generator{rng: rand.New(rand.NewPCG(12, 9))}
	return append(append(g.copyOf(demoRecords(), 0), g.copyOf(demoRecords(), 1)...), g.copyOf(demoRecords(), 2)...)
}

// TestParquetIsCut: a Parquet file is dealt out to many partitions at its row groups, and gives the rows, turns
// and counts of its twin of JSON lines, with any number of workers.
func TestParquetIsCut(t *testing.T) {
	records := manyRecords()
	plain := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(records)}}))
	m := mustRun(t, plain)
	want := contentOf(t, plain.Output, m)
	for _, perGroup := range []int64{1, 7, 1000} {
		o := options(t, writeFiles(t, []testFile{{"a.parquet", parquetFile(records, perGroup)}}))
		o.Partitions = 9
		got := mustRun(t, o)
		c := contentOf(t, o.Output, got)
		for i := range c.Rejects { // their places are rows of a file of another name
			was, l := &want.Rejects[i], &c.Rejects[i]
			if l.Line != was.Line {
				t.Errorf("reject %d: row %d, line %d of the twin", i, l.Line, was.Line)
			}
			l.Path, l.Offset, l.Bytes = was.Path, was.Offset, was.Bytes
		}
		sameContent(t, fmt.Sprint("groups of ", perGroup), want, c)
		if diff := cmp.Diff(m.Ledger, got.Ledger); diff != "" {
			t.Errorf("ledger (-lines +columns):\n%s", diff)
		}
		if got.Notices[stats.InputNotes]["null_members"] == 0 || got.Notices[stats.InputNotes]["opened_json"] == 0 {
			t.Errorf("notices %v", got.Notices[stats.InputNotes])
		}
		busy := 0
		for i := range 9 {
			if commit, err := readCommit(o.Output, i); err != nil {
				t.Fatal(err)
			} else if commit.Counts.Ledger.Total.Records.In > 0 {
				busy++
			}
		}
		if perGroup < 1000 && busy < 5 || perGroup == 1000 && busy != 1 { // much of such a file is its footer
			t.Errorf("groups of %d: %d partitions have records", perGroup, busy)
		}
		mustCheck(t, o)
		sums := digest(t, o.Output)
		for _, workers := range []int{1, 2, 7} {
			again := with(t, o, func(o *Options) { o.Workers = workers })
			mustRun(t, again)
			sameFiles(t, fmt.Sprint(workers, " workers"), sums, digest(t, again.Output))
		}
	}
}

// TestParquetThreeSteps: plan, run and merge give the bytes of cpt, and a footer that has changed is refused.
func TestParquetThreeSteps(t *testing.T) {
	dir := writeFiles(t, []testFile{{"a.parquet", parquetFile(manyRecords(), 5)}, {"b.jsonl", lines(demoRecords())}})
	o := options(t, dir)
	o.Partitions = 4
	cpt := with(t, o, nil)
	mustRun(t, cpt)
	if _, err := PlanCPT(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	mustRunPart(t, later(o), 2, 0, 3, 1)
	if _, err := Merge(context.Background(), later(o)); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "three steps", digest(t, cpt.Output), digest(t, o.Output))
}

// TestParquetDamage: a damaged page costs the rest of its row group, each row with a place; a cut file, one
// inside gzip and one on standard input are refused by name, and the rest goes on.
func TestParquetDamage(t *testing.T) {
	records := manyRecords()
	data := parquetFile(records, 10)
	file := filepath.Join(t.TempDir(), "x.parquet")
	write(t, file, data)
	f, err := parquet.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	group := f.Groups[2]
	damaged := bytes.Clone(data)
	clear(damaged[group.Offset+group.Bytes/2 : group.Offset+group.Bytes])
	o := options(t, writeFiles(t, []testFile{{"a.parquet", damaged}, {"b.parquet", data[:len(data)/2]}, {"c.parquet.gz", gzipped(data)}, {"d.parquet", data}}))
	o.Partitions, o.MaxRejectRate = 5, 1
	m := mustRun(t, o)
	in, lost := m.Ledger.Total.Records.In, m.Ledger.Total.Records.Rejected[turnmill.ReasonBadParquet]
	if in != int64(2*len(records)+2) || lost < 3 || lost > 12 {
		t.Errorf("%d records in, %d lost", in, lost)
	}
	rows := int64(0)
	for _, l := range contentOf(t, o.Output, m).Rejects {
		switch {
		case l.Path == "0/a.parquet" && l.Reason == turnmill.ReasonBadParquet:
			rows++
			if l.Line < group.Row || l.Line >= group.Row+group.Rows || l.Offset != group.Offset || l.Bytes != group.Bytes || l.Kind != "record" {
				t.Errorf("%+v is not in the damaged row group %+v", l, group)
			}
		case l.Path == "0/b.parquet" && (l.Kind != "file" || !strings.Contains(l.Detail, "cut")),
			l.Path == "0/c.parquet.gz" && (l.Kind != "file" || !strings.Contains(l.Detail, "decompress")):
			t.Errorf("%+v", l)
		}
	}
	if rows != lost-2 {
		t.Errorf("%d rows of %d have lines", rows, lost-2)
	}
	mustCheck(t, o)

	stdin := options(t, "-")
	stdin.Stdin = bytes.NewReader(data)
	_, err = CPT(context.Background(), stdin)
	wantUsage(t, err, "Parquet", "footer", "file")
}

// TestParquetMemory: a file whose pages need more than --memory is refused with what is enough.
func TestParquetMemory(t *testing.T) {
	action, big := "cat log", strings.Repeat("the lamp burns and the wind turns ", 4<<20/34)
	var records []testRecord
	for i := range 24 {
		text := fmt.Sprint(i, big)
		records = append(records, testRecord{ID: fmt.Sprint("r", i), Domain: "terminal", Turns: []testTurn{{Index: 0, Action: &action, Observation: &text}, {Index: 1, Action: &action, Observation: &action}}})
	}
	var b bytes.Buffer // one page of all observations
	w := pq.NewGenericWriter[parquetRecord](&b, pq.PageBufferSize(1<<30), pq.Compression(&pq.Zstd))
	for _, r := range records {
		row := parquetRecord{ID: r.ID, Domain: r.Domain}
		for _, t := range r.Turns {
			row.Turns = append(row.Turns, parquetTurn{Index: int64(t.Index), Action: t.Action, Observation: t.Observation})
		}
		if _, err := w.Write([]parquetRecord{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := options(t, writeFiles(t, []testFile{{"a.parquet", b.Bytes()}}))
	o.Memory = 192 << 20
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "--memory", "MiB")
	o.Memory = 512 << 20
	if m := mustRun(t, o); m.Ledger.Total.Turns.In != 48 {
		t.Errorf("%d turns in", m.Ledger.Total.Turns.In)
	}
}

// TestParquetWholeFormat: rows of a format whose records are files are one record together.
func TestParquetWholeFormat(t *testing.T) {
	type message struct {
		Role    string `parquet:"role" json:"role"`
		Content string `parquet:"content" json:"content"`
	}
	type row struct {
		Dataset  string    `parquet:"dataset" json:"dataset"`
		ID       string    `parquet:"id" json:"id"`
		Messages []message `parquet:"messages,list" json:"messages"`
		Task     string    `parquet:"task_name" json:"task_name"`
		Prompt   string    `parquet:"prompt" json:"prompt"`
		Output   string    `parquet:"output" json:"output"`
	}
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b, pq.MaxRowsPerRowGroup(1))
	var twin []byte
	history := "1: None"
	for i, page := range []string{"[1] link 'Tea'", "[2] link 'Green'", "[3] link 'Buy'"} {
		user := "OBSERVATION:\n" + page + "\nURL: http://a\nOBJECTIVE: Find tea.\nPREVIOUS ACTIONS:\n" + history
		r := row{"demo", "w1", []message{{"system", "You browse."}, {"user", user}, {"assistant", fmt.Sprintf("I click. ```click [%d]```", i+1)}}, "w1", "p", "o"}
		history += fmt.Sprintf("\n%d: click [%d] where [%d] is %s", i+2, i+1, i+1, page[4:])
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
		twin = append(twin, jsonLine(r, "")...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, []testFile{{"a.parquet", b.Bytes()}, {"b.jsonl", twin}})
	columns, records := unify(t, filepath.Join(dir, "a.parquet"))
	want, _ := unify(t, filepath.Join(dir, "b.jsonl"))
	if !bytes.Equal(columns, want) || len(records) != 1 || len(records[0].Turns) != 2 {
		t.Errorf("%d records\n%s\nof the twin\n%s", len(records), columns, want)
	}
}

// TestParquetTwins: the files of the writers that people use give the unified lines of their twin.
func TestParquetTwins(t *testing.T) {
	dir := filepath.Join("..", "ingest", "parquet", "testdata")
	want, records := unify(t, filepath.Join(dir, "rows.jsonl"))
	if len(records) != 12 {
		t.Fatalf("%d records", len(records))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".parquet" {
			continue
		}
		n++
		if got, _ := unify(t, filepath.Join(dir, f.Name())); !bytes.Equal(got, want) {
			t.Errorf("%s: not the lines of its twin", f.Name())
		}
	}
	if n < 15 {
		t.Errorf("%d files", n)
	}
}
