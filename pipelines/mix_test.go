package pipelines

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// mixRun has 60 trajectories, 6 of another source, and 12 documents.
func mixRun(t *testing.T) Options {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(6, 6))}
	var large, small, docs []testRecord
	for i := range 66 {
		r := testRecord{ID: fmt.Sprintf("run-%d", i), Domain: "mcp", Source: "large"}
		for k := range 3 {
			r.Turns = append(r.Turns, testTurn{Index: k, Action: ptr(g.words(4)), Observation: ptr(g.words(20))})
		}
		if i >= 60 {
			r.Source = "small"
			small = append(small, r)
		} else {
			large = append(large, r)
		}
	}
	for i := range 12 {
		docs = append(docs, testRecord{ID: fmt.Sprintf("doc-%d", i), Kind: "document", Domain: "knowledge", Source: "book", Text: g.words(40 + 10*i)})
	}
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(large)}, {"b.json", array(small)}, {"c.jsonl", lines(docs)}}))
	o.Partitions = 4
	return o
}

func byName(groups []MixRows) map[string]MixRows {
	m := map[string]MixRows{}
	for _, g := range groups {
		m[g.Name] = g
	}
	return m
}

// TestMix: groups are repeated and cut to their weights; the ledger says what was repeated, and check proves it.
func TestMix(t *testing.T) {
	base := mixRun(t)
	plain := mustRun(t, base)
	if plain.Scan != nil || plain.Ledger.Total.Records.Out != 78 || plain.Ledger.Total.Records.Repeated != 0 {
		t.Fatalf("without a mix not everything is there once: %+v", plain.Ledger.Total.Records)
	}
	for by, want := range map[string][3]int64{mixRecords: {39, 26, 13}, mixBytes: {}} {
		o := with(t, base, func(o *Options) {
			o.Mix = &Mix{By: by, Groups: []MixGroup{{Name: "large", Weight: 3, Inputs: []string{"0/a.*"}}, {Name: "small", Weight: 2, Sources: []string{"small"}}, {Name: "docs", Weight: 1, Kind: kindDocument}}}
		})
		m := mustRun(t, o)
		all, mixed, share := int64(0), int64(0), [3]int64{}
		for i, s := range m.Scan.Mix {
			if all += s.Bytes; by == mixRecords && s.Mixed != want[i] {
				t.Errorf("%s: %d records, want %d", s.Name, s.Mixed, want[i])
			}
			mixed += s.Mixed
			share[i] = s.MixBytes
		}
		if by == mixBytes {
			for i, weight := range []int64{3, 2, 1} {
				if off := share[i] - all*weight/6; off > 600 || off < -600 { // a record's
					t.Errorf("%s: %d bytes of %d, weight %d", m.Scan.Mix[i].Name, share[i], all, weight)
				}
			}
		}
		l := m.Ledger.Total
		if l.Records.In != 78 || l.Records.Out != mixed || l.Records.Repeated != mixed+l.Records.AllDropped()-78 || l.Records.Dropped[turnmill.ReasonMixedOut] == 0 {
			t.Errorf("%s: %+v, mixed %d", by, l.Records, mixed)
		}
		if l.Turns.Repeated == 0 || l.LossTokens.Repeated == 0 || l.Trajectories.Repeated == 0 || m.DuplicateIDs != 0 {
			t.Errorf("%s: turns %+v, %d duplicate ids", by, l.Turns, m.DuplicateIDs)
		}
		rows := byName(m.Mix)
		if rows["large"].Tokens+rows["small"].Tokens+rows["docs"].Tokens != m.Tokens.All || rows["small"].Trained == 0 || rows[""].Rows != 0 {
			t.Errorf("%s: %+v of %+v", by, m.Mix, m.Tokens)
		}
		mustCheck(t, o)
		many := with(t, o, func(o *Options) { o.Workers = 5 })
		mustRun(t, many)
		sameFiles(t, by, digest(t, o.Output), digest(t, many.Output))
		dry := mustRun(t, with(t, o, func(o *Options) { o.DryRun = true }))
		if fmt.Sprint(dry.Mix) != fmt.Sprint(m.Mix) || dry.Ledger.Total.Records.Out != l.Records.Out {
			t.Errorf("a dry run gives %+v", dry.Mix)
		}
		seeded := with(t, o, func(o *Options) { o.Seed = "another" })
		mustRun(t, seeded)
		if trainFiles(digest(t, seeded.Output)) == trainFiles(digest(t, o.Output)) {
			t.Error("the seed draws nothing")
		}
	}
}

