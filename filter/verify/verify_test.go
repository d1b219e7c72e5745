package verify

import (
	"strings"
	"testing"
)

// TestKinds: each pure kind, by the state and the detail of its verdict.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		name, verifier        string
		prediction, reference string
		want                  State
		detail                string
	}{
		{"exact", `{"kind":"exact"}`, "a\r\n\n", "a", Pass, ""},
		{"exact-start", `{"kind":"exact"}`, " a", "a", Fail, "texts differ"},
		{"exact-inner-blank", `{"kind":"exact"}`, "a \nb", "a\nb", Fail, ""},
		{"exact-no-break-space", `{"kind":"exact"}`, "a\u00a0", "a", Fail, ""},
		{"exact-none", `{"kind":"exact","trim":"none"}`, "a\n", "a", Fail, ""},
		{"exact-none-same", `{"kind":"exact","trim":"none"}`, "a\n", "a\n", Pass, ""},
		{"exact-both", `{"kind":"exact","trim":"both"}`, "\n a\t", "a", Pass, ""},
		{"exact-lines", `{"kind":"exact","trim":"lines"}`, "a  \r\n b\n\n", "a\n b", Pass, ""},
		{"exact-lines-start", `{"kind":"exact","trim":"lines"}`, "a\nb", "a\n b", Fail, ""},
		{"exact-expected", `{"kind":"exact","expected":"x"}`, "x", "y", Pass, ""},
		{"exact-empty-expected", `{"kind":"exact","expected":""}`, "", "y", Pass, ""},

		{"json-order", `{"kind":"json"}`, `{"b":[1,{"c":null}],"a":"x"}`, ` {"a":"\u0078","b":[1.0,{"c":null}]}`, Pass, ""},
		{"json-value", `{"kind":"json"}`, `{"a":{"b/c":[1,2]}}`, `{"a":{"b/c":[1,3]}}`, Fail, `"/a/b~1c/1"`},
		{"json-array-order", `{"kind":"json"}`, `[2,1]`, `[1,2]`, Fail, `"/0"`},
		{"json-length", `{"kind":"json"}`, `[1]`, `[1,2]`, Fail, "the root"},
		{"json-missing", `{"kind":"json"}`, `{}`, `{"a":1}`, Fail, `"/a"`},
		{"json-null-is-not-absent", `{"kind":"json"}`, `{}`, `{"a":null}`, Fail, `"/a"`},
		{"json-more", `{"kind":"json"}`, `{"a":1,"b":2}`, `{"a":1}`, Fail, `"/b"`},
		{"json-kind", `{"kind":"json"}`, `"1"`, `1`, Fail, "the root"},
		{"json-repeated", `{"kind":"json"}`, `{"a":1,"a":2}`, `{"a":2}`, Pass, ""},
		{"json-repeated-last", `{"kind":"json"}`, `{"a":2,"a":1}`, `{"a":2}`, Fail, `"/a"`},
		{"json-numbers", `{"kind":"json"}`, `[1e2,-0,0.10,12345678901234567890.0]`, `[100,0,0.1,12345678901234567890]`, Pass, ""},
		{"json-numbers-not-rounded", `{"kind":"json"}`, `12345678901234567891`, `12345678901234567890`, Fail, ""},
		{"json-spelling", `{"kind":"json","numbers":"spelling"}`, `1.0`, `1`, Fail, ""},
		{"json-no-composition", `{"kind":"json"}`, `"\u00e9"`, `"e\u0301"`, Fail, ""},
		{"json-not", `{"kind":"json"}`, `{"a":1} done`, `{"a":1}`, Fail, "the prediction is not JSON"},
		{"json-not-finite", `{"kind":"json"}`, `NaN`, `1`, Fail, "the prediction is not JSON"},
		{"json-reference-not", `{"kind":"json"}`, `1`, `hello`, BadVerifier, "what is expected is not JSON"},
		{"json-expected", `{"kind":"json","expected":{"a":[1]}}`, `{"a":[1]}`, `hello`, Pass, ""},
		{"json-expected-null", `{"kind":"json","expected":null}`, `null`, `1`, Pass, ""},
		{"json-at", `{"kind":"json","at":"/r/0"}`, `{"r":[1],"t":5}`, `{"r":[1,2],"t":6}`, Pass, ""},
		{"json-at-absent", `{"kind":"json","at":"/r"}`, `{}`, `{"r":1}`, Fail, `nothing at "/r"`},
		{"json-at-bad", `{"kind":"json","at":"/r"}`, `{"r":1}`, `{}`, BadVerifier, `nothing at "/r"`},
		{"json-ignore", `{"kind":"json","ignore":["/time","/rows/*/id"]}`, `{"time":1,"rows":[{"id":1,"v":2}]}`, `{"rows":[{"v":2,"id":7}]}`, Pass, ""},
		{"json-ignore-only-there", `{"kind":"json","ignore":["/time"]}`, `{"a":{"time":1}}`, `{"a":{"time":2}}`, Fail, `"/a/time"`},
		{"json-ignore-element", `{"kind":"json","ignore":["/0"]}`, `[1,2]`, `[5,2]`, Pass, ""},

		{"exit-openhands", `{"kind":"exit_code"}`, "x\n[The command completed with exit code 1.]", "[The command completed with exit code 1.]\n", Pass, ""},
		{"exit-miniswe", `{"kind":"exit_code"}`, "<returncode>0</returncode>\n<output>x</output>", "<returncode>0</returncode>\n<output>y</output>", Pass, ""},
		{"exit-codex", `{"kind":"exit_code"}`, "Process exited with code 2\n", "Exit code: 2\nOutput:\n", Pass, ""},
		{"exit-json", `{"kind":"exit_code"}`, `{"metadata":{"exit_code":0}}`, `{"exitCode": 0}`, Pass, ""},
		{"exit-make", `{"kind":"exit_code"}`, "exit status -9", "Return code = -9", Pass, ""},
		{"exit-last", `{"kind":"exit_code"}`, "test: exit code 3 expected\nexit code 0", "exit code 0", Pass, ""},
		{"exit-differs", `{"kind":"exit_code"}`, "exit code 1", "exit code 0", Fail, "exit code 1, expected 0"},
		{"exit-none", `{"kind":"exit_code"}`, "done", "exit code 0", Fail, "shows no exit code"},
		{"exit-reference-none", `{"kind":"exit_code"}`, "exit code 0", "done", BadVerifier, "the reference shows no exit code"},
		{"exit-expected", `{"kind":"exit_code","expected":127}`, "exit code 127", "done", Pass, ""},
		{"exit-word", `{"kind":"exit_code","expected":0}`, "the exit code was checked 0 times", "", Fail, ""},
		{"exit-field", `{"kind":"exit_code","field":"/meta/rc"}`, `{"meta":{"rc":4}}`, `{"meta":{"rc":4},"exit_code":1}`, Pass, ""},
		{"exit-field-text", `{"kind":"exit_code","field":"/rc","expected":0}`, `exit code 0`, "", Fail, "shows no exit code"},
		{"exit-field-whole", `{"kind":"exit_code","field":"/rc","expected":0}`, `{"rc":0.0}`, "", Fail, "shows no exit code"},
		{"exit-pattern", `{"kind":"exit_code","pattern":"rc=(\\d+)"}`, "rc=5 exit code 0", "rc=5", Pass, ""},

		{"regex", `{"kind":"regex","pattern":"(?i)no such file"}`, "ls: No such file or directory", "", Pass, ""},
		{"regex-not", `{"kind":"regex","pattern":"^b"}`, "a\nb", "", Fail, "does not match"},
		{"regex-lines", `{"kind":"regex","pattern":"(?m)^b"}`, "a\nb", "", Pass, ""},
		{"regex-whole", `{"kind":"regex","pattern":"a|ab","whole":true}`, "ab", "", Pass, ""},
		{"regex-whole-line-end", `{"kind":"regex","pattern":"ab$","whole":true}`, "ab\n", "", Fail, ""},
		{"regex-part", `{"kind":"regex","pattern":"a|ab","whole":false}`, "xaby", "", Pass, ""},

		{"tree", `{"kind":"tree"}`, "root\n    a\n        b\n    c\n", "root\n\ta\n\t\tb\n\tc", Pass, ""},
		{"tree-blank-lines", `{"kind":"tree"}`, "\nroot\n\n  a  \n", "root\n  a", Pass, ""},
		{"tree-depth", `{"kind":"tree"}`, "root\n  a\n  b", "root\n  a\n    b", Fail, "node 3 stands at depth 1, expected 2"},
		{"tree-text", `{"kind":"tree"}`, "root\n  x", "root\n  a", Fail, "node 2 differs"},
		{"tree-short", `{"kind":"tree"}`, "root", "root\n  a", Fail, "ends before node 2 of 2"},
		{"tree-long", `{"kind":"tree"}`, "root\n  a\n  b", "root\n  a", Fail, "has 3 nodes, expected 2"},
		{"tree-empty", `{"kind":"tree"}`, "root", " \n", BadVerifier, "empty tree"},
		{"tree-webarena", `{"kind":"tree","numbering":"drop","volatile":["focused"]}`, "[1] RootWebArea 'a  b' focused: True\n\t[7] link 'it's'", "[4] RootWebArea 'a  b'\n\t[5] link 'it's'", Pass, ""},
		{"tree-quoted-blanks", `{"kind":"tree"}`, "link 'a b'", "link 'a  b'", Fail, ""},
		{"tree-browsergym", `{"kind":"tree","volatile":["focused","value"]}`, "textbox 'Search', focused, value='x y', required", "textbox 'Search', required", Pass, ""},
		{"tree-not-volatile", `{"kind":"tree","volatile":["value"]}`, "textbox 'Search', focused", "textbox 'Search'", Fail, ""},
		{"tree-name-in-quotes", `{"kind":"tree","volatile":["focused"]}`, "link 'focused'", "link ''", Fail, ""},
		{"tree-html", `{"kind":"tree","volatile":["id"]}`, `<a id="1" class="x" href='y'>Go</a>`, `<a href='y' class="x" id=2>Go</a>`, Pass, ""},
		{"tree-html-attribute", `{"kind":"tree","volatile":["id"]}`, `<a class="x">Go</a>`, `<a class="y">Go</a>`, Fail, ""},
		{"tree-html-word-order", `{"kind":"tree"}`, `<a b c>one two</a>`, `<a c b>two one</a>`, Fail, ""},
		{"tree-text-with-marks", `{"kind":"tree"}`, `a < b c > d`, `a < c b > d`, Fail, ""},
		{"tree-android", `{"kind":"tree","volatile":["bounds","index"]}`, `UIElement(text="OK", bounds=[0,0][5,5], clickable=True)`, `UIElement(text="OK", clickable=True)`, Pass, ""},
		{"tree-android-first", `{"kind":"tree","volatile":["bounds"]}`, `UIElement(bounds=(0, 0), text="OK")`, `UIElement(text="OK")`, Pass, ""},
		{"tree-json", `{"kind":"tree","format":"json","volatile":["id"]}`, `{"role":"x","id":1,"children":[{"id":2,"role":"y"}]}`, `{"id":5,"children":[{"role":"y"}],"role":"x"}`, Pass, ""},
		{"tree-json-differs", `{"kind":"tree","format":"json","volatile":["id"]}`, `{"children":[{"role":"z"}]}`, `{"children":[{"role":"y"}]}`, Fail, `"/children/0/role"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := Parse([]byte(strings.Replace(test.verifier, "{", `{"class":"control",`, 1)), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Check(t.Context(), nil, Case{Prediction: test.prediction, Reference: test.reference})
			if err != nil {
				t.Fatal(err)
			}
			if got.State != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%q against %q: got %s (%s); want %s (%s)", test.prediction, test.reference, got.State, got.Detail, test.want, test.detail)
			}
		})
	}
}
