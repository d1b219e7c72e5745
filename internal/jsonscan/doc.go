// Package jsonscan reads JSON for the hot path: one pass over the bytes writes a flat tape of nodes into
// memory that the next document reuses, and decoders walk the tape.
//
//	{"a":[1,"x\n"],"b":null}
//
//	tape   0 object  1 "a"  2 array  3 number  4 string*  5 "b"  6 null      * has escapes
//	        next=7    =2     =5       =4        =5         =6      =7        next = first node after the subtree
//
// It is strict (RFC 8259) except where a trajectory would be lost for nothing, and then it counts what it
// mended: bytes that are not UTF-8 and lone surrogates become U+FFFD, the last of repeated keys counts,
// and NaN, Infinity and -Infinity keep their spelling when the caller allows them. Numbers are never
// converted, keys never folded, raw values can be copied byte for byte.
//
// Memory: a node takes 16 bytes and a key 8 more while its object is open. Recorded runs have a node for
// every 30 to 170 bytes; the worst document, an array of one-digit numbers, has one for every 2. A Doc keeps
// up to 25 MiB for the next document and an Arena up to 16 MiB.
//
// A Doc serves one goroutine. Values and the strings that Str returns point into the document and the
// arena; they are valid until the document is parsed anew or the arena is reset.
package jsonscan
