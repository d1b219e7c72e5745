package formats_test

import (
	"fmt"

	"github.com/turnmill/turnmill/ingest/formats"
)

// A file's head tells its format; a decoder of the format makes trajectories of its records.
func Example() {
	record := []byte(`{"id":"c1","messages":[{"role":"user","content":"Which files are there?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},` +
		`{"role":"tool","tool_call_id":"t1","content":"a.txt"}]}`)
	found, err := formats.Detect(record, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Format.Name, found.Layout)

	var out formats.Decoded // its texts are valid until the next record
	if err := found.Format.New(formats.Options{}).Decode(record, &out); err != nil {
		fmt.Println(err)
		return
	}
	for i := range out.Trajectories {
		fmt.Printf("%s\n", formats.AppendUnified(nil, &out.Trajectories[i]))
	}
	// Output:
	// openai-chat lines
	// {"id":"c1","domain":"terminal","source":"openai-chat","system":{"task_description":"Which files are there?"},"turns":[{"index":0,"action":"{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}","observation":"a.txt","tool":"bash"}]}
}

// A file that nothing recognises gets the nearest formats, and why each refused.
func ExampleDetect() {
	_, err := formats.Detect([]byte(`{"messages":"none"}`), true)
	fmt.Println(err)
	// Output:
	// detect: no format recognises the file (nearest: openai-chat: messages is a string, want an array; turnmill: neither turns nor kind "document"; swe-agent: neither trajectory nor history); try --format NAME to force one; turnmill formats lists them
}
