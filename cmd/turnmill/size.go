package main

import (
	"fmt"
	"strconv"
	"strings"
)

// sizeValue is a flag that holds a number of bytes: "256MiB", "2GB", "1048576".
type sizeValue int64

var sizeUnits = [...]struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// Set parses s.
func (v *sizeValue) Set(s string) error {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<63-1)/unit {
		return fmt.Errorf("want a whole number of bytes, with a unit such as KiB, MiB, GiB, MB or GB if you like")
	}
	*v = sizeValue(n * unit)
	return nil
}

// String returns the size in the largest binary unit that leaves a whole number.
func (v *sizeValue) String() string {
	for _, u := range sizeUnits[:4] {
		if n := int64(*v); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*v), 10)
}

// Type names the value in help texts.
func (v *sizeValue) Type() string { return "SIZE" }
