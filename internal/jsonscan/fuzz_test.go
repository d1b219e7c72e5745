package jsonscan

import (
	"strings"
	"testing"
)

// seeds are documents, and texts that are nearly documents, which reach each branch of the scanner.
func seeds() []string {
	return []string{
		``, ` `, `null`, `[true,false,null]`, `{"a":[1,-2.50e+10,{"b":"c"}],"d":{}}`, `[[[[[[]]]]]]`, `{"":{"":[]}}`,
		`"\u4e2d\u00e9\ud83d\ude00\u0000\u2028\u00a0\u0301"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\\ude00"`,
		"\"\xff\xfe\xed\xa0\xbd\xe4\xb8\"", "{\"\xff\":1,\"\\ud800\":2,\"\ufffd\":3}", `{"a":1,"a":2,"\u0061":3}`,
		`{"role":"user","Role":"tool","role":"x"}`, `9007199254740993`, `-0`, `01`, `1.`, `-`, `1e`, `+1`, `NaN`, `-Infinity`, `[1,]`, `{"a":1,}`,
		`{} {}`, "\"\x00\"", "\"12345678\n\"", "\"a\tb\"", `"\`, `"\u12`, `"\u12g`, `tru`, `nulx`, `[1}`, `{"a" 1}`, "\ufeff{}",
		`{"arguments":"{\"cmd\":\"sed -n '1,20p' a.go\\n\",\"t\":\"\\u4e2d\\\\n\"}"}`, `"` + strings.Repeat(`\\\"`, 9) + `"`,
		strings.Repeat(`[{"k":`, 20) + `"中文"` + strings.Repeat(`}]`, 20), `{"` + strings.Repeat("0123456789", 5) + `":` + strings.Repeat(" ", 17) + `0}`,
		`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"a":1,"\u0062":1}`,
	}
}

// FuzzParse compares with encoding/json, the strict reference: both accept the same texts and find the same
// structure, strings and number spellings in them; errors keep what SyntaxError promises.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareWithReference(t, data) })
}

// FuzzAppendVerbatim compares with a plain implementation and reads the result again: the same values, no
// repairs left, only escapes of printable characters outside ASCII changed.
func FuzzAppendVerbatim(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkVerbatim(t, data)
		// Most bytes are no document; most are a string once quotes stand around them.
		checkVerbatim(t, []byte(`"`+strings.ReplaceAll(string(data), `"`, "")+`"`))
	})
}

// FuzzQuoted writes any text as a JSON string and reads it back with encoding/json and with this package.
func FuzzQuoted(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Add("a\u0085b\u2028c\u2029d\r\n\v\f\x1c\x1d\x1e")
	f.Add("\u2027\u202a\u00c2\xe2\x80\xe2\x80\xa8\xc2")
	f.Fuzz(func(t *testing.T, s string) { checkQuoted(t, s) })
}
