// Package turnmill holds the words of the domain: what a trajectory is, what was decided about each of
// its turns, and why something was left out. It has no I/O and imports the standard library only; every
// other package speaks in these types.
//
//	recorded run  --ingest-->  Trajectory  --filter-->  Verdict   keep, or drop with a Reason
//	                               |
//	                               +--------mask----->  MaskDecision   one a turn
//	                               |
//	                               +--------shard---->  Row            ids, labels, token ranges of each turn
//	                                                      |
//	                                                    Arrow shards, turns table, rejects, ledger
//
// The method is that of the Qwen-AgentWorld report (arXiv 2606.24597): a language world model is trained
// to predict what an environment answers to an agent's action, so loss lies on observations.
//
// Texts inside a Trajectory or a Document are Go strings that may share memory with the record they were
// read from: they are valid until the decoder that made them reads its next record. Clone what must live
// longer.
package turnmill
