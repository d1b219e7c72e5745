// Package house holds the rules of the project as tests. It has no code of its own: the tests read the
// source tree and the output of `go list`, and a message says where the code belongs.
//
//	imports      cmd -> pipelines -> { ingest, filter, mask, shard, stats } -> root -> standard library
//	owners       each outside library is imported by its owner alone
//	goroutines   `go` statements in the named files only
//	clocks       time.Now and global randomness in cmd and pipelines only
//	docs         every package says what it owns and draws its format or flow
//	decisions    each has a number of its own
package house
