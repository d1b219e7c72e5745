// Package frame cuts the bytes of one input into records, and reads through gzip and zstd on the way. It
// is pull based: no goroutine, and one buffer that grows and shrinks with the records.
//
//	stored bytes --Decompress--> decompressed bytes --Framer--> Record, RecordError, Record, ..., io.EOF
//
//	Lines    {"id":1}\n{"id":2}\r\n\n{"id":3}      one value a line, cut at LF only
//	Array    [ {"id":1}, {"id":2} ]                the elements of a top-level array
//	Values   {"id":1} {\n "id": 2\n}\n{"id":3}     values one after another, in any layout
//	Whole    anything                              the whole input is one record
//	Parquet  columns                               the rows of a Parquet file as JSON; not here, in ingest/parquet
//
// Records keep the spelling of the input: Data is what stands at Offset, byte for byte. What lies between
// records is blanks, byte order marks and runs of NUL bytes (the last two are counted as notes), and for
// Array the brackets and commas of the array. Every other byte is in a record or in a reject: a damaged or
// oversized record costs itself, and framing goes on at the next place where a record can start.
//
// Lines does not look into the lines. A line that turns out not to be one JSON value goes through Split,
// which finds the whole objects in it.
package frame
