package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// node is a line of a template, or lines under a condition.
type node struct {
	line   []piece
	ifAny  []slot // lines stand only when one of these is not empty
	lines  []node
	isLine bool
}

// piece is text as it stands, or a slot.
type piece struct {
	text  string
	slot  slot // none for text
	fence bool // in a code fence where the value is JSON
}

// slot is a place of a template that a trajectory fills.
type slot uint8

const (
	none slot = iota
	taskDescription
	actionSpace
	initialState
	demonstrations
	simulationInstruction
	targetQuery        // of the trajectory's meta
	referenceAnswer    // of the trajectory's meta
	environmentSummary // of the trajectory's meta
	turnNumber
	turnInstruction // of the trajectory's meta
	state
	action
	observation
	numSlots
)

var slotNames = [numSlots]string{
	"", "task_description", "action_space", "initial_state", "demonstrations", "simulation_instruction", "target_query",
	"reference_answer", "environment_summary", "turn", "turn_instruction", "state", "action", "observation",
}

// sections are the parts of a template, in order, with the slots that each may have.
var sections = [...]struct {
	name        string
	first, last slot
}{{"system", taskDescription, environmentSummary}, {"user", turnNumber, action}, {"assistant", observation, observation}}

var (
	slotForm = regexp.MustCompile(`\{\{([a-z_]+)(\|fence)?\}\}`)
	ifForm   = regexp.MustCompile(`^\{\{#if ([a-z_ ]+)\}\}$`)
)

// parse reads the text of a template. A slot stands in it at most once, in its section.
func parse(text string) (*Template, error) {
	t, seen := &Template{}, map[slot]bool{}
	for i, into := range []*[]node{&t.system, &t.user, &t.assistant} {
		body, ok := strings.CutPrefix(text, "=== "+sections[i].name+"\n")
		if !ok {
			return nil, fmt.Errorf("section %s is missing", sections[i].name)
		}
		end := len(body)
		if i+1 < len(sections) {
			if end = strings.Index(body, "\n=== "+sections[i+1].name+"\n") + 1; end == 0 {
				return nil, fmt.Errorf("section %s is missing", sections[i+1].name)
			}
		}
		p := parser{lines: strings.Split(strings.TrimRight(body[:end], "\n"), "\n"), section: i, seen: seen}
		text = body[end:]
		var err error
		if *into, err = p.nodes(false); err != nil {
			return nil, fmt.Errorf("section %s: %w", sections[i].name, err)
		}
	}
	return t, nil
}

type parser struct {
	lines   []string
	section int
	seen    map[slot]bool
}

// nodes reads lines to the end, or to the end of a condition.
func (p *parser) nodes(inside bool) (out []node, err error) {
	for len(p.lines) > 0 {
		line := p.lines[0]
		p.lines = p.lines[1:]
		m := ifForm.FindStringSubmatch(line)
		switch {
		case line == "{{/if}}" && inside:
			return out, nil
		case m != nil:
			var n node
			for name := range strings.FieldsSeq(m[1]) {
				s, err := p.slot(name)
				if err != nil {
					return nil, err
				}
				n.ifAny = append(n.ifAny, s)
			}
			if n.lines, err = p.nodes(true); err != nil {
				return nil, err
			}
			out = append(out, n)
		default:
			n, err := p.line(line)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	if inside {
		return nil, fmt.Errorf("{{#if}} has no {{/if}}")
	}
	return out, nil
}

// line reads one line into text and slots.
func (p *parser) line(line string) (node, error) {
	n, at := node{isLine: true}, 0
	for _, m := range slotForm.FindAllStringSubmatchIndex(line, -1) {
		s, err := p.slot(line[m[2]:m[3]])
		if err != nil {
			return node{}, err
		}
		if p.seen[s] {
			return node{}, fmt.Errorf("slot %s stands there twice", slotNames[s])
		}
		p.seen[s] = true
		n.line = append(n.line, piece{text: line[at:m[0]]}, piece{slot: s, fence: m[4] >= 0})
		at = m[1]
	}
	if rest := line[at:]; strings.Contains(rest, "{{") || strings.Contains(rest, "}}") {
		return node{}, fmt.Errorf("%q is no slot and no condition", rest)
	}
	n.line = append(n.line, piece{text: line[at:]})
	return n, nil
}

// slot finds a slot of this section by name.
func (p *parser) slot(name string) (slot, error) {
	s := slot(max(0, slices.Index(slotNames[:], name)))
	if sec := sections[p.section]; s < sec.first || s > sec.last {
		return none, fmt.Errorf("there is no slot %q", name)
	}
	return s, nil
}
