package stats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

func TestSources(t *testing.T) {
	a, b := NewSources(), NewSources()
	a.Lose("shops", turnmill.DomainWeb, turnmill.ReasonCaptcha, 1, 3)
	a.Lose("shops", turnmill.DomainWeb, turnmill.ReasonNoChange, 0, 2)
	b.Lose("shops", turnmill.DomainWeb, turnmill.ReasonCaptcha, 1, 4)
	b.Lose("", turnmill.DomainMCP, turnmill.ReasonTooFewTurns, 2, 2)
	a.Add(b)
	want := []Loss{
		{"", turnmill.DomainMCP, turnmill.ReasonTooFewTurns, 2, 2},
		{"shops", turnmill.DomainWeb, turnmill.ReasonCaptcha, 2, 7},
		{"shops", turnmill.DomainWeb, turnmill.ReasonNoChange, 0, 2},
	}
	if diff := cmp.Diff(want, a.Losses()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none *Sources
	none.Lose("x", turnmill.DomainWeb, turnmill.ReasonCaptcha, 1, 1)
	if len(none.Losses()) > 0 || len(NewCounts().Sources.Losses()) > 0 {
		t.Error("sources that nobody asked for are counted")
	}
}

// Names come from the content, so they are bounded, and nothing is lost by that.
func TestSourcesAreBounded(t *testing.T) {
	s := NewSources()
	name := []byte("source 0000")
	for i := range 3 * mostSources {
		copy(name[7:], fmt.Sprintf("%04d", i))
		s.Lose(string(name), turnmill.DomainWeb, turnmill.ReasonCaptcha, 1, 0)
	}
	losses, sum := s.Losses(), int64(0)
	for _, l := range losses {
		sum += l.Trajectories
	}
	if len(losses) != mostSources+1 || sum != 3*mostSources || losses[0].Source != otherSources {
		t.Errorf("%d lines, %d trajectories, the first of %q", len(losses), sum, losses[0].Source)
	}
}

// A name cannot break a table.
func TestWriteSourcesCells(t *testing.T) {
	s := NewSources()
	s.Lose("a\tb\nc", "d\te", turnmill.ReasonCaptcha, 1, 0)
	var b strings.Builder
	if err := WriteSources(&b, s); err != nil || !strings.Contains(b.String(), "a b c") || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("%q, %v", b.String(), err)
	}
}
