package secrets

import (
	"bytes"
	"math"
)

// entropy is Shannon's, in bits a byte.
func entropy(b []byte) float64 {
	var n [256]int
	for _, c := range b {
		n[c]++
	}
	e := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(b))
			e -= float64(p * math.Log2(p))
		}
	}
	return e
}

// mixed tells whether a value has both a digit and a letter.
func mixed(b []byte) bool {
	digit, letter := false, false
	for _, c := range b {
		digit = digit || '0' <= c && c <= '9'
		letter = letter || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	return digit && letter
}

// secretWord tells whether what stands before a value says that it is one.
func secretWord(b []byte) bool {
	b = bytes.ToLower(b)
	for _, w := range [...]string{"key", "token", "secret", "api", "auth", "access", "passw", "cred", "webhook"} {
		if bytes.Contains(b, []byte(w)) {
			return true
		}
	}
	return false
}

// stand-ins are parts of values that are no secret: what documentation, templates and other scrubbers write.
var standIns = [][]byte{
	[]byte("redacted"), []byte("example"), []byte("xxxx"), []byte("****"), []byte("...."), []byte("your"), []byte("changeme"), []byte("change_me"), []byte("change-me"),
	[]byte("placeholder"), []byte("dummy"), []byte("{{"), []byte("${"), []byte("$("), []byte("insert"), []byte("replace"), []byte("0123456789"), []byte("123456789"),
	[]byte("abcdefgh"), []byte("getenv"), []byte("environ"), []byte("process.env"), []byte("<|"), []byte("|>"), []byte("masked"), []byte("hidden"), []byte("secret_here"), []byte("notreal"), []byte("not-real"),
}

// published are parts of keys that documentation prints for all to see.
var published = [][]byte{
	[]byte("EXAMPLE"),
	[]byte("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"), // jwt.io
}

// isPublished tells the values that no rule takes, whatever its kind.
func isPublished(value []byte) bool {
	for _, p := range published {
		if bytes.Contains(value, p) {
			return true
		}
	}
	return few(value)
}

// overMark tells whether a range touches a mark that an earlier run has left.
func overMark(text []byte, from, to int) bool {
	const longest = 80 // more than a mark has
	start := max(from-longest, 0)
	for {
		i := bytes.Index(text[start:min(to+len(mark), len(text))], []byte(mark))
		if i < 0 {
			return false
		}
		start += i
		end := start + len(mark)
		for end < len(text) && (wordByte(text[end]) || text[end] == '-' || text[end] == '.') {
			end++
		}
		if start < to && end > from {
			return true
		}
		start++
	}
}

// few tells values of hardly any different characters, as ghp_xxxxxxxx.
func few(value []byte) bool {
	var n [256]int
	most := 0
	for _, c := range value {
		n[c]++
		most = max(most, n[c])
	}
	return most*3 >= len(value)*2
}

// standIn tells whether a value stands for one that is to be filled in, or is code.
func standIn(value []byte) bool {
	lower := bytes.ToLower(value)
	for _, s := range standIns {
		if bytes.Contains(lower, s) {
			return true
		}
	}
	switch value[0] {
	case '$', '%', '<', '{', '[', '(', '/', '~', '@', '&', '!', '|':
		return true
	}
	return bytes.HasPrefix(lower, []byte("./")) || bytes.HasPrefix(lower, []byte("../")) || bytes.HasPrefix(lower, []byte("http:")) || bytes.HasPrefix(lower, []byte("https:")) || few(value)
}
