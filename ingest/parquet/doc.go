// Package parquet reads the rows of a Parquet file as JSON objects, one a row, so that every format of records
// reads them as it reads JSON lines. It goes by the file's own schema and the levels of its leaf columns; typed
// reading would lose lists whose inner names are others than expected, without an error.
//
//	PAR1 | row group 0: chunk a, chunk b, ... | row group 1 | ... | footer | size | PAR1
//	         chunk: [dictionary page] page page ...                   footer: schema, row groups, where chunks lie
//
//	leaf columns --levels--> {"id":"a","messages":[{"role":"user","content":"x"}]}  --> ingest/formats
//
// What a column holds becomes:
//
//	struct                 an object, its members in the order of the schema; members that are null are left
//	                       out and counted, for rows that share columns have all of each other's members
//	list, repeated         an array, in any of the published layouts (see listOf); null, empty and absent differ
//	map                    an object where keys are strings, else a list of {"key":...,"value":...}
//	text, enum, binary     a string; bytes that are not UTF-8 stay, for the JSON reader to mend and count
//	JSON                   the value itself. So do texts that are JSON in columns which formats want as lists
//	                       or objects (messages, conversations, turns, ...); both are counted
//	numbers                integers; floats with the least digits that read back the same, 1.0 for 1
//	decimal                a number with its digits; date, time, timestamp: ISO 8601; uuid: its usual text
//	other fixed bytes      hexadecimal digits
//
// One page a column is held at a time, so memory follows the pages (File.Need) and not the row groups. Of
// parquet-go are the structures of footers and headers, and the codecs but for LZ4; what it makes of damaged data,
// panics included, becomes an error here (guard). Levels and values are decoded here: see decode.go and packed.go.
package parquet
