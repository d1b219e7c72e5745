package volatile

import "strings"

// IDLength returns the length of an element's id in brackets, or 0: letters and at least one digit.
func IDLength(s string) int {
	const longest = 14
	digits := false
	for i := 1; i < min(len(s), longest) && s[0] == '['; i++ {
		switch c := s[i]; {
		case c == ']' && digits:
			return i + 1
		case c >= '0' && c <= '9':
			digits = true
		case !WordByte(c):
			return 0
		}
	}
	return 0
}

// Closing returns where the string that is opened at i ends, or 0. An apostrophe inside a word is no quote,
// and one behind a backslash ends nothing.
func Closing(line string, i int) int {
	quote := line[i]
	if Apostrophe(line, i) {
		return 0
	}
	for k := i + 1; k < len(line); k++ {
		switch {
		case line[k] == '\\':
			k++
		case line[k] == quote && (quote == '"' || k+1 == len(line) || !WordByte(line[k+1])):
			return k
		}
	}
	return 0
}

// Apostrophe tells whether the quote at i stands in a word. NNetNav's trees write StaticText'x' without a
// blank.
func Apostrophe(line string, i int) bool {
	return line[i] == '\'' && i > 0 && WordByte(line[i-1]) && !strings.HasSuffix(line[:i], "StaticText")
}

// WordByte tells whether a byte belongs to a word: a digit, a letter, or a part of a character beyond ASCII.
func WordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// Lower is the lower case of an ASCII letter, and any other byte as it is.
func Lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
