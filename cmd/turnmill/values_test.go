package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill/pipelines"
)

// badValue is a value that a flag does not take, and what the message has to name: flag, value, and what is
// wanted.
type badValue struct {
	flag, value string
	want        []string
}

// cptBadValues holds a bad value of every flag of cpt that has one. Texts that may be anything (output,
// domain, seed) are bad only when they are not UTF-8.
func cptBadValues() []badValue {
	number, yesNo, size := "must be an integer", "must be true or false", "want a whole number of bytes"
	share, name := "want a share from 0 to 1", "want one of"
	return []badValue{
		{"recipe", "nowhere.yaml", []string{"no such file"}},
		{"format", "csv", []string{"try one of turnmill, "}},
		{"domain", "a\xff", []string{`"a\xff"`, "want UTF-8"}},
		{"tokenizer", "nowhere", []string{"no such file", "name a tokenizer.json, a directory with one, or demo"}},
		{"engine", "sentencepiece", []string{name, "auto, "}},
		{"chat", "alpaca", []string{"built in are chatml, "}},
		{"chat-date", "one\ntwo", []string{"want a date on one line"}},
		{"objective", "reward", []string{name, "world-model, policy, all"}},
		{"state", "sometimes", []string{name, "always, changed, never"}},
		{"template", "v12", []string{name, "plain, v0, v1"}},
		{"keep-thought", "maybe", []string{yesNo}},
		{"train-dialogue", "maybe", []string{yesNo}},
		{"mask", "some", []string{name, "turn, token, "}},
		{"mask", "weight", []string{"try --profile weighted"}},
		{"copied-keep", "1.5", []string{share, "in decimals"}},
		{"copied-keep", "0.2", []string{"which --mask changed alone knows"}},
		{"mask-table", "nowhere.yaml", []string{"no such file"}},
		{"filter-patterns", "nowhere.yaml", []string{"no such file"}},
		{"seed", "a\xff", []string{`"a\xff"`, "want UTF-8"}},
		{"seq-len", "long", []string{number}},
		{"seq-len", "1", []string{"want 2 or more"}},
		{"seq-len", "3000000000", []string{"want at most 2147483647"}},
		{"min-turns", "few", []string{number}},
		{"min-turns", "0", []string{"want 1 or more"}},
		{"filters", "no-filter", []string{"known: no-action, "}},
		{"secrets", "hide", []string{name, "scrub, report, off"}},
		{"pools", "nowhere.yaml", []string{"no such file"}},
		{"pool", "a\xff", []string{"want UTF-8"}},
		{"mix", "nowhere.yaml", []string{"no such file"}},
		{"dedup", "fuzzy", []string{name, "none, exact, turns, near"}},
		{"near-threshold", "2", []string{share, "in decimals"}},
		{"decontaminate", "nowhere.jsonl", []string{"no such file", "check the spelling"}},
		{"shuffle", "perhaps", []string{yesNo}},
		{"profile", "trl", []string{name, "hf, "}},
		{"profile", "weighted", []string{"weights come from --mask weight"}},
		{"beyond", "maybe", []string{name, "auto, on, off"}},
		{"max-record", "5 XB", []string{size}},
		{"max-record", "0", []string{"want 1 or more"}},
		{"max-record", "3GiB", []string{"3221225472", "want at most 2147483647 (2 GiB)"}},
		{"max-window", "-1", []string{size}},
		{"max-window", "1", []string{"want 1024 or more"}},
		{"partitions", "x", []string{number}},
		{"partitions", "-1", []string{"want 0 or more"}},
		{"partitions", "1000000000", []string{"want at most 99999"}},
		{"partition-bytes", "0", []string{"want 1 or more"}},
		{"validation", "1", []string{"want a share from 0 to below 1"}},
		{"validation", "-0.1", []string{"want a share from 0 to below 1"}},
		{"validation", "1e-3", []string{"want a share from 0 to below 1 in decimals"}},
		{"validation", "0.0000000000000000001", []string{"want a share"}},
		{"limit", "some", []string{number}},
		{"limit", "-1", []string{"want 0 or more"}},
		{"dry-run", "perhaps", []string{yesNo}},
		{"shard-bytes", "1.5GiB", []string{size}},
		{"shard-bytes", "0", []string{"want 1 or more"}},
		{"workers", "all", []string{number}},
		{"workers", "-1", []string{"want 0 or more"}},
		{"memory", "much", []string{size}},
		{"memory", "99999999999GiB", []string{size}},
		{"memory", "1MiB", []string{"1048576", "too little for", "try --memory "}},
		{"max-reject-rate", "half", []string{"must be a number"}},
		{"max-reject-rate", "1.01", []string{share}},
		{"max-reject-rate", "NaN", []string{share}},
		{"max-drop-rate", "-0.1", []string{share}},
		{"restart", "perhaps", []string{yesNo}},
		{"progress", "dots", []string{"want auto, bar, plain or none"}},
		{"log-format", "xml", []string{"want text or json"}},
	}
}

