// Package stats holds what is counted and what is noted of every turn, apart from the rows themselves.
//
//	turns/pPPPPP.parquet     TurnWriter, TurnReader: one row a turn that was read, kept or not; sealed
//	rl/pPPPPP.parquet        PromptWriter, PromptReader: one row a prompt; sealed
//	commits, manifest        Counts: the ledger, notes and mask statistics, mergeable, as JSON
//	the terminal             WriteTable
//
// The ledger keeps four accounts, of records, trajectories, turns and loss tokens; an SFT set has a fifth, of queries. In each, nothing
// disappears: in + repeated = out + dropped + rejected, and in is counted where things are read, never
// computed from the rest.
//
// The package computes no figure of a turn; it is given them.
package stats
