package verify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzParse: what is read is a verifier that answers with a state, and its text means the same when it is read
// again; what is not is an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"kind":"exact","class":"control","trim":"lines","expected":"a"}`,
		`{"kind":"json","class":"error","at":"/a~1b","ignore":["/x/*"],"numbers":"spelling","expected":{"a":[1,null]}}`,
		`{"kind":"exit_code","class":"control","pattern":"rc=(\\d+)","expected":3}`,
		`{"kind":"regex","class":"long_context","pattern":"(?i)a|b","whole":true}`,
		`{"kind":"tree","class":"control","volatile":["id"],"numbering":"drop"}`,
		`{"kind":"tree","class":"control","format":"json","volatile":["id"]}`,
		`{"kind":"program","class":"control","program":"#!/bin/sh\nexit 0","args":["a"],"seconds":1,"memory_mb":16}`,
	} {
		f.Add([]byte(s), "exit code 3")
	}
	f.Fuzz(func(t *testing.T, data []byte, prediction string) {
		v, err := Parse(data, nil)
		if err != nil {
			if v != nil {
				t.Fatalf("a verifier and an error: %v", err)
			}
			return
		}
		got, err := v.Check(t.Context(), nil, Case{Prediction: prediction, Reference: prediction})
		if err != nil || !slices.Contains(States(), got.State) || v.Kind == Program && got.State != Refused {
			t.Fatalf("%s: %v, %v", data, got, err)
		}
		if again, err := Parse(data, nil); err != nil || again.SHA256 != v.SHA256 {
			t.Fatalf("%s: read again, %v, %v", data, again, err)
		}
		if !json.Valid(data) {
			t.Fatalf("%q is read, and no JSON", data)
		}
	})
}

// FuzzReadSet: a file gives all of its verifiers, or an error that names a line.
func FuzzReadSet(f *testing.F) {
	f.Add([]byte(`{"query":"run@3","verifier":{"kind":"exact","class":"control"}}` + "\n\nx"))
	f.Add([]byte(`{"query":"run@3","verifier":{"kind":"json","class":"control","expected":1}}` + "\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := ReadSet(strings.NewReader(string(data)), nil)
		if err != nil {
			if set != nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%v, and %q", set, err)
			}
			return
		}
		lines := 0
		for _, l := range strings.Split(string(data), "\n") {
			if strings.Trim(l, " \t\r\v\f\u0085\u00a0") != "" {
				lines++
			}
		}
		if set.Len() > lines {
			t.Fatalf("%d verifiers of %d lines", set.Len(), lines)
		}
	})
}

func FuzzParseMeta(f *testing.F) {
	f.Add(`{"verifier":{"3":{"kind":"exact","class":"control"}}}`, 3)
	f.Add(`{"verifier":{"kind":"exact","class":"control"}}`, 0)
	f.Fuzz(func(t *testing.T, meta string, turn int) {
		if v, err := ParseMeta(meta, turn); err != nil && v != nil {
			t.Fatalf("a verifier and an error: %v", err)
		}
	})
}

// FuzzTree: the pieces of a line lie in it in order, and only blanks are lost between them.
func FuzzTree(f *testing.F) {
	f.Add("[12] link 'it's', focused, bounds=[0,0][5,5] <a id=\"x\">")
	f.Add("a: b= '\\' \"")
	f.Fuzz(func(t *testing.T, line string) {
		r := trees{volatile: map[string]bool{"b": true}}
		p := pieces{volatile: r.volatile, rest: line}
		for {
			before := p.rest
			w := p.next()
			if w.text == "" {
				if strings.Trim(before, " \t\r") != "" {
					t.Fatalf("%q: %q is lost", line, before)
				}
				break
			}
			cut := before[:len(before)-len(p.rest)]
			if w.name == "" && strings.TrimLeft(cut, " \t\r") != w.text || len(p.rest) >= len(before) {
				t.Fatalf("%q: the piece %q is cut from %q", line, w.text, cut)
			}
		}
		text := "root\n " + line + "\n\tx"
		if got := r.check(text, text); got.State != Pass {
			t.Fatalf("%q against itself: %v", text, got)
		}
	})
}
