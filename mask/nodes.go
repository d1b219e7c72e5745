package mask

import (
	"strings"

	"github.com/turnmill/turnmill/internal/volatile"
)

const (
	longLine     = 512      // bytes of a line above which it is cut into nodes
	longVolatile = 32 << 10 // bytes of a node above which nothing in it is taken for volatile
)

// node is a line of a tree, with its line feed, or a part of a line that is long or stands alone:
//
//	<ul><li>Home</li><li>Cart</li></ul>       before each tag
//	{"id":1,"items":[{"id":2},{"id":3}]}      behind each comma between two values
//	WebShop [SEP] Search [SEP] Next >         behind each separator of WebShop's pages
type node struct {
	end int32  // in the text; it begins where the one before ends
	key uint64 // equal nodes have one key
}

// appendNodes cuts text[from:to] into nodes, at most one more than most. from begins a line. alone says that the whole
// text is one line.
func (a *aligner) appendNodes(dst []node, text string, from, to, most int, alone bool) []node {
	for from < to {
		end := to
		if i := strings.IndexByte(text[from:to], '\n'); i >= 0 {
			end = from + i + 1
		}
		for cuts := alone || end-from > longLine; from < end; {
			next := end
			if cuts {
				next = from + cut(text[from:end])
			}
			if len(dst) > most {
				return dst
			}
			dst = append(dst, node{int32(next), a.key(text[from:next])})
			from = next
		}
	}
	return dst
}

// oneLine tells whether a text is a single line.
func oneLine(text string) bool {
	i := strings.IndexByte(text, '\n')
	return i < 0 || i == len(text)-1
}

// cut returns the length of the first node of a line.
func cut(line string) int {
	const separator = " [SEP] "
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '<':
			if i+1 < len(line) && (line[i+1] == '/' || volatile.WordByte(line[i+1])) {
				return i
			}
		case '[':
			if from := i - 1; strings.HasPrefix(line[from:], separator) {
				return from + len(separator)
			}
		case ',':
			if n := between(line, i); n > 0 {
				return n
			}
		}
	}
	return len(line)
}

// between returns where the next value begins behind the comma at i, or 0 when it stands between no values of JSON.
func between(line string, i int) int {
	if c := line[i-1]; c != '"' && c != '}' && c != ']' && c != 'e' && c != 'l' && (c < '0' || c > '9') {
		return 0
	}
	next := i + 1
	for next < len(line) && line[next] == ' ' {
		next++
	}
	if next < len(line) && strings.IndexByte(`"{[`, line[next]) >= 0 {
		return next
	}
	return 0
}

// nothing is the key of a node that is volatile as a whole.
const nothing = 0

// key names a node by what is not volatile in it, and by whether it has the focus: to move that is what many actions
// do. Numbers that lists and elements are given anew at every rendering play no part.
func (a *aligner) key(text string) uint64 {
	line := strings.TrimRight(text, "\r\n")
	if len(line) > longVolatile {
		return hash(line, 1)
	}
	stable, focus := a.stable(line)
	switch {
	case len(stable) == 0 && strings.TrimSpace(line) != "":
		return nothing
	case focus:
		return hash(stable, 3)
	}
	return hash(stable, 1)
}

// stable returns a line without its volatile parts, valid until the next call.
func (a *aligner) stable(line string) ([]byte, bool) {
	head, rest := unnumbered(line)
	stable, focus := volatile.Append(a.line[:0], head)
	stable, more := volatile.Append(stable, rest)
	a.line = stable
	return stable, focus || more
}

// unnumbered returns a line in two parts, without the number between them:
//
//	UI element 12: {"index": 12, ...      AndroidWorld's lists
//	<button id=12>...                     AutoDroid's
func unnumbered(line string) (head, rest string) {
	rest = strings.TrimLeft(line, " \t")
	head = line[:len(line)-len(rest)]
	if list, ok := strings.CutPrefix(rest, "UI element "); ok {
		if n := digits(list); n > 0 && strings.HasPrefix(list[n:], ": ") {
			rest = list[n+2:]
		}
	}
	if list, ok := strings.CutPrefix(rest, `{"index": `); ok {
		if n := digits(list); n > 0 {
			return head, list[n:]
		}
	}
	if strings.HasPrefix(rest, "<") {
		name := 1
		for name < len(rest) && volatile.WordByte(rest[name]) {
			name++
		}
		if list, ok := strings.CutPrefix(rest[name:], " id="); ok {
			if n := digits(list); n > 0 {
				return line[:len(head)+name], list[n:]
			}
		}
	}
	return head, rest
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// hash is FNV-1a with its bits mixed once more; kind keeps nodes of two kinds apart.
func hash[T string | []byte](text T, kind uint64) uint64 {
	h := uint64(0xCBF29CE484222325) ^ kind
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001B3
	}
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	return h | 1 // never nothing
}
