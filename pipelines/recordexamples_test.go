package pipelines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/stats/figures"
)

// lossyCorpus has records that are rejected, dropped and mended, enough of each that not all are shown.
func lossyCorpus(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	for i := range 60 {
		fmt.Fprintf(&b, `{"id":"good-%d","domain":"terminal","turns":[{"action":"ls %d","observation":"alpha beta %d"},{"action":"<|im_end|> x","observation":"gamma delta"}]}`+"\n", i, i, i)
		fmt.Fprintf(&b, `{"id":"short-%d","domain":"terminal","turns":[{"action":"ls","observation":"o"}]}`+"\n", i)
		fmt.Fprintf(&b, `{"id":"cut-%d","domain":"terminal","turns":[{"action":"l`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "lossy.jsonl")
	write(t, path, b.Bytes())
	return path
}

// readRecords returns the lines of a partition's examples of records, and the sampler that they make.
func readRecords(t testing.TB, root string, i int) (*recordSampler, []*recordLine) {
	t.Helper()
	s := newRecordSampler("", mostKinds)
	var lines []*recordLine
	if err := readRecordExamples(root, i, &s, func(l *recordLine) { lines = append(lines, l) }); err != nil {
		t.Fatal(err)
	}
	return &s, lines
}

// TestRecordExamples: what was lost or mended has a few examples of each kind with place, reason and text; the same
// bytes for any number of workers, and those with the least ranks.
func TestRecordExamples(t *testing.T) {
	o := auditOptions(t, lossyCorpus(t))
	o.Tokenizer, o.PartitionBytes = "demo", 4096
	var first []byte
	for _, n := range []int{1, 2, 7} {
		again := with(t, o, func(o *Options) { o.Workers = n })
		m := mustRun(t, again)
		mustCheck(t, again)
		data, err := os.ReadFile(filepath.Join(again.Output, recordExamplesPath(0)))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Errorf("%d workers: other bytes", n)
		}
		if n > 1 {
			continue
		}
		s, lines := readRecords(t, again.Output, 0)
		ledger := m.Counts.Ledger.Total.Records
		if ledger.AllRejected() != 60 || ledger.AllDropped() != 60 {
			t.Fatalf("the ledger: %+v", ledger)
		}
		bad := s.lost.Of(figures.Kind{Of: ofRecords, What: "rejected: bad_json"})
		if len(bad) != 3 {
			t.Fatalf("%d examples of bad JSON among %v", len(bad), s.lost.Kinds())
		}
		for _, e := range bad {
			l := e.Value
			if l.Line%3 != 0 || l.Kind != "record" || l.Detail == "" || !strings.HasPrefix(l.Text.Head, `{"id":"cut-`) || l.Rank != figures.RankRecord(o.Seed, l.Path, -1, l.Offset, l.ID) {
				t.Errorf("an example of bad JSON: %+v", l)
			}
		}
		for _, k := range []figures.Kind{{Of: ofRecords, Name: "terminal", What: "dropped: too_few_turns"}, {Of: ofTrajectories, Name: "terminal", What: "dropped: too_few_turns"}} {
			if len(s.lost.Of(k)) != 3 {
				t.Errorf("%d examples of %v", len(s.lost.Of(k)), k)
			}
		}
		forged := s.mended.Of(figures.Kind{Of: ofNotes, Name: "terminal", What: noteKind("forged_control")})
		if len(forged) != 3 || !strings.Contains(forged[0].Value.Text.Head, "<|im_end|>") || !strings.HasPrefix(forged[0].Value.ID, "good-") {
			t.Errorf("%d examples of forged control tokens: %v", len(forged), s.mended.Kinds())
		}
		if len(lines) > 20 {
			t.Errorf("%d lines", len(lines))
		}
	}
}

// TestRecordsInReport: the page links what was lost and mended to its examples; of a run of cpt what was lost, from its
// rejects, without texts.
func TestRecordsInReport(t *testing.T) {
	corpus := lossyCorpus(t)
	for _, pipeline := range []string{pipelineAudit, pipelineCPT} {
		o := options(t, corpus)
		o.Pipeline = pipeline
		mustRun(t, o)
		page := mustReport(t, ReportOptions{Path: o.Output})
		forged := `forged_control</th><td class="r"><a href="#ex-record-`
		if pipeline == pipelineCPT {
			forged = `forged_control</th><td class="r"><a href="#no-examples">`
		}
		for _, want := range []string{`bad_json <a href="#ex-record-`, `too_few_turns <a href="#ex-record-`, "lossy.jsonl:", forged} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page has no %s", pipeline, want)
			}
		}
		if texts := strings.Contains(page, `<pre class="text">{&#34;id&#34;:&#34;cut-`); texts != (pipeline == pipelineAudit) {
			t.Errorf("%s: texts of records: %v", pipeline, texts)
		}
	}
}

