package pipelines

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// TestShuffleSettings: what is shuffled is proven whatever columns, masks and splits there are, or no row at all.
func TestShuffleSettings(t *testing.T) {
	base := shuffledRun(t)
	base.Partitions = 3
	for name, set := range map[string]func(*Options){
		"weights":       func(o *Options) { o.Mask, o.Profile = "weight", "weighted" },
		"spans":         func(o *Options) { o.Mask = "span" },
		"one split":     func(o *Options) { o.Validation = "0" },
		"a row a shard": func(o *Options) { o.ShardBytes = 1 },
		"one shard":     func(o *Options) { o.ShardBytes = 1 << 30 },
		"no row": func(o *Options) {
			o.MinTurns = 1000
			o.Inputs = []string{writeFiles(t, []testFile{{"a.jsonl", lines(demoRecords()[:3])}})}
		},
		"all validation": func(o *Options) { o.Validation = "0.999999999" },
		"beyond":         func(o *Options) { o.Beyond = "on" },
	} {
		t.Run(name, func(t *testing.T) {
			o := with(t, base, set)
			m := mustRun(t, o)
			mustCheck(t, o)
			want := digest(t, o.Output)
			if name == "no row" && (m.Tokens.Rows != 0 || want["train/data-s00000.arrow"] == "" || want["validation/data-s00000.arrow"] == "") {
				t.Errorf("%d rows, files %v", m.Tokens.Rows, shardsOf(m))
			}
			mustRun(t, o)
			sameFiles(t, "again", want, digest(t, o.Output))
			o.Shuffle = false
			if _, err := CPT(context.Background(), o); err == nil {
				t.Error("a run without --shuffle goes on in its OUT")
			}
			o.Restart = true
			mustRun(t, o)
			plain := with(t, o, nil)
			mustRun(t, plain)
			sameFiles(t, "restarted without --shuffle", digest(t, plain.Output), digest(t, o.Output))
		})
	}
}

// TestShuffleStream: standard input is shuffled as a file is, and goes on from its commits after the manifest.
func TestShuffleStream(t *testing.T) {
	text := lines(append(demoRecords(), demoRecords()...))
	o := options(t, "-")
	o.Stdin, o.PartitionBytes, o.Shuffle = bytes.NewReader(text), 20_000, true
	m := mustRun(t, o)
	want := digest(t, o.Output)
	mustCheckStream(t, o, text)
	o.Stdin = bytes.NewReader(text)
	mustRun(t, o)
	sameFiles(t, "fed again", want, digest(t, o.Output))
	f := options(t, writeFiles(t, []testFile{{"a.jsonl", text}}))
	f.Shuffle = true
	if file := mustRun(t, f); !slices.Equal(splitRows(t, o.Output, m, train), splitRows(t, f.Output, file, train)) || m.Tokens.Rows < 50 {
		t.Error("the rows of a file come in another order")
	}
}

// TestShuffleSFT: rows of an SFT set are ordered by their queries, and queries/ says where they have come to stand.
func TestShuffleSFT(t *testing.T) {
	o := toySFT(t)
	o.Shuffle, o.ShardBytes, o.Validation = true, 200_000, "0.2"
	m := mustRun(t, o)
	mustCheck(t, o)
	type drawnQuery struct {
		draw uint64
		at   place
	}
	var all [len(splitNames)][]drawnQuery
	for i := range m.Config.Partitions {
		in, err := openLines(o.Output, queriesPath(i))
		if err != nil {
			t.Fatal(err)
		}
		for line, err := in.line(); line != nil; line, err = in.line() {
			q := &QueryLine{}
			if err != nil || json.Unmarshal(line, q) != nil {
				t.Fatal(err)
			}
			if q.Row != nil {
				at := place{q.Row.Shard, q.Row.Row}
				of, _ := splitOf(at.shard)
				all[of] = append(all[of], drawnQuery{drawOf(m.Mask.Seed, q.ID, 0), at})
			}
		}
		in.close()
	}
	for of, rows := range all {
		slices.SortFunc(rows, func(a, b drawnQuery) int {
			return cmp.Or(cmp.Compare(a.at.shard, b.at.shard), cmp.Compare(a.at.row, b.at.row))
		})
		if !slices.IsSortedFunc(rows, func(a, b drawnQuery) int { return cmp.Compare(a.draw, b.draw) }) || len(rows) < 10 {
			t.Errorf("%s: %d rows, not in the order of their queries' draws", split(of), len(rows))
		}
	}
	want := digest(t, o.Output)
	p := with(t, o, func(o *Options) { o.Workers = 7 })
	if _, err := PlanCPT(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	for i := range m.Config.Partitions {
		mustRunPart(t, later(p), m.Config.Partitions-1-i)
	}
	if _, err := Merge(context.Background(), later(p)); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "in processes", want, digest(t, p.Output))
}

