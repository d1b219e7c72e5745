package filter

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/internal/volatile"
)

// toolSet holds the names that one action space declares. Decoders leave the source's own JSON there:
//
//	[{"type":"function","function":{"name":N}}]       OpenAI, LLaMA-Factory, ATIF
//	[{"name":N,"input_schema":{}}]                    Anthropic, ShareGPT, ToolBench, OpenAI's Responses
//	{"tools":[{"name":N,"inputSchema":{}}]}           MCP, one list or one a server
//	[{"functionDeclarations":[{"name":N}]}]           Gemini, with underscores too
//	[{"toolSpec":{"name":N}}]                         Bedrock
//	["N","N"]  ["{\"name\":N}"]  {"N":{...}}          names, JSON in strings, definitions by name
//
// A space of another kind cannot be judged: prose, JSON without a name, a server whose tools it does not list.
type toolSet struct {
	space, inner []byte // the texts that the names lie in
	arena        jsonscan.Arena
	doc, nested  jsonscan.Doc
	call         jsonscan.Doc
	callText     []byte
	names        []string
	kinds        []string // of tools without a name: "web_search_preview" is called as "web_search"
	known        map[string]bool
	open         bool // more may be declared than is listed
}

// undeclared tells whether a call of t goes to a tool that its action space does not list. Where the space
// cannot be judged there is none, and that is noted; where there is no space, the decoder has noted it.
func (c *Chain) undeclared(t *turnmill.Trajectory) bool {
	if t.System.ActionSpace == "" {
		return false
	}
	if !c.tools.declare(t.System.ActionSpace) {
		c.notes[turnmill.NoteToolsNotJudged]++
		return false
	}
	for i := range t.Turns {
		if turn := &t.Turns[i]; turn.HasAction && !turn.Dialogue && !c.tools.haveAll(turn) {
			return true
		}
	}
	return false
}

// declare takes the names out of an action space; it tells whether calls can be judged by them.
func (s *toolSet) declare(space string) bool {
	s.names, s.kinds, s.inner, s.open = s.names[:0], s.kinds[:0], s.inner[:0], false
	s.arena.Reset()
	if len(s.known) > keepKnown || s.known == nil {
		s.known = map[string]bool{}
	}
	clear(s.known)
	trimmed := strings.TrimLeft(space, " \t\r\n")
	if trimmed == "" || strings.IndexByte(`[{"`, trimmed[0]) < 0 {
		return false
	}
	s.space = append(s.space[:0], space...)
	v, err := s.doc.ParseMany(s.space)
	if err != nil {
		return false
	}
	for ; v.Kind() != jsonscan.Invalid && !s.open; v = v.Next() {
		s.take(v, 0)
	}
	if cap(s.space) > keepBytes { // names are copies
		s.space, s.doc, s.inner, s.nested = nil, jsonscan.Doc{}, nil, jsonscan.Doc{}
	}
	return !s.open && len(s.names)+len(s.kinds) > 0
}

// keepBytes is the largest text whose memory serves for the next one.
const keepBytes = 4 << 20

// keepKnown is how many names' memory serves for the next one: emptying a map costs what it has grown to.
const keepKnown = 1 << 10

// mostNested bounds how deep groups of tools may lie in one another.
const mostNested = 8

// take adds the names of one value: a tool, a list or a group of tools.
func (s *toolSet) take(v jsonscan.Value, depth int) {
	switch {
	case depth > mostNested:
		s.open = true
	case v.Kind() == jsonscan.Array:
		for e := range v.Elems() {
			s.take(e, depth+1)
		}
	case v.Kind() == jsonscan.String:
		s.takeText(v, depth)
	case v.Kind() == jsonscan.Object:
		s.takeObject(v, depth)
	default:
		s.open = true
	}
}

// takeText adds a name, or what stands as JSON in a string.
func (s *toolSet) takeText(v jsonscan.Value, depth int) {
	text := strings.TrimSpace(v.Str(&s.arena))
	if text == "" || text[0] != '{' && text[0] != '[' {
		s.add(text)
		return
	}
	if len(s.inner) > 0 { // a text inside a text inside a text
		s.open = true
		return
	}
	s.inner = append(s.inner, text...)
	if inner, err := s.nested.Parse(s.inner); err != nil {
		s.open = true
	} else {
		s.take(inner, depth+1)
	}
	s.inner = s.inner[:0]
}

// groups are the members that hold the tools of a group.
var groups = [...]string{"tools", "functions", "functionDeclarations", "function_declarations", "tool_definitions", "toolSpec"}

