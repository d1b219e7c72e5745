// Package pipelines is the only place where the steps meet.
//
//	options --resolve, inventory, partition--> plan.json        pure: inputs, options, tokenizer, version
//	plan, i --reader, workers, writer--------> commits/pI.json  pure: plan and i; see run.go, record.go
//	commits --merge--------------------------> manifest.json    pure: plan and commits; written last
//
// CPT, SFT and Audit do the three in one process, and cut standard input while it is read (stream.go); PlanCPT, Run and
// Merge do them apart, for many machines (cluster.go). What the whole of the inputs decides, duplicates among it, is
// found while the plan is made (scan.go), the order of --shuffle in merge (shuffler.go), and SFT asks models before a
// partition runs (ask.go). Eval is no such run (eval.go). Every file goes through files.go: whole or absent.
//
// record.go is the page that explains the program: one record from bytes to row. run.go starts and joins
// every goroutine. check.go proves a finished run from its files, show.go explains a row of it.
package pipelines
