package stats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The table's columns and types are what users' queries rely on.
func TestTurnSchema(t *testing.T) {
	const want = `message turn {
	required binary id (STRING);
	required int32 turn (INT(32,true));
	required int64 record (INT(64,true));
	required int64 trajectory (INT(64,true));
	optional binary domain (STRING);
	optional binary source (STRING);
	optional binary task_id (STRING);
	optional binary agent (STRING);
	optional binary tool (STRING);
	required int32 action_words (INT(32,true));
	required int32 observation_words (INT(32,true));
	required int32 shared_words (INT(32,true));
	required int64 action_chars (INT(64,true));
	required int64 observation_chars (INT(64,true));
	optional double overlap;
	optional double novelty;
	optional double jaccard;
	optional double length_ratio;
	optional binary category (STRING);
	required double keep;
	required boolean kept;
	required binary status (STRING);
	required binary reason (STRING);
	required int32 observation_tokens (INT(32,true));
	required int32 target_tokens (INT(32,true));
	required int32 trained_tokens (INT(32,true));
	optional binary shard (STRING);
	optional int64 row (INT(64,true));
	optional int32 token_start (INT(32,true));
	optional int32 token_end (INT(32,true));
	optional int32 action_start (INT(32,true));
	optional int32 action_end (INT(32,true));
	optional group kept_spans (LIST) {
		repeated group list {
			required int32 element (INT(32,true));
		}
	}
	optional boolean observed;
	optional boolean instructed;
	optional boolean perturbed;
	optional int32 state_words (INT(32,true));
	optional int32 state_shared_words (INT(32,true));
	optional double state_novelty;
	optional int32 unseen_words (INT(32,true));
	optional boolean answer_leaked;
}`
	if diff := cmp.Diff(want, turnSchema().String()); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	for i, path := range turnSchema().Columns() {
		if got := turnColumns()[i].name; got != path[0] {
			t.Errorf("column %d is tied to field %s, want %s", i, got, path[0])
		}
	}
}

// testTurn makes the i-th row of a table: every kind of null and list occurs within a dozen rows.
func testTurn(i int) TurnRow {
	r := TurnRow{
		ID: fmt.Sprintf("run-%06d", i/20), Turn: int32(i % 20), Record: int64(i / 40), Trajectory: int64(i / 20),
		Domain: "terminal", Source: "swe-agent", TaskID: fmt.Sprintf("task-%d", i/40), Agent: "agent", Tool: "bash",
		ActionWords: int32(i % 17), ObservationWords: int32(i % 301), SharedWords: int32(i % 5), ActionChars: int64(i % 97),
		ObservationChars: int64(i%5003) << 20, Overlap: 1 / float64(i%7+1), Novelty: 0.25, Jaccard: float64(i%3) / 3, LengthRatio: 1.5,
		Category: "retrieval", Keep: 1, Kept: i%4 != 0, Status: "target", ObservationTokens: int32(i % 999), TargetTokens: int32(i%999 + 1), TrainedTokens: int32(i%999 + 1),
		Shard: "train/data-p00000-00000.arrow", Row: int64(i / 20), TokenStart: int32(i % 2000), TokenEnd: int32(i%2000 + 300),
		ActionStart: 0, ActionEnd: int32(i % 2000),
		Observed: Bool(i%3 == 0), Instructed: Bool(i%8 == 0), Perturbed: Bool(false),
		StateWords: int32(i % 401), StateSharedWords: int32(i % 11), StateNovelty: float64(i%9) / 9, UnseenWords: int32(i % 29), AnswerLeaked: Bool(i%13 == 0),
	}
	switch i % 6 {
	case 1:
		r.Domain, r.Source, r.TaskID, r.Agent, r.Tool, r.Category = "", "", "", "", "", ""
	case 2:
		r.Overlap, r.Novelty, r.Jaccard, r.LengthRatio = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		r.Observed, r.Instructed, r.Perturbed, r.AnswerLeaked = nil, nil, nil, nil
		r.StateWords, r.StateSharedWords, r.StateNovelty, r.UnseenWords = NotCounted, NotCounted, math.NaN(), NotCounted
	case 3:
		r.Status, r.Reason = "dropped", "no_change"
		r.Shard, r.Row, r.TokenStart, r.TokenEnd, r.ActionStart, r.ActionEnd = "", 0, 0, 0, 0, 0
	case 4:
		r.KeptSpans = []int32{}
	case 5:
		r.KeptSpans = slices.Repeat([]int32{0, 7, 9, int32(i % 1000)}, i%3+1)
	}
	return r
}

