package secrets

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// nearToken8 is nearToken for the shortest pairs of user and password.
func nearToken8(text string, at, end int) bool {
	for i := end; i < end+8; i++ {
		if i >= len(text) {
			return false
		}
		if c := text[i]; c == '\\' || c == escape || c == '\n' {
			return true
		} else if !tokenByte(c) {
			return false
		}
	}
	return true
}

// jwt takes three parts of base64url, of which the first is a header that names an algorithm. RFC 7519; of RFC 7516
// all five parts.
func jwt(text []byte, from, _ int, found func(from, to int)) {
	if from > 0 && (wordByte(text[from-1]) || text[from-1] == '-' || text[from-1] == '.') {
		return
	}
	end, dots := from, [5]int{}
	n := 0
	for ; end < len(text) && end-from < mostJWT; end++ {
		if c := text[end]; c == '.' && n < 4 {
			dots[n] = end
			n++
		} else if !wordByte(c) && c != '-' {
			break
		}
	}
	for n > 0 && dots[n-1] == end-1 { // a full stop
		n--
		end = dots[n]
	}
	if n < 2 || end-from < leastJWT {
		return
	}
	header, err := base64.RawURLEncoding.DecodeString(string(text[from:dots[0]]))
	if err == nil && len(header) > 0 && header[0] == '{' && bytes.Contains(header, []byte(`"alg"`)) {
		found(from, end)
	}
}

const (
	leastJWT = 48
	mostJWT  = 16 << 10
)

// basicAuth takes base64 of user:password. RFC 7617.
func basicAuth(text []byte, _, to int, found func(from, to int)) {
	end := to
	for end < len(text) && end-to < mostValue && tokenByte(text[end]) && text[end] != '.' && text[end] != '~' {
		end++
	}
	pair, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(text[to:end], "=")))
	if err != nil || len(pair) < 6 || !utf8.Valid(pair) {
		return
	}
	user, password, ok := bytes.Cut(pair, []byte(":"))
	if !ok || bytes.ContainsFunc(pair, func(r rune) bool { return r < ' ' || r == 0x7f }) || string(pair) == "Aladdin:open sesame" || string(pair) == "Aladdin:OpenSesame" {
		return
	}
	if len(password) == 0 && len(user) >= 16 && !standIn(user) || len(password) > 0 && !weakPassword(user, password) {
		found(to, end)
	}
}

// bearer takes the token of a header. RFC 6750.
func bearer(text []byte, _, to int, found func(from, to int)) {
	to = skipBlanks(text, to)
	end := tokenEnd(text, to)
	if value := text[to:end]; randomValue(value, leastRandom) {
		found(to, end)
	}
}

func tokenEnd(text []byte, i int) int {
	start := i
	for i < len(text) && i-start < mostJWT && tokenByte(text[i]) {
		i++
	}
	for i > start && text[i-1] == '.' {
		i--
	}
	return i
}

// authorization takes what follows the name of the header, with or without a scheme.
func authorization(text []byte, _, to int, found func(from, to int)) {
	from, stop, _, ok := afterName(text, to)
	if !ok {
		return
	}
	start := from
	if blank := bytes.IndexByte(text[from:stop], ' '); blank > 0 && blank < 16 { // a scheme, within quotes
		from += blank + 1
	} else if stop-from < 16 && stop < len(text) && text[stop] == ' ' { // or without
		from = skipBlanks(text, stop)
	}
	if bytes.EqualFold(bytes.TrimSpace(text[start:from]), []byte("basic")) { // which has a rule of its own
		return
	}
	end := tokenEnd(text, from)
	if value := text[from:end]; randomValue(value, leastRandom) {
		found(from, end)
	}
}

// leastRandom is the least length of a value that a machine has made.
const leastRandom = 16

// randomValue tells whether a value looks made by a machine: long, of digits and letters, and in no order.
func randomValue(value []byte, least int) bool {
	return len(value) >= least && mixed(value) && !standIn(value) && entropy(value) >= 3 && !identifier(value)
}

// identifier tells names of code, paths and words with a number from what a machine has made: parts between signs
// that are words or short numbers.
func identifier(value []byte) bool {
	for part := range bytes.FieldsFuncSeq(value, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' || r == ':' }) {
		letters, digits, turns, capitals := 0, 0, 0, 0
		for i, c := range part {
			isDigit := '0' <= c && c <= '9'
			switch {
			case isDigit:
				digits++
			case 'A' <= c && c <= 'Z':
				letters, capitals = letters+1, capitals+1
			default:
				letters++
			}
			if i > 0 && isDigit != ('0' <= part[i-1] && part[i-1] <= '9') {
				turns++
			}
		}
		if letters+digits >= 6 && (turns > 2 || turns > 0 && digits >= 4 || letters == 0 && digits > 10 || capitals > 3 && capitals < letters-3) {
			return false
		}
	}
	return true
}
