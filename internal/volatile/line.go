package volatile

import "strings"

// Append appends a line of a screen without its volatile parts, and tells whether its element has the
// focus. What is left out, or stands as its first word alone:
//
//	[a51] at the start                          ids are given anew when a page is rendered
//	, focused   focused: True   "is_focused": True
//	Phone two bars.   Wifi signal full.   Battery 85 percent.
//	System Clock, 18:56:34, ...                 to the end of the text
//	10 hours ago   in 15 seconds
//	?v=1 behind the address of an image, data:image/...
//	... notification: ...                       on Android, the whole line
//
// Values, checks, numbers and all other texts count.
func Append(dst []byte, line string) (stable []byte, focus bool) {
	if strings.Contains(line, " notification: ") && (strings.Contains(line, "content_description") || strings.Contains(line, " [")) {
		return dst[:0], false
	}
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	dst = append(dst, line[:i]...)
	if n := IDLength(line[i:]); n > 0 {
		i += n
	}
	end := 0 // of the quoted text at hand
	var open [2]bool
	for i < len(line) {
		c := line[i]
		if i >= end {
			if n, has := focusMark(line[i:]); n > 0 {
				i, focus = i+n, focus || has
				continue
			}
			if kind := strings.IndexByte(`'"`, c); kind >= 0 && !open[kind] {
				end = Closing(line, i) + 1
				open[kind] = end == 1 && !Apostrophe(line, i) // nothing ends it, nor what comes later
			}
		}
		if i == 0 || !WordByte(line[i-1]) {
			if n, keep := volatile(line[i:]); n > 0 {
				dst = append(dst, line[i:i+keep]...)
				i += n
				continue
			}
		}
		if c == 0xe2 && strings.HasPrefix(line[i:], "\u200e") {
			i += len("\u200e")
			continue
		}
		dst = append(dst, c)
		i++
	}
	return dst, focus
}

// focusMarks are the spellings of having the focus, longer ones before what they begin with.
var focusMarks = [...]struct {
	text string
	has  bool
}{
	{`, "is_focused": True`, true}, {`, "is_focused": False`, false}, {`, "is_focused": true`, true}, {`, "is_focused": false`, false},
	{", focused=True", true}, {", focused=False", false}, {", focused", true},
	{" focused: True", true}, {" focused: False", false}, {" focused=True", true}, {" focused=False", false}, {" focused=true", true}, {" focused=false", false},
}

// focusMark returns the length of the mark of focus at the start of s, or 0, and what it says.
func focusMark(s string) (n int, has bool) {
	if s[0] != ',' && s[0] != ' ' || len(s) < len(", focused") {
		return 0, false
	}
	for i := range focusMarks {
		if m := &focusMarks[i]; strings.HasPrefix(s, m.text) && (len(s) == len(m.text) || !WordByte(s[len(m.text)])) {
			return len(m.text), m.has
		}
	}
	return 0, false
}

// volatile returns the length of the volatile words at the start of s, or 0, and how much of them is kept.
func volatile(s string) (n, keep int) {
	switch s[0] {
	case 'P', 'W', 'M', 'B':
		return statusIcon(s)
	case 'S':
		if strings.HasPrefix(s, "System Clock,") {
			if n = strings.IndexAny(s, `'"`); n < 0 {
				n = len(s)
			}
			return n, len("System Clock")
		}
	case 'i':
		if rest, ok := strings.CutPrefix(s, "in "); ok {
			d := digitsOf(rest)
			if d > 0 && strings.HasPrefix(rest[d:], " second") {
				return len("in ") + d, len("in")
			}
		}
	case 'h', 'd':
		return imageAddress(s)
	default:
		if s[0] >= '0' && s[0] <= '9' {
			return agoLength(s), 0
		}
	}
	return 0, 0
}

func digitsOf(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// statusIcon takes what Android's status bar says of signal and battery, up to the end of the text.
func statusIcon(s string) (n, keep int) {
	const longest = 48
	for _, head := range [...]string{"Phone ", "Wifi ", "Wi-Fi ", "WiFi ", "Mobile ", "Battery "} {
		if !strings.HasPrefix(s, head) {
			continue
		}
		s = s[:min(len(s), longest+1)]
		if n = strings.IndexAny(s, "'\"]"); n < 0 {
			n = len(s)
		}
		if n > longest {
			return 0, 0
		}
		for _, word := range [...]string{" bar", "signal", "percent", "charging", "%"} {
			if strings.Contains(s[:n], word) {
				return n, len(head) - 1
			}
		}
	}
	return 0, 0
}

// agoLength returns the length of "10 hours ago" without the last word.
func agoLength(s string) int {
	d := digitsOf(s)
	if d == len(s) || s[d] != ' ' {
		return 0
	}
	for _, unit := range [...]string{"second", "minute", "hour", "day", "week", "month", "year"} {
		if rest, ok := strings.CutPrefix(s[d+1:], unit); ok {
			rest = strings.TrimPrefix(rest, "s")
			if strings.HasPrefix(rest, " ago") {
				return len(s) - len(rest)
			}
		}
	}
	return 0
}

// imageAddress takes an image's address: its query goes, and of data all.
func imageAddress(s string) (n, keep int) {
	const data = "data:image/"
	if !strings.HasPrefix(s, "http") && !strings.HasPrefix(s, data) {
		return 0, 0
	}
	const longest = 4 << 10 // of an address that is no data
	if s[0] == 'h' {
		s = s[:min(len(s), longest)]
	}
	if n = strings.IndexAny(s, "'\" \t)>"); n < 0 {
		n = len(s)
	}
	if s[0] == 'd' {
		return n, len(data)
	}
	path, _, query := strings.Cut(s[:n], "?")
	if !query {
		return 0, 0
	}
	for _, kind := range [...]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico"} {
		if strings.HasSuffix(path, kind) {
			return n, len(path)
		}
	}
	return 0, 0
}

