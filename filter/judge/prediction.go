package judge

import "strings"

// Prediction is what a world model says that the environment answers. It alone reaches a judge. Report,
// section 3.4.1.
type Prediction struct {
	Text   string // without thinking, tags and marker; empty is a silent answer where Tagged is set
	Tagged bool   // it stood in a predicted_observation block
	Closed bool   // the block has its end
}

// marker opens an observation in prompts and answers of the report's templates.
const marker = "Environment Observation:"

// Extract returns the prediction of an answer: thinking removed, the last predicted_observation block, which
// may lack its end, else the whole text; the observation marker removed. An observation may show a chat
// template: think tags are content within a closed block, and in a text without blocks that opens with the
// marker, where thinking is over.
func Extract(text string) Prediction {
	a := findAnswer(text, predictionTag)
	if rest, marked := cutMarker(text); marked && !a.block {
		return Prediction{Text: rest}
	}
	return Prediction{Text: StripMarker(a.without()), Tagged: a.block, Closed: a.closed}
}

// StripMarker removes the marker that opens an observation, bold or not, blank lines around the rest and
// blanks at its end. It is for both sides: predictions and real observations.
func StripMarker(text string) string {
	rest, _ := cutMarker(text)
	return rest
}

// cutMarker is StripMarker, and tells whether there was a marker.
func cutMarker(text string) (string, bool) {
	text = trimLines(text)
	rest := strings.TrimLeft(text, " \t")
	bold := strings.HasPrefix(rest, "**")
	if bold {
		rest = rest[2:]
	}
	if len(rest) < len(marker) || !strings.EqualFold(rest[:len(marker)], marker) {
		return text, false
	}
	rest = rest[len(marker):]
	if bold {
		rest = strings.TrimPrefix(rest, "**")
	}
	return trimLines(strings.TrimLeft(rest, " \t")), true
}

// trimLines removes blank lines at the start, and blanks at the end. The first line keeps its indent.
func trimLines(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 || strings.Trim(text[:i], " \t\r") != "" {
			return text
		}
		text = text[i+1:]
	}
}
