package judge

import (
	_ "embed"
	"strings"
)

//go:embed refusals.txt
var refusalList string

var refusals = readRefusals()

// readRefusals returns the list without comments and blank lines.
func readRefusals() []string {
	var all []string
	for line := range strings.Lines(refusalList) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// refusalBytes is how much of an answer is looked at: a judge that refuses says so first.
const refusalBytes = 400

// refuses tells whether an answer begins with a refusal.
func refuses(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(text[:min(len(text), refusalBytes)], "’", "'"))
	for _, r := range refusals {
		if strings.Contains(text, r) {
			return true
		}
	}
	return false
}
