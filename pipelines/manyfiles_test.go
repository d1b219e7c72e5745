package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
)

// droidRun is a run of DroidBot as its folder: n events from screen to screen, a chain but for a break in the
// middle, and an index. name makes its screens its own, but for the first, which is every run's.
func droidRun(name string, n int) []testFile {
	type object = map[string]any
	screen := func(i int) string {
		if i == 0 {
			return "launcher"
		}
		return fmt.Sprintf("%s-%d", name, i)
	}
	var files []testFile
	var nodes []object
	for i := range n + 2 {
		files = append(files, testFile{fmt.Sprintf("%s/states/state_%d.json", name, i), jsonLine(object{
			"tag": i, "state_str": screen(i), "views": []object{
				{"temp_id": 0, "parent": -1, "class": "android.widget.FrameLayout", "visible": true, "bounds": [][]int{{0, 0}, {99, 99}}},
				{"temp_id": 1, "parent": 0, "class": "android.widget.TextView", "text": fmt.Sprintf("Screen %d of %s", i, name), "visible": true},
			}}, "  ")})
		nodes = append(nodes, object{"id": screen(i), "state_str": screen(i)})
	}
	for i := range n {
		from := i
		if i >= n/2 {
			from++ // a screen was missed
		}
		files = append(files, testFile{fmt.Sprintf("%s/events/event_%d.json", name, i), jsonLine(object{
			"tag": i, "event": object{"event_type": "touch", "view": object{"text": fmt.Sprintf("Button %d", i)}},
			"start_state": screen(from), "stop_state": screen(from + 1), "event_str": "TouchEvent()"}, "  ")})
	}
	index := append([]byte("var utg = \n"), jsonLine(object{"nodes": nodes, "edges": []object{}, "num_transitions": n}, "  ")...)
	return append(files, testFile{name + "/utg.js", index})
}

// manyFiles is a corpus with two runs of several files among other files.
func manyFiles() []testFile {
	files := slices.Concat(droidRun("calc", 30), droidRun("mail", 11), smallFiles())
	return append(files, testFile{"calc/logcat.txt", []byte("I/ActivityManager: Start proc\n")})
}

// TestRunsInSeveralFiles: a run is one record whatever the partitions are and whoever works, with its files
// beside one another in one partition.
func TestRunsInSeveralFiles(t *testing.T) {
	corpus := writeFiles(t, manyFiles())
	others := mustRun(t, options(t, writeFiles(t, smallFiles()))).Ledger.Domains[turnmill.DomainAndroid]
	var want *content
	for _, partitions := range []int{1, 3, 9, 40} {
		base := options(t, corpus)
		base.Partitions, base.Workers = partitions, 1
		m := mustRun(t, base)
		mustCheck(t, base)
		got := m.Ledger.Domains[turnmill.DomainAndroid]
		if records, runs, turns := got.Records.Out-others.Records.Out, got.Trajectories.Out-others.Trajectories.Out, got.Turns.Out-others.Turns.Out; records != 2 || runs != 4 || turns != 41 {
			t.Fatalf("%d records, %d trajectories, %d turns; want 2, 4, 41", records, runs, turns)
		}
		all := contentOf(t, base.Output, m)
		if want == nil {
			want = &all
		}
		sameContent(t, fmt.Sprintf("%d partitions", partitions), *want, all)
		for _, workers := range []int{2, 7} {
			o := with(t, base, func(o *Options) { o.Workers = workers })
			mustRun(t, o)
			sameFiles(t, fmt.Sprintf("%d partitions, %d workers", partitions, workers), digest(t, base.Output), digest(t, o.Output))
		}
	}
}