func testTurns(n int) []TurnRow {
	rows := make([]TurnRow, n)
	for i := range rows {
		rows[i] = testTurn(i)
	}
	return rows
}

func newTestWriter(t testing.TB, out io.Writer) *TurnWriter {
	t.Helper()
	w, err := NewTurnWriter(out, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// testGroup makes row groups of some 3000 rows.
const testGroup = 1 << 20

// table writes rows, so many a call.
func table(t testing.TB, rows []TurnRow, perCall int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := newTestWriter(t, &out)
	w.limit = testGroup
	for chunk := range slices.Chunk(rows, perCall) {
		if err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Rows() != int64(len(rows)) {
		t.Errorf("Rows() = %d, want %d", w.Rows(), len(rows))
	}
	return out.Bytes()
}

func readTable(file []byte, perCall int, columns ...string) (all []TurnRow, err error) {
	return readTableFrom(bytes.NewReader(file), int64(len(file)), perCall, columns...)
}

func readTableFrom(src io.ReaderAt, size int64, perCall int, columns ...string) (all []TurnRow, err error) {
	r, err := NewTurnReader(src, size, "p00000.parquet", columns...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	rows := make([]TurnRow, perCall)
	for {
		n, err := r.Read(rows)
		if errors.Is(err, io.EOF) {
			if int64(len(all)) != r.Rows() {
				return all, fmt.Errorf("%d rows read, Rows() = %d", len(all), r.Rows())
			}
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, rows[:n]...)
	}
}

func TestTurnsComeBack(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1023, 1025, 20_000} {
		rows := testTurns(n)
		got, err := readTable(table(t, rows, 20), 1000)
		if err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		// Null and empty kept_spans are two things: DeepEqual tells them apart.
		for i := range rows {
			if i < len(got) && !reflect.DeepEqual(withoutNaN(rows[i]), withoutNaN(got[i])) {
				t.Fatalf("%d rows, row %d (-written +read):\n%s", n, i, cmp.Diff(rows[i], got[i], cmpopts.EquateNaNs()))
			}
		}
		if len(got) != n {
			t.Fatalf("%d rows come back as %d", n, len(got))
		}
	}
}

// withoutNaN makes rows comparable with ==: NaN differs from itself.
func withoutNaN(r TurnRow) TurnRow {
	for _, f := range []*float64{&r.Overlap, &r.Novelty, &r.Jaccard, &r.LengthRatio, &r.StateNovelty} {
		if math.IsNaN(*f) {
			*f = -1
		}
	}
	return r
}

func TestTurnsComeBackProperty(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"", "swe", "a,b", strings.Repeat("x", 70_000)}))
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), 0, math.Inf(1)}))
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TurnRow {
			r := TurnRow{
				ID: text.Draw(t, "id"), Turn: rapid.Int32().Draw(t, "turn"), Trajectory: rapid.Int64().Draw(t, "trajectory"),
				Domain: text.Draw(t, "domain"), Tool: text.Draw(t, "tool"), ActionChars: rapid.Int64().Draw(t, "chars"),
				Overlap: number.Draw(t, "overlap"), Keep: 0.5, Kept: rapid.Bool().Draw(t, "kept"), Reason: text.Draw(t, "reason"),
				StateWords: rapid.Int32Min(NotCounted).Draw(t, "state words"), UnseenWords: NotCounted,
				StateNovelty: number.Draw(t, "state novelty"), Observed: rapid.SampledFrom([]*bool{nil, Bool(true), Bool(false)}).Draw(t, "observed"),
				Shard: text.Draw(t, "shard"), KeptSpans: rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "spans"),
			}
			if r.Shard != "" {
				r.Row, r.TokenEnd = rapid.Int64().Draw(t, "row"), rapid.Int32().Draw(t, "end")
			}
			return r
		}), 0, 200).Draw(t, "rows")
		var out bytes.Buffer
		w, err := NewTurnWriter(&out, "1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(rows), w.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := readTable(out.Bytes(), 50)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%.2000s", diff)
		}
	})
}
