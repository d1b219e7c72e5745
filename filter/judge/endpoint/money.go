package endpoint

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Money is an amount in 10^-12 of the unit of whatever currency the prices are in: a price per million tokens with
// six decimals is exact per token. Sums saturate at nine million units.
type Money int64

const (
	moneyUnit    = 1_000_000_000_000
	priceUnit    = 1_000_000 // of a price: 10^-6 a million tokens is 10^-12 a token
	moneyLargest = math.MaxInt64
)

// ParseMoney reads an amount in decimals, "12.50".
func ParseMoney(s string) (Money, error) {
	n, err := decimal(s, 12)
	return Money(n), err
}

// String returns the least decimals that are exact: "12.5".
func (m Money) String() string {
	s := strconv.FormatInt(int64(m)/moneyUnit, 10)
	if part := int64(m) % moneyUnit; part != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%012d", part), "0")
	}
	return s
}

func (m Money) plus(o Money) Money {
	if m > moneyLargest-o {
		return moneyLargest
	}
	return m + o
}

// decimal reads a number from 0 with at most places decimals as an integer of 10^-places.
func decimal(s string, places int) (int64, error) {
	whole, part, dot := strings.Cut(s, ".")
	digits := whole + part
	if whole == "" || dot && part == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is no amount; try 0.25", s)
	}
	if len(part) > places {
		return 0, fmt.Errorf("%q has more than %d decimals", s, places)
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", places-len(part)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is too large", s)
	}
	return n, nil
}

// Price is a price of a million tokens, in 10^-6 of the currency's unit.
type Price int64

// ParsePrice reads a price of a million tokens in decimals, "0.60"; "" is nothing.
func ParsePrice(s string) (Price, error) {
	if s == "" {
		return 0, nil
	}
	n, err := decimal(s, 6)
	return Price(n), err
}

// of returns what n tokens cost.
func (p Price) of(n int64) Money {
	hi, lo := bits.Mul64(uint64(max(n, 0)), uint64(max(p, 0)))
	if hi != 0 || lo > moneyLargest {
		return moneyLargest
	}
	return Money(lo)
}

// Prices are what a million tokens cost, in one currency.
type Prices struct {
	Prompt     Price
	Completion Price // reasoning is part of it
}
