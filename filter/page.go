package filter

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/volatile"
)

// page finds the parts of a screen's text by which patterns know it, whatever its representation:
//
//	Tab 0 (current): Title | Tab 1: ...           WebArena
//	[1] RootWebArea 'Title', focused, url='...'   WebArena, BrowserGym; quotes as in Python
//	<title>Title</title>                          HTML
//	- Page Title: Title / - Page URL: ...         Playwright
//	any other first line                          Android, desktops, plain text
//
// Its texts are lines, quoted strings, what stands between tags, tabs and WebShop's [SEP].
type page struct {
	title, tab, url string
	titled          bool // title is the page's own, not its first line
	lines           int  // blank ones included, those at the ends left out
	blank           bool
	heads           [3][]byte // title, tab and url, folded
	folded          []byte
}

// headBytes is how far into a page its title may stand.
const headBytes = 4 << 10

// failures says what the screens of a trajectory show.
type failures struct {
	looked, captcha, httpError bool
}

// failed looks through the screens of t, once for all who ask. What the agent opened blank is no failure.
func (c *Chain) failed(t *turnmill.Trajectory) *failures {
	if c.failures.looked {
		return &c.failures
	}
	c.failures.looked = true
	before := ""
	for i := range t.Turns {
		turn := &t.Turns[i]
		if turn.State != before {
			c.look(turn.State, false)
		}
		c.look(turn.Observation, !opensBlank(turn))
		before = turn.Observation
	}
	return &c.failures
}

// look looks at one screen.
func (c *Chain) look(text string, blanks bool) {
	if p := &c.page; p.short(text, c.patterns.lines) {
		p.head(text)
		p.blank = p.blank && blanks
		f, captcha, httpError := &c.failures, c.patterns.captcha, c.patterns.httpError
		f.captcha = f.captcha || p.metByHeads(text, captcha)
		f.httpError = f.httpError || p.metByHeads(text, httpError)
		if f.captcha && f.httpError || p.lines > max(captcha.textLines, httpError.textLines) {
			return
		}
		p.eachText(text, func(part string) bool {
			f.captcha = f.captcha || p.metByText(part, text, captcha)
			f.httpError = f.httpError || p.metByText(part, text, httpError)
			return f.captcha && f.httpError
		})
	}
}

// opensBlank tells whether an action asks for an empty page: a new tab, or about:blank itself.
func opensBlank(t *turnmill.Turn) bool {
	return strings.Contains(t.Action, "about:blank") || strings.Contains(t.Action, "new_tab") || strings.Contains(t.Action, "new tab") ||
		strings.Contains(t.Action, "tab_new") || strings.Contains(t.Action, "newTab") || strings.Contains(t.Action, "open_tab")
}

// metByHeads tells whether a screen, whose head is known, meets one of the rules that ask for no text.
func (p *page) metByHeads(text string, r *pageRules) bool {
	for i := range r.rules {
		if q := &r.rules[i]; q.text == nil && p.lines <= q.lines && len(text) <= q.lines*lineBytes && p.metByHead(q) {
			return true
		}
	}
	return false
}

// short counts lines; it tells whether there are any, and at most limit.
func (p *page) short(text string, limit int) bool {
	if len(text) > limit*lineBytes {
		return false
	}
	text = strings.TrimSpace(text)
	p.lines = strings.Count(text, "\n") + 1
	return text != "" && p.lines <= limit
}

// head finds title and address.
func (p *page) head(text string) {
	p.title, p.tab, p.url, p.titled, p.blank = "", "", "", false, false
	first, others, rootless := "", 0, true
	for rest := text[:min(len(text), headBytes)]; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		switch line = strings.TrimSpace(line); {
		case line == "":
			continue
		case strings.HasPrefix(line, "Tab ") && p.tab == "" && first == "":
			if tab, ok := currentTab(line); ok {
				p.tab = tab
				continue
			}
		case rootless && isRoot(line):
			rootless = false
			name, after, ok := quoted(line)
			p.title, p.titled = name, p.titled || ok && name != ""
			if i := strings.Index(after, "url="); i >= 0 {
				p.url, _, _ = quoted(after[i:])
			}
			p.blank = ok && name == ""
		case p.labelled(line):
		default:
			others++
		}
		if first == "" {
			first = line
		}
	}
	if i := strings.Index(text[:min(len(text), headBytes)], "<title"); i >= 0 && !p.titled {
		if _, inner, ok := strings.Cut(text[i:min(len(text), i+headBytes)], ">"); ok {
			p.title, _, _ = strings.Cut(inner, "<")
			p.titled = true
		}
	}
	if p.blank = p.blank && others == 0; p.title == "" && !p.titled && rootless {
		p.title = first
		if name, _, ok := quoted(first); ok && name != "" {
			p.title = name
		}
	}
	for i, head := range [...]string{p.title, p.tab, p.url} {
		p.heads[i] = appendFolded(p.heads[i][:0], head)
	}
}

