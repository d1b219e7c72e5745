package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// oneReject is a forgery of one reject line; change returns what stands in its place.
func oneReject(name string, want func(*rejectLine) bool, change func(rejectLine) []rejectLine) forgery {
	return forgery{name: name, file: "rejects/", forge: func(f *forger) { f.reject(want, change) }}
}

// rejectCell is oneReject for a change of the line itself.
func rejectCell(name string, want func(*rejectLine) bool, change func(*rejectLine)) forgery {
	return oneReject(name, want, func(l rejectLine) []rejectLine { change(&l); return []rejectLine{l} })
}

// inCommit says that the account gives the forgery away, not the line itself.
func inCommit(c forgery) forgery {
	c.file = "commits/"
	return c
}

// inTurns says that the numbering of trajectories gives it away.
func inTurns(c forgery) forgery {
	c.file = "turns/"
	return c
}

func TestForgedRejects(t *testing.T) {
	turn := func(l *rejectLine) bool { return l.Kind == "turn" }
	few := func(l *rejectLine) bool { return l.Reason == turnmill.ReasonTooFewTurns }
	bad := func(l *rejectLine) bool { return l.Reason == turnmill.ReasonBadJSON }
	file := func(l *rejectLine) bool { return l.Kind == "file" }
	empty := func(l *rejectLine) bool { return l.Reason == turnmill.ReasonEmptyText }
	gone := func(rejectLine) []rejectLine { return nil }
	twice := func(l rejectLine) []rejectLine { return []rejectLine{l, l} }
	testForgeries(t, small(t), []forgery{
		oneReject("a turn's line is gone", turn, gone),
		oneReject("a turn's line is there twice", turn, twice),
		rejectCell("a turn's reason", turn, func(l *rejectLine) { l.Reason = turnmill.ReasonTurnTooLong }),
		rejectCell("a turn's domain", turn, func(l *rejectLine) { l.Domain = "web" }),
		rejectCell("a turn's id", turn, func(l *rejectLine) { l.ID += "x" }),
		rejectCell("a turn's index", turn, func(l *rejectLine) { *l.Turn++ }),
		rejectCell("a turn without an index", turn, func(l *rejectLine) { l.Turn = nil }),
		rejectCell("a turn that was rejected", turn, func(l *rejectLine) { l.Status = "rejected" }),
		rejectCell("a record's line becomes a turn's", few, func(l *rejectLine) { l.Kind, l.Turn = "turn", new(int) }),
		oneReject("a dropped record's line is gone", few, gone),
		inCommit(oneReject("a rejected record's line is gone", bad, gone)),
		inTurns(oneReject("an empty document's line is gone", empty, gone)),
		inCommit(oneReject("a file's line is gone", file, gone)),
		inCommit(oneReject("a record's line is there twice", bad, twice)),
		inCommit(rejectCell("a record's reason", bad, func(l *rejectLine) { l.Reason = turnmill.ReasonTruncated })),
		inCommit(rejectCell("a dropped record's reason", few, func(l *rejectLine) { l.Reason = turnmill.ReasonNoTarget })),
		rejectCell("a record's domain", few, func(l *rejectLine) { l.Domain = "web" }),
		inCommit(rejectCell("a domain where none is known", bad, func(l *rejectLine) { l.Domain = "web" })),
		rejectCell("a record's id", few, func(l *rejectLine) { l.ID += "x" }),
		byInputs(rejectCell("the id of what has no turns", empty, func(l *rejectLine) { l.ID += "x" })),
		inCommit(rejectCell("dropped for rejected", bad, func(l *rejectLine) { l.Status = "dropped" })),
		rejectCell("a status that does not exist", bad, func(l *rejectLine) { l.Status = "lost" }),
		rejectCell("a kind that does not exist", bad, func(l *rejectLine) { l.Kind = "line" }),
		inTurns(rejectCell("how many trajectories", few, func(l *rejectLine) { l.Trajectories = 2 })),
		rejectCell("a file's kind", file, func(l *rejectLine) { l.Kind = "record" }),
		rejectCell("a path that was no input", bad, func(l *rejectLine) { l.Path = "0/nothing.jsonl" }),
		rejectCell("an input of another partition", bad, func(l *rejectLine) { l.Path = "0/f-chats.jsonl" }),
		rejectCell("an offset behind the range", bad, func(l *rejectLine) { l.Offset = 1 << 40 }),
		rejectCell("an offset below zero", bad, func(l *rejectLine) { l.Offset = -1 }),
		rejectCell("more bytes than there are", bad, func(l *rejectLine) { l.Bytes = 1 << 40 }),
		byInputs(rejectCell("an offset", bad, func(l *rejectLine) { l.Offset++ })),
		byInputs(rejectCell("bytes", bad, func(l *rejectLine) { l.Bytes-- })),
		byInputs(rejectCell("a line", bad, func(l *rejectLine) { l.Line++ })),
		byInputs(rejectCell("a detail", bad, func(l *rejectLine) { l.Detail = "it was nothing" })),
		byInputs(forgery{name: "two lines change places", file: rejectsPath(0), forge: func(f *forger) {
			f.rejects(0, func(l []rejectLine) []rejectLine {
				i := slices.IndexFunc(l, func(l rejectLine) bool { return bad(&l) })
				j := slices.IndexFunc(l, func(l rejectLine) bool { return l.Reason == turnmill.ReasonWrongFormat })
				l[i], l[j] = l[j], l[i]
				return l
			})
		}}),
		{name: "lines of two partitions", file: "rejects/", forge: func(f *forger) { f.swap(rejectsPath(0), rejectsPath(1)) }},
		{name: "cut", file: rejectsPath(0), forge: func(f *forger) {
			f.bytes(rejectsPath(0), func(b []byte) []byte { return b[:len(b)-6] })
		}},
		{name: "no JSON", file: rejectsPath(0), forge: func(f *forger) {
			f.bytes(rejectsPath(0), func([]byte) []byte { return zstdFrame([]byte("{\"kind\":\n")) })
		}},
		{name: "a member that does not exist", file: rejectsPath(0), forge: func(f *forger) {
			f.bytes(rejectsPath(0), func([]byte) []byte { return zstdFrame([]byte(`{"kind":"record","because":"x"}` + "\n")) })
		}},
	})
}

