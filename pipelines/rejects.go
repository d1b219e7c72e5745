package pipelines

import (
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// rejectLine is one line of rejects/pNNNNN.jsonl.zst. Records that are lost have one line; where a record
// held one trajectory, that line stands for it too, and where it held several, each lost one has a line of
// its own besides. Turns have lines when they are lost and their trajectory is not.
type rejectLine struct {
	Kind         string          `json:"kind"`   // file, record, trajectory, turn
	Status       string          `json:"status"` // dropped, rejected
	Reason       turnmill.Reason `json:"reason"`
	Detail       string          `json:"detail,omitempty"`
	Path         string          `json:"path"`
	Frame        *int64          `json:"frame,omitempty"` // offset of the zstd frame that offsets count from
	Line         int64           `json:"line,omitempty"`
	Offset       int64           `json:"offset"` // decompressed bytes
	Bytes        int64           `json:"bytes"`
	ID           string          `json:"id,omitempty"`
	Turn         *int            `json:"turn,omitempty"`
	Domain       turnmill.Domain `json:"domain,omitempty"`
	Trajectories int             `json:"trajectories,omitempty"` // of a record: how many it held
}

// at gives the line its place.
func (l *rejectLine) at(pos turnmill.Pos) {
	l.Path, l.Line, l.Offset, l.Bytes = pos.Path, max(pos.Line, 0), pos.Offset, pos.Bytes
	if pos.Frame >= 0 {
		l.Frame = &pos.Frame
	}
}

// append writes the line as encoding/json would, but for the line separators that other readers split at.
func (l *rejectLine) append(dst []byte, pos turnmill.Pos) []byte {
	text := func(name, s string) {
		dst = append(dst, ',', '"')
		dst = append(dst, name...)
		dst = append(dst, '"', ':')
		dst = jsonscan.AppendQuotedLine(dst, s)
	}
	number := func(name string, n int64) {
		dst = append(dst, ',', '"')
		dst = append(dst, name...)
		dst = strconv.AppendInt(append(dst, '"', ':'), n, 10)
	}
	dst = jsonscan.AppendQuotedLine(append(dst, `{"kind":`...), l.Kind)
	text("status", l.Status)
	text("reason", string(l.Reason))
	if l.Detail != "" {
		text("detail", l.Detail)
	}
	text("path", pos.Path)
	if pos.Frame >= 0 {
		number("frame", pos.Frame)
	}
	if pos.Line > 0 {
		number("line", pos.Line)
	}
	number("offset", pos.Offset)
	number("bytes", pos.Bytes)
	if l.ID != "" {
		text("id", l.ID)
	}
	if l.Turn != nil {
		number("turn", int64(*l.Turn))
	}
	if l.Domain != "" {
		text("domain", string(l.Domain))
	}
	if l.Trajectories > 0 {
		number("trajectories", int64(l.Trajectories))
	}
	return append(dst, '}', '\n')
}