// mostMinutes is how far a clock may move on while nothing happens.
const mostMinutes = 10

// halfDay is in seconds. Times are compared within it: a clock of twelve hours goes from 12:59 to 1:00.
const halfDay = 12 * 3600

// SameClock tells whether two lines differ in the time of a clock alone, which has moved on by at most
// mostMinutes. A clock is a text that is a time and nothing else, a time in a line that names a clock, or one
// with seconds behind its date: an alarm set to another hour is a change.
func SameClock(a, b []byte) bool {
	clock := containsFold(a, "clock")
	i, k := 0, 0
	for i < len(a) && k < len(b) {
		if i == 0 || !WordByte(a[i-1]) || a[i-1] == 'T' {
			was, n, exact := timeOf(a[i:])
			now, m, _ := timeOf(b[k:])
			if n > 0 && m > 0 {
				passed := (now - was + 3*halfDay) % halfDay
				if passed > mostMinutes*60 || passed > 0 && !clock && !alone(a, i, n) && !(exact && dated(a[:i])) {
					return false
				}
				i, k = i+n, k+m
				continue
			}
		}
		if a[i] != b[k] {
			return false
		}
		i, k = i+1, k+1
	}
	return i == len(a) && k == len(b)
}

// timeOf reads 7:05, 19:05 or 19:05:09; the seconds of the day, the length, and whether seconds were told.
func timeOf(s []byte) (seconds, n int, exact bool) {
	number := func(most int) int {
		v, k := 0, 0
		for n < len(s) && k < 2 && s[n] >= '0' && s[n] <= '9' {
			v, n, k = v*10+int(s[n]-'0'), n+1, k+1
		}
		if k == 0 || v > most {
			return -1
		}
		return v
	}
	hours := number(24)
	if hours < 0 || n == len(s) || s[n] != ':' {
		return 0, 0, false
	}
	n++
	from := n
	minutes := number(59)
	if minutes < 0 || n != from+2 {
		return 0, 0, false
	}
	seconds = hours*3600 + minutes*60
	if n+2 < len(s) && s[n] == ':' && s[n+1] >= '0' && s[n+1] <= '5' && s[n+2] >= '0' && s[n+2] <= '9' {
		seconds += int(s[n+1]-'0')*10 + int(s[n+2]-'0')
		n, exact = n+3, true
	}
	if n < len(s) && s[n] >= '0' && s[n] <= '9' {
		return 0, 0, false
	}
	return seconds, n, exact
}

// alone tells whether the n bytes at i are a whole text in quotes or brackets, but for AM or PM, and without
// seconds, which stopwatches have.
func alone(a []byte, i, n int) bool {
	if i == 0 || a[i-1] != '"' && a[i-1] != '\'' && a[i-1] != '[' || n > len("19:05") {
		return false
	}
	rest := a[i+n:]
	for _, half := range [...]string{" AM", " PM", "\u202fAM", "\u202fPM", " am", " pm"} {
		if len(rest) > len(half) && string(rest[:len(half)]) == half {
			rest = rest[len(half):]
			break
		}
	}
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'' || rest[0] == ']')
}

// dated tells whether a date like 2026-05-01 stands before a time.
func dated(before []byte) bool {
	const form = "0000-00-00 "
	if len(before) < len(form) {
		return false
	}
	for i, c := range before[len(before)-len(form):] {
		switch form[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		case '-':
			if c != '-' {
				return false
			}
		default:
			if c != ' ' && c != 'T' {
				return false
			}
		}
	}
	return true
}

func containsFold(a []byte, word string) bool {
	for i := 0; i+len(word) <= len(a); i++ {
		k := 0
		for k < len(word) && Lower(a[i+k]) == word[k] {
			k++
		}
		if k == len(word) {
			return true
		}
	}
	return false
}
