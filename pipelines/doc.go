// Package pipelines is the only place where the steps meet.
//
//	options --resolve, inventory, partition--> plan.json        pure: inputs, options, tokenizer, version
//	plan, i --reader, workers, writer--------> commits/pI.json  pure: plan and i; see run.go, record.go
//	commits --merge--------------------------> manifest.json    pure: plan and commits; written last
//
// record.go is the page that explains the program: one record from bytes to row. run.go starts and joins
// every goroutine. check.go proves a finished run from its files, show.go explains a row of it.
package pipelines
