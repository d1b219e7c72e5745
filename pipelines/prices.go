package pipelines

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/turnmill/turnmill/filter/judge/endpoint"
)

// prices reads what a million tokens cost: of prompts, a comma, of completions. "" is nothing.
func prices(text string) (p endpoint.Prices, err error) {
	if text == "" {
		return p, nil
	}
	prompt, completion, two := strings.Cut(text, ",")
	if !two || !decimalText.MatchString(prompt) || !decimalText.MatchString(completion) {
		return p, errors.New("want two prices of a million tokens, of prompts and of completions, as in 0.60,2.40")
	}
	if p.Prompt, err = endpoint.ParsePrice(prompt); err != nil {
		return p, err
	}
	p.Completion, err = endpoint.ParsePrice(completion)
	return p, err
}

// cost returns what tokens cost, in the least decimals that are exact.
func cost(p endpoint.Prices, u UsageSum) string {
	sum := new(big.Rat)
	for _, part := range []struct {
		price  endpoint.Price
		tokens int64
	}{{p.Prompt, u.Prompt}, {p.Completion, u.Completion}} {
		r := new(big.Rat).SetFrac(big.NewInt(int64(part.price)), big.NewInt(1_000_000_000_000)) // of one token
		sum.Add(sum, r.Mul(r, new(big.Rat).SetInt64(part.tokens)))
	}
	digits, _ := sum.FloatPrec()
	return sum.FloatString(digits)
}

// costs returns what the used answers cost by kind, where prices are given; nil where none are.
func (c *SFTConfig) costs(usage map[string]UsageSum) map[string]string {
	costs := map[string]string{}
	for kind, text := range map[string]string{"rollouts": c.RolloutPrice, "judges": c.JudgePrice} {
		if p, err := prices(text); err == nil && text != "" {
			costs[kind] = cost(p, usage[kind])
		}
	}
	if len(costs) == 0 {
		return nil
	}
	return costs
}

func (c *SFTConfig) priceErrors() error {
	var errs []error
	for _, p := range []struct{ flag, text string }{{"rollout-price", c.RolloutPrice}, {"judge-price", c.JudgePrice}} {
		if _, err := prices(p.text); err != nil {
			errs = append(errs, fmt.Errorf("--%s %q: %w", p.flag, p.text, err))
		}
	}
	return errors.Join(errs...)
}
