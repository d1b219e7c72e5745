// Package ingest finds and opens input files. What it does not do: framing bytes into records (ingest/frame),
// making records of the rows of Parquet files (ingest/parquet), and decoding records into trajectories
// (ingest/formats).
//
//	arguments --Discover--> Input, Input, ...            the plan lists them, with HeadTail and ReadHead
//	Input     --CutLines--> Cut, Cut, ...                where a file of lines may be cut into partitions
//	          --Frames--> offset, offset, ...            the same of a zstd file of lines, which is cut at frames
//	partition --OpenRange--> stored bytes, hashed        then frame.Decompress and frame.New
//	          --OpenFrames--> lines of some frames       NextFrame: where to go on after damage
//	stream    --Peek--> Head, decompressed bytes         standard input, which has no second reading
//
// Stored bytes are what lies on disk, decompressed bytes what the records are framed from; they are the
// same for plain files. Only files of lines are cut here; ingest/parquet lists the row groups of its files.
package ingest
