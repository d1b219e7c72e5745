package formats

import (
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// nnetnav decodes the steps of NNetNav's runs, each of which shows a page and what was done before it.
type nnetnav struct {
	acts
	wholeFile
	steps int
	run   string // id of the run at hand; segment counts its trajectories
	segment,
	done int // entries in the history of the last step
	proposed string
}

func (n *nnetnav) Decode(raw []byte, out *Decoded) error {
	out.reset()
	n.out, n.steps, n.run, n.segment, n.proposed, n.doc.NonFinite = out, 0, "", 0, "", true
	n.readFile(raw, out, n)
	if n.steps == 0 {
		return out.refuseWhole(nnetnavName, "no step of a run in it")
	}
	n.close()
	return nil
}

// value takes a step, or a list of them.
func (n *nnetnav) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			n.value(e, base)
		}
		return
	}
	if err := n.step(v); err != nil {
		n.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

func (n *nnetnav) step(v jsonscan.Value) error {
	list := v.Get("messages")
	if v.Kind() != jsonscan.Object || list.Kind() != jsonscan.Array {
		return wrongFormat(nnetnavName, "a step without messages")
	}
	arena := &n.out.arena
	page, ok := cutPrompt(list.At(1).Get("content").Str(arena))
	if !ok {
		return reject(turnmill.ReasonBadMessage, "messages[1]: no OBSERVATION, URL, OBJECTIVE and PREVIOUS ACTIONS")
	}
	count, last := lastEntry(page.history)
	id := n.out.id(v.Get("id"))
	if n.steps++; n.steps == 1 || id != n.run || count != n.done+1 {
		n.open(id, v.Get("dataset").Str(arena), list.At(0).Get("content").Str(arena), page.objective)
	} else {
		n.ran(last, page.tree)
	}
	n.done, n.state = count, page.tree
	n.proposed = n.propose(list.At(2).Get("content").Str(arena))
	return nil
}

// open begins a trajectory.
func (n *nnetnav) open(id, source, rules, objective string) {
	again := id == n.run && n.segment > 0
	if n.steps > 1 {
		n.close()
	}
	if n.segment++; !again {
		n.segment = 1
	}
	n.run = id
	if source == "" {
		source = nnetnavName
	}
	n.begin(n.out.trajectory(source, ""), n.out)
	n.t.ID, n.t.TaskID, n.t.Observed = n.out.ownID(id, n.segment-1), id, turnmill.ObservedTrue
	n.instruct(rules)
	n.person(words{text: objective})
	n.started = true
}

// close ends a trajectory, whose last action nothing shows the effect of.
func (n *nnetnav) close() {
	n.say(n.proposed)
	n.acts.finish()
	n.t.Domain = turnmill.DomainWeb
	n.out.finish(n.t, n.opts)
	n.proposed = ""
}

// ran takes what was done between the last page and this one.
func (n *nnetnav) ran(entry, page string) {
	switch {
	case strings.HasPrefix(entry, "The previous prediction you issued was"):
		n.say(n.proposed)
		n.end()
		return
	case strings.HasPrefix(entry, "Attempt to perf") && n.proposed != "":
		entry = n.proposed
	default:
		entry = withoutElement(entry)
	}
	n.say(entry)
	n.results = append(n.results, result{text: page})
	n.end()
}

// propose splits an assistant's message: its last fence is the action, the rest are thoughts.
func (n *nnetnav) propose(text string) string {
	const fence = "```"
	end := strings.LastIndex(text, fence)
	if end < 0 {
		n.think.add(text)
		return ""
	}
	from := strings.LastIndex(text[:end], fence)
	for from >= 0 && from+len(fence) == end { // an empty fence behind the action
		end = from
		from = strings.LastIndex(text[:end], fence)
	}
	if from < 0 {
		n.think.add(text)
		return ""
	}
	n.think.add(text[:from])
	return strings.Trim(text[from+len(fence):end], blanks)
}

// prompt is what the user's message of a step holds.
type prompt struct{ tree, objective, history string }

const nnetnavPage = "OBSERVATION:\n"

// cutPrompt cuts a user's message at its headings, the last of each, for a page may hold such words too.
func cutPrompt(text string) (p prompt, ok bool) {
	rest, ok := strings.CutPrefix(text, nnetnavPage)
	if !ok {
		return p, false
	}
	for _, part := range [...]struct {
		heading string
		to      *string
	}{{"\nPREVIOUS ACTIONS:\n", &p.history}, {"\nOBJECTIVE: ", &p.objective}, {"\nURL: ", nil}} {
		i := strings.LastIndex(rest, part.heading)
		if i < 0 {
			return p, false
		}
		if part.to != nil {
			*part.to = rest[i+len(part.heading):]
		}
		rest = rest[:i]
	}
	p.tree = rest
	return p, true
}

// lastEntry counts the entries of a history, "1: None\n2: click [4]", and returns the last one. An entry may
// have several lines.
func lastEntry(history string) (count int, last string) {
	rest, mark := history, [24]byte{}
	for n := 1; ; n++ {
		head := appendEntry(mark[:0], n)
		var i int
		if n == 1 {
			if !strings.HasPrefix(rest, string(head[1:])) {
				return 0, history
			}
			i = -1
		} else if i = strings.Index(rest, string(head)); i < 0 {
			return n - 1, rest
		}
		rest = rest[i+len(head):]
	}
}

// appendEntry appends the mark before entry n.
func appendEntry(b []byte, n int) []byte {
	return append(strconv.AppendInt(append(b, '\n'), int64(n), 10), ": "...)
}

// withoutElement cuts what the recorder added to an action: "click [4] where [4] is link 'x'".
func withoutElement(entry string) string {
	if i := strings.Index(entry, " where ["); i >= 0 && strings.Contains(entry[i:], "] is ") {
		return entry[:i]
	}
	return entry
}
