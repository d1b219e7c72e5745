// Package formats knows the published formats of recorded agent runs: it recognises them by content and
// turns their records into trajectories and documents.
//
//	head of a file, 1 MiB --Detect--> Format + frame.Layout       32 sample records are asked
//	framed record, bytes  --Decoder.Decode--> Decoded             trajectories, documents, notes
//	Trajectory            --AppendUnified--> one JSON line        what every pipeline reads back
//	Trajectory            --AppendCanonical--> SHA-256            its id when it brings none
//
// One file holds one format: its entry in the table of All, its Recognise, its decoder and its Doc, which
// `turnmill formats NAME` prints. What formats share has a file of its own: the shape of chat messages
// (content, reasoning blocks, calls, pairing of calls with results), the making of turns from what was done
// and answered (acts), texts in the ReAct protocol (react), conversations in the shapes of the model APIs (talk),
// traces that repeat them (trace), results and calls that find one another over a whole log (callBook), files
// that are one record (wholeFile), files of one run (parts), JSON and Python's prints inside strings, YAML,
// elements of screens, the names of tools, and Decoded, the memory that one worker reuses for all its records.
// Forms in which calls or observations are lost are formats too: they refuse each record by name.
//
// Rules that hold for every format. An action that never got an answer is no turn; an empty answer is one.
// Reasoning goes to Thought or is left out and counted. Tool arguments and schemas stay JSON as it stands
// in the source. Nothing is decided by a file's name. Whatever is left out is counted as a turnmill.Note. Forms
// that hold no observation are refused by name (barren).
package formats
