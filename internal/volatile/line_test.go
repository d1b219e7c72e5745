package volatile

import "testing"

func TestAppend(t *testing.T) {
	for _, tt := range []struct {
		line, want string
		focus      bool
	}{
		{"\t[a51] textbox 'Postcode' focused: True", "\t textbox 'Postcode'", true},
		{"[12] link 'posted 10 hours ago'", " link 'posted  ago'", false},
		{`TextView "Battery 85 percent." (0,0,9,9)`, `TextView "Battery" (0,0,9,9)`, false},
		{"button 'Submit', disabled", "button 'Submit', disabled", false},
		{"", "", false},
	} {
		got, focus := Append(nil, tt.line)
		if string(got) != tt.want || focus != tt.focus {
			t.Errorf("%q: %q, focus %v; want %q, %v", tt.line, got, focus, tt.want, tt.focus)
		}
	}
}

func TestSameClock(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`TextView "15:37" #clock`, `TextView "15:39" #clock`, true},
		{`TextView "15:37" #clock`, `TextView "16:39" #clock`, false},
		{`TextView "Alarm 7:00 set"`, `TextView "Alarm 7:05 set"`, false},
	} {
		if got := SameClock([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%q, %q: %v", tt.a, tt.b, got)
		}
	}
}
