package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const webShopName = "webshop"

func webShopFormat() Format {
	return Format{
		Name:      webShopName,
		Title:     "human runs of WebShop for imitation: parallel lists of pages as text, actions and choices",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseWebShop,
		New:       func(o Options) Decoder { return &webShop{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "states, the pages as text, and actions (search[...], click[...]), as they stand. The task is the\n" +
				"instruction of the first page, which stays in the pages too.",
			Pairing: "Action i stands between states i and i+1; the last action of a run without a last page is unanswered.\n" +
				"A run with other numbers of states is rejected.",
			State:    "the page before the action",
			Domain:   "web",
			ID:       "id, else by content: the published set has none",
			Stripped: "available_actions, action_idxs, actions_translate, images (vectors)",
			Sample: `{"states":["WebShop\nInstruction:\nFind a mug.\n[button] Search [button_]","Instruction:\nFind a mug.\n[button] Back to Search [button_]\n[button] B01 [button_] Mug, white"],` +
				`"actions":["search[mug]","click[B01]"],"available_actions":[[],["click[back to search]","click[b01]"]],"action_idxs":[-1,1]}`,
		},
	}
}

func recogniseWebShop(v jsonscan.Value) (why string, marks int) {
	for _, name := range [...]string{"available_actions", "action_idxs", "actions_translate"} {
		if v.Get(name).Kind() == jsonscan.Array {
			marks++
		}
	}
	first, action := v.Get("states").At(0), v.Get("actions").At(0)
	page, _ := first.Plain() // undecoded: what is looked for has no escapes
	did, _ := action.Plain()
	shop := strings.Contains(string(page), "Instruction:") || strings.HasPrefix(string(did), "search[") || strings.HasPrefix(string(did), "click[")
	switch {
	case v.Kind() != jsonscan.Object:
		return "a record is " + article(v.Kind()) + ", want an object", 0
	case v.Get("states").Kind() != jsonscan.Array:
		return "no list of states", min(marks, 1)
	case marks == 0 && v.Get("actions").Kind() != jsonscan.Array:
		return "states without actions", 1
	case !shop:
		return "pages without an Instruction, and actions that neither search nor click", marks
	}
	return "", marks + 3
}

// webShop decodes runs of people in WebShop.
type webShop struct {
	acts
	pages []string
}

func (w *webShop) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, w.record)
}

func (w *webShop) record(v jsonscan.Value, out *Decoded) error {
	states, actions := v.Get("states"), v.Get("actions")
	switch {
	case v.Kind() != jsonscan.Object || states.Kind() == jsonscan.Invalid:
		return wrongFormat(webShopName, "no list of states")
	case states.Kind() != jsonscan.Array:
		return badField("states", "an array", states)
	case actions.Kind() != jsonscan.Array:
		return badField("actions", "an array", actions)
	}
	if n := states.Len() - actions.Len(); n != 0 && n != 1 {
		return reject(turnmill.ReasonBadField, "%d states and %d actions, want as many or one state more", states.Len(), actions.Len())
	}
	w.pages = w.pages[:0]
	for s := range states.Elems() {
		if s.Kind() != jsonscan.String {
			return inside("states", len(w.pages), badField("", "a string", s))
		}
		w.pages = append(w.pages, s.Str(&out.arena))
	}
	w.begin(out.trajectory(webShopName, out.id(v.Get("id"))), out)
	w.t.TaskID, w.t.Observed = out.id(v.Get("task_id")), turnmill.ObservedTrue
	if len(w.pages) > 0 {
		w.person(words{text: shopTask(w.pages[0]), mute: true})
	}
	w.started = true
	if err := w.play(actions); err != nil {
		return err
	}
	w.finish()
	w.t.Domain = turnmill.DomainWeb
	out.finish(w.t, w.opts)
	return nil
}

func (w *webShop) play(actions jsonscan.Value) error {
	i := 0
	for a := range actions.Elems() {
		if a.Kind() != jsonscan.String {
			return inside("actions", i, badField("", "a string", a))
		}
		w.agent()
		w.state = w.pages[i]
		text := a.Str(&w.out.arena)
		w.call(call{name: nameBefore(text, '['), text: text, answer: -1})
		if i++; i < len(w.pages) {
			w.answer(result{text: w.pages[i], mute: w.pages[i] == ""})
		}
		w.end()
	}
	return nil
}

// nameBefore returns the name that an action begins with, "click" of click[B01], or "".
func nameBefore(text string, bracket byte) string {
	if i := strings.IndexByte(text, bracket); i > 0 && identifier(text[:i]) {
		return text[:i]
	}
	return ""
}

// shopTask returns the instruction on a page of WebShop: the text behind its heading, up to the next button or
// field.
func shopTask(page string) string {
	_, task, ok := strings.Cut(page, "Instruction:")
	if !ok {
		return ""
	}
	task = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(task, blanks), "[SEP]"), blanks)
	for _, end := range [...]string{"[button]", "[SEP]", "[clicked button]"} {
		task, _, _ = strings.Cut(task, end)
	}
	return strings.TrimRight(task, blanks)
}
