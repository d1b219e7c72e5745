// Package arrow writes and reads the shards of OUT/train: Arrow IPC streams that Hugging Face datasets
// maps into memory as they are.
//
//	data-pPPPPP-NNNNN.arrow     P partition, N shard within it
//	| schema | batch 0 | ... | batch k | end |     each part starts at a multiple of 8 bytes
//
//	batch   ff ff ff ff | length of the metadata, 4 bytes | metadata, a flatbuffer | body
//	body    for each column: int32 offsets, one more than rows | values, 4 bytes a token
//	end     ff ff ff ff 00 00 00 00
//
//	profile hf        input_ids, attention_mask, labels: list<int32>
//	profile weighted  those, and loss_weight: list<float32>
//
// Fields and their child `item` are nullable and hold no null, buffers are not compressed: anything else
// makes datasets copy or cast a whole file. A batch holds at most 1000 rows and 64 MiB, unless a single
// row is larger.
//
// The package knows streams and the three JSON files beside them; it names, opens and syncs no file.
//
// Writing takes schema and metadata from arrow-go and puts the columns behind them: a row is copied once into
// memory that the next batch uses again, and the attention mask, which is all ones, is written from a small
// block. Reading does without arrow-go. A shard is checked to be exactly what the Writer makes, and
// arrow-go's decoder believes the lengths that a damaged file states: it would allocate them, and no
// program recovers from running out of memory.
package arrow
