package secrets

import "strings"

// near tells by a few bytes of a field whether a keyword may stand beside a secret. It says no to nearly all that is
// none, and never to one; what a view would show otherwise (a backslash, a terminal code) it lets pass.
type near func(text string, at, end int) bool

func nearAny(string, int, int) bool { return true }

// leastToken is the least number of bytes of a token after its keyword.
const leastToken = 12

// nearToken wants a run of a token after the keyword, with a digit or a capital.
func nearToken(text string, at, end int) bool {
	strange := false
	for i := end; i < len(text) && i < end+2*leastToken; i++ {
		switch c := text[i]; {
		case c == '\\' || c == escape || c == '\n' || c == '\r':
			return true
		case !tokenByte(c) && c != '%' && c != '|' && c != ':':
			return i >= end+leastToken && strange
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
			strange = true
		}
	}
	return strange && len(text) >= end+leastToken
}

// nearSign wants a name that goes on for a little, a sign and a value: name = value, "name": "value", --name value.
func nearSign(text string, at, end int) bool {
	i := end
	for ; i < len(text) && i < end+40; i++ {
		switch c := text[i]; {
		case c == '\\' || c == escape:
			return true
		case c == '=' || c == ':' || c == '>' || c == '|' || c == ',' || c == '?':
			return nearValue(text, i+1)
		case !wordByte(c) && c != '-' && c != '.' && c != ' ' && c != '\t' && c != '\'' && c != '"' && c != '`' && c != ']':
			return false
		}
	}
	return false
}

// leastValue is the least length of the value of a name.
const leastValue = 6

func nearValue(text string, i int) bool {
	for n := 0; n < 10 && i < len(text); n++ { // signs, blanks, quotes
		switch text[i] {
		case ' ', '\t', '"', '\'', '`', '=', '>', ':', '|', '\n':
			i++
			continue
		case '\\', escape:
			return true
		}
		break
	}
	for n := range leastValue {
		if i+n >= len(text) {
			return false
		}
		switch c := text[i+n]; c {
		case '\\', escape:
			return true
		case ' ', '\t', '\n', '"', '\'', '`', ',', ';', '(', '[', '{':
			return false
		}
	}
	return true
}

// nearName wants a sign after the name, or the dashes of a flag before it.
func nearName(text string, at, end int) bool {
	return nearSign(text, at, end) || nearFlag(text, at)
}

func nearFlag(text string, at int) bool {
	for i := at; i > 1 && i > at-40; i-- {
		if c := text[i-1]; c == '-' && text[i-2] == '-' {
			return true
		} else if !wordByte(c) && c != '-' {
			return false
		}
	}
	return false
}

// nearUser wants user:password@ after ://.
func nearUser(text string, at, end int) bool {
	colon := false
	for i := end; i < len(text) && i < end+mostUserinfo; i++ {
		switch text[i] {
		case '\\', escape, '\n', '\r':
			return colon || i < end+20
		case ':':
			colon = true
		case '@':
			return colon
		case '/', ' ', '\t', '"', '\'', '`', '<', '>', ')', ']':
			return false
		}
	}
	return false
}

// mostUserinfo is the most bytes of a user and a password in an address.
const mostUserinfo = 320

// hiding is no rule of its own: it opens a view where escapes may hide a keyword from the grams.
func hiding() *rule {
	return &rule{reach: reachHidden, keywords: []string{`\u00`, `\x1b`, `\033[`, `\e[`}, near: nearEscape, window: keywordAlone, find: func([]byte, int, int, func(int, int)) {}}
}

// nearEscape wants the escape of a byte that tokens are made of, or of ESC.
func nearEscape(text string, at, end int) bool {
	if text[at+1] != 'u' {
		return true
	}
	n, ok := hexByte(text, end, len(text), 2)
	return ok && (n == escape || tokenByte(byte(n)))
}

// nearCurl wants a flag for the user in the rest of the line.
func nearCurl(text string, _, end int) bool {
	rest := text[end:min(end+mostValue, len(text))]
	return strings.Contains(rest, "-u") || strings.Contains(rest, "--user")
}