func ingestBadValues() []badValue {
	return []badValue{
		{"format", "csv", []string{"try one of turnmill, "}},
		{"domain", "a\xff", []string{"want UTF-8"}},
		{"keep-thought", "maybe", []string{"must be true or false"}},
		{"max-record", "0", []string{"want 1 or more"}},
		{"max-record", "3GiB", []string{"want at most 2147483647"}},
		{"max-window", "1", []string{"want 1024 or more"}},
		{"max-reject-rate", "-1", []string{"want a share from 0 to 1"}},
		{"max-reject-rate", "NaN", []string{"want a share from 0 to 1"}},
		{"stats", "maybe", []string{"must be true or false"}},
		{"json", "maybe", []string{"must be true or false"}},
		{"secrets", "hide", []string{"want one of scrub, report, off"}},
		{"as", "csv", []string{"try turnmill or agentworldbench"}},
		{"filters", "captcha", []string{"add --stats"}},
		{"filter-patterns", "nowhere.yaml", []string{"add --stats"}},
		{"min-turns", "0", []string{"want 1 or more"}},
	}
}

// TestBadValues: a usage error that names the flag and the value and says what is wanted, nothing on
// standard output, nothing written.
func TestBadValues(t *testing.T) {
	input := writeTemp(t, "in.jsonl", jsonLines(terminal("a", `"one"`, `"two"`)))
	for _, v := range cptBadValues() {
		t.Run("cpt/"+v.flag+"="+v.value, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			v.check(t, cli("cpt", input, "-o", out, "--tokenizer", "demo", "--"+v.flag+"="+v.value))
			if _, err := os.Stat(filepath.Join(out, "commits")); err == nil {
				t.Error("a partition was committed")
			}
		})
	}
	for _, v := range ingestBadValues() {
		t.Run("ingest/"+v.flag+"="+v.value, func(t *testing.T) {
			v.check(t, cli("ingest", input, "--"+v.flag+"="+v.value))
		})
	}
}

func (v *badValue) check(t *testing.T, r result) {
	t.Helper()
	if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.errors, "error: ") {
		t.Errorf("exit code %d, want %d; stdout %q, stderr %q", r.code, exitUsage, r.out, r.errors)
	}
	for _, part := range append(v.want, "--"+v.flag) {
		if !strings.Contains(r.errors, part) {
			t.Errorf("stderr does not say %q: %s", part, r.errors)
		}
	}
}

// TestBadValuesOfEveryFlag: the table of cpt leaves no flag out.
func TestBadValuesOfEveryFlag(t *testing.T) {
	known := map[string]bool{"output": true} // any name may become a directory
	for _, v := range cptBadValues() {
		known[v.flag] = true
	}
	newCPT(streams{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !known[f.Name] {
			t.Errorf("no bad value of --%s is tested", f.Name)
		}
	})
}

// TestHelp: the help of every command says what it does and lists its flags; each flag says something.
func TestHelp(t *testing.T) {
	root := newRoot(streams{})
	for _, c := range append(root.Commands(), root) {
		var args []string
		if c.HasParent() {
			args = append(args, c.Name())
		}
		t.Run(c.Name(), func(t *testing.T) {
			r := mustRun(t, exitDone, append(args, "--help")...)
			if r.errors != "" {
				t.Errorf("stderr: %s", r.errors)
			}
			help(t, c, r.out)
		})
	}
}

func help(t *testing.T, c *cobra.Command, text string) {
	t.Helper()
	if what := c.Long; what != "" && !strings.Contains(text, strings.TrimSpace(what)) || !strings.Contains(text, "Usage:\n  "+c.CommandPath()) {
		t.Errorf("no purpose, or no usage, in\n%s", text)
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "--"+f.Name) || f.Usage == "" {
			t.Errorf("--%s is not explained in\n%s", f.Name, text)
		}
	})
}

// TestConfigRoundTrip: what config prints is a recipe that gives the same values, whatever they are.
func TestConfigRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recipe.yaml")
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "010", "1e3", "0x1F", "~", "null", "yes", "off", "- a", "a: b", "#", "1:30", "2026-01-01", " x ", "\n", "\x00", "\u2028", "\ufeff"})).Draw(t, "seed")
		inputs := rapid.SliceOfN(rapid.StringMatching(`[a-zé日 '"#:,*&!-]{1,8}`), 1, 3).Draw(t, "inputs")
		share := rapid.Float64Range(0, 1).Draw(t, "rate")
		first := &cptOptions{Options: pipelines.DefaultOptions()}
		fs := pflag.NewFlagSet("cpt", pflag.ContinueOnError)
		first.add(fs)
		set := map[string]bool{}
		for name, value := range map[string]string{"seed": seed, "max-drop-rate": strconv.FormatFloat(share, 'g', -1, 64), "restart": "true", "max-record": "1234567"} {
			if err := fs.Set(name, value); err != nil {
				t.Fatal(err)
			}
			set[name] = true
		}
		var b bytes.Buffer
		if err := printRecipe(&b, fs, inputs, set, "", nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		second := &cptOptions{Options: pipelines.DefaultOptions()}
		again := pflag.NewFlagSet("cpt", pflag.ContinueOnError)
		second.add(again)
		r, err := applyRecipe(file, again, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if strings.Join(r.inputs, "\x00") != strings.Join(inputs, "\x00") {
			t.Fatalf("inputs %q became %q\n%s", inputs, r.inputs, b.Bytes())
		}
		fs.VisitAll(func(f *pflag.Flag) {
			if got := again.Lookup(f.Name).Value.String(); got != f.Value.String() {
				t.Fatalf("--%s: %q became %q\n%s", f.Name, f.Value, got, b.Bytes())
			}
		})
	})
}
