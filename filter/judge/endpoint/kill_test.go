package endpoint

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
)

// TestKilled: a process that is killed while it asks has lost at most what was in flight, and its journal opens.
func TestKilled(t *testing.T) {
	const requests, most = 60, 4
	var prompts []string
	for i := range requests {
		prompts = append(prompts, fmt.Sprintf("q%d", i))
	}
	if url := os.Getenv("TURNMILL_TEST_CHILD_URL"); url != "" { // the process that is to be killed
		o := Options{URL: url, Key: NewSecret(testKey), Clock: wallClock{}, Jitter: func() float64 { return 0 }, Concurrency: most}
		_, err := client(t, o).Ask(context.Background(), Job{Kind: "rollout", Journal: openJournal(t, os.Getenv("TURNMILL_TEST_CHILD_JOURNAL"))}, asks(prompts...), func(turnmill.Reply) error { return nil })
		t.Fatal("not killed", err)
	}
	for kill := int64(1); kill < requests; kill += 13 {
		s := newServer(t)
		s.delay = 2 * time.Millisecond
		path := filepath.Join(t.TempDir(), "j")
		child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "TURNMILL_TEST_CHILD_URL="+s.URL+"/v1", "TURNMILL_TEST_CHILD_JOURNAL="+path)
		var said strings.Builder
		child.Stdout = &said
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for heard, _ := s.heard(); heard < kill; heard, _ = s.heard() {
			time.Sleep(time.Millisecond)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		before, _ := s.heard()
		j := openJournal(t, path)
		held := j.Stats().Entries
		got, a := ask(t, client(t, s.options()), j, prompts...)
		if len(got) != requests || a.FromJournal != held || before+a.Sent > requests+most || held+most < before {
			t.Errorf("killed after %d: %d heard, %d held, %d sent again; at most %d twice\n%s", kill, before, held, a.Sent, most, &said)
		}
	}
}
