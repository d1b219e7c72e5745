// Package extsort sorts small records of one size in bounded memory, on disk where they are too many.
//
//	Add --> buffer --full--> sorted run on disk ... --Each--> merge of runs and buffer, in order
//	                          24 bytes a record, big endian
//
// A run's file has no name from the moment it is made, so that nothing is left of it however the process ends.
// Runs above a number are merged to one before more are made: files and read buffers stay bounded as well.
package extsort
