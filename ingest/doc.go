// Package ingest finds and opens input files. What it does not do: framing bytes into records (ingest/frame)
// and decoding records into trajectories (ingest/formats).
//
//	arguments --Discover--> Input, Input, ...            the plan lists them, with HeadTail and ReadHead
//	Input     --CutLines--> Cut, Cut, ...                where a file of lines may be cut into partitions
//	partition --OpenRange--> stored bytes, hashed        then frame.Decompress and frame.New
//
// Stored bytes are what lies on disk, decompressed bytes what the records are framed from; they are the
// same for plain files. Only plain files of lines are cut here.
package ingest