// TestForgedCommits: every number of every account, and whatever else a commit holds.
func TestForgedCommits(t *testing.T) {
	var list []forgery
	in := func(name, file string, inputs bool, change func(*Commit)) {
		list = append(list, forgery{name: name, file: file, inputs: inputs, forge: func(f *forger) { change(f.commits[0]) }})
	}
	account := func(name string, pick func(*stats.Ledger) *stats.Account) {
		for _, whose := range []string{"total", "mcp"} {
			ledger := func(c *Commit) *stats.Account {
				if whose == "total" {
					return pick(c.Counts.Ledger.Total)
				}
				return pick(c.Counts.Ledger.Domains["mcp"])
			}
			for _, e := range []struct {
				what   string
				change func(*stats.Account)
			}{
				{"in", func(a *stats.Account) { a.In++ }},
				{"out", func(a *stats.Account) { a.Out-- }},
				{"a drop too many", func(a *stats.Account) { a.Drop(turnmill.ReasonTooFewTurns, 1) }},
				{"a reject too many", func(a *stats.Account) { a.Reject(turnmill.ReasonBadJSON, 1) }},
				{"a drop in place of a row", func(a *stats.Account) { a.Out--; a.Drop(turnmill.ReasonNoLoss, 1) }},
				{"repeated", func(a *stats.Account) { a.Repeated++ }},
				{"repeated in place of in", func(a *stats.Account) { a.In--; a.Repeated++ }},
				{"one more in and out", func(a *stats.Account) { a.In++; a.Out++ }},
			} {
				in(fmt.Sprintf("%s %s: %s", whose, name, e.what), "p00000", false, func(c *Commit) { e.change(ledger(c)) })
			}
		}
	}
	account("records", func(l *stats.Ledger) *stats.Account { return &l.Records })
	account("trajectories", func(l *stats.Ledger) *stats.Account { return &l.Trajectories })
	account("turns", func(l *stats.Ledger) *stats.Account { return &l.Turns })
	account("loss tokens", func(l *stats.Ledger) *stats.Account { return &l.LossTokens })
	in("a domain is gone", "p00000", false, func(c *Commit) { delete(c.Counts.Ledger.Domains, "mcp") })
	in("a domain too many", commitPath(0), false, func(c *Commit) { c.Counts.Domain("moon").Records.In = 1 })
	in("a domain of nothing", commitPath(0), false, func(c *Commit) { c.Counts.Domain("moon") })
	in("a domain's ledger is null", commitPath(0), false, func(c *Commit) { c.Counts.Ledger.Domains["mcp"] = nil })
	for name, n := range map[string]func(*stats.Tokens) *int64{
		"rows": func(t *stats.Tokens) *int64 { return &t.Rows }, "all": func(t *stats.Tokens) *int64 { return &t.All },
		"trained": func(t *stats.Tokens) *int64 { return &t.Trained }, "context": func(t *stats.Tokens) *int64 { return &t.Context },
	} {
		in("tokens: "+name, commitPath(0), false, func(c *Commit) { *n(&c.Counts.Tokens)++ })
	}
	for name, change := range map[string]func(*stats.MaskCount){
		"turns": func(m *stats.MaskCount) { m.Turns++ }, "kept turns": func(m *stats.MaskCount) { m.KeptTurns-- },
		"observation tokens": func(m *stats.MaskCount) { m.ObservationTokens++ }, "target tokens": func(m *stats.MaskCount) { m.TargetTokens++ },
		"kept tokens": func(m *stats.MaskCount) { m.KeptTokens-- }, "expected share": func(m *stats.MaskCount) { m.ExpectedShare /= 2 },
	} {
		in("mask statistics: "+name, commitPath(0), false, func(c *Commit) { change(c.Counts.Mask["mcp"]["retrieval"]) })
	}
	in("mask statistics: a cell is gone", commitPath(0), false, func(c *Commit) { delete(c.Counts.Mask["mcp"], "retrieval") })
	in("mask statistics: a cell is null", commitPath(0), false, func(c *Commit) { c.Counts.Mask["mcp"]["retrieval"] = nil })
	in("a repair", commitPath(0), true, func(c *Commit) { c.Counts.Repairs["mcp"]["forged_control"]++ })
	in("a notice", commitPath(0), true, func(c *Commit) { c.Counts.Notices["mcp"]["no_tools_declared"]-- })
	in("a notice of a new kind", commitPath(0), true, func(c *Commit) { c.Counts.Notices["mcp"]["visitors"] = 1 })
	list = append(list, forgery{name: "the records of a range", file: commitPath(2), forge: func(f *forger) { f.commits[2].Inputs[0].Records++ }})
	in("the records of a range with spliced lines", commitPath(0), true, func(c *Commit) { c.Inputs[0].Records++ })
	in("more records than came in", commitPath(0), false, func(c *Commit) { c.Inputs[0].Records += 9 })
	in("the sum of a range", commitPath(0), true, func(c *Commit) { c.Inputs[0].SHA256 = hexSum(nil) })
	in("the start of a range", commitPath(0), false, func(c *Commit) { c.Inputs[0].From++ })
	in("the end of a range", commitPath(0), false, func(c *Commit) { c.Inputs[0].To-- })
	in("the line of a range", commitPath(0), false, func(c *Commit) { c.Inputs[0].Line++ })
	in("the input of a range", commitPath(0), false, func(c *Commit) { c.Inputs[0].Input = "0/other.jsonl" })
	in("a range is gone", commitPath(0), false, func(c *Commit) { c.Inputs = nil })
	in("the rows of a shard", shardPath(train, 0, 0), false, func(c *Commit) { c.Files[0].Rows++ })
	in("the rows of the turns", turnsPath(0), false, func(c *Commit) { c.Files[len(c.Files)-2].Rows++ })
	in("the rows of the rejects", rejectsPath(0), false, func(c *Commit) { c.Files[len(c.Files)-1].Rows-- })
	in("shards in another order", commitPath(0), false, func(c *Commit) { c.Files[0], c.Files[1] = c.Files[1], c.Files[0] })
	in("files in another order", commitPath(0), false, func(c *Commit) { slices.Reverse(c.Files[len(c.Files)-2:]) })
	in("a shard is not named", commitPath(0), false, func(c *Commit) { c.Files = c.Files[1:] })
	in("the turns are not named", commitPath(0), false, func(c *Commit) { c.Files = slices.Delete(c.Files, len(c.Files)-2, len(c.Files)-1) })
	in("no file is named", commitPath(0), false, func(c *Commit) { c.Files = nil })
	in("a file outside", commitPath(0), false, func(c *Commit) { c.Files[0].Path = "../out/" + c.Files[0].Path })
	in("another format version", commitPath(0), false, func(c *Commit) { c.FormatVersion = 2 })
	in("another partition", commitPath(0), false, func(c *Commit) { c.Partition = 1 })
	in("no counts", commitPath(0), false, func(c *Commit) { c.Counts = &stats.Counts{} })
	testForgeries(t, small(t), list)
}

