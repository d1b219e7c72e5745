package judge

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

//go:embed prompts/*.txt rubrics/*.txt
var files embed.FS

// Asker writes the questions to one judge. It holds settings alone, and serves any number of goroutines.
type Asker struct {
	Model  string
	Params turnmill.Params
}

// Subject is what is asked about: a query, and what is known about its real observation.
type Subject struct {
	Query   *turnmill.Query
	Classes []ContentSpan // optional; byte ranges of Reference
}

// Reference returns the real observation of a query, without the marker.
func Reference(q *turnmill.Query) string {
	return StripMarker(q.Trajectory.Turns[q.Target].Observation)
}

// Scores asks for the five scores of a rollout. The request's Sample is 0; the caller counts attempts there.
func (a *Asker) Scores(s *Subject, rollout int, p Prediction) turnmill.Request {
	return a.ask(s, ID{Kind: KindScores, Query: s.Query.ID, First: rollout}, section{"prediction", p.Text})
}

// Pair asks which of two rollouts is better, in the order of id, which is one of Orders.
func (a *Asker) Pair(s *Subject, id ID, first, second Prediction) turnmill.Request {
	return a.ask(s, id, section{"A", first.Text}, section{"B", second.Text})
}

// Verdict asks whether a rollout is correct.
func (a *Asker) Verdict(s *Subject, rollout int, p Prediction) turnmill.Request {
	return a.ask(s, ID{Kind: KindVerdict, Query: s.Query.ID, First: rollout}, section{"prediction", p.Text})
}

// section is one text that is shown to a judge.
type section struct{ name, text string }

// ask writes a question: the history that the model saw, message by message and nothing else of the
// trajectory, then the real observation, then what is judged.
func (a *Asker) ask(s *Subject, id ID, judged ...section) turnmill.Request {
	var shown []section
	for i, m := range s.Query.Messages {
		shown = append(shown, section{fmt.Sprintf("message %d of %d, %s", i+1, len(s.Query.Messages), m.Role), m.Content})
	}
	reference := Reference(s.Query)
	shown = append(shown, section{"real observation", reference})
	if len(s.Classes) > 0 {
		shown = append(shown, section{"classes of the real observation", classes(reference, s.Classes)})
	}
	key := sectionKey(shown, judged)
	shown = append(shown, judged...)
	return turnmill.Request{
		ID:    id.String(),
		Model: a.Model,
		Messages: []turnmill.Message{
			{Role: "system", Content: RubricFor(s.Query.Trajectory.Domain).system(id.Kind, key)},
			{Role: "user", Content: writeSections(shown, key)},
		},
		Params: a.Params,
	}
}

// sectionKey returns the key of the lines between which sections lie: 16 hex digits of the SHA-256 of what all
// questions about a query share, hashed on until no text contains the key. So no text can end its own section,
// and questions about one query begin with the same bytes, which endpoints that cache prefixes are glad of.
func sectionKey(shared, judged []section) string {
	h := sha256.New()
	for _, s := range shared {
		h.Write([]byte(strconv.Itoa(len(s.name)) + " " + strconv.Itoa(len(s.text)) + "\x00" + s.name))
		h.Write([]byte(s.text))
	}
	for sum := h.Sum(nil); ; {
		key := hex.EncodeToString(sum[:8])
		holds := func(s section) bool { return strings.Contains(s.text, key) }
		if !slices.ContainsFunc(shared, holds) && !slices.ContainsFunc(judged, holds) {
			return key
		}
		next := sha256.Sum256(sum)
		sum = next[:]
	}
}

// writeSections writes the user's message. Texts stand as they are; a line feed follows each.
func writeSections(shown []section, key string) string {
	var b strings.Builder
	for i, s := range shown {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<<<%s %s>>>\n", s.name, key)
		b.WriteString(s.text)
		if s.text != "" {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<<<end of %s %s>>>\n", s.name, key)
	}
	return b.String()
}
