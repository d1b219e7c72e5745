package jsonscan

// scalar reads a number or literal that starts at i.
func (d *Doc) scalar(i int) (int, error) {
	data := d.data
	kind, end := Invalid, i
	switch c := data[i]; c {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		var ok bool
		if end, ok = number(data, i); ok {
			kind = Number
		}
	case 't':
		kind, end = literal(data, i, "true", True)
	case 'f':
		kind, end = literal(data, i, "false", False)
	case 'n':
		kind, end = literal(data, i, "null", Null)
	case 'N':
		kind, end = d.nonFinite(i, "NaN")
	case 'I':
		kind, end = d.nonFinite(i, "Infinity")
	}
	if kind == Invalid && data[i] == '-' {
		if k, e := d.nonFinite(i, "-Infinity"); k == Number {
			kind, end = k, e
		}
	}
	if kind == Invalid {
		return d.badScalar(i, end)
	}
	d.nodes = append(d.nodes, node{uint32(i), uint32(end), uint32(len(d.nodes)) + 1, kind, 0})
	return end, nil
}

func (d *Doc) nonFinite(i int, name string) (Kind, int) {
	if !d.NonFinite {
		return Invalid, i
	}
	kind, end := literal(d.data, i, name, Number)
	if kind == Number {
		d.repairs.NonFinite++
	}
	return kind, end
}

// badScalar explains why no value starts at i; end is where reading a number stopped.
func (d *Doc) badScalar(i, end int) (int, error) {
	data := d.data
	for _, name := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if k, _ := literal(data, i, name, Number); k == Number {
			return i, &SyntaxError{Offset: i, Msg: name + " is not JSON"}
		}
		if d.NonFinite && cutShort(data[i:], name) {
			return len(data), d.short("inside a value")
		}
	}
	for _, name := range [...]string{"true", "false", "null"} {
		if cutShort(data[i:], name) {
			return len(data), d.short("inside a value")
		}
	}
	switch c := data[i]; {
	case c != '-' && (c < '0' || c > '9'):
		return i, d.unexpected(i, "a value")
	case end >= len(data):
		return len(data), d.short("inside a number")
	case data[end] >= '0' && data[end] <= '9':
		return end, &SyntaxError{Offset: end, Msg: "number with a leading zero"}
	}
	return end, d.unexpected(end, "a digit")
}

// cutShort tells whether b is a beginning of name.
func cutShort(b []byte, name string) bool {
	return len(b) < len(name) && string(b) == name[:len(b)]
}

func literal(data []byte, i int, name string, kind Kind) (Kind, int) {
	if len(data)-i < len(name) || string(data[i:i+len(name)]) != name {
		return Invalid, i
	}
	return kind, i + len(name)
}

// number returns the offset after the number at i, or false and the offset of the byte that spoils it.
// RFC 8259, section 6.
func number(data []byte, i int) (int, bool) {
	if data[i] == '-' {
		i++
	}
	from := i
	if i = digits(data, i); i == from {
		return i, false
	}
	if data[from] == '0' && i > from+1 {
		return from + 1, false
	}
	if i < len(data) && data[i] == '.' {
		from = i + 1
		if i = digits(data, from); i == from {
			return i, false
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from = i
		if i = digits(data, from); i == from {
			return i, false
		}
	}
	return i, true
}

// digits returns the offset after the decimal digits at i.
func digits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}
