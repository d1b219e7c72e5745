package jsonscan

import (
	"strings"
	"testing"
)

// TestSteadyStateAllocatesNothing reads a record again and again, as a worker reads one record after
// another.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	records := map[string][]byte{
		"chat":  chatRecord(20),
		"small": []byte(`{"a":"x\n","b":[1,2,{"c":null}],"\u0061":"中"}`),
		"bad":   []byte("{\"a\":\"\xff\\ud800 long enough for more than one word\",\"\xff\":\"\\n\"}"),
		"keys":  manyKeys(500),
		"deep":  nested(5000, `{"a":[`, `]}`),
	}
	for name, data := range records {
		var d Doc
		var a Arena
		texts := 0
		run := func() {
			a.Reset()
			v, err := d.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			texts = walk(v, &a)
		}
		for range 3 {
			run()
		}
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations a record, want none", name, n)
		}
		if texts == 0 {
			t.Errorf("%s: no text was read", name)
		}
	}
}

func TestAccessorsAllocateNothing(t *testing.T) {
	v := mustParse(t, `{"id":12345,"list":[1,2,3,{"k":"v"}],"esc\u0061pe":"a\nb","s":"plain","u":"\u4e2d\u0001"}`)
	buf := make([]byte, 0, 1000)
	v.Get("escape").Is("a\nb") // makes room for decoded keys
	for name, f := range map[string]func(){
		"Get":     func() { v.Get("escape").Get("nothing") },
		"Is":      func() { v.Get("escape").Is("a\nb") },
		"Int":     func() { v.Get("id").Int() },
		"At, Len": func() { v.Get("list").At(v.Get("list").Len() - 1).Get("k").RawStr() },
		"Elems": func() {
			for e := range v.Get("list").Elems() {
				if e.Kind() == Object {
					break
				}
			}
		},
		"Members": func() {
			n := 0
			for k, m := range v.Members() {
				n += len(k.Raw()) + len(m.Raw())
			}
			if n == 0 {
				t.Error("no member")
			}
		},
		"AppendString":   func() { buf = v.Get("escape").AppendString(buf[:0]) },
		"AppendVerbatim": func() { buf, _ = v.AppendVerbatim(buf[:0]) },
		"AppendQuoted":   func() { buf = AppendQuotedLine(AppendQuoted(buf[:0], "a\n\"中\u2028"), "a\n\"中\u2028") },
	} {
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

func TestParseManyAllocatesNothing(t *testing.T) {
	data := []byte(strings.Repeat(`{"a":[1,"x"]} `, 100))
	var d Doc
	run := func() {
		v, err := d.ParseMany(data)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; v.Kind() != Invalid; v = v.Next() {
			n++
		}
		if n != 100 {
			t.Fatalf("%d values, want 100", n)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
