package endpoint

import (
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
)

// Budget bounds what a client spends; 0 is no bound. Requests are counted as they are sent, retries included, and are
// never more. Tokens and cost are known when an answer is there: what is in flight when they are spent comes on top.
type Budget struct {
	Requests int64
	Tokens   int64 // prompt and completion
	Cost     Money
}

func (b Budget) validate(p Prices) error {
	switch {
	case b.Requests < 0 || b.Tokens < 0 || b.Cost < 0 || p.Prompt < 0 || p.Completion < 0:
		return errors.New("endpoint: a negative budget or price")
	case b.Cost > 0 && p == Prices{}:
		return errors.New("endpoint: a budget of cost without prices; give the price of a million tokens")
	}
	return nil
}

// Spent is what requests took.
type Spent struct {
	Sent  int64 // requests over HTTP, retries included
	Usage turnmill.Usage
	Cost  Money
}

func (s *Spent) add(o Spent) {
	s.Sent += o.Sent
	s.Usage.Prompt += o.Usage.Prompt
	s.Usage.Completion += o.Usage.Completion
	s.Usage.Reasoning += o.Usage.Reasoning
	s.Cost = s.Cost.plus(o.Cost)
}

// over says which bound is reached, or "".
func (b Budget) over(s Spent) string {
	tokens := s.Usage.Prompt + s.Usage.Completion
	switch {
	case b.Requests > 0 && s.Sent >= b.Requests:
		return fmt.Sprintf("%d of %d requests are spent", s.Sent, b.Requests)
	case b.Tokens > 0 && tokens >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens are spent", tokens, b.Tokens)
	case b.Cost > 0 && s.Cost >= b.Cost:
		return fmt.Sprintf("%s of %s are spent", s.Cost, b.Cost)
	}
	return ""
}

// cost prices tokens.
func (p Prices) cost(u turnmill.Usage) Money {
	return p.Prompt.of(u.Prompt).plus(p.Completion.of(u.Completion))
}

// bytesPerToken is what a token is taken to have where an endpoint reports no usage; English has more, so that a
// budget errs to the safe side.
const bytesPerToken = 3

// estimate returns the usage to charge for a reply that came without one.
func estimate(sent int, r *turnmill.Reply) turnmill.Usage {
	received := len(r.Text) + len(r.Reasoning)
	return turnmill.Usage{Prompt: int64(sent+bytesPerToken-1) / bytesPerToken, Completion: int64(received+bytesPerToken-1) / bytesPerToken}
}
