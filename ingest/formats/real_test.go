package formats

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestRealFiles counts the turns of the published files of each format and hashes their unified form.
func TestRealFiles(t *testing.T) {
	for name, folders := range map[string][]string{
		"atif":               {"atif-harbor", "atif-nemo", "adp-atif"},
		"tau-bench":          {"tau-bench"},
		"claude-code":        {"claude-code"},
		"mini-swe-agent":     {"mini-swe-agent"},
		"openhands":          {"openhands"},
		"openhands-legacy":   {"openhands"},
		"toolbench":          {"toolbench"},
		"tooleval":           {"toolbench"},
		"sharegpt":           {"llama-factory"},
		"llama-factory-v1":   {"llama-factory"},
		"livemcpbench":       {"livemcpbench"},
		"tau-bench-few-shot": {"tau-bench"},
		"intercode":          {"intercode"},
		"react-chat":         {"fireact"},
		"react-alpaca":       {"fireact"},
		"fireact":            {"fireact"},
		"react-log":          {"reflexion"},
		"adp":                {"adp"},
		"nnetnav":            {"adp"},
		"androidcontrol":     {"adp"},
		"m3a":                {"androidworld-m3a"},
		"autodroid-utg":      {"autodroid-utg"},
		"agentinstruct":      {"adp"},
		"langfuse":           {"langfuse"},
		"otlp":               {"otel-otlp"},
		"asciicast":          {"asciinema"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for _, under := range folders {
				files := realFiles(t, under)
				for _, file := range slices.Sorted(maps.Keys(files)) {
					found, err := Detect(files[file], true)
					if err != nil || found.Format.Name != name {
						continue // TestDetectRealFiles says what it is
					}
					d := found.Format.New(Options{})
					for i, raw := range records(t, found.Layout, files[file]) {
						fmt.Fprintf(&out, "%s\t%d\t%s\n", file, i, sumRecord(d, raw))
					}
				}
			}
			golden(t, "real/"+name+".tsv", out.String())
		})
	}
}

// sumRecord decodes a record and tells what came of it, without its text.
func sumRecord(d Decoder, raw []byte) string {
	return sumOutcome(func(got *Decoded) error { return d.Decode(raw, got) })
}

func sumOutcome(decode func(*Decoded) error) string {
	var got Decoded
	if err := decode(&got); err != nil {
		return "rejected=" + string(reasonOf(err))
	}
	got.NoteTexts()
	var b strings.Builder
	for i := range got.Trajectories {
		run := &got.Trajectories[i]
		dialogue, states := 0, 0
		for _, turn := range run.Turns {
			if turn.Dialogue {
				dialogue++
			}
			if turn.State != "" {
				states++
			}
		}
		id, _ := ContentID(run, nil)
		fmt.Fprintf(&b, "turns=%d\tdialogue=%d\tstates=%d\tdomain=%s\tunified=%x\tid=%s\t", len(run.Turns), dialogue, states, run.Domain,
			sha256.Sum256(AppendUnified(nil, run)), id)
	}
	b.WriteString(strings.TrimSpace(noteLine(&got.Notes)))
	if got.Copied > 0 {
		fmt.Fprintf(&b, " copied=%d", got.Copied)
	}
	for _, l := range got.Lost {
		fmt.Fprintf(&b, " lost=%d+%d:%s", l.Offset, l.Bytes, l.Reason)
	}
	for _, r := range got.Rejected {
		fmt.Fprintf(&b, " rejected=%d:%s", r.Ordinal, r.Reason)
	}
	return b.String()
}

// TestRealRuns does so with the published runs that lie in several files, a folder each.
func TestRealRuns(t *testing.T) {
	for name, folder := range map[string]string{"droidbot": "droidbot-utg", "opencua": "opencua-raw"} {
		t.Run(name, func(t *testing.T) {
			files := realFiles(t, folder)
			var parts []Part
			var out strings.Builder
			for _, file := range slices.Sorted(maps.Keys(files)) {
				if found, err := Detect(files[file], true); err == nil && found.Format.Name == name {
					parts = append(parts, Part{file, files[file]})
				}
			}
			f := mustFormat(t, name)
			fmt.Fprintf(&out, "%s\t%d files\t%s\n", folder, len(parts), sumOutcome(func(got *Decoded) error {
				return f.New(Options{}).(PartsDecoder).DecodeParts(parts, got)
			}))
			golden(t, "real/"+name+".tsv", out.String())
		})
	}
}
