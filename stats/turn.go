package stats

import (
	"math"

	"github.com/parquet-go/parquet-go"
)

// TurnRow is one row of the turns table; its fields are the columns, in their order. A null is written for
// an empty Domain, Source, TaskID, Agent, Tool or Category, for a ratio that is NaN, for nil, for a count that is
// NotCounted, and for all from Shard to ActionEnd when Shard is empty: then the turn stands in no row.
//
// The tags name the encodings: dictionaries where few values recur, deltas for integers, which mostly rise.
type TurnRow struct {
	ID               string `parquet:"id"`                      // of the trajectory or document
	Turn             int32  `parquet:"turn,delta"`              // place in the source from 0, before filters; a document's window
	Record           int64  `parquet:"record,delta"`            // ordinal of the record in its partition, of those decoded
	Trajectory       int64  `parquet:"trajectory,delta"`        // ordinal of the trajectory or document in its partition
	Domain           string `parquet:"domain,optional,dict"`    //
	Source           string `parquet:"source,optional,dict"`    //
	TaskID           string `parquet:"task_id,optional"`        //
	Agent            string `parquet:"agent,optional,dict"`     //
	Tool             string `parquet:"tool,optional,dict"`      // names called, comma-joined
	ActionWords      int32  `parquet:"action_words,delta"`      // a, distinct words
	ObservationWords int32  `parquet:"observation_words,delta"` // o
	SharedWords      int32  `parquet:"shared_words,delta"`      // b
	ActionChars      int64  `parquet:"action_chars,delta"`      // code points of the trimmed text
	ObservationChars int64  `parquet:"observation_chars,delta"` //

	Overlap     float64 `parquet:"overlap,optional"`
	Novelty     float64 `parquet:"novelty,optional"`
	Jaccard     float64 `parquet:"jaccard,optional"`
	LengthRatio float64 `parquet:"length_ratio,optional"`

	Category string  `parquet:"category,optional,dict"` // empty for documents
	Keep     float64 `parquet:"keep"`                   // of the draw: the table's ratio, or that of copied lines
	Kept     bool    `parquet:"kept"`                   // the draw's outcome
	Status   string  `parquet:"status,dict"`            // target, context, dropped
	Reason   string  `parquet:"reason,dict"`            // empty for targets

	ObservationTokens int32 `parquet:"observation_tokens,delta"` // without the end token
	TargetTokens      int32 `parquet:"target_tokens,delta"`      // would carry loss without the mask, end token included
	TrainedTokens     int32 `parquet:"trained_tokens,delta"`     // carry loss

	Shard       string `parquet:"shard,optional,dict"`         // path below OUT
	Row         int64  `parquet:"row,optional,delta"`          // within the shard
	TokenStart  int32  `parquet:"token_start,optional,delta"`  // of the observation in the row, half-open,
	TokenEnd    int32  `parquet:"token_end,optional,delta"`    // end token included
	ActionStart int32  `parquet:"action_start,optional,delta"` // of the action
	ActionEnd   int32  `parquet:"action_end,optional,delta"`   //

	KeptSpans []int32 `parquet:"kept_spans,optional,list"` // modes span, changed: pairs of token places from TokenStart

	// Of the trajectory; null for documents.
	Observed   *bool `parquet:"observed,optional"`   // a real environment answered; false: a model or a simulator; null: not said
	Instructed *bool `parquet:"instructed,optional"` // its prompt has a simulation instruction
	Perturbed  *bool `parquet:"perturbed,optional"`  // its meta names a perturbation

	// Beyond the mask's own integers; null for documents, for turns that a filter dropped, and where nothing was counted.
	StateWords       int32   `parquet:"state_words,optional,delta"`        // distinct words of the state; null without a state
	StateSharedWords int32   `parquet:"state_shared_words,optional,delta"` // of the observation that action or state has
	StateNovelty     float64 `parquet:"state_novelty,optional"`            // (o - that) / o
	UnseenWords      int32   `parquet:"unseen_words,optional,delta"`       // of the observation that stand nowhere before it
	AnswerLeaked     *bool   `parquet:"answer_leaked,optional"`            // the observation names the reference answer unasked; null: no answer to judge by
}

// NotCounted is a count that is null in the table.
const NotCounted = -1

var truths = [2]bool{false, true}

// Bool returns a value of a column that may be null, without allocating.
func Bool(v bool) *bool {
	if v {
		return &truths[1]
	}
	return &truths[0]
}

// column ties a column of the table to a field of TurnRow: exactly one of the pointers is set.
type column struct {
	name  string
	text  func(*TurnRow) *string
	i32   func(*TurnRow) *int32
	i64   func(*TurnRow) *int64
	f64   func(*TurnRow) *float64
	flag  func(*TurnRow) *bool
	maybe func(*TurnRow) **bool
	spans func(*TurnRow) *[]int32
	null  func(*TurnRow) bool // nil for a column without nulls
	count bool                // a null is NotCounted in the row
}

