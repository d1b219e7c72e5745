package turnmill

// Note names something that turnmill saw, and mended or passed over, without losing a record or a turn.
// Notes are counted for each domain and stand in the manifest under "repairs" and "notices".
type Note uint8

// Repairs: the text that is measured and trained differs from the bytes that were read.
const (
	NoteBadUTF8        Note = iota // bytes that are not UTF-8, each replaced by U+FFFD
	NoteLoneSurrogate              // \uD800-\uDFFF escapes without a partner, each replaced by U+FFFD
	NoteBOM                        // byte order marks at the start of a file or member, left out
	NoteNUL                        // U+0000 in the texts that come out, kept
	NoteNULPadding                 // runs of NUL bytes between records, left out
	NoteDuplicateKey               // members whose key repeats in one object; the last one counts
	NoteNonFinite                  // NaN and Infinity literals, spelling kept
	NoteEscapeDecoded              // escapes of printable non-ASCII characters in arguments, decoded
	NoteExtraQuotes                // string arguments in a second pair of quotes, which is taken off
	NoteSplicedLine                // physical lines that held more, or less, than one whole record
	NoteForgedControl              // control tokens' texts inside content, encoded as text
	NoteAddedToken                 // other added tokens' texts inside content, each one token as at inference
	NoteStraddle                   // tokens across the border of a span; loss follows the last byte
	NoteTemplateDiffer             // rows that the family's published template would have trimmed or cut
	NoteSecret                     // places where a secret stood, each replaced by what kind it was

	// Notices: pairing and reading rules that took a decision.

	NoteUnansweredAction  // calls and texts of the agent that never got an answer: no turns
	NoteOrphanObservation // results without a call: no turns
	NoteRepeatedCallID    // call ids that repeat in one trajectory; paired by order
	NoteBadArguments      // call arguments that are not JSON, kept as a JSON string
	NoteUnsolicited       // messages that answer nothing (a user's after a result, a system's in the middle)
	NoteNonTextPart       // images, audio and the like in messages, which the text does not hold
	NoteEmptiedMessage    // messages without text, call or result
	NoteUnreadMessage     // items of a trace in no known shape
	NoteThoughtStripped   // reasoning blocks and fields left out
	NoteDemonstration     // demonstration messages, kept apart from the turns
	NoteUnknownDomain     // trajectories whose domain no rule settles
	NoteNoTools           // trajectories that declare no tools
	NoteCopied            // messages and steps that repeat what stands elsewhere: no turns
	NoteLostPart          // parts of a whole file that could not be read: rejects, each a record of its own
	NoteCutObservation    // observations that their exporter cut short, kept as they stand
	NoteSubmitEcho        // submissions that ran nothing and repeat the output before them: no turns
	NoteToolsNotJudged    // trajectories whose declared tools are no list of names: undeclared-tool lets them pass
	NoteRepeatedAnswer    // further answers to a call that has one: left out
	NoteNullMember        // members that a row of columns holds as null: left out
	NoteOpenedJSON        // texts of columns that are read as the JSON that they are
	NoteUnseenChange      // turns whose screenshots differ and whose texts do not: context, unseen_change
	NoteBenchmark         // trajectories and documents that are a benchmark's, by their meta: not for training
	NumNotes              = int(NoteBenchmark) + 1
)

var noteNames = [NumNotes]string{
	"bad_utf8", "lone_surrogates", "bom", "nul", "nul_padding", "duplicate_keys", "non_finite_numbers",
	"escapes_decoded", "extra_quotes", "spliced_lines", "forged_control", "added_tokens", "straddling_tokens", "template_differs", "secrets_scrubbed",
	"unanswered_actions", "orphan_observations", "repeated_call_ids", "arguments_not_json", "unsolicited_messages",
	"non_text_parts", "emptied_messages", "unread_messages", "thoughts_stripped", "demonstrations", "unknown_domain", "no_tools_declared",
	"copied_messages", "lost_parts", "cut_observations", "submit_echoes", "tools_not_judged", "repeated_answers", "null_members", "opened_json", "unseen_changes", "benchmark_records",
}

// String returns the note's name as it stands in the manifest.
func (n Note) String() string { return noteNames[n] }

// Repair tells repairs, which change text, from notices, which do not.
func (n Note) Repair() bool { return n <= NoteSecret }

// Notes counts each Note. The zero value is empty.
type Notes [NumNotes]int64

// Add adds o to n.
func (n *Notes) Add(o *Notes) {
	for i := range n {
		n[i] += o[i]
	}
}
