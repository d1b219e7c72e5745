package pipelines

import "github.com/turnmill/turnmill"

// Shown is one row, or one trajectory, with all that explains it.
type Shown struct {
	Shard     string          `json:"shard,omitempty"` // of a row; "" for a trajectory of an input
	Row       int64           `json:"row"`
	Window    int             `json:"window,omitempty"`  // of the trajectory's rows this is the one, from 1
	Windows   int             `json:"windows,omitempty"` // rows that the trajectory has
	Number    int64           `json:"number"`            // of the row, as --row counts
	Match     int64           `json:"match,omitempty"`   // of several with the ID, or such a turn: this is the one, from 1
	Matches   int64           `json:"matches,omitempty"` // how many there are, where they were counted
	Asked     *int32          `json:"asked,omitempty"`   // the first turn that is what was asked for; nil where the row was
	From      *ShownFrom      `json:"from,omitempty"`    // where it was read
	ID        string          `json:"id"`
	Domain    turnmill.Domain `json:"domain"`
	Source    string          `json:"source,omitempty"`
	Tokens    int             `json:"tokens"`
	Trained   int             `json:"trained_tokens"`
	Mask      string          `json:"mask"`
	Objective string          `json:"objective"`
	Dropped   turnmill.Reason `json:"dropped,omitempty"` // a trajectory that a filter refuses
	System    string          `json:"system,omitempty"`
	Query     *QueryLine      `json:"query,omitempty"`   // of an SFT set: why the row was chosen
	Earlier   string          `json:"earlier,omitempty"` // history that the turns table places in an earlier row
	Turns     []ShownTurn     `json:"turns"`
}

// ShownFrom is where a trajectory was read: its place in a file, or of a row the record's number in its partition and
// the files that the partition reads.
type ShownFrom struct {
	Path      string   `json:"path,omitempty"` // of the input, or of a run as its plan names it; "" where Files are several
	Line      int64    `json:"line,omitempty"` // from 1; 0: no lines there
	Offset    *int64   `json:"offset,omitempty"`
	Partition *int     `json:"partition,omitempty"`
	Record    *int64   `json:"record,omitempty"` // of the partition's that were decoded, from 0
	Files     []string `json:"files,omitempty"`  // the first and the last of several
}

// ShownTurn is one turn with its texts, statistics and reasons.
type ShownTurn struct {
	Turn        int32           `json:"turn"`
	Status      string          `json:"status"`
	Reason      string          `json:"reason,omitempty"`
	Tool        string          `json:"tool,omitempty"`
	State       string          `json:"state,omitempty"`
	Action      string          `json:"action"`
	Observation string          `json:"observation"`
	Words       [3]int32        `json:"words"` // action, observation, shared
	Chars       [2]int64        `json:"chars"` // action, observation
	Overlap     *float64        `json:"overlap"`
	Novelty     *float64        `json:"novelty"`
	Jaccard     *float64        `json:"jaccard"`
	LengthRatio *float64        `json:"length_ratio"`
	Category    string          `json:"category,omitempty"`
	Keep        float64         `json:"keep"`
	Draw        *float64        `json:"draw,omitempty"` // in [0, 1); kept when below keep; nil where nothing is drawn by turn
	Kept        bool            `json:"kept"`
	Rules       []string        `json:"rules,omitempty"`     // rows of the table whose bounds hold, the deciding one first
	Near        []string        `json:"near,omitempty"`      // borders of the table nearby, and the category beyond each
	RunnerUp    string          `json:"runner_up,omitempty"` // category without the deciding row
	Nearest     *ShownBorder    `json:"nearest,omitempty"`   // border that parts the turn from another category
	Tokens      [2]int32        `json:"tokens"`              // action with its end token, observation without
	Target      int32           `json:"target_tokens"`
	Trained     int32           `json:"trained_tokens"`
	Span        *turnmill.Span  `json:"span,omitempty"`          // of the observation in the row, end token included; nil when the turn is in no row
	Drawn       []turnmill.Span `json:"trained_spans,omitempty"` // modes token, span, changed: the tokens of the row that are trained
	Spans       []ShownSpan     `json:"kept_spans,omitempty"`    // modes span, changed: what is trained whatever the draw
	Parted      bool            `json:"parted,omitempty"`        // the turn may have such spans
	// Marks of the two texts are pairs of bytes and kind: 0 plain, 1 words of this side alone, 2 words of both. Without
	// them a text was longer than 64 KiB, or is empty.
	ActionMarks      []int `json:"action_marks,omitempty"`
	ObservationMarks []int `json:"observation_marks,omitempty"`
}

// ShownBorder is a border of the table, how far the turn stands from it, and the category beyond.
type ShownBorder struct {
	Border string  `json:"border"`
	On     string  `json:"on"`    // overlap, novelty, length_ratio, observation_chars
	Apart  float64 `json:"apart"` // in what On is measured in
	Away   string  `json:"-"`     // the same for people
	Beyond string  `json:"beyond"`
}
