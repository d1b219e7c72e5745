// Package bpe is an exact byte-level BPE tokenizer in Go for tokenizer.json files of the families Qwen2 to
// Qwen3.5, Llama 3, DeepSeek V3, GPT-2, GPT-4 and GPT-4o (gpt-oss). Its ids equal those of the Hugging Face
// library tokenizers 0.23.3 with add_special_tokens=False and encode_special_tokens=True; what it cannot do
// exactly, Load refuses. A file is taken by its parts: how it normalizes (NFC or not), how it cuts
// (family.go lists the regular expressions), how it merges (ignore_merges or not).
//
//	text        "I'm <think>cafe\u0301 <|im_end|>"                         valid UTF-8, any length to 715 MB
//	  | added.go    tokens marked normalized=false, leftmost-longest; special and control ones stay text
//	pieces      "I'm " | <think> | "cafe\u0301 <|im_end|>"
//	  | nfc.go      each piece alone; only stretches that change are rewritten (Unicode 9)
//	            "I'm " | <think> | "café <|im_end|>"
//	  | added.go    tokens marked normalized=true, on the normalized piece
//	  | fill.go     the family's regular expression: ASCII 64 bytes at a time (masks.go, starts.go), the
//	  |             rest one character after the other (split.go; Unicode 16 classes)
//	pre-tokens  "I" "'m" " " | <think> | "café" " <|" "im" "_end" "|>"
//	  | batch.go    up to 256 at once
//	  | cache.go    to 15 bytes: tables of 0.5 and 8 MB; to 1 KB: a table and arenas of 5 MB; never grown
//	  | words.go    on a miss: an entry of the vocabulary that is a whole pre-token (reach.go)
//	  | merge.go    else lowest rank first, leftmost first; O(n log n) above 64 symbols; whole characters
//	  |             to begin with, where that changes nothing (chars.go)
//	ids, ends   one int32 each a token
//
// Ends are byte offsets in the text that came in, not in the normalized one. Where nothing was
// normalized they are exact: the bytes of a token end there. A stretch that NFC rewrote counts as one
// whole: each token whose last byte stems from it ends where the stretch ends. So ends never decrease,
// are exact at the borders of every stretch, and the last one is the length of the text.
//
// A Model is read-only and shared; an Encoder serves one goroutine, holds the caches and allocates
// nothing once its buffers have grown to the work.
package bpe
