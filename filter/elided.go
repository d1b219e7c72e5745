package filter

import "strings"

// placeholders are the texts that exporters write where a value lies deeper than they go. Only a whole
// JSON string value counts: prose that mentions one is an ordinary observation.
var placeholders = [...]string{
	`"<max-depth>"`, `"<max depth>"`, `"<max_depth>"`, `"<depth-limit>"`, `"<max-depth-exceeded>"`,
	`"[max-depth]"`, `"[max depth]"`, `"[MaxDepth]"`, `"[Max Depth]"`, `"[Max depth]"`,
	`"[Object]"`, `"[Array]"`, `"[object Object]"`, `"[Circular]"`, `"[Circular ~]"`,
}

// Elided tells whether observation is a JSON object or array in which an exporter has put a placeholder
// in place of a value.
func Elided(observation string) bool {
	text := strings.TrimSpace(observation)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	if !strings.Contains(text, `"<`) && !strings.Contains(text, `"[`) {
		return false
	}
	for _, p := range placeholders {
		for rest := text; ; {
			i := strings.Index(rest, p)
			if i < 0 {
				break
			}
			if isValue(rest[:i], rest[i+len(p):]) {
				return true
			}
			rest = rest[i+len(p):]
		}
	}
	return false
}

// isValue tells whether a quoted text between before and after stands where a JSON value stands: after a
// colon, comma or opening bracket, and before a comma or closing bracket. A key is followed by a colon,
// and a quote inside a longer string by other text.
func isValue(before, after string) bool {
	const blanks = " \t\r\n"
	before, after = strings.TrimRight(before, blanks), strings.TrimLeft(after, blanks)
	if before == "" || after == "" {
		return false
	}
	return strings.IndexByte(":,[", before[len(before)-1]) >= 0 && strings.IndexByte(",]}", after[0]) >= 0
}
