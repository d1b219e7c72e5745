package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Format is one published format.
type Format struct {
	Name  string // as --format takes it and as Trajectory.Source holds it
	Title string // one line
	// Layouts are the ways in which a file may hold the format's records. Where Whole stands among them, a
	// file whose lines or values are recognised, but not listed as a layout, is one record.
	Layouts []frame.Layout
	// Recognise tells whether v looks like a record of the format: why is "" for yes, else what is missing,
	// quoting no more of v than a name. marks counts the format's marks that v bears, so that refusals can
	// be ranked. v may be a record cut at the end of a file's head, with its open ends closed.
	Recognise func(v jsonscan.Value) (why string, marks int)
	// New makes a decoder for one goroutine.
	New func(Options) Decoder
	// Text says that a record is a text, not JSON: Recognise gets it as a string.
	Text bool
	// Refuses says that the format is known as one in which calls or observations are lost: its decoder
	// rejects every record, with turnmill.ReasonLossyExport and what is lost.
	Refuses bool
	// Join says how the files of a run find one another; nil where every file holds its runs whole.
	Join *Join
	Doc  Doc
}

// Rows tells whether the format's records may be one of many in a file. A record of the others is a whole file.
func (f Format) Rows() bool {
	return slices.ContainsFunc(f.Layouts, func(l frame.Layout) bool { return l != frame.Whole })
}

// Doc is what a person needs to know about a format. Sample is a whole record on one line.
type Doc struct {
	Fields   string // what is read from where
	Pairing  string // which answer belongs to which action
	State    string // what the current state of a turn is
	Domain   string // how the domain is found
	ID       string // where the record's own id stands
	Stripped string // what is left out, and counted
	Sample   string
}

// Options are the settings that reach decoders.
type Options struct {
	KeepThought bool            // keep the agent's reasoning in Turn.Thought
	Domain      turnmill.Domain // "" means the format's own rule
}

// All returns the formats in the order in which a draw between them is decided and in which `turnmill
// formats` lists them: the more particular first.
func All() []Format {
	return []Format{
		unifiedFormat(),
		sweAgentFormat(),
		atifFormat(),
		adpFormat(),
		nnetnavFormat(),
		androidControlFormat(),
		m3aFormat(),
		autoDroidFormat(),
		browserGymFormat(),
		browserGymStepsFormat(),
		webArenaFormat(),
		webShopFormat(),
		worldBenchFormat(),
		droidBotFormat(),
		openCUAFormat(),
		tauBenchFormat(),
		tauFewShotFormat(),
		claudeCodeFormat(),
		codexFormat(),
		agentTraceFormat(),
		miniSWEFormat(),
		openHandsFormat(),
		openHandsLegacyFormat(),
		openHandsV1Format(),
		openHandsOutputFormat(),
		inspectFormat(),
		toolBenchFormat(),
		toolEvalFormat(),
		shareGPTFormat(),
		agentInstructFormat(),
		typedContentFormat(),
		liveMCPFormat(),
		interCodeFormat(),
		reactChatFormat(),
		reactAlpacaFormat(),
		fireActFormat(),
		reactLogFormat(),
		langfuseFormat(),
		otlpFormat(),
		asciicastFormat(),
		responsesFormat(),
		geminiFormat(),
		hfRowsFormat(),
		openAIChatFormat(),
		anthropicFormat(),
	}
}

// ByName returns the format of that name. The error lists the names that exist.
func ByName(name string) (Format, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("no format is called %q; try one of %s", name, strings.Join(names, ", "))
}