// androidLines returns the lines of an ingest that are of runs in several files, in the order of their bytes.
func androidLines(t *testing.T, inputs ...string) string {
	t.Helper()
	text, _ := unify(t, inputs...)
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"source":"droidbot"`) {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

// TestRunsByContent: neither names nor folders make a run. Its files give the same trajectories in one folder
// under random names, in a folder each, as arguments in any order, compressed, and, but for the index, as one file.
func TestRunsByContent(t *testing.T) {
	files := droidRun("calc", 9)
	want := androidLines(t, writeFiles(t, files))
	if strings.Count(want, "\n") != 2 {
		t.Fatalf("not two trajectories:\n%s", want)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var flat, apart, packed []testFile
	var joined []byte
	for _, i := range r.Perm(len(files)) {
		f := files[i]
		flat = append(flat, testFile{fmt.Sprintf("%x.dat", r.Uint64()), f.data})
		apart = append(apart, testFile{fmt.Sprintf("%x/x", r.Uint64()), f.data})
		packed = append(packed, testFile{f.name + ".gz", gzipped(f.data)})
		if !strings.HasSuffix(f.name, ".js") {
			joined = append(joined, f.data...)
		}
	}
	for name, corpus := range map[string][]testFile{"one folder": flat, "a folder each": apart, "gzip": packed, "one file": {{"all.json", joined}}} {
		if got := androidLines(t, writeFiles(t, corpus)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	dir := writeFiles(t, flat)
	var args []string
	for _, i := range r.Perm(len(flat)) {
		args = append(args, filepath.Join(dir, flat[i].name))
	}
	if got := androidLines(t, args...); got != want {
		t.Errorf("as arguments: got\n%s\nwant\n%s", got, want)
	}
}

// TestRunsApart: two runs that share a screen, and one of which has lost a screen that the other has, stay two.
func TestRunsApart(t *testing.T) {
	one, two := droidRun("calc", 6), droidRun("calc", 4)
	for i := range two {
		two[i].name = "again/" + two[i].name
	}
	lost := slices.IndexFunc(two, func(f testFile) bool { return strings.HasSuffix(f.name, "/state_4.json") })
	two = slices.Delete(two, lost, lost+1)
	o := options(t, writeFiles(t, append(one, two...)))
	m := mustRun(t, o)
	mustCheck(t, o)
	a := m.Ledger.Domains[turnmill.DomainAndroid]
	if a.Records.In != 2 || a.Turns.In != 6+3 {
		t.Errorf("%d records, %d turns; want 2, and 9: an event whose screen is gone answers nothing", a.Records.In, a.Turns.In)
	}
	if n := m.Counts.Notices[turnmill.DomainAndroid][turnmill.NoteUnansweredAction.String()]; n != 1 {
		t.Errorf("%d unanswered actions, want 1", n)
	}
}

// TestPartsAlone: a part whose run is not there is a reject that says what is missing, and costs nothing else.
func TestPartsAlone(t *testing.T) {
	for part, want := range map[string]string{"events/": "no file holds its start_state", "states/": "no file holds an event", "utg.js": "no file holds its screens"} {
		var files []testFile
		for _, f := range droidRun("calc", 3) {
			if strings.Contains(f.name, part) {
				files = append(files, f)
			}
		}
		o := options(t, writeFiles(t, append(files, smallFiles()...)))
		m := mustRun(t, o)
		mustCheck(t, o)
		if got := m.Ledger.Total.Records.Rejected[turnmill.ReasonMissingPart]; got != int64(len(files)) {
			t.Errorf("%s: %d files are rejected, want %d", part, got, len(files))
		}
		for _, l := range readRejects(t, o.Output, 0) {
			if l.Reason == turnmill.ReasonMissingPart && (l.Kind != "file" || !strings.Contains(l.Path, part) || l.Offset != 0 || l.Bytes == 0 || !strings.Contains(l.Detail, want)) {
				t.Errorf("%s: %+v", part, l)
			}
		}
	}
}

// TestDamagedParts: what is damaged in one file of a run costs itself, under that file's name.
func TestDamagedParts(t *testing.T) {
	files := droidRun("calc", 6)
	find := func(name string) *testFile {
		return &files[slices.IndexFunc(files, func(f testFile) bool { return strings.HasSuffix(f.name, name) })]
	}
	cut, mixed, packed := find("state_2.json"), find("event_3.json"), find("event_5.json")
	cut.data = cut.data[:len(cut.data)-20]
	event := bytes.ReplaceAll(bytes.TrimSpace(mixed.data), []byte("\n"), nil)
	mixed.data = append(append(event, "\n{\"tag\":7,\n"...), event...)
	*packed = testFile{packed.name + ".gz", cutEnd(gzipped(packed.data), 9)}
	o := options(t, writeFiles(t, files))
	m := mustRun(t, o)
	mustCheck(t, o)
	for reason, want := range map[turnmill.Reason]int64{turnmill.ReasonBadJSON: 2, turnmill.ReasonBadCompression: 1} {
		if got := m.Ledger.Total.Records.Rejected[reason]; got != want {
			t.Errorf("%s: %d, want %d", reason, got, want)
		}
	}
	for _, l := range readRejects(t, o.Output, 0) {
		if l.Reason == turnmill.ReasonBadJSON && l.Kind == "record" && (l.Path != "0/"+mixed.name || l.Offset != int64(len(event))+1 || l.Bytes != int64(len(`{"tag":7,`))) {
			t.Errorf("a bad line of %s: %+v", mixed.name, l)
		}
	}
}

// TestChangedPart: a run is not resumed, and a check with inputs fails, when any of its files has changed.
func TestChangedPart(t *testing.T) {
	corpus := writeFiles(t, droidRun("calc", 6))
	o := options(t, corpus)
	mustRun(t, o)
	name := filepath.Join(corpus, "calc/states/state_3.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, bytes.Replace(data, []byte("Screen"), []byte("screen"), 1))
	_, err = CPT(context.Background(), o)
	wantError(t, err, "state_3.json has changed")
	c := checkOptions(&o, true)
	_, err = Check(context.Background(), c)
	wantError(t, err, "state_3.json has changed")

	write(t, name, data)
	o = with(t, o, nil)
	s, p := planned(t, &o)
	write(t, name, append(data, '\n'))
	err = p.partitions(context.Background(), everyPartition(s), 1, o.sink(), func(*Commit) error { return nil })
	if wantError(t, err, "state_3.json"); !errors.Is(err, ingest.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
}

// TestRunTooLarge: --max-record bounds the sum of a run's files, and one file of it.
func TestRunTooLarge(t *testing.T) {
	files := append(droidRun("calc", 6), smallFiles()...)
	files[1].data = append(files[1].data, bytes.Repeat([]byte(" "), 3<<20)...)
	for limit, want := range map[int64]int64{4 << 20: 0, 2 << 20: 1} {
		o := options(t, writeFiles(t, files))
		o.MaxRecord = limit
		m := mustRun(t, o)
		mustCheck(t, o)
		if got := m.Ledger.Total.Records.Rejected[turnmill.ReasonTooLarge]; got != want {
			t.Errorf("--max-record %d: %d rejected, want %d", limit, got, want)
		}
	}
	var apart []testFile // so that only keys join them
	for i, f := range droidRun("calc", 6) {
		apart = append(apart, testFile{fmt.Sprintf("%d/%s", i, filepath.Base(f.name)), f.data})
	}
	o := options(t, writeFiles(t, apart))
	o.MaxRecord = 2000
	m := mustRun(t, o)
	mustCheck(t, o)
	if got := m.Ledger.Total.Records; got.Rejected[turnmill.ReasonTooLarge] != int64(len(apart)) || got.In != got.AllRejected() {
		t.Errorf("%+v, want %d files of a run that is too large", got, len(apart))
	}
}

// TestRunsLimit: a run counts as one of the records of --limit.
func TestRunsLimit(t *testing.T) {
	corpus := writeFiles(t, append(droidRun("calc", 4), testFile{"calc/states/z.jsonl", chats()}, testFile{"a.jsonl", chats()}))
	all := int64(bytes.Count(chats(), []byte("\n")))
	for limit := int64(1); limit <= 2*all+2; limit++ {
		o := options(t, corpus)
		o.Limit, o.Partitions = limit, 3
		m := mustRun(t, o)
		mustCheck(t, o)
		if got, want := m.Ledger.Total.Records.In, min(limit, 2*all+1); got != want {
			t.Errorf("--limit %d: %d records", limit, got)
		}
	}
}

// TestShowRun: a run of several files is shown by its row and by its id.
func TestShowRun(t *testing.T) {
	corpus := writeFiles(t, droidRun("calc", 6))
	o := ShowOptions{Options: options(t), Path: corpus, Row: 1}
	s, err := Show(context.Background(), o)
	if err != nil || len(s.Turns) != 3 || !strings.HasPrefix(s.ID, "droidbot-") {
		t.Fatalf("%+v, %v", s, err)
	}
	byID, err := Show(context.Background(), ShowOptions{Options: options(t), Path: corpus, ID: s.ID})
	if err != nil || byID.Row != 1 {
		t.Errorf("by id: %+v, %v", byID, err)
	}
}

// TestForgedRuns: a plan that takes a run apart, or puts together what is none, is no plan of turnmill.
func TestForgedRuns(t *testing.T) {
	o := options(t, writeFiles(t, append(droidRun("calc", 4), droidRun("mail", 4)...)))
	o.Partitions = 2
	s, _ := planned(t, &o)
	if err := s.plan.sound(); err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(p *Plan){
		"a run of one file":        func(p *Plan) { p.Inputs[0].Unit, p.Inputs[1].Unit = 3, 0 },
		"a number left out":        func(p *Plan) { p.Inputs[0].Unit = 9 },
		"another format":           func(p *Plan) { p.Inputs[3].Format = "turnmill" },
		"another layout":           func(p *Plan) { p.Inputs[3].Layout = "lines" },
		"a rejected part":          func(p *Plan) { p.Inputs[3].Rejected = turnmill.ReasonMissingPart },
		"a file in the other part": func(p *Plan) { p.move(0, 1) },
		"a file left out":          func(p *Plan) { p.Partitions[0] = p.Partitions[0][1:] },
		"half a file":              func(p *Plan) { p.Partitions[0][0].To-- },
		"a number of records":      func(p *Plan) { p.Partitions[0][0].Records = 1 },
		"an order of its own":      func(p *Plan) { r := p.Partitions[0]; r[0], r[1] = r[1], r[0] },
	} {
		forged := *s.plan
		forged.Inputs = slices.Clone(forged.Inputs)
		forged.Partitions = slices.Clone(forged.Partitions)
		for i := range forged.Partitions {
			forged.Partitions[i] = slices.Clone(forged.Partitions[i])
		}
		forge(&forged)
		if err := forged.sound(); err == nil {
			t.Errorf("%s: the plan is taken for sound", name)
		}
	}
}

// move puts the last range of one partition before the first of another.
func (p *Plan) move(from, to int) {
	n := len(p.Partitions[from]) - 1
	p.Partitions[to] = append([]Range{p.Partitions[from][n]}, p.Partitions[to]...)
	p.Partitions[from] = p.Partitions[from][:n]
}

// recording is a recording of OpenCUA's as its folder, from a time on: three actions, the dumps around them, and
// the files that say no more. keyed says whether the actions name their dumps.
func recording(name string, from float64, keyed bool) []testFile {
	type object = map[string]any
	tree := func(at float64) object {
		t := object{"Name": fmt.Sprintf("Window %s at %g", name, at), "ControlType": "WindowControl", "Children": []object{}}
		if keyed {
			t["time_stamp"] = at
		}
		return t
	}
	var actions, shown, dumps, events []byte
	for i := range 3 {
		at := from + float64(i)
		action := object{"action": "click", "id": i, "start_time": at + 0.25, "end_time": at + 0.5, "description": "Single left Click", "axtree": tree(at)}
		shown = append(shown, jsonLine(action, "")...)
		action["event_start_idx"], action["coordinate"] = i, object{"x": i, "y": i}
		actions = append(actions, jsonLine(action, "")...)
		dumps = append(dumps, jsonLine(object{"time_stamp": at, "axtree": tree(at)}, "")...)
		events = append(events, jsonLine(object{"time_stamp": at, "action": "move", "event_idx": i}, "")...)
	}
	dumps = append(dumps, jsonLine(object{"time_stamp": from + 3, "axtree": tree(from + 3)}, "")...)
	return []testFile{
		{name + "/a11y.jsonl", dumps}, {name + "/events.jsonl", events}, {name + "/html.jsonl", nil},
		{name + "/metadata.json", jsonLine(object{"system": "Windows", "video_start_timestamp": from}, "  ")},
		{name + "/reduced_events_complete.jsonl", actions}, {name + "/reduced_events_vis.jsonl", shown},
		{name + "/task_name.json", jsonLine(object{"task_name": "Do " + name, "description": ""}, "  ")},
	}
}

// TestRecordings: a recording is joined by its dumps' times and by its folder; where two without such times lie in
// one folder nothing is.
func TestRecordings(t *testing.T) {
	keyed, plain := recording("one", 10, true), recording("two", 10, false)
	flat := func(files ...[]testFile) []testFile {
		all := slices.Concat(files...)
		for i := range all {
			all[i].name = fmt.Sprintf("%03d", (i*37)%101)
		}
		return all
	}
	for _, c := range []struct {
		name                         string
		files                        []testFile
		records, turns, alone, empty int64
	}{
		{"a folder", plain, 1, 3, 0, 0},
		{"two folders", slices.Concat(keyed, plain), 2, 6, 0, 0},
		{"one under other names", flat(keyed), 1, 3, 0, 0},
		{"one without keys under other names", flat(plain), 1, 3, 0, 0},
		{"two in one folder", flat(recording("one", 10, true), recording("two", 20, true)), 2, 6, 6, 2},
		{"two in one folder without keys", flat(recording("one", 10, false), recording("two", 20, false)), 0, 0, 12, 2},
		{"no actions", slices.Concat(plain[:4], plain[6:]), 0, 0, 4, 1},
		{"dumps and actions alone", slices.Concat(plain[:1], plain[4:5]), 1, 3, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, writeFiles(t, c.files))
			o.Partitions = 2
			m := mustRun(t, o)
			mustCheck(t, o)
			l := m.Ledger.Total
			os := m.Ledger.Domains[turnmill.DomainOS]
			var records, turns int64
			if os != nil {
				records, turns = os.Records.Out, os.Turns.Out
			}
			if got := [...]int64{records, turns, l.Records.Rejected[turnmill.ReasonMissingPart], l.Records.Rejected[turnmill.ReasonNoRecords]}; got != [...]int64{c.records, c.turns, c.alone, c.empty} {
				t.Errorf("records, turns, parts alone, empty files: %v; want %v", got, [...]int64{c.records, c.turns, c.alone, c.empty})
			}
		})
	}
}
