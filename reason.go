package turnmill

// Reason is the stable name under which something is counted as lost, or as context only. It stands in
// ledgers, rejects and the turns table; scripts rely on it.
type Reason string

// Why a file, record or trajectory was rejected: it failed.
const (
	ReasonUnreadable     Reason = "unreadable"        // the file cannot be opened or read
	ReasonUnknownFormat  Reason = "unknown_format"    // nothing recognises the file
	ReasonWrongFormat    Reason = "wrong_format"      // a record is not of its file's format
	ReasonBadJSON        Reason = "bad_json"          // a record is not JSON
	ReasonBadYAML        Reason = "bad_yaml"          // a text is not YAML
	ReasonTooDeep        Reason = "too_deep"          // more nesting than the reader allows
	ReasonTooLarge       Reason = "record_too_large"  // above --max-record
	ReasonTruncated      Reason = "truncated"         // the input ends inside a record
	ReasonBadCompression Reason = "bad_compression"   // gzip or zstd data is damaged
	ReasonBadParquet     Reason = "bad_parquet"       // a Parquet file, or a row group of it, is damaged or of a kind that is not read
	ReasonWindowTooLarge Reason = "window_too_large"  // a zstd window above --max-window
	ReasonBadField       Reason = "bad_field"         // a field has the wrong type
	ReasonRepeatedIndex  Reason = "repeated_index"    // two turns of one trajectory share an index
	ReasonBadMessage     Reason = "bad_message"       // a chat message has no usable role or content
	ReasonEmptyMessages  Reason = "empty_messages"    // a chat without messages
	ReasonMissingPart    Reason = "missing_companion" // a part of a run whose other files are not there
	ReasonLossyExport    Reason = "lossy_export"      // a published form in which calls or observations are lost
	ReasonNoRecords      Reason = "no_records"        // a file that holds no record at all
	ReasonUnencodable    Reason = "unencodable"       // the tokenizer cannot encode a text
	ReasonDuplicateID    Reason = "duplicate_id"      // a row to evaluate: no prediction can tell it from another
)

// Why a record, trajectory or turn was dropped: a rule refused it.
const (
	ReasonNoAction       Reason = "no_action"       // turn: pause or narration
	ReasonTooFewTurns    Reason = "too_few_turns"   // trajectory: below --min-turns
	ReasonRetryCycle     Reason = "retry_cycle"     // turn: the harness could not read the action, and the agent tried again
	ReasonNoChange       Reason = "no_change"       // turn: the screen stayed as it was
	ReasonNoTarget       Reason = "no_target"       // trajectory: no turn at all
	ReasonNoEnvironment  Reason = "no_environment"  // trajectory: a pure chat
	ReasonUndeclaredTool Reason = "undeclared_tool" // trajectory: a call to a tool that it does not declare
	ReasonMissingState   Reason = "missing_state"   // trajectory: a turn without a screen to act on
	ReasonCaptcha        Reason = "captcha"         // trajectory: a page asks for a proof of being human
	ReasonHTTPError      Reason = "http_error"      // trajectory: a page did not load
	ReasonTurnTooLong    Reason = "turn_too_long"   // turn: does not fit --seq-len beside the system prompt
	ReasonSystemTooLong  Reason = "system_too_long" // trajectory: the system prompt alone fills --seq-len
	ReasonNoLoss         Reason = "no_loss"         // row, turn, trajectory: nothing left to learn
	ReasonRowStart       Reason = "row_start"       // loss token: the first token of a row is never trained
	ReasonEmptyText      Reason = "empty_text"      // document without text
	ReasonNotAsked       Reason = "not_asked"       // turn of an SFT set: no query asks for it, and no row holds it as history
	ReasonDuplicate      Reason = "duplicate"       // trajectory, document: the same content as one before it in the plan
	ReasonDuplicateTurns Reason = "duplicate_turns" // trajectory: the same run as one before it, from another export
	ReasonNearDuplicate  Reason = "near_duplicate"  // trajectory, document: nearly the words of one before it
	ReasonContaminated   Reason = "contaminated"    // trajectory, document: it holds a task of a file of --decontaminate
	ReasonMixedOut       Reason = "mixed_out"       // trajectory, document: --mix wants fewer of its group
	ReasonOtherPool      Reason = "other_pool"      // trajectory, document: --pools gives its source to another pool
)

// Why a turn stands in a row without being a target; ReasonMasked also counts its loss tokens.
const (
	ReasonMasked   Reason = "masked"
	ReasonDialogue Reason = "dialogue"
	ReasonElided   Reason = "elided"  // an exporter left a placeholder in the observation
	ReasonHistory  Reason = "history" // of an SFT row: it stands before the turn that is asked for

	ReasonUnseenChange Reason = "unseen_change" // the screenshots differ and the texts do not
)

// Why a query of an SFT set was dropped: what its rollouts and judges said will not change.
const (
	ReasonIncompleteRollouts Reason = "incomplete_rollouts"     // fewer complete rollouts than asked for: cut, refused or not there
	ReasonBelowThreshold     Reason = "below_threshold"         // the winner's mean is below the threshold
	ReasonJudgeRefused       Reason = "judge_refused"           // no rollout has a valid judgement; the first one says why
	ReasonJudgeTruncated     Reason = "judge_truncated"         // so
	ReasonJudgeUnparsable    Reason = "judge_unparsable"        // so
	ReasonJudgeOutOfRange    Reason = "judge_out_of_range"      // so
	ReasonJudgeMissing       Reason = "judge_missing_dimension" // so
	ReasonPromptTooLong      Reason = "prompt_too_long"         // of the pool rl: longer than --max-prompt, and prompts are not cut
	ReasonLeakage            Reason = "leaking_reasoning"       // every rollout that is good enough speaks of an answer it must not have seen (--drop-leakage)
)

// Why a query of an SFT set failed: an answer is not there, and asking again may bring it.
const (
	ReasonRolloutFailed  Reason = "rollout_failed"
	ReasonRolloutTimeout Reason = "rollout_timeout"
	ReasonJudgeFailed    Reason = "judge_failed"
	ReasonJudgeTimeout   Reason = "judge_timeout"
	ReasonNotJudged      Reason = "not_judged" // an answer of the judge was never given
	ReasonBudget         Reason = "budget"     // not asked: the budget was spent
)
