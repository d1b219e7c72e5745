package dedup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestBenchmark: a task is found by its id or by half of a text, and by nothing that all tasks have.
func TestBenchmark(t *testing.T) {
	const policy = "You are an agent of a shop. Follow the policy to the letter, never give a refund twice, and ask before you act on an order. "
	task := func(i int) string {
		return fmt.Sprintf("Customer %d wants to return the %s lamp that arrived broken on day %d and to get the money back on the card that ends in %d, politely but firmly", i, strings.Repeat("very ", i%3)+"green", 10+i, 4000+i)
	}
	b := NewBenchmark()
	for i := range 20 {
		b.Add(&Item{Name: fmt.Sprintf("shop.jsonl:%d", i+1), Source: "shop", TaskID: fmt.Sprint(i), Texts: []string{policy, policy + task(i), "short"}})
	}
	b.Add(&Item{Name: "again.jsonl:1", Source: "shop", TaskID: "3", Texts: []string{policy + task(3) + " and soon"}})
	b.Add(&Item{Name: "code.jsonl:1", TaskID: "django__django-11099", Texts: []string{"What is the airspeed of an unladen swallow?"}})
	long := strings.Fields(strings.Repeat("alpha beta gamma delta ", 10))
	for i := range long {
		long[i] += fmt.Sprint(i)
	}
	b.Add(&Item{Name: "long.txt:1", Texts: []string{strings.Join(long, " ")}})
	b.Seal()
	if b.Items() != 22 {
		t.Errorf("%d items", b.Items())
	}
	m := NewMatcher(b)
	other := "Please find me a good restaurant near the station that is open late tonight and serves something without meat"
	for _, c := range []struct {
		name string
		t    turnmill.Trajectory
		want string
	}{
		{"task id and source", turnmill.Trajectory{Source: "shop", TaskID: "7"}, "shop.jsonl:8: its task id"},
		{"another source's id", turnmill.Trajectory{Source: "bank", TaskID: "7"}, ""},
		{"a telling id", turnmill.Trajectory{Source: "any", TaskID: "django__django-11099"}, "code.jsonl:1: its task id"},
		{"the task in the prompt", turnmill.Trajectory{System: turnmill.SystemPrompt{TaskDescription: "Do this. " + policy + strings.ToUpper(task(5))}}, "shop.jsonl:6: "},
		{"the task told by a user", *run("Hello", task(9)), "shop.jsonl:10: "},
		{"half of it", *run("Hello", strings.Join(long[:26], " ")), "long.txt:1: 14 of 28 runs"},
		{"less than half", *run("Hello", strings.Join(long[:25], " ")), ""},
		{"what all tasks have", turnmill.Trajectory{System: turnmill.SystemPrompt{TaskDescription: policy + other}}, ""},
		{"something else", *run(other, other), ""},
		{"a short question", *run("say", "I asked: what is the airspeed of an UNLADEN swallow? Nobody knew."), "code.jsonl:1: 1 of 1"},
		{"the same task of another version", *run("say", task(3)), "shop.jsonl:4: "},
	} {
		if got := m.Trajectory(&c.t); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := m.Document(&turnmill.Document{Text: other + ". " + task(2)}); !strings.HasPrefix(got, "shop.jsonl:3: ") {
		t.Errorf("document: %q", got)
	}
}