// isRoot tells whether a line is the root of a page's accessibility tree.
func isRoot(line string) bool {
	if strings.HasPrefix(line, "[") {
		_, line, _ = strings.Cut(line, "] ")
	}
	return strings.HasPrefix(line, "RootWebArea") || strings.HasPrefix(line, "WebArea ")
}

// labelled takes a title or an address that stands behind its label.
func (p *page) labelled(line string) bool {
	line = strings.TrimPrefix(line, "- ")
	for _, l := range [...]struct {
		label string
		to    *string
	}{{"Page Title:", &p.title}, {"Page URL:", &p.url}, {"Title:", &p.title}, {"URL:", &p.url}} {
		if len(line) > len(l.label) && strings.EqualFold(line[:len(l.label)], l.label) {
			if *l.to == "" {
				*l.to = strings.TrimSpace(line[len(l.label):])
			}
			p.titled = p.titled || l.to == &p.title
			return true
		}
	}
	return false
}

// currentTab returns the title of the tab that WebArena's header names as the current one.
func currentTab(line string) (string, bool) {
	_, title, ok := strings.Cut(line, "(current):")
	if !ok {
		return "", false
	}
	if i := strings.Index(title, " | Tab "); i >= 0 {
		title = title[:i]
	}
	return strings.TrimSpace(title), true
}

// quoted returns the first quoted string of a line, and what follows it.
func quoted(line string) (inner, after string, ok bool) { return new(openQuotes).next(line) }

// openQuotes are the kinds of quotes that nothing ends in a line, nor any after it.
type openQuotes [2]bool

// next returns the first quoted string of what is left of a line.
func (open *openQuotes) next(line string) (inner, after string, ok bool) {
	for i := 0; i < len(line); i++ {
		kind := strings.IndexByte(`'"`, line[i])
		if kind < 0 || open[kind] {
			continue
		}
		if end := volatile.Closing(line, i); end > 0 {
			return line[i+1 : end], line[end+1:], true
		}
		open[kind] = !volatile.Apostrophe(line, i)
	}
	return "", "", false
}

func (p *page) metByHead(q *rule) bool {
	if q.blank && !p.blank {
		return false
	}
	title, tab, url := p.heads[0], p.heads[1], p.heads[2]
	if q.url != nil && !q.url.meets(url) {
		return false
	}
	return q.title == nil || q.title.meets(title) || q.title.meets(tab)
}

// metByText tells whether one text of the page meets a rule that asks for one.
func (p *page) metByText(part, whole string, r *pageRules) bool {
	if len(part) > headBytes || !r.texts.may(part) {
		return false
	}
	p.folded = appendFolded(p.folded[:0], part)
	for i := range r.rules {
		q := &r.rules[i]
		if q.text == nil || p.lines > q.lines || len(whole) > q.lines*lineBytes || !q.text.meets(p.folded) {
			continue
		}
		if q.title == nil && q.url == nil && !q.blank || p.metByHead(q) {
			return true
		}
	}
	return false
}

// mostCell is how far the text behind a tag may go.
const mostCell = 2 * headBytes

// eachText calls f with the texts of a page until it returns true, and tells whether it did.
func (p *page) eachText(text string, f func(string) bool) bool {
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if f(line) {
			return true
		}
		var open openQuotes
		for part := line; ; {
			inner, after, ok := open.next(part)
			if !ok {
				break
			}
			if f(inner) {
				return true
			}
			part = after
		}
		for _, mark := range [...]string{"\t", " [SEP] "} {
			for part, more := line, strings.Contains(line, mark); more; {
				var cell string
				cell, part, more = strings.Cut(part, mark)
				if f(cell) {
					return true
				}
			}
		}
		for part := line; ; { // <tag>text</tag>
			_, after, ok := strings.Cut(part, ">")
			if !ok {
				break
			}
			cell := after[:min(len(after), mostCell)]
			if end := strings.IndexByte(cell, '<'); end >= 0 || len(cell) == len(after) {
				if end >= 0 {
					cell = cell[:end]
				}
				if cell = strings.TrimSpace(cell); cell != "" && f(cell) {
					return true
				}
			}
			part = after
		}
	}
	return false
}
