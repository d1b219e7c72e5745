package verify

import (
	"strconv"
	"strings"
)

// trees compares trees that are written as indented lines: accessibility trees, view hierarchies, HTML with a tag
// a line. A line that is indented more than the one above is its child, by how much does not count. What is
// compared is depth and normal form of each line that is not blank.
//
//	[12] link 'Home', focused, bounds=(0,0)        volatile: bounds, focused; numbers: drop
//	   ->  depth 1: link 'Home'
type trees struct {
	volatile map[string]bool // names of attributes
	numbers  bool            // drop the number that a line begins with
}

// node is one line.
type node struct {
	depth int
	text  string
}

func (r trees) check(prediction, expected string) Verdict {
	want, got := r.nodes(expected), r.nodes(prediction)
	if len(want) == 0 {
		return bad("what is expected is an empty tree")
	}
	for i, w := range want {
		switch {
		case i >= len(got):
			return Verdict{Fail, "the prediction ends before node " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(want))}
		case got[i].depth != w.depth:
			return Verdict{Fail, "node " + strconv.Itoa(i+1) + " stands at depth " + strconv.Itoa(got[i].depth) + ", expected " + strconv.Itoa(w.depth)}
		case got[i].text != w.text:
			return Verdict{Fail, "node " + strconv.Itoa(i+1) + " differs"}
		}
	}
	return equal(len(got) == len(want), "the prediction has "+strconv.Itoa(len(got))+" nodes, expected "+strconv.Itoa(len(want)))
}

// nodes reads the lines. A line that returns to an indent which no line above has is a sibling of the lines that
// are indented more than it at that place.
func (r trees) nodes(text string) []node {
	var all []node
	var open []int // indents of the ancestors of the next line
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, blanks)
		body := strings.TrimLeft(line, " \t")
		if body == "" {
			continue
		}
		in := indent(line[:len(line)-len(body)])
		for len(open) > 0 && open[len(open)-1] >= in {
			open = open[:len(open)-1]
		}
		all = append(all, node{len(open), r.normal(body)})
		open = append(open, in)
	}
	return all
}

// indent counts columns, tabs up to the next multiple of 8.
func indent(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] == '\t' {
			n += 8 - n%8
		} else {
			n++
		}
	}
	return n
}
