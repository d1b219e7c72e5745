package mask

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Measurer counts the words and characters of turns. The zero value is ready. It is not safe for
// concurrent use; it keeps its memory for the next turn, and gives back what an outlier needed.
type Measurer struct {
	words wordSet
	split splitter
	word  []byte // the word in hand, lower-cased, when it differs from the text
}

// Measure returns the five integers of a turn. Both texts are valid UTF-8, as they will be trained: after
// repairs and scrubbing, before templates. Of other bytes it makes some counts, the same ones each time. No
// normalisation form is applied. Report, section 3.2.
func (m *Measurer) Measure(action, observation string) Counts {
	act, obs := trim(bytesOf(action)), trim(bytesOf(observation))
	m.words.reset()
	m.side(act, sideAction)
	m.side(obs, sideObservation)
	if len(act) > keepBytes || len(obs) > keepBytes {
		m.split.release()
		m.word = nil
	}
	return Counts{
		ActionWords:      m.words.count[sideAction],
		ObservationWords: m.words.count[sideObservation],
		SharedWords:      m.words.shared,
		ActionChars:      codePoints(act),
		ObservationChars: codePoints(obs),
	}
}

func (m *Measurer) side(text []byte, side uint32) {
	m.split.each(text, func(stretch []byte, _, _ int) { m.scan(stretch, side) })
}

// codePoints counts characters: the bytes that do not continue one, 10xxxxxx.
func codePoints(text []byte) int64 {
	n := len(text)
	for ; len(text) >= 32; text = text[32:] { // most of it is ASCII, where every byte counts
		block := (*[32]byte)(text)
		w0, w1 := binary.LittleEndian.Uint64(block[:]), binary.LittleEndian.Uint64(block[8:])
		w2, w3 := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		if (w0|w1|w2|w3)&highs != 0 {
			n -= bits.OnesCount64(w0>>7&^(w0>>6)&ones) + bits.OnesCount64(w1>>7&^(w1>>6)&ones) +
				bits.OnesCount64(w2>>7&^(w2>>6)&ones) + bits.OnesCount64(w3>>7&^(w3>>6)&ones)
		}
	}
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		n -= bits.OnesCount64(w >> 7 &^ (w >> 6) & ones)
	}
	for _, c := range text {
		if c>>6 == 0b10 {
			n--
		}
	}
	return int64(n)
}

// bytesOf lends a string's bytes for reading.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
