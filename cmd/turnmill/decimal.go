package main

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// decimal is a flag with a whole number. It is always decimal: 010 is ten, as the task numbers of schedulers
// and shells are written.
type decimal[T int | int64] struct{ p *T }

// decimalVar declares a decimal flag whose default is what p holds.
func decimalVar[T int | int64](fs *pflag.FlagSet, p *T, name, usage string) {
	fs.Var(decimal[T]{p}, name, usage)
}

// Set reads a whole number.
func (d decimal[T]) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(T(n)) != n {
		return errors.New("must be an integer")
	}
	*d.p = T(n)
	return nil
}

// String returns the number.
func (d decimal[T]) String() string {
	if d.p == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*d.p), 10)
}

// Type is what help calls a value without a name.
func (d decimal[T]) Type() string { return "int" }