// after is a forgery of a file of the run that nothing signs.
func after(name, path string, change func([]byte) []byte) forgery {
	return forgery{name: name, file: path, after: func(f *forger) { f.bytes(path, change) }}
}

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte {
		if !bytes.Contains(b, []byte(old)) {
			panic(fmt.Sprintf("the file does not hold %q", old))
		}
		return bytes.Replace(b, []byte(old), []byte(with), 1)
	}
}

func TestForgedRun(t *testing.T) {
	gone := func(path string) forgery {
		return forgery{name: path + " is gone", file: path, after: func(f *forger) { f.remove(path) }}
	}
	stray := func(path string) forgery {
		return forgery{name: "a stray " + path, file: path, after: func(f *forger) { write(f.t, f.path(path), []byte("x")) }}
	}
	empty := func([]byte) []byte { return nil }
	testForgeries(t, small(t), []forgery{
		after("manifest: a count", "manifest.json", replace(`"records": {`+"\n    \"in\": ", `"records": {`+"\n    \"in\": 1")),
		after("manifest: duplicate ids", "manifest.json", replace(`"duplicate_ids": `, `"duplicate_ids": 1`)),
		after("manifest: version", "manifest.json", replace(`"turnmill": "`, `"turnmill": "9`)),
		after("manifest: an order of keys", "manifest.json", replace(`{`, `{ `)),
		after("manifest: empty", "manifest.json", empty),
		after("state.json: order", "train/state.json", func(b []byte) []byte {
			const mark = "swap-me"
			b = replace("data-p00000-00000", mark)(b)
			b = replace("data-p00000-00001", "data-p00000-00000")(b)
			return replace(mark, "data-p00000-00001")(b)
		}),
		after("state.json: a shard less", "train/state.json", replace("{\"filename\": \"data-p00000-00000.arrow\"},\n  ", "")),
		after("state.json: fingerprint", "train/state.json", replace(`"_fingerprint": "`, `"_fingerprint": "0`)),
		after("state.json: split", "train/state.json", replace(`"_split": "train"`, `"_split": "test"`)),
		after("dataset_info.json: type", "train/dataset_info.json", replace("int32", "int64")),
		after("dataset_info.json: empty", "train/dataset_info.json", empty),
		after("dataset_dict.json", "dataset_dict.json", replace("train", "test")),
		after("a commit: spelling", commitPath(1), replace("{\n", "{\n\n")),
		after("a commit: text behind it", commitPath(1), func(b []byte) []byte { return append(b, "{}"...) }),
		after("a commit: another plan", commitPath(1), replace(`"plan": "`, `"plan": "0`)),
		{name: "a commit: a sum", file: rejectsPath(1), after: func(f *forger) {
			f.bytes(commitPath(1), func(b []byte) []byte {
				b[bytes.LastIndex(b, []byte(`"sha256": "`))+len(`"sha256": "`)] ^= 1
				return b
			})
		}},
		after("a commit: an unknown member", commitPath(1), replace("{\n", "{\n \"more\": 1,\n")),
		after("rejects: a byte", rejectsPath(0), func(b []byte) []byte { b[len(b)-1] ^= 1; return b }),
		gone(commitPath(1)), gone(turnsPath(1)), gone(rejectsPath(1)), gone(shardPath(train, 1, 0)),
		gone("train/state.json"), gone("train/dataset_info.json"), gone("dataset_dict.json"),
		stray("train/data-p00003-00000.arrow"), stray("train/data-p00000-00004.arrow"), stray("train/model.bin"),
		stray("turns/p00003.parquet"), stray("turns/cache-1.parquet"), stray("rejects/p00003.jsonl.zst"), stray("commits/p00003.json"), stray("commits/tmp.json"),
	})
}