// TestMixCopies: a copy is the row again, with the id and the labels of the first.
func TestMixCopies(t *testing.T) {
	o := mixRun(t)
	o.Partitions = 1
	o.Mix = &Mix{By: mixRecords, Groups: []MixGroup{{Name: "large", Weight: 1, Sources: []string{"large"}}, {Name: "small", Weight: 1, Sources: []string{"small"}}}}
	m := mustRun(t, o)
	ids := map[string]int{}
	err := eachTurn(o.Output, 0, func(rows []stats.TurnRow) error {
		for _, r := range rows {
			if r.Source == "small" && r.Turn == 0 {
				ids[r.ID]++
			}
		}
		return nil
	})
	if err != nil || len(ids) != 6 {
		t.Fatal(ids, err)
	}
	for id, n := range ids {
		if n != 5 && n != 6 {
			t.Errorf("%s is there %d times: 33 of 6", id, n)
		}
	}
	if byName(m.Mix)[""].Rows == 0 || m.Scan.Mix[1].Mixed != 33 {
		t.Errorf("documents are of no group and stay: %+v, %+v", m.Mix, m.Scan.Mix)
	}
	forged := with(t, o, nil)
	copyDir(t, o.Output, forged.Output)
	replaceIn(t, filepath.Join(forged.Output, commitPath(0)), `"name": "small",`, `"name": "smell",`)
	if _, err := Check(context.Background(), checkOptions(&forged, false)); err == nil {
		t.Error("a forged group is not found")
	}
}

// TestMixBesides: duplicates and benchmarks go first, and what they leave is mixed.
func TestMixBesides(t *testing.T) {
	o := mixRun(t)
	o.Inputs = []string{o.Inputs[0], o.Inputs[0]}
	o.Dedup = dedupExact
	o.Mix = &Mix{By: mixRecords, Groups: []MixGroup{{Name: "runs", Weight: 1, Kind: kindTrajectory}, {Name: "docs", Weight: 1, Kind: kindDocument}}}
	m := mustRun(t, o)
	if s := m.Scan.Mix; s[0].Records != 66 || s[1].Records != 12 || s[0].Mixed != 39 || s[1].Mixed != 39 || m.Scan.Dropped[turnmill.ReasonDuplicate] != 78 || m.Scan.Dropped[turnmill.ReasonMixedOut] != 27 {
		t.Errorf("%+v", m.Scan)
	}
	mustCheck(t, o)
	shuffled := with(t, o, func(o *Options) { o.Shuffle = true })
	mustRun(t, shuffled)
	mustCheck(t, shuffled)
	damaged := options(t, mixedCorpus(t))
	damaged.Partitions = 5
	damaged.Mix = &Mix{By: mixBytes, Groups: []MixGroup{{Name: "a", Weight: 1, Kind: kindDocument}, {Name: "b", Weight: 1, Kind: kindTrajectory}}}
	mustRun(t, damaged)
	mustCheck(t, damaged)
}

// TestMixRefused: what is no mix, and a group that nothing is of.
func TestMixRefused(t *testing.T) {
	for want, mix := range map[string]*Mix{
		`by: "weight"`:            {By: "weight", Groups: []MixGroup{{Name: "a", Weight: 1}}},
		"a name of its own":       {By: mixRecords, Groups: []MixGroup{{Name: "a", Weight: 1}, {Name: "a", Weight: 1}}},
		"no group has a weight":   {By: mixRecords, Groups: []MixGroup{{Name: "a"}}},
		`kind: "both"`:            {By: mixRecords, Groups: []MixGroup{{Name: "a", Weight: 1, Kind: "both"}}},
		"syntax error in pattern": {By: mixRecords, Groups: []MixGroup{{Name: "a", Weight: 1, Inputs: []string{"[a"}}}},
		`group "web": no record`:  {By: mixRecords, Groups: []MixGroup{{Name: "web", Weight: 1, Sources: []string{"web"}}}},
		"weight 2000000":          {By: mixRecords, Groups: []MixGroup{{Name: "a", Weight: 2_000_000}}},
	} {
		o := mixRun(t)
		o.Mix = mix
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, "--mix", want)
	}
	o := options(t, "-")
	o.Mix, o.Stdin = &Mix{By: mixRecords, Groups: []MixGroup{{Name: "a", Weight: 1}}}, strings.NewReader("")
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "--mix", "standard input")
}
