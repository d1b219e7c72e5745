package formats

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blanks     = " \t\r\n"
)

// thoughts gathers pieces of the agent's reasoning.
type thoughts struct {
	texts []string
	n     int // pieces, empty blocks included
}

func (t *thoughts) reset() { *t = thoughts{texts: t.texts[:0]} }

// add keeps a text that has more than blanks.
func (t *thoughts) add(s string) {
	if strings.Trim(s, blanks) != "" {
		t.block(s)
	}
}

// block keeps what stood between two tags.
func (t *thoughts) block(s string) {
	t.n++
	if s = strings.Trim(s, blanks); s != "" {
		t.texts = append(t.texts, s)
	}
}

// withoutThinking returns an agent's text without its <think> blocks, whose contents go to think. An end
// without a beginning takes what stands before it: the prompt held the beginning. A beginning without an
// end takes the rest where nothing stands before it: the reply was cut while reasoning; elsewhere the text
// speaks of the tag and stays. Blanks after a block that begins the text go with the block.
func (d *Decoded) withoutThinking(text string, think *thoughts) string {
	rest := text
	open, end := strings.Index(rest, thinkOpen), strings.Index(rest, thinkClose)
	if end >= 0 && (open < 0 || end < open) {
		think.block(rest[:end])
		rest = rest[end+len(thinkClose):]
	}
	d.pieces = d.pieces[:0]
	for {
		open = strings.Index(rest, thinkOpen)
		if open < 0 {
			break
		}
		bare := len(d.pieces) == 0 && strings.Trim(rest[:open], blanks) == ""
		inside := rest[open+len(thinkOpen):]
		end = strings.Index(inside, thinkClose)
		if end < 0 {
			if bare {
				think.block(inside)
				rest = ""
			}
			break
		}
		think.block(inside[:end])
		if !bare {
			d.pieces = append(d.pieces, rest[:open])
		}
		rest = inside[end+len(thinkClose):]
	}
	if len(d.pieces) == 0 {
		if len(rest) < len(text) {
			rest = strings.TrimLeft(rest, blanks)
		}
		return rest
	}
	d.pieces = append(d.pieces, rest)
	return d.join(d.pieces, "")
}
