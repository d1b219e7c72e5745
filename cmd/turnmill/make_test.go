package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// The makers of test inputs. Texts are given as JSON values, quotes included, so that a case shows the very
// bytes that stand in the file.

// chat returns a record of the given messages, with tools declared.
func chat(id string, messages ...string) string {
	return fmt.Sprintf(`{"id":%q,"messages":[%s],"tools":[{"type":"function","function":{"name":"sh"}}]}`, id, strings.Join(messages, ","))
}

func user(content string) string { return `{"role":"user","content":` + content + `}` }
func says(content string) string { return `{"role":"assistant","content":` + content + `}` }

// call returns an agent's message with one call of sh; answer the result of it.
func call(id, arguments string) string { return callAll(oneCall(id, arguments)) }

func oneCall(id, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"sh","arguments":%s}}`, id, arguments)
}

func callAll(calls ...string) string {
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func answer(id, content string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, content)
}

// terminal returns a run of one turn for each observation.
func terminal(id string, observations ...string) string {
	messages := []string{user(`"go"`)}
	for i, o := range observations {
		messages = append(messages, call(fmt.Sprintf("c%d", i), fmt.Sprintf(`"{\"cmd\":\"step %d\"}"`, i)), answer(fmt.Sprintf("c%d", i), o))
	}
	return chat(id, messages...)
}

// lines ends each record with a line feed.
func jsonLines(records ...string) []byte {
	return []byte(strings.Join(records, "\n") + "\n")
}

// text returns a quoted text of about n bytes: words, numbered so that they differ.
func text(n int) string {
	var b strings.Builder
	b.Grow(n + 16)
	b.WriteByte('"')
	for i := 0; b.Len() <= n; i++ {
		fmt.Fprintf(&b, "word %d of the log ", i%1000)
	}
	b.WriteByte('"')
	return b.String()
}

// nested returns n arrays, one in the other.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// flusher is a compressor that can end a block, so that what came before is decodable without the rest.
type flusher interface {
	Write([]byte) (int, error)
	Flush() error
	Close() error
}

// compressed writes each part as a member, or frame, of its own.
func compressed(kind string, parts ...[]byte) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		z := compressor(kind, &b)
		z.Write(p)
		z.Close()
	}
	return b.Bytes()
}

// cutAfter returns compressed data that ends, without its trailer, just after the bytes of data.
func cutAfter(kind string, data []byte) []byte {
	var b bytes.Buffer
	z := compressor(kind, &b)
	z.Write(data)
	z.Flush()
	return b.Bytes()
}

// compressor panics rather than fails: the options are constants.
func compressor(kind string, b *bytes.Buffer) flusher {
	if kind == "gzip" {
		return gzip.NewWriter(b)
	}
	z, err := zstd.NewWriter(b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}

// skippableFrame is a zstd frame that holds no data.
func skippableFrame(n int) []byte {
	return append([]byte{0x50, 0x2A, 0x4D, 0x18, byte(n), 0, 0, 0}, make([]byte, n)...)
}

// report returns a file of testdata/reports: what users of other tools met.
func report(name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", "reports", name))
	if err != nil {
		panic(err)
	}
	return data
}
