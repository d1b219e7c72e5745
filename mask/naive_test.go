package mask

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reference that the fast path is held against: Go's own unicode tables, maps and encoding/json, one
// rune at a time, nothing shared with the package but Counts.

type wordMap map[string]bool

func naiveCounts(action, observation string) Counts {
	a, o := naiveWords(action), naiveWords(observation)
	shared := 0
	for w := range a {
		if o[w] {
			shared++
		}
	}
	return Counts{
		ActionWords: len(a), ObservationWords: len(o), SharedWords: shared,
		ActionChars:      int64(utf8.RuneCountInString(strings.TrimSpace(action))),
		ObservationChars: int64(utf8.RuneCountInString(strings.TrimSpace(observation))),
	}
}

func naiveWords(text string) wordMap {
	text = strings.TrimSpace(text)
	words := wordMap{}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
		if values, ok := naiveValues(text); ok {
			for _, v := range values {
				naiveJSON(v, 0, words)
			}
			return words
		}
	}
	naiveText(text, words)
	return words
}

// naiveValues splits a text into JSON values with blanks between them.
func naiveValues(text string) (values []string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	end := int64(0)
	for {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return values, strings.Trim(text[end:], " \t\r\n") == "" && len(values) > 0
		}
		start := d.InputOffset() - int64(len(raw))
		if len(values) > 0 && start == end {
			return nil, false
		}
		end = d.InputOffset()
		values = append(values, string(raw))
	}
}

// naiveJSON enters the words of one valid value.
func naiveJSON(text string, level int, words wordMap) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object []bool // for each open container
	var keyDue []bool
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		top := len(object) - 1
		key := top >= 0 && object[top] && keyDue[top]
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				if top >= 0 {
					keyDue[top] = true
				}
				object, keyDue = append(object, v == '{'), append(keyDue, true)
			} else {
				object, keyDue = object[:top], keyDue[:top]
			}
			continue
		case string:
			inner := strings.TrimSpace(v)
			nested := strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[")
			if !key && level < 4 && nested && json.Valid([]byte(inner)) {
				naiveJSON(inner, level+1, words)
			} else {
				naiveText(v, words)
			}
		case json.Number:
			naiveText(v.String(), words)
		case bool:
			naiveText(map[bool]string{true: "true", false: "false"}[v], words)
		case nil:
			naiveText("null", words)
		}
		if top >= 0 {
			keyDue[top] = !key
		}
	}
}

func naiveText(text string, words wordMap) {
	word, run := "", []rune(nil)
	flush := func() {
		if word != "" {
			words[word] = true
		}
		if len(run) == 1 {
			words[string(run)] = true
		}
		for i := range len(run) - 1 {
			words[string(run[i:i+2])] = true
		}
		word, run = "", nil
	}
	for _, r := range text {
		counts := r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N)
		pairs := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー' || r == 0xFF70
		switch {
		case !counts:
			flush()
		case pairs && !unicode.In(r, unicode.M):
			if word != "" {
				flush()
			}
			run = append(run, r)
		default:
			if run != nil {
				flush()
			}
			word += string(unicode.ToLower(r))
		}
	}
	flush()
}
