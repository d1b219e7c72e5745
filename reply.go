package turnmill

// Message is one message of a chat, as endpoints take it.
type Message struct {
	Role    string `json:"role"` // system, user, assistant
	Content string `json:"content"`
}

// Request is one question to a model. ID and Sample name it, so that answers are joined by name, never by
// place: for rollouts ID is the query's, for judges it says what is judged. Two samples of one ID ask the same.
type Request struct {
	ID       string
	Sample   int // which of several answers, from 0
	Model    string
	Messages []Message
	Params   Params
}

// Params are the sampling parameters of a request, as they are sent. Decimals keep their spelling; "" leaves a
// parameter to the endpoint.
type Params struct {
	Temperature string `json:"temperature,omitempty"`
	TopP        string `json:"top_p,omitempty"`
	MaxTokens   int64  `json:"max_tokens,omitempty"`
	Seed        *int64 `json:"seed,omitempty"`
}

// ReplyState says how an answer ended.
type ReplyState uint8

// Only a complete reply is an answer; the others are kept, counted and never scored.
const (
	ReplyComplete  ReplyState = iota // the model ended it
	ReplyTruncated                   // the token limit ended it
	ReplyRefused                     // the model or a content filter refused
	ReplyFailed                      // there is no answer; Error says why
	ReplyTimeout                     // there is no answer in time
)

// String returns the state as it stands in files.
func (s ReplyState) String() string {
	return [...]string{"complete", "truncated", "refused", "failed", "timeout"}[s]
}

// ParseReplyState is the inverse of String.
func ParseReplyState(name string) (ReplyState, bool) {
	for s := ReplyComplete; s <= ReplyTimeout; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// Usage counts tokens as the endpoint reported them; 0 where it did not.
type Usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"` // reasoning included
	Reasoning  int64 `json:"reasoning_tokens"`
}

// Reply is what came back for a request, from an endpoint, a journal or a file of recorded answers.
type Reply struct {
	ID        string
	Sample    int
	State     ReplyState
	Text      string // of the message, verbatim, less the reasoning
	Reasoning string // from its own field, or the think block that opens the text
	Finish    string // finish_reason as reported
	Model     string // as reported
	Usage     Usage
	Error     string // why there is no answer; empty for the other states
	Pos       Pos    // where a recorded reply lies
}

// Query is one question to a world model: what an environment answers to the action of one turn, given all that
// came before. Report, section 3.1.2.
type Query struct {
	ID         string      // the trajectory's id, "@" and the turn's index
	Trajectory *Trajectory // borrowed, as it was read
	Target     int         // position of the target in Trajectory.Turns
	Template   Template
	Messages   []Message // rendered: system, then user and assistant in turn, a user's last
}

// Template names a prompt template by version and content. Report, section 3.1.2.
type Template struct {
	Version string `json:"version"` // v0 to v11
	SHA256  string `json:"sha256"`
}