// TestCheckAccepts: what lies in OUT and is nobody's fault.
func TestCheckAccepts(t *testing.T) {
	o := small(t)
	mustRun(t, o)
	for _, name := range []string{"train/cache-90af1.arrow", "train/tmpx1y2", "train/.cache/x", "notes.txt", "turns/.nfs0001"} {
		write(t, filepath.Join(o.Output, name), []byte("a user's"))
	}
	for _, name := range []string{"local.json", "run.log.jsonl"} { // of this machine; nothing depends on them
		if err := os.Remove(filepath.Join(o.Output, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Check(context.Background(), checkOptions(&o, false)); err != nil {
		t.Error(err)
	}
	c := checkOptions(&o, true)
	_, err := Check(context.Background(), c)
	wantUsage(t, err, "local.json", "--tokenizer")
	c.Tokenizer = "demo"
	r, err := Check(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	m := mustRun(t, o)
	if r.Rows != m.Counts.Tokens.Rows || r.Tokens != m.Counts.Tokens.All || r.Trained != m.Counts.Tokens.Trained ||
		r.Turns != m.Ledger.Total.Turns.In || r.Files != int64(len(m.Files)+1) || r.Inputs == "" {
		t.Errorf("%+v; the manifest has %+v, %d turns, %d files", r, m.Counts.Tokens, m.Ledger.Total.Turns.In, len(m.Files))
	}
}

// TestCheckRefuses: what is no finished run, in words that say what to do.
func TestCheckRefuses(t *testing.T) {
	o := small(t)
	mustRun(t, o)
	_, err := Check(context.Background(), CheckOptions{Path: t.TempDir()})
	wantUsage(t, err, "no plan.json")
	if err := os.Remove(filepath.Join(o.Output, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	_, err = Check(context.Background(), checkOptions(&o, true))
	wantError(t, err, "not finished", "every partition is done", "try turnmill merge "+o.Output)
	mustRun(t, o)
	c := checkOptions(&o, true)
	c.Memory = 1 << 20
	_, err = Check(context.Background(), c)
	wantUsage(t, err, "--memory")
	c = checkOptions(&o, true)
	c.Inputs = []string{filepath.Join(o.Inputs[0], "a.jsonl")}
	_, err = Check(context.Background(), c)
	wantError(t, err, "plan.json", "input 0/b.json is gone")
	if !errors.Is(err, turnmill.ErrCorrupt) {
		t.Errorf("%v: not ErrCorrupt", err)
	}
	if err := grow(filepath.Join(o.Inputs[0], "e-notes.txt")); err != nil {
		t.Fatal(err)
	}
	_, err = Check(context.Background(), checkOptions(&o, true))
	wantError(t, err, "input 0/e-notes.txt has changed")
}

// TestCheckNamesNoMoreThanAPageful: a run that is all wrong is not told line by line.
func TestCheckNamesNoMoreThanAPageful(t *testing.T) {
	base := small(t)
	mustRun(t, base)
	f := forge(t, base.Output)
	for i := range f.commits {
		f.turns(i, func(rows []stats.TurnRow) []stats.TurnRow {
			for k := range rows {
				rows[k].Keep = 0.25
			}
			return rows
		})
	}
	f.sign()
	_, err := Check(context.Background(), CheckOptions{Path: f.root})
	foundIn(t, err, turnsPath(0))
	if n := strings.Count(err.Error(), "\n") + 1; n > mostFaults+2 {
		t.Errorf("%d faults are named, want at most %d, that there are more and what to do", n, mostFaults)
	}
}
