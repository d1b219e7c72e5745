// Package verify says by execution whether a predicted observation is right: pass or fail, nothing between.
// Report, section 3.4.1 and appendix C. docs/verifiers.md has the schema of a verifier.
//
//	{"kind":"json","class":"control","ignore":["/time"]}     a verifier is data
//	  | Parse, ParseMeta, ReadSet       strict: an unknown key is an error
//	  v
//	Verifier.Check(ctx, sandbox, Case{prediction, reference, messages})
//	  | exact, json, exit_code, regex, tree      here, pure
//	  | program                                  bwrap -> sh (pid 1) -> prlimit -> the program
//	  v
//	Verdict: pass, fail | timeout, memory, output_limit, crashed, refused_no_sandbox, bad_verifier
//
// Only pass and fail are verdicts on a prediction; the others say that there is none, and why. The caller gives
// them their worth. A verifier never changes, and neither does a Sandbox: both serve any number of workers at once.
//
// The package owns neither clock nor goroutine. A program needs a context with a deadline: Limits().Wall from
// when it starts. What a program answers can hang on the machine (a timeout does), so a run that must give
// the same bytes again keeps the verdicts that it saw.
package verify
