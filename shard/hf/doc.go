// Package hf is the tokenizer engine for files that shard/bpe does not read: any tokenizer.json, through the
// Hugging Face library in Rust (tokenizers 0.20.4 behind github.com/daulet/tokenizers) and cgo.
//
//	tokenizer.json  11 MB for Qwen3, 33 MB for Gemma 3
//	  | load.go      vocabulary and added tokens, read in Go: Size, ID, AppendText
//	  | config.go    the file without truncation, padding and post_processor; the chat format's control
//	  |              tokens marked special, no other token touched
//	library.go      one tokenizer of the library, shared by all goroutines; 0.3-2 s, 0.1-0.5 GB
//
//	text            valid UTF-8, to 2 GB
//	  | library.go   NUL as C0 80, which our patch turns back: the border to Rust is a C string
//	ids, offsets    add_special_tokens=False, encode_special_tokens=True; about 1 MB/s a core
//	  | encoder.go   no id may be a special or control token's; counts; offsets to ends
//	ids, ends
//
// Ids equal those of the library itself, whose speed and memory this engine has: a text takes up to
// ChargeFactor times its bytes while it is encoded. It is in builds with the tag hf, cgo and the static
// library in build/lib that `make hf` makes; in others Open says so. The package surface is the same.
//
// Ends are byte offsets in the text that came in. Tokens that share a character, such as the three of an
// emoji, all end where the character ends, because that is what the library tells: ends never decrease,
// and are exact at the borders of characters. Blanks that a normalizer or pre-tokenizer drops belong to no
// token; what a character was composed from (e and an accent under NFC) belongs to its token.
//
// A text is encoded as if it stood alone. Files whose tokens depend on what stands before a text are
// refused: a Metaspace that prepends to the first word only, control tokens that take blanks beside them.
package hf
