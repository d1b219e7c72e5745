package formats

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// autoDroid decodes walks of AutoDroid. A document is a walk, and where the text as a whole is no YAML its
// records are read one by one:
//
//	records:
//	- Choice: 2        the element that is acted on         -> action
//	  Input: 'null'    what is typed
//	  State: ...       the screen                           -> state, and the observation of the record before
//	step_num: 3
//	task_name: utg     -> task
type autoDroid struct {
	acts
	lines yamlLines
	steps int
	open  bool // a walk goes on
	task  string
	meta  string
}

func (a *autoDroid) Decode(raw []byte, out *Decoded) error {
	out.reset()
	a.out, a.steps, a.open, a.lines = out, 0, false, yamlLines{raw: raw, line: 1}
	text := out.text(raw)
	docs, err := parseYAML(text)
	if err == nil {
		for _, doc := range docs {
			a.document(doc)
		}
	} else if !a.salvage(text) {
		out.lost(0, int64(max(len(raw), 1)), err)
	}
	if a.steps == 0 {
		return out.refuseWhole(autoDroidName, "no record of a walk in it")
	}
	return nil
}

// document takes a walk, or a list of its records alone.
func (a *autoDroid) document(doc *yaml.Node) {
	list := doc
	if doc.Kind == yaml.MappingNode {
		list = a.out.yamlMember(doc, "records")
	}
	a.about(doc)
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, r := range list.Content {
		if err := a.record(r); err != nil {
			from := a.lines.offset(r.Line)
			to := len(a.lines.raw)
			if i+1 < len(list.Content) {
				next := a.lines
				to = next.offset(list.Content[i+1].Line)
			}
			a.lose(from, to, err)
		}
	}
	a.close()
}

// about reads what stands beside the records.
func (a *autoDroid) about(doc *yaml.Node) {
	a.task, _ = yamlText(a.out.yamlMember(doc, "task_name"))
	steps, _ := yamlText(a.out.yamlMember(doc, "step_num"))
	a.meta = ""
	if n, err := strconv.Atoi(steps); err == nil {
		a.meta = a.out.object(member{"step_num", strconv.Itoa(n), true})
	}
}

// lose counts a record that could not be read. Nothing shows what the action before it did.
func (a *autoDroid) lose(from, to int, err error) {
	if a.open {
		a.end()
	}
	from = min(from, max(0, len(a.lines.raw)-1))
	a.out.lost(int64(from), int64(max(1, to-from)), err)
}

func (a *autoDroid) record(r *yaml.Node) error {
	screen, ok := yamlText(a.out.yamlMember(r, "State"))
	choice, chosen := yamlText(a.out.yamlMember(r, "Choice"))
	switch {
	case r.Kind != yaml.MappingNode:
		return reject(turnmill.ReasonBadField, "a record that is no mapping")
	case !ok:
		return reject(turnmill.ReasonBadField, "a record whose State is no text")
	}
	a.shown(screen)
	id, err := strconv.Atoi(choice)
	if err != nil || !chosen {
		return reject(turnmill.ReasonBadField, "a record whose Choice is no number")
	}
	if id < 0 {
		a.close()
		return nil
	}
	input, _ := yamlText(a.out.yamlMember(r, "Input"))
	a.agent()
	a.call(a.choice(id, input))
	return nil
}

// shown takes a screen: what answers the action before it, and what the next one sees.
func (a *autoDroid) shown(screen string) {
	a.steps++
	if !a.open {
		a.open = true
		a.begin(a.out.trajectory(autoDroidName, ""), a.out)
		a.t.Observed, a.t.Meta = turnmill.ObservedTrue, a.meta
		a.person(words{text: a.task, mute: true})
		a.started = true
	}
	if len(a.calls) > 0 {
		a.answer(result{text: screen})
	}
	a.end()
	a.state = screen
}

// close ends a walk.
func (a *autoDroid) close() {
	if !a.open {
		return
	}
	a.open = false
	a.acts.finish()
	a.t.Domain = turnmill.DomainAndroid
	a.out.finish(a.t, a.opts)
}

