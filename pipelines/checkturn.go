package pipelines

import (
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/stats"
)

// maskOf proves statistics, category, keep and draw from the five integers.
func (p *partitionCheck) maskOf(t *stats.TurnRow, at func(string, ...any)) {
	n := countsOf(t)
	if n.SharedWords < 0 || n.SharedWords > min(n.ActionWords, n.ObservationWords) || n.ActionChars < 0 || n.ObservationChars < 0 ||
		int64(n.ActionWords) > n.ActionChars || int64(n.ObservationWords) > n.ObservationChars {
		at("words %d, %d, shared %d, characters %d, %d cannot be", n.ActionWords, n.ObservationWords, n.SharedWords, n.ActionChars, n.ObservationChars)
		return
	}
	o, v, j, r := ratios(n)
	if !sameFloat(o, t.Overlap) || !sameFloat(v, t.Novelty) || !sameFloat(j, t.Jaccard) || !sameFloat(r, t.LengthRatio) {
		at("overlap, novelty, jaccard or length_ratio do not follow from the integers")
	}
	category, keep := mask.Classify(&p.table, n)
	keep = p.spansOf(t, category, keep, at)
	if category.String() != t.Category || keep.Float() != t.Keep {
		at("category %s, keep %v; the table gives %s, %v", t.Category, t.Keep, category, keep.Float())
	}
	kept := !p.mode.Draws() || mask.Keeps(mask.Draw(p.plan.Mask.Seed, t.ID, int(t.Turn)), keep)
	if p.mode == mask.ModeToken && p.plan.tokens() && t.Status != "dropped" {
		kept = t.TrainedTokens > 0
	}
	if kept != t.Kept {
		at("kept %v; the draw says %v", t.Kept, kept)
	}
}

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

func (p *partitionCheck) documentTurn(t *stats.TurnRow, at func(string, ...any)) {
	defined := t.Overlap == t.Overlap || t.Novelty == t.Novelty || t.Jaccard == t.Jaccard || t.LengthRatio == t.LengthRatio
	if t.Keep != 1 || !t.Kept || countsOf(t) != (mask.Counts{}) || defined || t.ActionStart != 0 || t.ActionEnd != 0 ||
		t.Tool != "" || t.TaskID != "" || t.Agent != "" || t.Observed != nil || t.Instructed != nil || t.Perturbed != nil || !unmeasured(t) {
		at("a document is always kept and has no statistics, tools, task, agent or observer")
	}
	if p.plan.audits() {
		return
	}
	loss := t.TokenEnd - t.TokenStart
	if t.Turn == 0 && t.TokenStart == 0 {
		loss--
	}
	if t.Shard != "" && t.TargetTokens != loss {
		at("%d target tokens in [%d, %d); all but the first of a row are targets", t.TargetTokens, t.TokenStart, t.TokenEnd)
	}
}

// statusOf proves that status, reason, place and tokens agree.
func (p *partitionCheck) statusOf(t *stats.TurnRow, at func(string, ...any)) {
	placed, trained, reason := t.Shard != "", t.TrainedTokens, turnmill.Reason(t.Reason)
	if p.plan.audits() { // nothing has a place
		if placed {
			at("it says that it stands in %s, and an audit has no rows", t.Shard)
		}
		placed = t.Status != "dropped"
	}
	if !p.plan.tokens() {
		p.statusWithoutTokens(t, at)
		return
	}
	ok := false
	switch {
	case t.Status == "target":
		ok = t.Reason == "" && placed && trained > 0 && trained <= t.TargetTokens && (t.Kept || len(t.KeptSpans) > 0)
	case t.Status == "context" && reason == turnmill.ReasonMasked:
		ok = placed && trained == 0 && t.TargetTokens > 0 && (!t.Kept || t.Keep == 0) && len(t.KeptSpans) == 0
	case t.Status == "context":
		ok = slices.Contains(p.reasons[0], reason) && placed && trained == 0 && t.TargetTokens == 0
	case t.Status == "dropped":
		ok = slices.Contains(p.reasons[1], reason) && !placed && trained == 0
		if reason != turnmill.ReasonTurnTooLong && reason != turnmill.ReasonNoLoss { // it was never encoded
			ok = ok && t.TargetTokens == 0 && t.ObservationTokens == 0
		}
	}
	if !ok {
		at("status %q, reason %q, kept %v, %d of %d tokens trained, placed %v, spans %v do not go together",
			t.Status, t.Reason, t.Kept, trained, t.TargetTokens, placed, t.KeptSpans)
	}
	if t.Category != "" && t.TargetTokens != 0 && p.plan.Config.Objective == "world-model" && t.TargetTokens != t.ObservationTokens+1 {
		at("%d target tokens; the observation has %d and its end token", t.TargetTokens, t.ObservationTokens)
	}
}

// statusWithoutTokens is statusOf where nothing was encoded.
func (p *partitionCheck) statusWithoutTokens(t *stats.TurnRow, at func(string, ...any)) {
	reason := turnmill.Reason(t.Reason)
	lost := p.mode != mask.ModeOff && (!t.Kept || t.Keep == 0)
	ok := false
	switch {
	case t.Status == "target":
		ok = t.Reason == "" && (!lost || p.mayHaveSpans(t))
	case t.Status == "context" && reason == turnmill.ReasonMasked:
		ok = lost && t.Category != ""
	case t.Status == "context":
		ok = slices.Contains(p.reasons[0], reason)
	case t.Status == "dropped":
		ok = slices.Contains(p.reasons[1], reason)
	}
	if !ok || t.ObservationTokens != 0 || t.TargetTokens != 0 || t.TrainedTokens != 0 || t.KeptSpans != nil {
		at("status %q, reason %q, kept %v, %d tokens, spans %v do not go together, without a tokenizer",
			t.Status, t.Reason, t.Kept, t.ObservationTokens, t.KeptSpans)
	}
}

