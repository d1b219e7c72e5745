package report

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// Page is all that a report says.
type Page struct {
	Facts       []Fact // what was audited, and how
	Mode        string // of the mask: turn, token, weight, span, changed, off
	Tokens      bool   // there was a tokenizer: lengths are tokens, else characters
	Table       Table
	Figures     *figures.Figures
	Accounts    []Account // the whole first, then the domains
	Repairs     []Note
	Notices     []Note
	Secrets     []Note // by kind
	Examples    []Example
	Kinds       map[figures.Kind][]int // numbers of examples, the first to show first
	Records     []RecordExample
	RecordKinds map[figures.Kind][]int // of record, trajectory and note, numbers of Records
	NoTexts     string                 // why examples have no texts; "" when they have
	Answers     []AnswerTable          // of an SFT set: what became of its queries
}

// AnswerTable is a table about the answers of an SFT set. The first of Head and of each row names, the others count.
type AnswerTable struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Fact is one line about the run.
type Fact struct{ Name, Value string }

// Table is the mask's table in force.
type Table struct {
	Short  int64
	Other  string // keep ratio
	Rows   []Row
	Kinds  []Bound // that a row may have, without places
	SHA256 string
}

// Row is one row of the table.
type Row struct {
	Category string  `json:"category"`
	Keep     string  `json:"keep"`
	Bounds   []Bound `json:"bounds"`
	OrShort  bool    `json:"or_short"`
	Text     string  `json:"-"` // for people
}

// Bound is one bound of a row.
type Bound struct {
	Name string         `json:"name"`
	On   string         `json:"on"`
	Sign string         `json:"sign"`
	Text string         `json:"at,omitempty"`
	At   turnmill.Ratio `json:"-"`
}

// Account is a ledger: what came in and what became of it.
type Account struct {
	Name  string // "total", or a domain
	Lines []AccountLine
}

// AccountLine is one of its accounts.
type AccountLine struct {
	What                    string
	In, Out, Repeated       int64
	AllDropped, AllRejected int64
	Dropped, Rejected       []Count
}

// Count is a number of something named.
type Count struct {
	Name string
	N    int64
}

// Note is a repair or a notice, with the domains where it was made.
type Note struct {
	Name    string
	N       int64
	Domains []Count
}

// Example is one turn with its texts.
type Example struct {
	ID                               string
	Turn                             int32
	Domain, Source, Agent, Tool      string
	Category, Status, Reason         string
	Keep                             float64
	Words                            [3]int32 // action, observation, shared
	Chars                            [2]int64 // action, observation
	Overlap, Novelty, Jaccard, Ratio string   // for people
	Rules                            []string // rows whose bounds hold, the deciding one first
	RunnerUp                         string   // category without the deciding row
	Nearest                          string   // border that parts the turn from another category, and how far it is
	Near                             []string // borders that it stands near, with the category beyond
	Action, Observation              Text
	NoTexts                          string // why there are none
}

// RecordExample is a record or trajectory that was lost, or a record that was mended.
type RecordExample struct {
	Where   string // path and line, or path and byte
	Bytes   int64
	Kind    string // file, record, trajectory
	What    string // rejected: bad_json; "" of what was mended
	Notes   []string
	Detail  string
	ID      string
	Domain  string
	Head    string // of the record's bytes
	Skipped int    // bytes
	Tail    string
}

// Text is a text without its middle. Marks are pairs of bytes and kind: 0 plain, 1 on one side alone, 2 on both.
type Text struct {
	Head      string
	HeadMarks []int
	Skipped   int64 // code points
	Tail      string
	TailMarks []int
}
