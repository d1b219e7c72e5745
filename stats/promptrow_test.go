package stats

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

func promptRows(n int) (rows []PromptRow) {
	for i := range n {
		r := PromptRow{ID: fmt.Sprintf("t-%d@%d", i, i%3), Reference: strings.Repeat("é\x00\n", i%5), Domain: "terminal", Template: "v0", PromptTokens: int32(i), DataSource: "terminal",
			RewardModel: RewardModel{Style: "model", GroundTruth: strings.Repeat("é\x00\n", i%5)}}
		for k := range 2 + i%4 {
			r.Prompt = append(r.Prompt, PromptMessage{Role: []string{"system", "user", "assistant"}[k%3], Content: strings.Repeat("text ", k*i%50)})
		}
		if i%2 > 0 {
			r.Source, r.Verifier, r.VerifierClass = "house", `{"kind":"exact"}`, "control"
		}
		rows = append(rows, r)
	}
	return rows
}

func writePrompts(t *testing.T, rows []PromptRow, each int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewPromptWriter(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	for len(rows) > 0 {
		n := min(each, len(rows))
		if err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPrompts: rows come back as they were written, and the bytes do not depend on how Write was called.
func TestPrompts(t *testing.T) {
	for _, n := range []int{0, 1, 500} {
		rows := promptRows(n)
		data := writePrompts(t, rows, 7)
		if !bytes.Equal(data, writePrompts(t, rows, 1000)) {
			t.Errorf("%d rows: other calls give other bytes", n)
		}
		r, err := NewPromptReader(bytes.NewReader(data), int64(len(data)), "p")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			got, err := r.Next()
			if err != nil || got == nil || !reflect.DeepEqual(*got, rows[i]) {
				t.Fatalf("row %d: %+v, %v; want %+v", i, got, err, rows[i])
			}
		}
		if got, err := r.Next(); got != nil || err != nil {
			t.Errorf("%d rows, and then %v, %v", n, got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDamagedPrompts: one bit that is changed anywhere is found before anything is read.
func TestDamagedPrompts(t *testing.T) {
	data := writePrompts(t, promptRows(20), 20)
	for i := range data {
		data[i] ^= 1 << (i % 8)
		if _, err := NewPromptReader(bytes.NewReader(data), int64(len(data)), "p"); !errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("byte %d of %d changed: %v", i, len(data), err)
		}
		data[i] ^= 1 << (i % 8)
	}
}
