package secrets

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/planted"
)

// FuzzScrub: whatever a text holds, it stays UTF-8, JSON stays JSON, a second time changes nothing, and report finds
// what scrub does.
func FuzzScrub(f *testing.F) {
	for _, p := range planted.Corpus() {
		f.Add(p.Text)
	}
	for _, text := range alike()[:60] {
		f.Add(text)
	}
	scrub, report := New(Scrub), New(Report)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		d := &turnmill.Document{Text: text}
		reported := len(report.Document(d))
		if d.Text != text {
			t.Fatalf("report changed %q to %q", text, d.Text)
		}
		if found := len(scrub.Document(d)); (found > 0) != (reported > 0) || found == 0 && d.Text != text {
			t.Fatalf("%d kinds scrubbed, %d reported: %q became %q", found, reported, text, d.Text)
		}
		if !utf8.ValidString(d.Text) {
			t.Fatalf("no UTF-8: %q became %q", text, d.Text)
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(d.Text)) {
			t.Fatalf("no JSON: %q became %q", text, d.Text)
		}
		once := d.Text
		if scrub.Document(d); d.Text != once {
			t.Fatalf("twice: %q became %q, then %q", text, once, d.Text)
		}
	})
}
