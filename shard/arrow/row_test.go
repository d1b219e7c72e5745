package arrow

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

func TestWriterRefuses(t *testing.T) {
	const ignore = turnmill.IgnoreIndex
	nan := float32(math.NaN())
	tests := []struct {
		name    string
		profile Profile
		row     turnmill.Row
		want    string
	}{
		{"empty", ProfileHF, turnmill.Row{}, "none of 0 tokens is trained"},
		{"label missing", ProfileHF, turnmill.Row{IDs: []int32{1, 2}, Labels: []int32{ignore}}, "2 ids and 1 labels"},
		{"first trained", ProfileHF, turnmill.Row{IDs: []int32{1, 2}, Labels: []int32{1, 2}}, "the first token is trained"},
		{"none trained", ProfileHF, turnmill.Row{IDs: []int32{1, 2}, Labels: []int32{ignore, ignore}}, "none of 2 tokens is trained"},
		{"negative id", ProfileHF, turnmill.Row{IDs: []int32{1, -1}, Labels: []int32{ignore, -1}}, "token 1: id -1 lies outside"},
		{"the ignore index as id", ProfileHF, turnmill.Row{IDs: []int32{1, ignore}, Labels: []int32{ignore, ignore}}, "token 1: id -100 lies outside"},
		{"pitfall 15: id above the vocabulary", ProfileHF, turnmill.Row{IDs: []int32{1, 200}, Labels: []int32{ignore, 200}},
			"token 1: id 200 lies outside the vocabulary of 200"},
		{"shifted label", ProfileHF, turnmill.Row{IDs: []int32{1, 2, 3}, Labels: []int32{ignore, 3, ignore}}, "token 1: label 3 is neither the id 2 nor -100"},
		{"too long", ProfileHF, *testRow(0, 101, ProfileHF), "column input_ids: 101 tokens do not fit a batch of at most 100"},
		{"weights without a column", ProfileHF, *testRow(0, 5, ProfileWeighted), "try profile weighted"},
		{"no weights", ProfileWeighted, *testRow(0, 5, ProfileHF), "5 ids and 0 weights"},
		{"weight above one", ProfileWeighted, weighted(0, 1.5), "token 1: weight 1.5"},
		{"weight below zero", ProfileWeighted, weighted(0, -0.5), "token 1: weight -0.5"},
		{"weight minus zero", ProfileWeighted, weighted(float32(math.Copysign(0, -1)), 1), "token 0: weight -0"},
		{"weight not a number", ProfileWeighted, weighted(0, nan), "token 1: weight NaN"},
		{"weight without loss", ProfileWeighted, weighted(0.5, 1), "token 0: weight 0.5 on a token without loss"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := NewWriter(&out, Options{Profile: tt.profile, Vocabulary: 200, Limits: Limits{Elements: 100}})
			if err != nil {
				t.Fatal(err)
			}
			good := testRow(0, 5, tt.profile)
			if err := w.Append(good); err != nil {
				t.Fatal(err)
			}
			if err := w.Append(&tt.row); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "row 1") {
				t.Errorf("Append = %v, want an error of row 1 with %q", err, tt.want)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want := stream(t, Options{Profile: tt.profile, Vocabulary: 200}, []*turnmill.Row{good})
			if !bytes.Equal(out.Bytes(), want) {
				t.Error("the refused row left a trace in the file")
			}
		})
	}
}

func weighted(first, second float32) turnmill.Row {
	return turnmill.Row{IDs: []int32{7, 8}, Labels: []int32{turnmill.IgnoreIndex, 8}, Weights: []float32{first, second}}
}

// Pitfall 15: the largest id of a vocabulary of 65,537 does not fit 16 bits and must come back.
func TestPitfall15LargestID(t *testing.T) {
	row := &turnmill.Row{IDs: []int32{0, 65_536}, Labels: []int32{turnmill.IgnoreIndex, 65_536}}
	file := stream(t, Options{Vocabulary: 65_537}, []*turnmill.Row{row})
	got, _ := readWithArrow(t, file, ProfileHF)
	if diff := cmp.Diff([]*turnmill.Row{row}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsValidate(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		want    []string
	}{
		{"no vocabulary", Options{}, []string{"vocabulary of 0"}},
		{"all wrong", Options{Profile: 9, Vocabulary: math.MaxInt32 + 1, Limits: Limits{Elements: math.MaxInt32 + 1}},
			[]string{"profile 9", "vocabulary of 2147483648", "limits"}},
		{"negative", Options{Vocabulary: 1, Limits: Limits{Rows: -1}}, []string{"limits"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewWriter(io.Discard, tt.options)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("NewWriter = %v, want %q in the error", err, want)
				}
			}
		})
	}
}
