package arrow

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// checkEach is CheckRow's question to ids and labels, asked token by token.
func checkEach(ids, labels []int32, vocabulary int) string {
	trained := 0
	for i, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			return fmt.Sprintf("token %d: id %d lies outside the vocabulary of %d", i, id, vocabulary)
		}
		switch labels[i] {
		case id:
			trained++
		case turnmill.IgnoreIndex:
		default:
			return fmt.Sprintf("token %d: label %d is neither the id %d nor -100", i, labels[i], id)
		}
	}
	if trained == 0 {
		return fmt.Sprintf("none of %d tokens is trained", len(ids))
	}
	return "<nil>"
}

// TestCheckRowInBlocks: runs of labels, and one wrong token anywhere, are judged as token by token.
func TestCheckRowInBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocabulary := rapid.SampledFrom([]int{1, 2, 1000, 1<<31 - 1, 1 << 40}).Draw(t, "vocabulary")
		var ids, labels []int32
		for len(ids) < rapid.SampledFrom([]int{1, 63, 64, 65, 127, 128, 129, 300}).Draw(t, "tokens") {
			run := rapid.IntRange(1, 150).Draw(t, "run")
			train := len(ids) > 0 && rapid.Bool().Draw(t, "train")
			for range run {
				id := int32((len(ids) * 7919) % min(vocabulary, 1<<31-1))
				label := turnmill.IgnoreIndex
				if train {
					label = id
				}
				ids, labels = append(ids, id), append(labels, label)
			}
		}
		at := rapid.IntRange(0, len(ids)-1).Draw(t, "at")
		switch rapid.IntRange(0, 4).Draw(t, "fault") {
		case 0:
			ids[at] = rapid.SampledFrom([]int32{-1, turnmill.IgnoreIndex, -1 << 31, 1<<31 - 1}).Draw(t, "id")
		case 1:
			labels[at] = rapid.Int32().Draw(t, "label")
		case 2: // a label that is an id, but another token's
			labels[at] = ids[(at+1)%len(ids)]
		case 3:
			if at > 0 {
				labels[at] = ids[at]
			}
		}
		if labels[0] != turnmill.IgnoreIndex {
			labels[0] = turnmill.IgnoreIndex
		}
		want := checkEach(ids, labels, vocabulary)
		if got := fmt.Sprint(CheckRow(&turnmill.Row{IDs: ids, Labels: labels}, ProfileHF, vocabulary)); got != want {
			t.Fatalf("CheckRow = %s, want %s", got, want)
		}
	})
}
