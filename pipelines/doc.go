// Package pipelines is the only place where the steps meet.
//
//	options --resolve, inventory, partition--> plan.json        pure: inputs, options, tokenizer, version
//	plan, i --reader, workers, writer--------> commits/pI.json  pure: plan and i; see run.go, record.go
//	commits --merge--------------------------> manifest.json    pure: plan and commits; written last
//
// CPT does the three in one process, and cuts standard input while it is read (stream.go); PlanCPT, Run and
// Merge do them apart, for many machines (cluster.go). Every file goes through files.go: whole or absent.
//
// record.go is the page that explains the program: one record from bytes to row. run.go starts and joins
// every goroutine. check.go proves a finished run from its files, show.go explains a row of it.
package pipelines