// TestShuffleRetry: what failed is asked again in a shuffled set too, whose partitions are then done anew.
func TestShuffleRetry(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 28)
	o.Shuffle = true
	mustRun(t, o)
	mustCheck(t, o)
	server.healed = true
	again, err := Retry(context.Background(), Options{Output: o.Output, Ask: o.Ask, Memory: o.Memory, MaxRejectRate: 1, MaxDropRate: 1})
	if err != nil {
		t.Fatal(err)
	}
	if q := again.Ledger.Total.Queries; q.In != 28 || q.AllRejected() != 0 {
		t.Errorf("queries after the retry: %+v", q)
	}
	mustCheck(t, o)
}

// TestShuffleReaders: show and the report of a finished run go by the shuffled places.
func TestShuffleReaders(t *testing.T) {
	o := shuffledRun(t)
	m := mustRun(t, o)
	shards := shardsOf(m)
	for _, row := range []int64{0, 17, m.Tokens.Rows - 1} {
		s, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: row})
		if err != nil {
			t.Fatal(err)
		}
		left, at := row, 0
		for left >= int64(len(readShard(t, o.Output, shards[at], 0))) {
			left -= int64(len(readShard(t, o.Output, shards[at], 0)))
			at++
		}
		if s.Shard != shards[at] || s.Row != left || s.Number != row || s.From == nil || len(s.Turns) == 0 {
			t.Errorf("row %d: %s row %d, number %d, from %v; want %s row %d", row, s.Shard, s.Row, s.Number, s.From, shards[at], left)
		}
		for _, turn := range readTurns(t, o.Output, *s.From.Partition) {
			if turn.Shard == s.Shard && turn.Row == s.Row && turn.ID != s.ID {
				t.Errorf("row %d is of %s, and shown as of %s", row, turn.ID, s.ID)
			}
		}
		id, err := Show(context.Background(), ShowOptions{Path: o.Output, ID: s.ID})
		if err != nil || id.ID != s.ID {
			t.Errorf("--id %s: %v", s.ID, err)
		}
	}
	if _, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: m.Tokens.Rows}); err == nil {
		t.Error("a row beyond the last is shown")
	}
	if s, err := Show(context.Background(), ShowOptions{Path: o.Output, Surprising: true}); err != nil || len(s.Turns) == 0 {
		t.Errorf("--surprising: %v", err)
	}
	plain := with(t, o, func(o *Options) { o.Shuffle = false })
	mustRun(t, plain)
	var pages [2][]byte
	for i, root := range []string{o.Output, plain.Output} {
		at, err := Report(context.Background(), ReportOptions{Path: root, Output: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if pages[i], err = os.ReadFile(at); err != nil {
			t.Fatal(err)
		}
	}
	if len(pages[0]) != len(pages[1]) || len(pages[0]) < 10_000 {
		t.Errorf("reports of %d and %d bytes", len(pages[0]), len(pages[1]))
	}
	dry := with(t, o, func(o *Options) { o.DryRun = true })
	if n, err := CPT(context.Background(), dry); err != nil || n.Tokens != m.Tokens {
		t.Errorf("a dry run: %v", err)
	}
	if _, err := os.Stat(dry.Output); err == nil {
		t.Error("a dry run has written something")
	}
}

// shortRecords are records of a few tokens from so many sources, source by source.
func shortRecords(sources, each int) []testRecord {
	var all []testRecord
	for s := range sources {
		for i := range each {
			r := demoRecords()[0]
			r.ID, r.Source = fmt.Sprintf("s%d-%d", s, i), fmt.Sprintf("source-%d", s)
			all = append(all, r)
		}
	}
	return all
}

// TestShuffleSpreads: sources that come one after the other are spread evenly: where rows of a source stand is told by
// chi square from an even spread no more than chance would.
func TestShuffleSpreads(t *testing.T) {
	const sources, each, stretches = 8, 150, 10
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(shortRecords(sources, each))}}))
	o.Partitions, o.Mask, o.Shuffle = 3, "off", true
	chi := func(o Options) float64 {
		m := mustRun(t, o)
		numbers := newRowNumbers(orderedFiles(o.Output, m.Plan))
		count := map[[2]int]int{}
		rows := map[int64]bool{}
		for i := range m.Config.Partitions {
			for _, r := range readTurns(t, o.Output, i) {
				n, another := numbers.next(place{r.Shard, r.Row})
				if another {
					rows[n] = true
					count[[2]int{int(r.Source[len(r.Source)-1] - '0'), int(n * stretches / (sources * each))}]++
				}
			}
		}
		if len(rows) != sources*each {
			t.Fatalf("%d rows, want %d", len(rows), sources*each)
		}
		sum, expected := 0.0, float64(each)/stretches
		for s := range sources {
			for k := range stretches {
				d := float64(count[[2]int{s, k}]) - expected
				sum += d * d / expected
			}
		}
		return sum
	}
	// 63 degrees of freedom: below 33 and above 103 once in a thousand times each.
	if got := chi(o); got < 33 || got > 103 {
		t.Errorf("chi square %.1f with --shuffle", got)
	}
	if got := chi(with(t, o, func(o *Options) { o.Shuffle = false })); got < 1000 {
		t.Errorf("chi square %.1f without --shuffle: the test proves nothing", got)
	}
}

