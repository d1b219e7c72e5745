package jsonscan

func skipBlanks(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// value reads one whole value that starts at i, appends its nodes and returns the offset after it.
// Containers are kept on a stack of their own, so nesting costs no goroutine stack.
func (d *Doc) value(i int) (int, error) {
	data := d.data
	var err error
	for {
		// A value is due at i.
		if i >= len(data) {
			return i, d.short("where a value is due")
		}
		switch c := data[i]; c {
		case '"':
			i, err = d.string(i)
		case '{', '[':
			var empty bool
			if i, empty, err = d.opening(i, c); err == nil && !empty {
				continue
			}
		default:
			i, err = d.scalar(i)
		}
		if err != nil {
			return i, err
		}
		// A value has ended before i.
		if i, err = d.closing(i); err != nil || len(d.open) == 0 {
			return i, err
		}
	}
}

// opening starts the container whose bracket c is at i and returns the offset of its first element or of
// its first member's value. The end of an empty one is left for closing.
func (d *Doc) opening(i int, c byte) (int, bool, error) {
	if len(d.open) >= d.limit {
		return i, false, d.tooDeep(i)
	}
	kind, end := Object, byte('}')
	if c == '[' {
		kind, end = Array, ']'
	} else {
		d.bases = append(d.bases, len(d.keys))
	}
	d.open = append(d.open, uint32(len(d.nodes)))
	d.nodes = append(d.nodes, node{start: uint32(i), kind: kind})
	i = skipBlanks(d.data, i+1)
	if i < len(d.data) && d.data[i] == end {
		return i, true, nil
	}
	if kind == Array {
		return i, false, nil
	}
	i, err := d.key(i)
	return i, false, err
}

// closing ends each container that ends at i, and stops before the next element or member's value, or
// after the outermost value, when nothing is open any more.
func (d *Doc) closing(i int) (int, error) {
	data := d.data
	for len(d.open) > 0 {
		i = skipBlanks(data, i)
		top := &d.nodes[d.open[len(d.open)-1]]
		if i >= len(data) {
			return i, d.short("inside " + article(top.kind))
		}
		switch c := data[i]; {
		case c == ',' && top.kind == Object:
			return d.key(skipBlanks(data, i+1))
		case c == ',':
			return skipBlanks(data, i+1), nil
		case c == '}' && top.kind == Object:
			d.closeKeys()
		case c == ']' && top.kind == Array:
		default:
			return i, d.unexpected(i, "a comma or the end of "+article(top.kind))
		}
		i++
		top.end, top.next = uint32(i), uint32(len(d.nodes))
		d.open = d.open[:len(d.open)-1]
	}
	return i, nil
}

func article(k Kind) string { return "an " + k.String() }

// key reads a member's key and colon, and returns the offset of the member's value.
func (d *Doc) key(i int) (int, error) {
	data := d.data
	if i >= len(data) {
		return i, d.short("where a key is due")
	}
	if data[i] != '"' {
		return i, d.unexpected(i, "a key")
	}
	i, err := d.string(i)
	if err != nil {
		return i, err
	}
	k := d.nodes[len(d.nodes)-1]
	text := data[k.start+1 : k.end-1]
	if k.flags != 0 {
		d.scratch = appendDecoded(d.scratch[:0], text, k.flags)
		text = d.scratch
	}
	d.keys = append(d.keys, hash(text))
	if i < len(data) && data[i] != ':' {
		i = skipBlanks(data, i)
	}
	if i >= len(data) {
		return i, d.short("where a colon is due")
	}
	if data[i] != ':' {
		return i, d.unexpected(i, "a colon")
	}
	return skipBlanks(data, i+1), nil
}