// turnColumns returns the columns in the order of the file.
func turnColumns() []column {
	nowhere := func(r *TurnRow) bool { return r.Shard == "" }
	return []column{
		{name: "id", text: func(r *TurnRow) *string { return &r.ID }},
		{name: "turn", i32: func(r *TurnRow) *int32 { return &r.Turn }},
		{name: "record", i64: func(r *TurnRow) *int64 { return &r.Record }},
		{name: "trajectory", i64: func(r *TurnRow) *int64 { return &r.Trajectory }},
		optionalText("domain", func(r *TurnRow) *string { return &r.Domain }),
		optionalText("source", func(r *TurnRow) *string { return &r.Source }),
		optionalText("task_id", func(r *TurnRow) *string { return &r.TaskID }),
		optionalText("agent", func(r *TurnRow) *string { return &r.Agent }),
		optionalText("tool", func(r *TurnRow) *string { return &r.Tool }),
		{name: "action_words", i32: func(r *TurnRow) *int32 { return &r.ActionWords }},
		{name: "observation_words", i32: func(r *TurnRow) *int32 { return &r.ObservationWords }},
		{name: "shared_words", i32: func(r *TurnRow) *int32 { return &r.SharedWords }},
		{name: "action_chars", i64: func(r *TurnRow) *int64 { return &r.ActionChars }},
		{name: "observation_chars", i64: func(r *TurnRow) *int64 { return &r.ObservationChars }},
		ratio("overlap", func(r *TurnRow) *float64 { return &r.Overlap }),
		ratio("novelty", func(r *TurnRow) *float64 { return &r.Novelty }),
		ratio("jaccard", func(r *TurnRow) *float64 { return &r.Jaccard }),
		ratio("length_ratio", func(r *TurnRow) *float64 { return &r.LengthRatio }),
		optionalText("category", func(r *TurnRow) *string { return &r.Category }),
		{name: "keep", f64: func(r *TurnRow) *float64 { return &r.Keep }},
		{name: "kept", flag: func(r *TurnRow) *bool { return &r.Kept }},
		{name: "status", text: func(r *TurnRow) *string { return &r.Status }},
		{name: "reason", text: func(r *TurnRow) *string { return &r.Reason }},
		{name: "observation_tokens", i32: func(r *TurnRow) *int32 { return &r.ObservationTokens }},
		{name: "target_tokens", i32: func(r *TurnRow) *int32 { return &r.TargetTokens }},
		{name: "trained_tokens", i32: func(r *TurnRow) *int32 { return &r.TrainedTokens }},
		optionalText("shard", func(r *TurnRow) *string { return &r.Shard }),
		{name: "row", i64: func(r *TurnRow) *int64 { return &r.Row }, null: nowhere},
		{name: "token_start", i32: func(r *TurnRow) *int32 { return &r.TokenStart }, null: nowhere},
		{name: "token_end", i32: func(r *TurnRow) *int32 { return &r.TokenEnd }, null: nowhere},
		{name: "action_start", i32: func(r *TurnRow) *int32 { return &r.ActionStart }, null: nowhere},
		{name: "action_end", i32: func(r *TurnRow) *int32 { return &r.ActionEnd }, null: nowhere},
		{name: "kept_spans", spans: func(r *TurnRow) *[]int32 { return &r.KeptSpans },
			null: func(r *TurnRow) bool { return r.KeptSpans == nil }},
		maybe("observed", func(r *TurnRow) **bool { return &r.Observed }),
		maybe("instructed", func(r *TurnRow) **bool { return &r.Instructed }),
		maybe("perturbed", func(r *TurnRow) **bool { return &r.Perturbed }),
		count("state_words", func(r *TurnRow) *int32 { return &r.StateWords }),
		count("state_shared_words", func(r *TurnRow) *int32 { return &r.StateSharedWords }),
		ratio("state_novelty", func(r *TurnRow) *float64 { return &r.StateNovelty }),
		count("unseen_words", func(r *TurnRow) *int32 { return &r.UnseenWords }),
		maybe("answer_leaked", func(r *TurnRow) **bool { return &r.AnswerLeaked }),
	}
}

func maybe(name string, value func(*TurnRow) **bool) column {
	return column{name: name, maybe: value, null: func(r *TurnRow) bool { return *value(r) == nil }}
}

func count(name string, i32 func(*TurnRow) *int32) column {
	return column{name: name, i32: i32, null: func(r *TurnRow) bool { return *i32(r) == NotCounted }, count: true}
}

func optionalText(name string, text func(*TurnRow) *string) column {
	return column{name: name, text: text, null: func(r *TurnRow) bool { return *text(r) == "" }}
}

func ratio(name string, f64 func(*TurnRow) *float64) column {
	return column{name: name, f64: f64, null: func(r *TurnRow) bool { return math.IsNaN(*f64(r)) }}
}

// turnSchema is the table's schema as it stands in a file.
func turnSchema() *parquet.Schema {
	return parquet.NewSchema("turn", parquet.SchemaOf(TurnRow{}))
}