// choice returns the call that a choice on the present screen is.
func (a *autoDroid) choice(id int, input string) call {
	element := elementWithID(a.state, id)
	k := call{name: "tap", answer: -1}
	typed := input != "" && input != "null"
	switch {
	case typed:
		k.name = "input"
	case strings.HasSuffix(element, ">go back</button>"):
		k.name = "back"
	}
	b := append(append(a.out.arena.Open(), `{"name":"`...), k.name...)
	b = strconv.AppendInt(append(b, `","arguments":{"id":`...), int64(id), 10)
	if element != "" {
		b = jsonscan.AppendQuoted(append(b, `,"element":`...), element)
	}
	if typed {
		b = jsonscan.AppendQuoted(append(b, `,"text":`...), input)
	}
	k.text = a.out.arena.Close(append(b, "}}"...))
	return k
}

// elementWithID returns the element of a screen that bears an id, "<p id=0>Diary</p>", or "". One that is cut
// ends with its line.
func elementWithID(screen string, id int) string {
	want := strconv.Itoa(id)
	for at := 0; ; {
		i := strings.IndexByte(screen[at:], '<')
		if i < 0 {
			return ""
		}
		at += i + 1
		tag := screen[at:]
		n := 0
		for n < len(tag) && tag[n] >= 'a' && tag[n] <= 'z' {
			n++
		}
		after, ok := strings.CutPrefix(tag[n:], " id=")
		if ok {
			after, ok = strings.CutPrefix(after, want)
		}
		if n == 0 || !ok || !strings.HasPrefix(after, ">") && !strings.HasPrefix(after, " ") {
			continue
		}
		end := "</" + tag[:n] + ">"
		if i := strings.Index(tag, end); i >= 0 {
			return screen[at-1 : at+i+len(end)]
		}
		return screen[at-1 : at+len(firstLine(tag))]
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// salvage reads the records of a damaged text one by one, and tells whether there are any: each begins with a
// dash at the least indent that dashes have. The walk goes on where a record is lost.
func (a *autoDroid) salvage(text string) bool {
	indent := leastDash(text)
	if indent < 0 {
		return false
	}
	a.besideRecords(text)
	raw := a.lines.raw
	from, rawFrom, rawAt := 0, 0, 0 // of the stretch at hand; text and raw differ where bytes were mended
	record := false                 // it is a record
	for at := 0; at < len(text); {
		line := firstLine(text[at:])
		bare := strings.TrimLeft(line, " ")
		deep := len(line) - len(bare)
		if dash := strings.HasPrefix(bare, "- ") && deep == indent; dash || record && bare != "" && deep <= indent {
			a.stretch(text[from:at], rawFrom, rawAt, record)
			from, rawFrom, record = at, rawAt, dash
		}
		at += len(line) + 1
		if i := bytes.IndexByte(raw[rawAt:], '\n'); i >= 0 {
			rawAt += i + 1
		}
	}
	a.stretch(text[from:], rawFrom, len(raw), record)
	a.close()
	return true
}

// leastDash returns the least indent of the lines that begin with a dash, or -1.
func leastDash(text string) int {
	least := -1
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		if deep := len(line) - len(bare); strings.HasPrefix(bare, "- ") && (least < 0 || deep < least) {
			least = deep
		}
	}
	return least
}

// besideRecords reads the members of a damaged text that stand on lines of their own.
func (a *autoDroid) besideRecords(text string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "task_name:") || strings.HasPrefix(line, "step_num:") {
			b.WriteString(line)
		}
	}
	a.task, a.meta = "", ""
	if docs, err := parseYAML(b.String()); err == nil && len(docs) == 1 {
		a.about(docs[0])
	}
}

// stretch reads a part of a damaged text: a record, or what stands between records.
func (a *autoDroid) stretch(text string, from, to int, record bool) {
	if text == "" {
		return
	}
	docs, err := parseYAML(text)
	if err != nil && !record {
		a.out.lost(int64(from), int64(to-from), err)
	}
	if !record {
		return
	}
	if err == nil && (len(docs) != 1 || docs[0].Kind != yaml.SequenceNode || len(docs[0].Content) != 1) {
		err = reject(turnmill.ReasonBadYAML, "a record that is no mapping")
	}
	if err == nil {
		err = a.record(docs[0].Content[0])
	}
	if err != nil {
		a.lose(from, to, err)
	}
}
