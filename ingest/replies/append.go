package replies

import (
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// AppendRollout appends a reply to a query as a line of turnmill's own shape, which reads back as it was, but for its
// position.
func AppendRollout(dst []byte, r *turnmill.Reply) []byte {
	dst = begin(dst, r.ID, r.Sample)
	return end(field(dst, "text", r.Text), r)
}

// AppendScores appends a judge's reply about a rollout of a query; Sample is the attempt.
func AppendScores(dst []byte, query string, rollout int, r *turnmill.Reply) []byte {
	dst = integer(begin(dst, query, rollout), "attempt", int64(r.Sample))
	return end(field(dst, "judge", r.Text), r)
}

// AppendPair appends a judge's choice between two rollouts of a query, in the order in which it saw them.
func AppendPair(dst []byte, query string, first, second int, r *turnmill.Reply) []byte {
	dst = jsonscan.AppendQuotedLine(append(dst, `{"query":`...), query)
	dst = strconv.AppendInt(append(dst, `,"pair":[`...), int64(first), 10)
	dst = append(strconv.AppendInt(append(dst, ','), int64(second), 10), ']')
	dst = integer(dst, "attempt", int64(r.Sample))
	return end(field(dst, "judge", r.Text), r)
}

func begin(dst []byte, query string, rollout int) []byte {
	return integer(jsonscan.AppendQuotedLine(append(dst, `{"query":`...), query), "rollout", int64(rollout))
}

// end appends what every reply has, and ends the line.
func end(dst []byte, r *turnmill.Reply) []byte {
	dst = field(dst, "state", r.State.String())
	for _, f := range [...]struct{ key, text string }{{"reasoning", r.Reasoning}, {"finish_reason", r.Finish}, {"model", r.Model}, {"error", r.Error}} {
		if f.text != "" {
			dst = field(dst, f.key, f.text)
		}
	}
	if u := r.Usage; u != (turnmill.Usage{}) {
		dst = strconv.AppendInt(append(dst, `,"usage":{"prompt_tokens":`...), u.Prompt, 10)
		dst = integer(integer(dst, "completion_tokens", u.Completion), "reasoning_tokens", u.Reasoning)
		dst = append(dst, '}')
	}
	return append(dst, '}', '\n')
}

func field(dst []byte, key, text string) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return jsonscan.AppendQuotedLine(dst, text)
}

func integer(dst []byte, key string, n int64) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return strconv.AppendInt(dst, n, 10)
}
