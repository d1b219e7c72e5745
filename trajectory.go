package turnmill

// Domain says what kind of environment answered. It decides which filters apply and by what the figures
// are grouped; it never decides the mask. Report, section 2.1.
type Domain string

// The seven domains of the report, world knowledge for documents, and what no rule settles.
const (
	DomainMCP       Domain = "mcp"
	DomainSearch    Domain = "search"
	DomainTerminal  Domain = "terminal"
	DomainSWE       Domain = "swe"
	DomainAndroid   Domain = "android"
	DomainWeb       Domain = "web"
	DomainOS        Domain = "os"
	DomainKnowledge Domain = "knowledge" // documents only
	DomainUnknown   Domain = "unknown"   // counted; --domain decides
)

// Domains returns the seven domains of trajectories in the report's order.
func Domains() []Domain {
	return []Domain{DomainMCP, DomainSearch, DomainTerminal, DomainSWE, DomainAndroid, DomainWeb, DomainOS}
}

// Observed says whether observations come from a real environment.
type Observed uint8

// The three answers; ObservedUnset is left out of the unified form.
const (
	ObservedUnset Observed = iota
	ObservedTrue
	ObservedFalse // written by a model or a simulator
)

// SystemPrompt holds the five parts of the report's schema (section 2.2), stored apart and joined at
// rendering. Empty parts are left out.
type SystemPrompt struct {
	TaskDescription       string
	ActionSpace           string // declared tools, verbatim JSON where the source gives JSON
	InitialState          string
	Demonstrations        string
	SimulationInstruction string
}

// Parts returns the five parts in schema order, empty ones included.
func (p *SystemPrompt) Parts() [5]string {
	return [5]string{p.TaskDescription, p.ActionSpace, p.InitialState, p.Demonstrations, p.SimulationInstruction}
}

// Turn is one (action, observation) pair. A call that never got an answer is no turn; an empty
// observation is a real, silent answer.
type Turn struct {
	Index       int    // place in the source, from 0, before filters
	State       string // the current screen where the source gives one; never part of the measured texts
	Action      string // canonical text, before any template; "" with HasAction is a wait
	HasAction   bool   // false: no action object at all, the turn goes to the turn filter
	Observation string // canonical text, before any template
	Thought     string // the agent's reasoning, empty unless kept
	Tool        string // names called, comma-joined; "" when none
	Dialogue    bool   // a person's or customer's reply: context, no target unless asked
}

// Trajectory is a system prompt and the ordered turns of one recorded run.
type Trajectory struct {
	ID         string // the source's own, else the content hash of the unified form
	Domain     Domain
	Source     string // the format or data set that the run comes from
	SourceKind string // infrastructure, open_traces, in_house; "" when unknown
	TaskID     string
	Agent      string
	Observed   Observed
	System     SystemPrompt
	Turns      []Turn
	Meta       string // a JSON object, verbatim; "" when there is none
}

// Document is a text of world knowledge: single-turn data, never classified, always trained.
// Report, section 3.2.
type Document struct {
	ID         string
	Domain     Domain // knowledge unless the source says otherwise
	Source     string
	SourceKind string
	Text       string
	Meta       string
}
