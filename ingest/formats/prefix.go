package formats

// closePrefix appends to dst the longest part of a cut JSON text that can be closed, closed: a string that
// is a value ends where the text does, everything else that is incomplete (a key, a member without a value,
// a number that might go on) is left out, and open containers end. It checks nothing: the result is parsed.
//
//	{"id":"a","turns":[{"index":0,"state":"Hom    ->  {"id":"a","turns":[{"index":0,"state":"Hom"}]}
//	{"id":"a","turns":[{"index":0,"sta            ->  {"id":"a","turns":[{"index":0}]}
func closePrefix(dst, cut []byte) []byte {
	var open []byte // the containers that are open
	whole := 0      // end of the last complete value or opening bracket
	key := false    // the next string is a key
	for i := 0; i < len(cut); {
		switch c := cut[i]; c {
		case '{', '[':
			open = append(open, c)
			key = c == '{'
			i++
			whole = i
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			i++
			whole = i
		case ',':
			key = len(open) > 0 && open[len(open)-1] == '{'
			i++
		case ':':
			key = false
			i++
		case '"':
			end, closed := stringEnd(cut, i)
			if !closed && !key {
				return closeAll(append(append(dst, cut[:end]...), '"'), open)
			}
			if i = end; closed && !key {
				whole = i
			}
		case ' ', '\t', '\r', '\n':
			i++
		default:
			for i < len(cut) && !delimits(cut[i]) {
				i++
			}
			if i < len(cut) {
				whole = i
			}
		}
	}
	return closeAll(append(dst, cut[:whole]...), open)
}

func closeAll(dst, open []byte) []byte {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] == '{' {
			dst = append(dst, '}')
		} else {
			dst = append(dst, ']')
		}
	}
	return dst
}

// stringEnd returns the offset after the string whose quote is at i. When the text ends inside it, that is
// the offset after its last whole character.
func stringEnd(text []byte, i int) (end int, closed bool) {
	for i++; i < len(text); {
		switch {
		case text[i] == '"':
			return i + 1, true
		case text[i] != '\\':
			i++
		case i+1 < len(text) && text[i+1] != 'u':
			i += 2
		case i+6 <= len(text) && text[i+1] == 'u':
			i += 6
		default:
			return i, false
		}
	}
	return len(text), false
}

func delimits(c byte) bool {
	switch c {
	case ',', ':', '{', '}', '[', ']', '"', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
