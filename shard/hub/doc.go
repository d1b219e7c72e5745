// Package hub finds the tokenizer.json of a Hugging Face repository by its name: in the cache that Hugging
// Face's own clients share, else at the hub, and keeps what it fetched in that cache.
//
//	Qwen/Qwen3-8B@main
//	  | ref.go       ParseRef: a name that the hub could have, never a path
//	  | cache.go     refs/main, snapshots/COMMIT/tokenizer.json          found: no request is made
//	  | fetch.go     GET ENDPOINT/Qwen/Qwen3-8B/resolve/main/tokenizer.json, again where that may help
//	  | follow.go    redirects by hand: the token goes to the endpoint alone
//	  | verify.go    X-Linked-Size, Content-Length; SHA-256 or SHA-1 where the ETag is one
//	  | store.go     blob, then link, then ref: each whole or absent
//	  v
//	bytes, commit
//
// Beside finds another file of the same commit, as the one with the chat template; that it is not there is kept too.
//
// The cache is laid out as huggingface_hub has it, so that each finds what the other fetched:
//
//	CACHE/models--Qwen--Qwen3-8B/
//	  blobs/ETAG                         the bytes
//	  snapshots/COMMIT/tokenizer.json    -> ../../blobs/ETAG; a copy where there are no links
//	  refs/main                          COMMIT: 40 hexadecimal digits
//
// A branch that the cache knows is not asked for again: a run repeated on another day reads the same bytes.
// Nothing here reads the environment or the clock: FromEnv gets a function, fetching gets Sleep and After.
// (Proxies are the exception: net/http takes HTTPS_PROXY and NO_PROXY from the environment.)
package hub
