package secrets

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/planted"
)

// plain is a text as a reader sees it: without terminal codes, escapes and line ends.
func plain(text string) string {
	var v view
	v.fill(text, 0, len(text))
	return strings.NewReplacer("\n", "", " ", "", "\\", "", "\x00", "").Replace(string(v.text))
}

// TestCorpus: every planted secret is gone, in its kind, from every form, and JSON stays JSON.
func TestCorpus(t *testing.T) {
	all, kinds := planted.Corpus(), map[string]bool{}
	s := New(Scrub)
	for _, p := range all {
		kinds[p.Kind] = true
		d := &turnmill.Document{Text: p.Text}
		counts := s.Document(d)
		if counts[p.Kind] == 0 {
			t.Errorf("%s, %s: want this kind, got %v: %q became %q", p.Kind, p.Form, counts, p.Text, d.Text)
			continue
		}
		if left, value := plain(d.Text), plain(p.Value); strings.Contains(left, value[:min(12, len(value))]) || strings.Contains(left, value[len(value)-8:]) {
			t.Errorf("%s, %s: a part is left: %q became %q", p.Kind, p.Form, p.Text, d.Text)
		}
		if json.Valid([]byte(p.Text)) && !json.Valid([]byte(d.Text)) {
			t.Errorf("%s, %s: no JSON any more: %q", p.Kind, p.Form, d.Text)
		}
		once := d.Text
		if again := s.Document(d); len(again) != 0 || d.Text != once {
			t.Errorf("%s, %s: scrubbed twice: %v, %q became %q", p.Kind, p.Form, again, once, d.Text)
		}
	}
	if len(all) < 150 || len(kinds) < 25 {
		t.Errorf("%d secrets of %d kinds: too few to prove anything", len(all), len(kinds))
	}
}

// TestSame: a secret has one number in all fields and forms of a trajectory, another one another, and a new
// trajectory begins anew.
func TestSame(t *testing.T) {
	m := planted.Maker(7)
	key, pass := planted.Shapes[0].Make(&m), m.Of(planted.Alnum, 14)
	traj := func() *turnmill.Trajectory {
		return &turnmill.Trajectory{
			ID: "run-" + key, TaskID: key, Agent: "a " + key, Domain: "terminal", Source: "s", Meta: `{"h":{"x-token":"` + key + `","` + key + `":1}}`,
			System: turnmill.SystemPrompt{ActionSpace: `[{"name":"sh","description":"default ` + key + `"}]`},
			Turns: []turnmill.Turn{
				{Action: `{"command":"export DB_PASSWORD=` + pass + `"}`, Observation: "ok", Tool: "sh " + key, Thought: "use " + key},
				{Action: `{"command":"echo"}`, Observation: "\x1b[1m" + key[:20] + "\x1b[0m" + key[20:] + "\nconnecting as app with " + pass + "\n", State: key},
			},
		}
	}
	s := New(Scrub)
	x := traj()
	counts := s.Trajectory(x)
	all, _ := json.Marshal(x)
	if strings.Contains(string(all), key[4:]) || strings.Contains(string(all), pass) {
		t.Fatalf("a secret is left: %s", all)
	}
	if counts["github-pat"] != 10 || counts[kindPassword] != 2 || len(counts) != 2 {
		t.Errorf("counts %v", counts)
	}
	if x.ID != "run-REDACTED.github-pat.1" || !strings.Contains(x.Turns[1].Observation, "REDACTED.github-pat.1") || !strings.Contains(x.Turns[1].Observation, "with REDACTED.password.2\n") ||
		x.Turns[0].Action != `{"command":"export DB_PASSWORD=REDACTED.password.2"}` || x.Meta != `{"h":{"x-token":"REDACTED.github-pat.1","REDACTED.github-pat.1":1}}` {
		t.Errorf("got %s", all)
	}
	y := traj()
	s.Trajectory(y)
	if again, _ := json.Marshal(y); string(again) != string(all) {
		t.Errorf("the second time:\n%s\nthe first:\n%s", again, all)
	}
	x.Turns[0].Observation = planted.Shapes[5].Make(&m) // numbers go on after those of an earlier run
	if s.Trajectory(x); x.Turns[0].Observation != "REDACTED.gitlab-pat.3" {
		t.Errorf("after an earlier run: %s", x.Turns[0].Observation)
	}
}

// TestModes: report counts and changes nothing, off does neither.
func TestModes(t *testing.T) {
	m := planted.Maker(9)
	text := "key " + planted.Shapes[3].Make(&m)
	for _, name := range Modes() {
		mode, err := ParseMode(name)
		if err != nil {
			t.Fatal(err)
		}
		d := &turnmill.Document{Text: text}
		n := New(mode).Document(d)["aws-access-token"]
		if (d.Text == text) != (mode != Scrub) || (n == 1) != (mode != Off) {
			t.Errorf("%s: %d, %q", name, n, d.Text)
		}
		if got := New(mode).Text(text); (got == text) != (mode != Scrub) {
			t.Errorf("%s: text %q", name, got)
		}
	}
	if _, err := ParseMode("Scrub"); err == nil {
		t.Error("Scrub: want an error")
	}
}

// TestNumbers: a secret that is a number in JSON becomes a string, so that the text stays JSON.
func TestNumbers(t *testing.T) {
	d := &turnmill.Document{Text: `{"user":"a","password":83650127,"n":1}`}
	New(Scrub).Document(d)
	if d.Text != `{"user":"a","password":"REDACTED.password.1","n":1}` {
		t.Error(d.Text)
	}
}

// TestKinds: names of kinds are of letters, planted.Digits and dashes, as the manifest and the marks need them.
func TestKinds(t *testing.T) {
	kinds := Kinds()
	for _, k := range kinds {
		if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(k) {
			t.Errorf("kind %q", k)
		}
	}
	if len(kinds) < 180 {
		t.Errorf("%d kinds: the set of gitleaks is not all there", len(kinds))
	}
	for _, r := range all().all { // an expression that cannot be compiled is a fault of the set, or of ours
		if r.kind != "" {
			r.find([]byte("x"), 0, 1, func(int, int) {})
		}
	}
}
