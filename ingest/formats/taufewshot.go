package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const tauFewShotName = "tau-bench-few-shot"

func tauFewShotFormat() Format {
	return Format{
		Name:      tauFewShotName,
		Title:     "few-shot dialogues of tau-bench: refused, their calls are lost",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseTauFewShot,
		New:       func(Options) Decoder { return tauFewShot{} },
		Refuses:   true,
		Doc: Doc{
			Fields: "messages_display: a dialogue as one text, lines that begin with a role. Each record is rejected, with the\n" +
				"number of its results and of the calls that were lost.",
			Pairing:  "none: a call stands as \"assistant: None\", so what a result answers is not known",
			State:    "none",
			Domain:   "none",
			ID:       "none",
			Stripped: "everything",
			Sample:   `{"messages_display":"user: Hi\nassistant: None\ntool: Error: user not found\nassistant: Sorry."}`,
		},
	}
}

func recogniseTauFewShot(v jsonscan.Value) (why string, marks int) {
	switch text := v.Get("messages_display"); {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case text.Kind() != jsonscan.String:
		return "no text in messages_display", 0
	}
	return "", 4
}

// tauFewShot rejects few-shot dialogues of tau-bench.
type tauFewShot struct{}

func (tauFewShot) Decode(raw []byte, out *Decoded) error {
	v, err := out.parse(raw)
	if err == nil {
		if why, _ := recogniseTauFewShot(v); why != "" {
			err = wrongFormat(tauFewShotName, why)
		}
	}
	if err != nil {
		out.reset()
		return err
	}
	results, calls := 0, 0
	for line := range strings.Lines(v.Get("messages_display").Str(&out.arena)) {
		switch line = strings.TrimRight(line, blanks); {
		case strings.HasPrefix(line, "tool: "), line == "tool:":
			results++
		case line == "assistant: None":
			calls++
		}
	}
	out.refuse(0, reject(turnmill.ReasonLossyExport, "messages_display holds %d results, and %d calls printed as None", results, calls))
	return nil
}
