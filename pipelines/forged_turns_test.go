package pipelines

import (
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// Kinds of turns that the forgeries need.
func target(r *stats.TurnRow) bool { return r.Status == "target" && r.Category != "" && r.Keep == 1 }
func maskedTurn(r *stats.TurnRow) bool {
	return r.Status == "context" && r.Reason == "masked"
}
func sharing(r *stats.TurnRow) bool { return target(r) && r.SharedWords > 0 }
func apart(r *stats.TurnRow) bool {
	return target(r) && r.SharedWords == 0 && r.ActionWords > 0 && r.ObservationWords > 0 && r.ActionChars > 2*int64(r.ActionWords)
}
func document(r *stats.TurnRow) bool { return r.Category == "" && r.Turn == 0 }
func inside(r *stats.TurnRow) bool   { return r.Category == "" && r.Turn == 1 }
func droppedAlone(r *stats.TurnRow) bool {
	return r.Status == "dropped" && r.Reason == "no_action"
}
func tooLong(r *stats.TurnRow) bool { return r.Reason == "turn_too_long" }

// oneTurn is a forgery of one cell, or a few, of one turn.
func oneTurn(name string, want func(*stats.TurnRow) bool, change func(*stats.TurnRow)) forgery {
	return forgery{name: name, file: "turns/", forge: func(f *forger) { f.turn(want, change) }}
}

// byInputs says of a forgery that only the inputs tell.
func byInputs(c forgery) forgery {
	c.inputs = true
	return c
}

// whole is a forgery of every turn of one trajectory whose turns are all targets and sure to be kept.
func whole(name string, change func(*stats.TurnRow)) forgery {
	return forgery{name: name, file: "turns/", forge: func(f *forger) {
		f.turns(0, func(rows []stats.TurnRow) []stats.TurnRow {
			for from := 0; from < len(rows); {
				to, sure := from, true
				for ; to < len(rows) && rows[to].Trajectory == rows[from].Trajectory; to++ {
					sure = sure && target(&rows[to])
				}
				if sure {
					for i := from; i < to; i++ {
						change(&rows[i])
					}
					return rows
				}
				from = to
			}
			f.t.Fatal("no trajectory has only turns that are sure to be kept")
			return nil
		})
	}}
}

func TestForgedTurns(t *testing.T) {
	testForgeries(t, small(t), []forgery{
		oneTurn("id of one turn", target, func(r *stats.TurnRow) { r.ID += "x" }),
		byInputs(whole("id of a trajectory", func(r *stats.TurnRow) { r.ID += "x" })),
		oneTurn("id of a masked turn's trajectory", maskedTurn, func(r *stats.TurnRow) { r.ID = "" }),
		byInputs(oneTurn("index of a turn", func(r *stats.TurnRow) bool { return target(r) && r.Turn == 1 }, func(r *stats.TurnRow) { r.Turn = 99 })),
		oneTurn("index below zero", target, func(r *stats.TurnRow) { r.Turn = -1 }),
		oneTurn("index of a document's window", inside, func(r *stats.TurnRow) { r.Turn = 2 }),
		oneTurn("record of one turn", target, func(r *stats.TurnRow) { r.Record++ }),
		oneTurn("record that was never decoded", target, func(r *stats.TurnRow) { r.Record = 1 << 40 }),
		{name: "record above all", file: turnsPath(0), forge: func(f *forger) {
			f.turns(0, func(rows []stats.TurnRow) []stats.TurnRow {
				last := rows[len(rows)-1].Trajectory
				for i := range rows {
					if rows[i].Trajectory == last {
						rows[i].Record = 1000
					}
				}
				return rows
			})
		}},
		oneTurn("trajectory of one turn", target, func(r *stats.TurnRow) { r.Trajectory++ }),
		{name: "trajectory that stands apart", file: turnsPath(0), forge: func(f *forger) {
			f.turns(0, func(rows []stats.TurnRow) []stats.TurnRow {
				for i := range rows {
					if rows[i].Trajectory > 4 {
						rows[i].Trajectory += 3
					}
				}
				return rows
			})
		}},
		oneTurn("domain of one turn", target, func(r *stats.TurnRow) { r.Domain = "web" }),
		{name: "domain of a trajectory", file: commitPath(0), forge: whole("", func(r *stats.TurnRow) { r.Domain = "web" }).forge},
		oneTurn("source of one turn", target, func(r *stats.TurnRow) { r.Source = "elsewhere" }),
		byInputs(whole("source of a trajectory", func(r *stats.TurnRow) { r.Source = "elsewhere" })),
		oneTurn("task of one turn", target, func(r *stats.TurnRow) { r.TaskID = "" }),
		oneTurn("agent of one turn", target, func(r *stats.TurnRow) { r.Agent = "another" }),
		byInputs(oneTurn("tool", target, func(r *stats.TurnRow) { r.Tool = "hammer" })),

		oneTurn("action words", sharing, func(r *stats.TurnRow) { r.ActionWords++ }),
		oneTurn("observation words", sharing, func(r *stats.TurnRow) { r.ObservationWords++ }),
		byInputs(oneTurn("action words of which none comes back", apart, func(r *stats.TurnRow) { r.ActionWords++ })), // no statistic moves
		oneTurn("shared words", maskedTurn, func(r *stats.TurnRow) { r.SharedWords-- }),
		oneTurn("more shared words than there are", target, func(r *stats.TurnRow) { r.SharedWords = r.ActionWords + 1 }),
		oneTurn("action characters", target, func(r *stats.TurnRow) { r.ActionChars++ }),
		oneTurn("observation characters", target, func(r *stats.TurnRow) { r.ObservationChars++ }),
		oneTurn("fewer characters than words", target, func(r *stats.TurnRow) { r.ObservationChars = int64(r.ObservationWords) - 1 }),
		byInputs(oneTurn("words, with all that follows from them", target, func(r *stats.TurnRow) {
			r.ObservationWords++
			r.Overlap, r.Novelty, r.Jaccard, r.LengthRatio = ratios(countsOf(r))
		})),
		oneTurn("overlap", target, func(r *stats.TurnRow) { r.Overlap += 1e-15 }),
		oneTurn("novelty", target, func(r *stats.TurnRow) { r.Novelty = 0 }),
		oneTurn("jaccard", target, func(r *stats.TurnRow) { r.Jaccard = 1 }),
		oneTurn("length ratio", target, func(r *stats.TurnRow) { r.LengthRatio *= 2 }),
		oneTurn("category", target, func(r *stats.TurnRow) { r.Category = "echo" }),
		oneTurn("category that does not exist", target, func(r *stats.TurnRow) { r.Category = "noise" }),
		oneTurn("keep", maskedTurn, func(r *stats.TurnRow) { r.Keep = 0.5 }),
		oneTurn("kept", maskedTurn, func(r *stats.TurnRow) { r.Kept = true }),
		oneTurn("kept of a target", target, func(r *stats.TurnRow) { r.Kept = false }),

		oneTurn("a target is called context", target, func(r *stats.TurnRow) { r.Status, r.Reason = "context", "masked" }),
		oneTurn("a masked turn is called target", maskedTurn, func(r *stats.TurnRow) { r.Status, r.Reason = "target", "" }),
		oneTurn("a masked turn has another reason", maskedTurn, func(r *stats.TurnRow) { r.Reason = "dialogue" }),
		oneTurn("a status that does not exist", target, func(r *stats.TurnRow) { r.Status = "trained" }),
		oneTurn("a reason on a target", target, func(r *stats.TurnRow) { r.Reason = "masked" }),
		oneTurn("a reason that does not exist", func(r *stats.TurnRow) bool { return r.Reason == "dialogue" }, func(r *stats.TurnRow) { r.Reason = "mood" }),
		byInputs(oneTurn("another reason for context", func(r *stats.TurnRow) bool { return r.Reason == "dialogue" }, func(r *stats.TurnRow) { r.Reason = "elided" })),
		{name: "another reason for a drop", file: rejectsPath(0), forge: func(f *forger) {
			f.turn(droppedAlone, func(r *stats.TurnRow) { r.Reason = "turn_too_long" })
		}},
		oneTurn("a filter that the plan does not have", droppedAlone, func(r *stats.TurnRow) { r.Reason = "near_duplicate" }),
		oneTurn("a dropped turn is called context", droppedAlone, func(r *stats.TurnRow) { r.Status, r.Reason = "context", "dialogue" }),

		oneTurn("observation tokens", target, func(r *stats.TurnRow) { r.ObservationTokens++ }),
		oneTurn("target tokens", target, func(r *stats.TurnRow) { r.TargetTokens++ }),
		oneTurn("trained tokens", target, func(r *stats.TurnRow) { r.TrainedTokens-- }),
		oneTurn("tokens of a turn that is too long", tooLong, func(r *stats.TurnRow) { r.ObservationTokens++ }),
		{name: "target tokens of a turn that is too long", file: "commits/", forge: func(f *forger) {
			f.turn(tooLong, func(r *stats.TurnRow) { r.ObservationTokens++; r.TargetTokens++ })
		}},
		oneTurn("tokens of a turn that was never encoded", droppedAlone, func(r *stats.TurnRow) { r.ObservationTokens = 7 }),
		oneTurn("observation tokens of a document", document, func(r *stats.TurnRow) { r.ObservationTokens -= 2 }),
		oneTurn("end token of an inner window", inside, func(r *stats.TurnRow) { r.ObservationTokens-- }),
		oneTurn("target tokens of a document", document, func(r *stats.TurnRow) { r.TargetTokens++ }),
		oneTurn("words of a document", document, func(r *stats.TurnRow) { r.ObservationChars = 5 }),
		oneTurn("a ratio of a document", document, func(r *stats.TurnRow) { r.Novelty = 1 }),
		oneTurn("a document that was not kept", document, func(r *stats.TurnRow) { r.Kept = false }),
		oneTurn("a document's category", document, func(r *stats.TurnRow) { r.Category = "other" }),
		oneTurn("spans that no mode writes", target, func(r *stats.TurnRow) { r.KeptSpans = []int32{0, 1} }),
		oneTurn("an empty list of them", droppedAlone, func(r *stats.TurnRow) { r.KeptSpans = []int32{} }),

		oneTurn("shard", target, func(r *stats.TurnRow) { r.Shard = shardPath(train, 0, 1) }),
		oneTurn("a shard outside", target, func(r *stats.TurnRow) { r.Shard = "../" + shardPath(train, 0, 1) }),
		oneTurn("row", target, func(r *stats.TurnRow) { r.Row++ }),
		oneTurn("start of the observation", target, func(r *stats.TurnRow) { r.TokenStart-- }),
		oneTurn("end of the observation", target, func(r *stats.TurnRow) { r.TokenEnd++ }),
		oneTurn("start of the action", target, func(r *stats.TurnRow) { r.ActionStart = r.ActionEnd }),
		oneTurn("end of the action", target, func(r *stats.TurnRow) { r.ActionEnd++ }),
		oneTurn("ranges above the row", target, func(r *stats.TurnRow) { r.TokenStart, r.TokenEnd = 1<<30, 1<<30+5 }),
		oneTurn("ranges below zero", target, func(r *stats.TurnRow) { r.ActionStart, r.ActionEnd = -9, -4 }),
		oneTurn("the end of a document", document, func(r *stats.TurnRow) { r.TokenEnd-- }),
		oneTurn("a turn in no row", target, func(r *stats.TurnRow) { r.Shard = "" }),
		oneTurn("a dropped turn in a row", droppedAlone, func(r *stats.TurnRow) { r.Shard = shardPath(train, 0, 0) }),
	})
}

// kindOf finds the first turn of a kind in a partition's table.
func kindOf(f *forger, rows []stats.TurnRow, want func(*stats.TurnRow) bool) int {
	k := slices.IndexFunc(rows, func(r stats.TurnRow) bool { return want(&r) })
	if k < 0 {
		f.t.Fatal("no turn is of the kind that this test is about")
	}
	return k
}

func TestForgedTurnRows(t *testing.T) {
	edit := func(name, file string, i int, change func(*forger, []stats.TurnRow) []stats.TurnRow) forgery {
		return forgery{name: name, file: file, forge: func(f *forger) {
			f.turns(i, func(rows []stats.TurnRow) []stats.TurnRow { return change(f, rows) })
		}}
	}
	dialogue := func(r *stats.TurnRow) bool { return r.Reason == "dialogue" }
	testForgeries(t, small(t), []forgery{
		edit("a target is gone", "train/", 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, target)
			return slices.Delete(rows, k, k+1)
		}),
		edit("a turn of context is gone", commitPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, maskedTurn)
			return slices.Delete(rows, k, k+1)
		}),
		edit("a customer's turn is gone", commitPath(2), 2, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, dialogue)
			return slices.Delete(rows, k, k+1)
		}),
		edit("a dropped turn is gone", rejectsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, droppedAlone)
			return slices.Delete(rows, k, k+1)
		}),
		edit("a dropped trajectory is gone", commitPath(2), 2, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			return slices.DeleteFunc(rows, func(r stats.TurnRow) bool { return r.Reason == "no_environment" })
		}),
		edit("a target is there twice", turnsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, target)
			return slices.Insert(rows, k, rows[k])
		}),
		edit("a dropped turn is there twice", rejectsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, droppedAlone)
			return slices.Insert(rows, k, rows[k])
		}),
		edit("two turns of a row change places", turnsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			rows[0], rows[1] = rows[1], rows[0]
			return rows
		}),
		edit("two trajectories change places", turnsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			n := kindOf(f, rows, func(r *stats.TurnRow) bool { return r.Trajectory == 1 })
			return append(append(slices.Clone(rows[n:n+2]), rows[:n]...), rows[n+2:]...)
		}),
		byInputs(edit("two turns of a dropped trajectory change places", turnsPath(2), 2, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			k := kindOf(f, rows, func(r *stats.TurnRow) bool { return r.Reason == "no_environment" })
			rows[k], rows[k+1] = rows[k+1], rows[k]
			return rows
		})),
		edit("the last turn is gone", "train/", 1, func(f *forger, rows []stats.TurnRow) []stats.TurnRow { return rows[:len(rows)-1] }),
		edit("all turns are gone", "train/", 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow { return nil }),
		edit("a trajectory too many", turnsPath(0), 0, func(f *forger, rows []stats.TurnRow) []stats.TurnRow {
			r := rows[len(rows)-1]
			r.Status, r.Reason, r.Shard = "dropped", string(turnmill.ReasonTooFewTurns), ""
			r.ObservationTokens, r.TargetTokens, r.TrainedTokens = 0, 0, 0
			r.Record++
			r.Trajectory++
			return append(rows, r)
		}),
		{name: "the table is cut", file: turnsPath(0), forge: func(f *forger) {
			f.bytes(turnsPath(0), func(b []byte) []byte { return b[:len(b)-1] })
		}},
		{name: "a byte of the table", file: turnsPath(0), forge: func(f *forger) {
			f.bytes(turnsPath(0), func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b })
		}},
		{name: "the table of another partition", file: "turns/", forge: func(f *forger) {
			f.swap(turnsPath(0), turnsPath(1))
			a, b := len(readTurns(t, f.root, 0)), len(readTurns(t, f.root, 1))
			f.setRows(turnsPath(0), int64(a))
			f.setRows(turnsPath(1), int64(b))
		}},
	})
}

// TestForgedPolicy: the ranges that carry loss follow the objective.
func TestForgedPolicy(t *testing.T) {
	for _, objective := range []string{"policy", "all"} {
		o := small(t)
		o.Objective = objective
		testForgeries(t, o, []forgery{
			oneTurn(objective+": target tokens", target, func(r *stats.TurnRow) { r.TargetTokens++ }),
			oneTurn(objective+": observation tokens", target, func(r *stats.TurnRow) { r.ObservationTokens++ }),
			oneTurn(objective+": an action's range", target, func(r *stats.TurnRow) { r.ActionStart++ }),
			{name: objective + ": a label of an action", file: "train/", forge: func(f *forger) {
				r := f.aTarget(nil)
				f.cell(r.Shard, "labels", int(r.Row), int(r.ActionStart), to(turnmill.IgnoreIndex))
			}},
		})
	}
}
