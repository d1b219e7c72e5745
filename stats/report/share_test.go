package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/stats/figures"
)

// TestModes: what a page says of shares holds in its mode. Bands and marks are of what is drawn, and what is expected is
// what the mode leaves in the loss; of turns that are kept for one of their tokens nothing is.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode   string
		tokens bool
		lead   string
		sum    string // of the line of all categories: turns, then length
		bands  bool
	}{
		{"turn", false, "it is expected to keep 5% of the turns and 5% of the characters.", "5% ± 3.1% expected 5% # 4% ± 3.5% expected 5%", true},
		{"off", false, "it is off, so that all of them carry loss, where the table would keep 5% of the turns and 5% of the characters.", "5% by the table 5% # 4% by the table 5%", false},
		{"weight", false, "all of them carry loss, with weights that come to 5% of the characters.", "5% by the table 5% # 4% by the table 5%", false},
		{"token", false, "it is expected to keep 5% of the characters, by a draw for each token.", "- # - expected 5%", false},
		{"token", true, "it is expected to keep 5% of the tokens, by a draw for each token.", "5% # 0% ± 0.52% outside expected 5%", true},
		{"span", false, "it is expected to keep 0% of the turns and 0% of the characters.", "5% expected 0% # 4% expected 0%", false},
	} {
		name := c.mode
		if c.tokens {
			name += " with tokens"
		}
		t.Run(name, func(t *testing.T) {
			p := samplePage(1, 200, 0, 0)
			p.Mode, p.Tokens = c.mode, c.tokens
			for i := range p.Figures.Whole.Categories {
				if c.tokens {
					p.Figures.Whole.Categories[i].TargetTokens = 1000
				}
			}
			page := render(t, p)
			if !strings.Contains(page, c.lead+"</p>") {
				t.Errorf("the page does not begin with %q", c.lead)
			}
			whole, _, _ := strings.Cut(page, `<section id="domains">`)
			_, sum, _ := strings.Cut(whole, `<tr class="sum">`)
			sum, _, _ = strings.Cut(sum, "</tr>")
			cells := strings.Split(sum, "</td>")
			if got := plain(cells[5]) + " # " + plain(cells[6]); got != c.sum {
				t.Errorf("all: %q, want %q", got, c.sum)
			}
			if got := strings.Contains(whole, "± "); got != c.bands {
				t.Errorf("bands: %v, want %v", got, c.bands)
			}
		})
	}
}

// TestNothing: a page without a turn says so.
func TestNothing(t *testing.T) {
	p := samplePage(1, 0, 0, 0)
	if page := render(t, p); !strings.Contains(page, "0 turns of 0 trajectories. There is none that the mask decides about.</p>") {
		t.Error("the page does not say that there is nothing")
	}
	p = samplePage(1, 1, 0, 0)
	if page := render(t, p); !strings.Contains(page, ">1 turn of 1 trajectory. The mask decides about 1 of them") {
		t.Error("one turn is not one")
	}
}

// TestExpected: the table's ratio is expected of whole turns, and of turns kept in part what their spans add.
func TestExpected(t *testing.T) {
	s := figures.Sum{Turns: 4, Keep: 0.5, Chars: 100, TargetTokens: 40, ExpectedTurns: 1, ExpectedChars: 10, ExpectedTokens: 30}
	for _, c := range []struct {
		mode          string
		tokens        bool
		turns, length float64
	}{{"turn", true, 0.5, 0.5}, {"token", true, 0.5, 0.5}, {"span", true, 0.25, 0.75}, {"changed", false, 0.25, 0.1}} {
		if turns, length := s.Expected(c.mode, c.tokens); turns != c.turns || length != c.length {
			t.Errorf("%s: %v of the turns, %v of the length, want %v and %v", c.mode, turns, length, c.turns, c.length)
		}
	}
}

// plain is what a stretch of a page says, without its marks.
func plain(html string) string {
	return strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(html, " ")), " ")
}