// TestRecord: a row comes back from the record of a bucket as it was, and records from buckets in the order of draw and
// time, however small the buckets are.
func TestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weighted := rapid.Bool().Draw(t, "weighted")
		sizes := bucketSizes{bytes: rapid.Int64Range(1, 2000).Draw(t, "bytes"), bits: rapid.IntRange(1, 5).Draw(t, "bits")}
		dir, err := os.MkdirTemp("", "buckets")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		b := newBuckets(dirSink{dir, machine{}}, "b", 0, rapid.Int64Range(0, 5000).Draw(t, "expected"), sizes)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var rows []turnmill.Row
		var draws []uint64
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			var r turnmill.Row
			for range rng.IntN(40) {
				id := int32(rng.Uint32() >> 1)
				r.IDs, r.Labels = append(r.IDs, id), append(r.Labels, [2]int32{id, turnmill.IgnoreIndex}[rng.IntN(2)])
				if weighted {
					r.Weights = append(r.Weights, rng.Float32())
				}
			}
			draw := rng.Uint64()
			if len(draws) > 0 && rng.IntN(3) == 0 { // the same one again
				draw = draws[rng.IntN(len(draws))]
			}
			if err := b.put(appendRecord(nil, draw, int64(len(rows)), r.IDs, r.Labels, r.Weights)); err != nil {
				t.Fatal(err)
			}
			rows, draws = append(rows, r), append(draws, draw)
		}
		var got []int64
		var row turnmill.Row
		err = b.drain(sizes, weighted, func(record []byte) error {
			readRecord(record, weighted, &row)
			n := recordOrdinal(record)
			if rowKey(&row) != rowKey(&rows[n]) || recordDraw(record) != draws[n] {
				t.Fatalf("row %d came back as another", n)
			}
			got = append(got, n)
			return nil
		})
		want := make([]int64, len(rows))
		for i := range want {
			want[i] = int64(i)
		}
		slices.SortStableFunc(want, func(a, b int64) int { return cmp.Compare(draws[a], draws[b]) })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v, %v", got, want, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Fatalf("%v are left", left)
		}
	})
}
