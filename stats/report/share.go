package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/turnmill/turnmill/stats/figures"
)

// share is a realised share against what was to be expected.
type share struct {
	Realised, Expected string
	Band               string // two deviations; "" where nothing is drawn
	Outside            bool   // further than chance takes it once in a thousand times
	Drawing            template.HTML
}

func (v *view) lengthOf(s *figures.Sum) int64 {
	if v.Tokens {
		return s.TargetTokens
	}
	return s.Chars
}

func (v *view) keptOf(s *figures.Sum) int64 {
	if v.Tokens {
		return s.TrainedTokens
	}
	return s.KeptChars
}

func (v *view) squaresOf(s *figures.Sum) float64 {
	if v.Tokens {
		if v.Mode == "token" { // a draw a token
			return float64(s.TargetTokens)
		}
		return s.SquaredTargets.Float()
	}
	return s.SquaredChars.Float()
}

func (v *view) deviation(s *figures.Sum) float64 {
	return figures.Deviation(s.Keep, v.squaresOf(s), float64(v.lengthOf(s)))
}

// mostOf is the longest of what is drawn at once.
func (v *view) mostOf(s *figures.Sum) float64 {
	switch {
	case v.Tokens && v.Mode == "token":
		return 1
	case v.Tokens:
		return float64(s.MostTargets)
	}
	return float64(s.MostChars)
}

// outsideDoubt: of so many shares one is marked by chance, at most.
const outsideDoubt = 1000

// turnShare is the share of turns that carry loss. In mode token a turn of which one token does is kept, whatever the
// table's ratio: nothing is expected of turns, and without tokens nothing is known.
func (v *view) turnShare(expected, realised, deviation, most float64) share {
	switch {
	case v.Mode == "token" && v.Tokens:
		return share{Realised: percent(realised)}
	case v.Mode == "token":
		return share{Realised: percent(math.NaN())}
	}
	return v.share(expected, realised, deviation, most)
}

// lengthShare is the share of tokens, or of characters, that carry loss.
func (v *view) lengthShare(expected, realised, deviation, most float64) share {
	if v.Mode == "token" && !v.Tokens {
		realised = math.NaN()
	}
	return v.share(expected, realised, deviation, most)
}

// share sets a realised share beside the expected one, of which one draw is most at most. In the modes off and weight
// nothing is drawn, in span and changed not all of a turn is.
func (v *view) share(expected, realised, deviation, most float64) share {
	s := share{Realised: percent(realised), Expected: percent(expected)}
	if v.Mode != "turn" && v.Mode != "token" || math.IsNaN(realised) || deviation == 0 {
		return s
	}
	s.Band = "± " + percent(2*deviation)
	s.Outside = math.Abs(realised-expected) > figures.Bound(deviation*deviation, most, outsideDoubt)
	s.Drawing = band(expected, deviation, realised)
	return s
}

// Aim says what the expected shares are: where nothing is left out, the table's all the same.
func (g group) Aim() string {
	if g.v.Mode == "off" || g.v.Mode == "weight" {
		return "by the table"
	}
	return "expected"
}

// Lead says in a sentence what becomes of the turns.
func (v *view) Lead() string {
	g := &v.Whole
	text := fmt.Sprintf("%s of %s.", counted(g.Turns, "turn", "turns"), counted(g.Trajectories, "trajectory", "trajectories"))
	if g.All.Turns == 0 {
		return text + " There is none that the mask decides about."
	}
	text += " The mask decides about " + Thousands(g.All.Turns) + " of them: "
	turns, length := g.Expected.Expected+" of the turns", g.Length.Expected+" of the "+g.Unit
	switch v.Mode {
	case "off":
		return text + "it is off, so that all of them carry loss, where the table would keep " + turns + " and " + length + "."
	case "weight":
		return text + "all of them carry loss, with weights that come to " + length + "."
	case "token":
		return text + "it is expected to keep " + length + ", by a draw for each token."
	}
	return text + "it is expected to keep " + turns + " and " + length + "."
}
