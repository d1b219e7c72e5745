// Package mask decides which observations carry loss. It cuts the two texts of a turn into words, keeps
// five integers of them, finds the turn's category in a table, and draws whether the turn is kept.
//
//	action, observation   the canonical texts, before any template, state and thought left out
//	      |  split.go     JSON with escapes: decoded keys and values, number literals as spelt; else the text
//	      |  scan.go      words-1: lower-cased runs of letters, marks, numbers and _, CJK in pairs
//	      v  wordset.go   one table of 64-bit keys for both sides, 16 bytes an entry
//	Counts                a = |A|  o = |O|  b = |A and O|  la, lo = code points of the trimmed texts
//	      |  classify.go  overlap b/a, novelty (o-b)/o, length ratio lo/la, compared as integers
//	      v  table.go     the first row whose bounds hold: echo, boilerplate, transform, retrieval, ...
//	category, keep        keep is a ratio p, 1 for whatever no row takes
//	      |  draw.go      u = first 8 bytes of SHA-256(seed 0 id 0 index); kept when u < p * 2^64
//	      v
//	MaskDecision
//
// Two modes add spans of the observation that are kept whatever the draw:
//
//	span      spans.go      runs of words that are not in A, by places that split.go and place.go keep count of
//	changed   screen.go     the screen before the turn: its state, or on a screen the observation before
//	          nodes.go      its lines, or the nodes of long ones, without what is volatile
//	          changed.go    those of the observation that it has not got
//
// Beside the decision stand columns that no label depends on (history.go, seen.go): words that neither state nor anything
// before the turn has, and reference answers that nobody asked for.
//
// The decision is a function of the texts, the table, the seed, the trajectory's id and the turn's index.
// Nothing else enters, mode changed apart: not the domain, the tool, the tokenizer, the order of the input, nor
// other turns.
// The rule is that of the Qwen-AgentWorld report (arXiv 2606.24597, section 3.2, Table 3); where the report
// leaves a choice, the choice stands beside the code that makes it.
package mask

// WordsVersion names how texts are cut into words. It changes whenever any text could give other words,
// so that figures from two versions are never mixed.
const WordsVersion = "words-1"

//go:generate go run ./gentables
