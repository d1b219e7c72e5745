package formats

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestDetectArchive: a log of Inspect as an archive is refused by what it is, with what to do; other archives too.
func TestDetectArchive(t *testing.T) {
	for head, want := range map[string][2]string{
		"PK\x03\x04\x14\x00_journal/start.json\x00":        {"Inspect", "inspect log convert"},
		"PK\x03\x04\x14\x00samples/1_epoch_1.json\x00\xff": {"Inspect", "inspect log convert"},
		"PK\x03\x04\x14\x00word/document.xml":              {"a zip archive", "unpacking"},
	} {
		_, err := Detect([]byte(head), false)
		if _, named := DetectAs(inspectName, []byte(head), false); reasonOf(named) != reasonOf(err) {
			t.Errorf("%q as %s: %v", head, inspectName, named)
		}
		if reasonOf(err) != turnmill.ReasonUnknownFormat || !strings.Contains(err.Error(), want[0]) || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%q: %v, want unknown_format, %s, %s", head, err, want[0], want[1])
		}
	}
}

// TestInspectShapes: a log that is written over many lines, and samples one a line.
func TestInspectShapes(t *testing.T) {
	log := inspectFormat().Doc.Sample
	sample := log[strings.Index(log, `{"id":1`):strings.LastIndex(log, "]}")]
	for name, file := range map[string]string{"pretty": pretty(log), "line": log + "\n", "samples": sample + "\n" + sample + "\n", "sample": pretty(sample)} {
		found, err := Detect([]byte(file), true)
		if err != nil || found.Format.Name != inspectName {
			t.Errorf("%s: %q, %v", name, found.Format.Name, err)
			continue
		}
		for _, raw := range records(t, found.Layout, []byte(file)) {
			var out Decoded
			if err := found.Format.New(Options{}).Decode(raw, &out); err != nil || len(out.Trajectories) != 1 || len(out.Trajectories[0].Turns) != 1 {
				t.Errorf("%s: %v, %+v", name, err, out.Trajectories)
			}
		}
	}
}
