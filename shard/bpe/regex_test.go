package bpe

import (
	"strings"
	"unicode/utf8"
)

// A small matcher for the regular expressions of families(), read from their text: it tries alternatives in
// order and gives back, as the library's engine does. The scanners are held to it.

// node matches at runes[i:] and calls next with each end it can reach, in order of preference, until next
// says true.
type node func(runes []rune, i int, next func(int) bool) bool

// regexes are expressions that cut in turn.
type regexes []node

var compiled = map[string]node{}

// regexesOf returns the expressions of a model's family.
func regexesOf(m *Model) regexes {
	for _, f := range families() {
		if f.kind == m.split.kind && f.digits == m.split.digits && newSplitter(&f).of == m.split.of {
			return compile(f)
		}
	}
	panic("no family has this splitter")
}

func compile(f family) regexes {
	texts := f.regexes
	if len(texts) == 0 {
		texts = []string{gpt2Regex}
	}
	var list regexes
	for _, text := range texts {
		if compiled[text] == nil {
			p := regexParser{text: []rune(text)}
			compiled[text] = p.alternatives()
			if p.at != len(p.text) {
				panic("left over: " + string(p.text[p.at:]))
			}
		}
		list = append(list, compiled[text])
	}
	return list
}

// split cuts text by each expression in turn; what one does not match is a piece too.
func (list regexes) split(text string) []string {
	pieces := []string{text}
	for _, re := range list {
		var out []string
		for _, p := range pieces {
			out = append(out, splitOnce(re, []rune(p))...)
		}
		pieces = out
	}
	return pieces
}

func splitOnce(re node, runes []rune) []string {
	var out []string
	from := 0
	for i := 0; i < len(runes); {
		end := i
		re(runes, i, func(e int) bool { end = e; return true })
		if end == i {
			i++
			continue
		}
		if i > from {
			out = append(out, string(runes[from:i]))
		}
		out = append(out, string(runes[i:end]))
		i, from = end, end
	}
	if from < len(runes) {
		out = append(out, string(runes[from:]))
	}
	return out
}

type regexParser struct {
	text []rune
	at   int
	fold bool
}

func (p *regexParser) peek(s string) bool { return strings.HasPrefix(string(p.text[p.at:]), s) }

func (p *regexParser) take(s string) bool {
	if p.peek(s) {
		p.at += utf8.RuneCountInString(s)
		return true
	}
	return false
}

func (p *regexParser) alternatives() node {
	list := []node{p.sequence()}
	for p.take("|") {
		list = append(list, p.sequence())
	}
	return func(rs []rune, i int, next func(int) bool) bool {
		for _, n := range list {
			if n(rs, i, next) {
				return true
			}
		}
		return false
	}
}

func (p *regexParser) sequence() node {
	var list []node
	for p.at < len(p.text) && !p.peek("|") && !p.peek(")") {
		list = append(list, p.quantified())
	}
	return chain(list)
}

func chain(list []node) node {
	if len(list) == 0 {
		return func(_ []rune, i int, next func(int) bool) bool { return next(i) }
	}
	rest := chain(list[1:])
	return func(rs []rune, i int, next func(int) bool) bool {
		return list[0](rs, i, func(j int) bool { return rest(rs, j, next) })
	}
}

func (p *regexParser) quantified() node {
	if p.take("(?!\\S)") {
		blank := class(`\s`)
		return func(rs []rune, i int, next func(int) bool) bool {
			return (i == len(rs) || blank(rs[i])) && next(i)
		}
	}
	if p.take("(?i:") {
		p.fold = true
		n := p.alternatives()
		p.fold = false
		if !p.take(")") {
			panic("group not closed")
		}
		if p.take("?") {
			return func(rs []rune, i int, next func(int) bool) bool { return n(rs, i, next) || next(i) }
		}
		return n
	}
	in := p.class()
	least, most := 1, 1
	switch {
	case p.take("?"):
		least = 0
	case p.take("*"):
		least, most = 0, 1<<30
	case p.take("+"):
		most = 1 << 30
	case p.take("{1,3}"):
		most = 3
	}
	return func(rs []rune, i int, next func(int) bool) bool {
		n := 0
		for n < most && i+n < len(rs) && in(rs[i+n]) {
			n++
		}
		for ; n >= least; n-- {
			if next(i + n) {
				return true
			}
		}
		return false
	}
}

// class reads one character, escape or bracket.
func (p *regexParser) class() func(rune) bool {
	if !p.take("[") {
		return p.item()
	}
	not := p.take("^")
	var list []func(rune) bool
	for !p.take("]") {
		if p.at+2 < len(p.text) && p.text[p.at+1] == '-' && p.text[p.at] != '\\' && p.text[p.at+2] != ']' {
			lo, hi := p.text[p.at], p.text[p.at+2]
			p.at += 3
			list = append(list, func(r rune) bool { return r >= lo && r <= hi })
			continue
		}
		list = append(list, p.item())
	}
	return func(r rune) bool {
		for _, in := range list {
			if in(r) {
				return !not
			}
		}
		return not
	}
}

func (p *regexParser) item() func(rune) bool {
	for _, name := range []string{`\p{L}`, `\p{Lu}`, `\p{Lt}`, `\p{Ll}`, `\p{Lm}`, `\p{Lo}`, `\p{M}`, `\p{N}`, `\p{P}`, `\p{S}`, `\s`} {
		if p.take(name) {
			return class(name)
		}
	}
	r := p.text[p.at]
	p.at++
	if r == '\\' {
		r = p.text[p.at]
		p.at++
		switch r {
		case 'r':
			r = '\r'
		case 'n':
			r = '\n'
		}
	}
	if p.fold {
		fold := map[rune]rune{'S': 's', 'ſ': 's', 'T': 't', 'R': 'r', 'E': 'e', 'V': 'v', 'M': 'm', 'L': 'l', 'D': 'd'}
		return func(c rune) bool { return c == r || fold[c] == r }
	}
	return func(c rune) bool { return c == r }
}

// class returns the test for a name. Lu and Lt, Lm and Lo, P and S always stand together in families().
func class(name string) func(rune) bool {
	in := map[string]string{`\p{L}`: "Ulx", `\p{Lu}`: "U", `\p{Lt}`: "U", `\p{Ll}`: "l", `\p{Lm}`: "x", `\p{Lo}`: "x",
		`\p{M}`: "M", `\p{N}`: "N", `\p{P}`: "P", `\p{S}`: "P", `\s`: "SR"}[name]
	return func(r rune) bool {
		if r < utf8.RuneSelf {
			return strings.IndexByte(in, byteClass[r]) >= 0
		}
		return strings.IndexByte(in, classOf(r)) >= 0
	}
}