func (s *toolSet) takeObject(v jsonscan.Value, depth int) {
	found := false
	for _, g := range groups {
		if m := v.Get(g); m.Kind() == jsonscan.Array || m.Kind() == jsonscan.Object {
			found = true
			s.take(m, depth+1)
		}
	}
	for _, member := range [...]string{"function", "custom"} { // {function: {name}}, or {function: "name"}
		switch m := v.Get(member); m.Kind() {
		case jsonscan.Object:
			found = s.named(m.Get("name")) || found
		case jsonscan.String:
			found = s.named(m) || found
		}
	}
	if found {
		return
	}
	switch kind := v.Get("type"); {
	case kind.Is("mcp") || kind.Is("mcp_toolset") || kind.Is("mcp_connector"): // a server, whose tools are not listed
		s.open = true
	case s.named(v.Get("name")):
	case s.named(v.Get("tool_name")):
	case kind.Kind() == jsonscan.String && !kind.Is(""): // a tool that the service runs itself
		s.kinds = append(s.kinds, s.arena.Copy(kind.Str(&s.arena)))
	default:
		s.byName(v)
	}
}

// byName adds the keys of definitions by name. Gemini's own tools ({"googleSearch":{}}) look the same, and
// are called under other names.
func (s *toolSet) byName(v jsonscan.Value) {
	if v.Len() == 0 {
		return
	}
	for key, m := range v.Members() {
		if m.Kind() != jsonscan.Object || m.Len() == 0 {
			s.open = true
			return
		}
		s.named(key)
	}
}

func (s *toolSet) named(v jsonscan.Value) bool {
	if v.Kind() != jsonscan.String {
		return false
	}
	s.add(v.Str(&s.arena))
	return true
}

func (s *toolSet) add(name string) {
	if name != "" && !s.known[name] {
		name = s.arena.Copy(name) // what it lies in may be used again
		s.known[name] = true
		s.names = append(s.names, name)
	}
}

// haveAll tells whether every tool that a turn calls is declared.
func (s *toolSet) haveAll(turn *turnmill.Turn) bool {
	if turn.Tool == "" {
		return s.haveCalls(turn.Action)
	}
	if s.known[turn.Tool] {
		return true
	}
	for rest := turn.Tool; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, ",")
		if !s.has(name) {
			return false
		}
	}
	return true
}

// haveCalls is haveAll by the action's text, where that is calls in their canonical form.
func (s *toolSet) haveCalls(action string) bool {
	if !strings.HasPrefix(action, `{"name":"`) {
		return true
	}
	if cap(s.callText) > keepBytes {
		s.callText, s.call = nil, jsonscan.Doc{}
	}
	s.callText = append(s.callText[:0], action...)
	v, err := s.call.ParseMany(s.callText)
	if err != nil {
		return true
	}
	for ; v.Kind() != jsonscan.Invalid; v = v.Next() {
		name := v.Get("name")
		if name.Kind() == jsonscan.String && v.Get("arguments").Kind() != jsonscan.Invalid && !s.has(name.Str(&s.arena)) {
			return false
		}
	}
	return true
}

// parallel is the wrapper that OpenAI's models put around calls side by side; nobody declares it.
const parallel = "multi_tool_use.parallel"

// has tells whether a name is declared, in any of the spellings under which harnesses pass names on.
func (s *toolSet) has(name string) bool {
	if name = strings.TrimSpace(name); name == "" || name == parallel || s.known[name] {
		return true
	}
	for _, kind := range s.kinds {
		if strings.HasPrefix(kind, name) || strings.HasPrefix(name, kind) {
			return true
		}
	}
	for _, declared := range s.names {
		if sameTool(name, declared) {
			s.known[s.arena.Copy(name)] = true // for the calls that follow; not one of names
			return true
		}
	}
	return false
}

// sameTool tells whether two names mean one tool: equal but for case and signs ("Web-Search",
// "web_search"), or one is the other behind the name of a server or name space ("mcp__exa__search",
// "functions.search", "search").
func sameTool(a, b string) bool {
	if foldedEqual(a, b) {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	for i := 1; i < len(a)-1; i++ {
		switch {
		case a[i] == '.' || a[i] == '/' || a[i] == ':':
		case a[i] == '_' && a[i-1] == '_' && a[i+1] != '_':
		default:
			continue
		}
		if foldedEqual(a[i+1:], b) {
			return true
		}
	}
	return false
}

// foldedEqual compares letters and digits alone, ASCII letters in either case. A name of signs alone equals
// only itself.
func foldedEqual(a, b string) bool {
	some := false
	for {
		a, b = afterSigns(a), afterSigns(b)
		if a == "" || b == "" {
			return a == b && some
		}
		if volatile.Lower(a[0]) != volatile.Lower(b[0]) {
			return false
		}
		a, b, some = a[1:], b[1:], true
	}
}

func afterSigns(s string) string {
	i := 0
	for i < len(s) && strings.IndexByte("_-. /:", s[i]) >= 0 {
		i++
	}
	return s[i:]
}