// TestRecordExamplesAreProven: check finds examples that the rejects do not give.
func TestRecordExamplesAreProven(t *testing.T) {
	o := auditOptions(t, lossyCorpus(t))
	mustRun(t, o)
	for name, change := range map[string]func(s *recordSampler, l *recordLine){
		"another line":   func(_ *recordSampler, l *recordLine) { l.Line++ },
		"another reason": func(_ *recordSampler, l *recordLine) { l.Detail = "because" },
		"another rank":   func(_ *recordSampler, l *recordLine) { l.Rank++ },
		"a kind more": func(s *recordSampler, l *recordLine) {
			s.lost.At(figures.Kind{Of: ofRecords, What: "rejected: bad_luck"}).Put(l.Rank, l)
		},
		"a note that is not counted": func(s *recordSampler, l *recordLine) {
			s.mended.At(figures.Kind{Of: ofNotes, Name: "terminal", What: noteKind("bad_utf8")}).Put(9, &recordLine{Rank: 9, Kind: "record"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, o.Output)
			s, lines := readRecords(t, f.root, 0)
			change(s, lines[0])
			var file bytes.Buffer
			rows, err := writeRecordExamples(&file, s)
			if err != nil {
				t.Fatal(err)
			}
			write(t, f.path(recordExamplesPath(0)), file.Bytes())
			f.setRows(recordExamplesPath(0), rows)
			f.sign()
			_, err = Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory})
			wantError(t, err, "examples/r00000.jsonl.zst")
		})
	}
}

// TestRecordText: a record shows its first and last bytes, valid, and says how many are left out.
func TestRecordText(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("é", 449) + "xx", strings.Repeat("a", 900), strings.Repeat("a", 901), strings.Repeat("é", 3000), "a" + strings.Repeat("漢", 3000), strings.Repeat("\xff", 3000)} {
		x := recordBytesOf([]byte(text), &jsonscan.Arena{}).text(nil)
		if !utf8.ValidString(x.Head) || !utf8.ValidString(x.Tail) {
			t.Errorf("%.9q: no UTF-8: %+v", text, x)
		}
		if utf8.ValidString(text) && (!strings.HasPrefix(text, x.Head) || !strings.HasSuffix(text, x.Tail) || len(x.Head)+x.Skipped+len(x.Tail) != len(text)) {
			t.Errorf("%.9q: %d, %d, %d bytes of %d", text, len(x.Head), x.Skipped, len(x.Tail), len(text))
		}
		if len(text) > recordHead+recordTail && slices.Contains([]int{len(x.Head), len(x.Tail), x.Skipped}, 0) {
			t.Errorf("%.9q: %d, %d, %d bytes", text, len(x.Head), x.Skipped, len(x.Tail))
		}
	}
}

// TestRecordTextWithoutSecrets: what is cut out is told in characters that are whole, and a secret that reaches beyond
// what is shown is not shown in part, however large the record.
func TestRecordTextWithoutSecrets(t *testing.T) {
	hide := secrets.New(secrets.Scrub)
	var body []byte
	for i := range 200 {
		sum := sha256.Sum256([]byte{byte(i)})
		body = append(base64.StdEncoding.AppendEncode(body, sum[:]), '\n')
	}
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + string(body) + "-----END RSA " + "PRIVATE KEY-----\n"
	for _, text := range []string{
		strings.Repeat("a ", 340) + key,
		strings.Repeat("a ", 340) + key + strings.Repeat("log line\n", 10_000),
		key + strings.Repeat("漢", 30_000) + key,
	} {
		x := recordBytesOf([]byte(text), &jsonscan.Arena{}).text(hide)
		for line := range strings.Lines(string(body)) {
			if strings.Contains(x.Head+x.Tail, line[:20]) {
				t.Fatalf("%d bytes: a key is shown: %q, %q", len(text), x.Head, x.Tail)
			}
		}
		if !utf8.ValidString(x.Head) || !utf8.ValidString(x.Tail) || strings.Contains(x.Head+x.Tail, "\uFFFD") {
			t.Errorf("%d bytes: a character is parted", len(text))
		}
	}
}
