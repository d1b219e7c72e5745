package mask

import (
	"github.com/turnmill/turnmill"
)

// Beyond is what a History counts of a turn beside the mask's own integers. It changes no label.
type Beyond struct {
	Counted     bool // false: the turn was not looked at, or a trajectory had more words than are remembered
	HasState    bool
	StateWords  int  // distinct words of the state
	StateShared int  // of the observation's words, those of action or state
	Unseen      int  // of the observation's words, those that stand nowhere before it
	Judged      bool // the trajectory names a reference answer that can be judged by
	Leaked      bool // the observation has it, and the action does not
}

// StateNovelty is the share of the observation's words that neither action nor state has. Undefined without words,
// and without a state. masking.md, X1.
func (b *Beyond) StateNovelty(observationWords int) (float64, bool) {
	if !b.HasState {
		return 0, false
	}
	return quotient(int64(observationWords-b.StateShared), int64(observationWords))
}

// History decides about the turns of one trajectory after the other, as its Masker does, and counts what stands
// before each observation:
//
//	system prompt             its five parts, whichever rows show
//	turn 0   state action     the state of the turn where it has one, else, where a screen answers (android, web,
//	         observation      os, terminal), the observation of the turn before
//	turn 1   state action     all of these are before the observation of turn 1
//	         observation
//
// A turn that is not given to Decide, as one that a filter drops, is no history. Each text is cut into words once;
// time is linear in the trajectory's text, and memory in its distinct words, up to 1,048,576 of them in the prompt
// and as many in the turns: of what comes after more nothing is counted. It serves one goroutine, as its Masker.
type History struct {
	masker *Masker
	prompt prompt
	words  seenSet // of the turns
	full   bool
	screen bool // the trajectory's observations are screens

	texts   uint32   // numbered so far
	last    numbered // observation of the turn before
	action  []uint64 // words of the turn in hand: of its action, and of its observation alone
	answers []answer
}

// numbered is a text whose words have its number as their last one; number 0 is no text.
type numbered struct {
	text   string
	number uint32
	words  int
}

// NewHistory returns a History that decides with m, which keeps a list of words from now on.
func NewHistory(m *Masker) *History {
	m.measurer.words.listing = true
	return &History{masker: m, prompt: prompt{words: seenSet{most: mostSeen}}, words: seenSet{most: mostSeen}}
}

// Begin turns to another trajectory, whose reference answers are those that are given; query is what they answer.
// Texts are borrowed until the next Begin.
func (h *History) Begin(t *turnmill.Trajectory, query string, answers []string) {
	h.words.reset()
	h.full = !h.prompt.begin(&h.masker.measurer, &t.System)
	h.screen = false
	switch t.Domain {
	case turnmill.DomainAndroid, turnmill.DomainWeb, turnmill.DomainOS, turnmill.DomainTerminal:
		h.screen = true
	}
	h.texts, h.last = 0, numbered{}
	h.answers = h.masker.measurer.answers(h.answers[:0], query, answers)
}

// Decide is Masker.Decide of the trajectory that was begun, and counts. The turn is history for the next one.
func (h *History) Decide(t *turnmill.Trajectory, i int) (d turnmill.MaskDecision, b Beyond) {
	turn := &t.Turns[i]
	d = h.masker.Decide(t, i)
	m := &h.masker.measurer
	b.Judged, b.Leaked = len(h.answers) > 0, m.leaked(h.answers, turn)
	list := m.words.list
	if h.full = h.full || len(list) < m.words.used; h.full {
		return d, b
	}
	action, fresh := list[:d.ActionWords], list[d.ActionWords:]
	shared := action[:0] // words of both sides, first
	for i, key := range action {
		if m.words.sides(key) == sideAction|sideObservation {
			action[i], action[len(shared)] = action[len(shared)], key
			shared = action[:len(shared)+1]
		}
	}
	m.words.list, h.action = h.action, list // the state has a list of its own
	state := h.state(turn)
	b.HasState, b.StateWords = state.number > 0, state.words
	h.texts++
	now := numbered{turn.Observation, h.texts, d.ObservationWords}
	for _, key := range fresh {
		switch p, known := h.add(key); {
		case p == nil:
			return d, b.uncounted()
		case !known && !h.prompt.words.has(key):
			b.Unseen++
			p.last = now.number
		default:
			if known && p.last == state.number && b.HasState {
				b.StateShared++
			}
			p.last = now.number
		}
	}
	b.StateShared += d.SharedWords
	for i, key := range action {
		p, _ := h.add(key)
		if p == nil {
			return d, b.uncounted()
		}
		if i < len(shared) {
			p.last = now.number
		}
	}
	h.last = now
	b.Counted = !h.full
	if h.full {
		return d, b.uncounted()
	}
	return d, b
}

// uncounted leaves only what does not depend on words that came before.
func (b Beyond) uncounted() Beyond { return Beyond{Judged: b.Judged, Leaked: b.Leaked} }

// add remembers a word; nil when there is no room any more.
func (h *History) add(key uint64) (p *seen, known bool) {
	if h.full {
		return nil, false
	}
	p, known = h.words.add(key)
	h.full = p == nil
	return p, known
}

// state remembers the words of the turn's state, if it has one.
func (h *History) state(turn *turnmill.Turn) numbered {
	switch {
	case turn.State == "" && h.screen, turn.State != "" && turn.State == h.last.text:
		return h.last
	case turn.State == "":
		return numbered{}
	}
	m := &h.masker.measurer
	m.list(turn.State)
	h.texts++
	for _, key := range m.words.list {
		if p, _ := h.add(key); p != nil {
			p.last = h.texts
		}
	}
	h.full = h.full || len(m.words.list) < m.words.used
	return numbered{turn.State, h.texts, m.words.used}
}

// list cuts one text into words, whose keys stand in m.words.list.
func (m *Measurer) list(text string) {
	m.words.reset()
	m.side(trim(bytesOf(text)), sideAction)
	if len(text) > keepBytes {
		m.split.release()
		m.word = nil
	}
}

// prompt holds the words of a system prompt, which trajectories one after the other often share.
type prompt struct {
	words seenSet
	text  []byte // of the five parts, with their lengths
	ends  [5]int
	fits  bool
	known bool // text is that of the words
}

// mostPrompt is how long a prompt is kept for the trajectories that follow, in bytes.
const mostPrompt = 1 << 20

// begin makes sure that the words are those of a prompt. It is false when there are more than are remembered.
func (p *prompt) begin(m *Measurer, s *turnmill.SystemPrompt) bool {
	parts := s.Parts()
	if p.known && p.same(&parts) {
		return p.fits
	}
	p.words.reset()
	p.fits = true
	size := 0
	for _, part := range parts {
		size += len(part)
		m.list(part)
		p.fits = p.fits && len(m.words.list) == m.words.used
		for _, key := range m.words.list {
			if w, _ := p.words.add(key); w == nil {
				p.fits = false
				break
			}
		}
	}
	p.text, p.known = p.text[:0], size <= mostPrompt
	for i, part := range parts {
		if p.known {
			p.text = append(p.text, part...)
		}
		p.ends[i] = len(p.text)
	}
	return p.fits
}

// same tells whether parts are the prompt whose words these are.
func (p *prompt) same(parts *[5]string) bool {
	from := 0
	for i, part := range parts {
		if string(p.text[from:p.ends[i]]) != part {
			return false
		}
		from = p.ends[i]
	}
	return true
}