// countTurn enters a turn into the accounts, as outcome does from results.
func (p *partitionCheck) countTurn(t *stats.TurnRow) {
	reason := turnmill.Reason(t.Reason)
	target, trained := int64(t.TargetTokens), int64(t.TrainedTokens)
	p.each(t.Domain, func(l *stats.Ledger) {
		l.Turns.In++
		l.LossTokens.In += target
		l.LossTokens.Out += trained
		switch {
		case t.Status != "dropped":
			l.Turns.Out++
			if t.Category == "" {
				l.LossTokens.Drop(turnmill.ReasonRowStart, target-trained)
			} else {
				l.LossTokens.Drop(turnmill.ReasonMasked, target-trained)
			}
		case reason == turnmill.ReasonUnencodable && p.samples == nil, failure(reason):
			l.Turns.Reject(reason, 1)
		case t.Category == "":
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(turnmill.ReasonRowStart, target)
		case reason == turnmill.ReasonNoLoss:
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(turnmill.ReasonMasked, target)
		default:
			l.Turns.Drop(reason, 1)
			l.LossTokens.Drop(reason, target)
		}
	})
	if tokens := p.plan.tokens(); decided(t, tokens) {
		p.counts.AddTurn(turnmill.Domain(t.Domain), t.Category, maskCount(t, p.mode, tokens))
	}
	if p.plan.audits() { // the shards give them otherwise
		p.counts.Tokens.Trained += trained
	}
}

// claim proves a turn's ranges in its row and notes the tokens that it says are trained.
func (p *partitionCheck) claim(t *stats.TurnRow, at func(string, ...any)) {
	n := int32(len(p.row.IDs))
	action, observation := turnmill.Span{Start: t.ActionStart, End: t.ActionEnd}, turnmill.Span{Start: t.TokenStart, End: t.TokenEnd}
	if t.Category == "" {
		begin := int32(0)
		if chat.Begins(p.plan.Chat.Name) {
			begin = 1
		}
		if observation.Start != begin || observation.End != n || p.next != 0 || t.TrainedTokens != n-1 {
			at("a document's window is a row, and all of it but the first token is trained")
			return
		}
		for i := int32(1); i < n; i++ {
			p.marks[i] = true
			if p.mode == mask.ModeWeight && p.row.Weights[i] != 1 {
				at("token %d has weight %v, and a document's have 1", i, p.row.Weights[i])
				return
			}
		}
		p.next = n
		return
	}
	if action.Start < p.next || action.End <= action.Start || observation.Start < action.End || observation.End <= observation.Start || observation.End > n {
		at("ranges [%d, %d) and [%d, %d) do not fit row %d of %d tokens", action.Start, action.End, observation.Start, observation.End, p.row.Number, n)
		return
	}
	p.next = observation.End
	if t.ObservationTokens != observation.Len()-1 {
		at("%d observation tokens in a range of %d", t.ObservationTokens, observation.Len())
	}
	p.endTokens(action, observation, at)
	if p.samples != nil {
		p.sampleTurn(t, p.asked, action, observation, at)
		return
	}
	p.trained(t, action, observation, at)
}

// endTokens proves that each message ends with the end token of its kind and holds none inside.
func (p *partitionCheck) endTokens(action, observation turnmill.Span, at func(string, ...any)) {
	ids := p.row.IDs
	if p.ends[0] < 0 {
		p.ends = [2]int32{ids[action.End-1], ids[observation.End-1]}
		if chat.OneEnd(p.plan.Chat.Name) {
			p.ends[1] = p.ends[0]
		}
	}
	for kind, s := range [...]turnmill.Span{action, observation} {
		if i := slices.Index(ids[s.Start:s.End], p.ends[kind]); i != int(s.Len())-1 {
			at("its message at [%d, %d) does not end at its first end token", s.Start, s.End)
		}
	}
}

// trained proves the labels of a turn's target span.
func (p *partitionCheck) trained(t *stats.TurnRow, action, observation turnmill.Span, at func(string, ...any)) {
	spans := []turnmill.Span{observation}
	switch p.plan.Config.Objective {
	case "policy":
		spans = []turnmill.Span{action}
	case "all":
		spans = []turnmill.Span{action, observation}
	}
	var size, count int32
	token := 0
	for _, s := range spans {
		size += s.Len()
		for i := s.Start; i < s.End; i++ {
			keep := t.Status == "target" && (t.Kept || inPairs(t.KeptSpans, i-t.TokenStart))
			if keep && p.mode == mask.ModeToken {
				_, ratio := mask.Classify(&p.table, countsOf(t))
				keep = mask.Keeps(mask.DrawToken(p.plan.Mask.Seed, t.ID, int(t.Turn), token), ratio)
			}
			token++
			if keep {
				p.marks[i] = true
				count++
				if p.mode == mask.ModeWeight && p.row.Weights[i] != float32(t.Keep) {
					at("token %d has weight %v, the table keeps %v", i, p.row.Weights[i], t.Keep)
					return
				}
			}
		}
	}
	if t.TargetTokens != 0 && t.TargetTokens != size {
		at("%d target tokens in ranges of %d", t.TargetTokens, size)
	}
	if count != t.TrainedTokens {
		at("%d trained tokens; the mask gives %d", t.TrainedTokens, count)
	}
}
