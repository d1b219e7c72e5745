package formats

import "testing"

// TestPartsWithoutNames: screens and events that bear no name give and take no key, so that nothing joins them.
func TestPartsWithoutNames(t *testing.T) {
	f := droidBotFormat()
	for file, want := range map[string][2]int{ // keys that are given, keys that are taken
		`{"tag":"1","state_str":"","views":[]}`:                                      {0, 0},
		`{"tag":"1","state_str":"a","views":[]}`:                                     {1, 0},
		`{"tag":"1","event":{"event_type":"key"},"start_state":"a","stop_state":""}`: {0, 1},
		`var utg = {"nodes":[{"state_str":""},{"state_str":"b"}],"edges":[]};`:       {0, 1},
	} {
		if p := f.Look([]byte(file)); p.Kinds == 0 || len(p.Gives) != want[0] || len(p.Takes) != want[1] {
			t.Errorf("%s: kinds %b, gives %d, takes %d, want %v", file, p.Kinds, len(p.Gives), len(p.Takes), want)
		}
	}
}
