package pipelines

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/ingest/replies"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/stats"
)

// sampleCheck proves the queries of a partition, in step with its turns: it takes the answers out of replies/,
// chooses again, and holds the end of every query against its line, its turn, its row and its reject line.
//
//	turns     a | b target | c | d dropped: below_threshold | e
//	queries       b            d
//	replies       of b         of d
//	rejects                    query d
type sampleCheck struct {
	queries, replies lineReader
	prompts          *promptCheck // of the pool rl, else nil
	next             *QueryLine   // that no turn has claimed; nil at the end
	chooser          *chooser
	heard            heardReplies
	counts           *SFTCounts
	unread           map[turnmill.Reason]int64 // rows of answers that are named
	named            map[string]int            // of these, by kind of answers
	lost             []*QueryLine              // whose reject lines have not come yet
	filtered         []turnmill.Reason
}

// lineReader reads a compressed file of JSON lines.
type lineReader struct {
	path  string
	file  *os.File
	plain io.ReadCloser
	text  *bufio.Reader
	n     int64
}

func openLines(root, path string) (r lineReader, err error) {
	r.path = path
	if r.file, err = os.Open(filepath.Join(root, filepath.FromSlash(path))); err != nil {
		return r, err
	}
	if r.plain, err = zstdio.NewReader(r.file); err != nil {
		return r, fmt.Errorf("%s: %w: %w", path, turnmill.ErrCorrupt, err)
	}
	r.text = bufio.NewReaderSize(r.plain, 64<<10)
	return r, nil
}

func (r *lineReader) close() {
	if r.plain != nil {
		r.plain.Close()
	}
	if r.file != nil {
		r.file.Close()
	}
}

// line returns the next line with its line feed, nil at the end.
func (r *lineReader) line() ([]byte, error) {
	line, err := r.text.ReadBytes('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return nil, nil
	case err == io.EOF:
		return nil, fmt.Errorf("%s: %w: its last line has no end", r.path, turnmill.ErrCorrupt)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", r.path, turnmill.ErrCorrupt, err)
	}
	r.n++
	return line, nil
}

// heardReplies are the answers of one query, by the ids of the questions. It counts nothing as repeated.
type heardReplies map[string][]turnmill.Reply

// Get returns the replies of an id.
func (h heardReplies) Get(id string) ([]turnmill.Reply, int, error) { return h[id], len(h[id]), nil }

func (p *partitionCheck) openSamples(i int) (err error) {
	s := &sampleCheck{heard: heardReplies{}, counts: newSFTCounts(), unread: map[turnmill.Reason]int64{}, named: map[string]int{}}
	p.samples = s
	s.chooser = newChooser(p.plan, byID{s.heard, s.heard}, func() bool { return s.next != nil && s.next.Reason == turnmill.ReasonBudget })
	for _, f := range filter.All() {
		s.filtered = append(s.filtered, f.Reason)
	}
	if s.queries, err = openLines(p.root, queriesPath(i)); err != nil {
		return err
	}
	if s.replies, err = openLines(p.root, repliesPath(i)); err != nil {
		return err
	}
	if p.plan.prompts() {
		if s.prompts, err = openPrompts(p.root, i); err != nil {
			return err
		}
	}
	return p.nextQuery()
}

func (s *sampleCheck) close() {
	if s != nil {
		s.queries.close()
		s.replies.close()
		s.prompts.close()
	}
}

// nextQuery reads the next query and its replies, and proves its end from them.
func (p *partitionCheck) nextQuery() error {
	s := p.samples
	s.next = nil
	line, err := s.queries.line()
	if err != nil || line == nil {
		return err
	}
	q := &QueryLine{}
	if err := decodeJSON(line, q); err != nil {
		return fmt.Errorf("%s: %w: line %d: %w", s.queries.path, turnmill.ErrCorrupt, s.queries.n, err)
	}
	if !bytes.Equal(q.encode(), line) {
		p.fault(s.queries.path, "line %d: not written as turnmill writes it", s.queries.n)
	}
	s.next = q
	at := func(format string, args ...any) {
		p.fault(s.queries.path, "line %d: %s: %s", s.queries.n, q.ID, fmt.Sprintf(format, args...))
	}
	raw, err := p.repliesOf(q)
	if err != nil {
		return err
	}
	h, err := s.chooser.hear(&question{id: q.ID, domain: q.Domain})
	if err != nil {
		return err
	}
	if again, n := h.appendReplies(nil); n != int64(bytes.Count(raw, []byte("\n"))) || !bytes.Equal(again, raw) {
		at("the answers in %s are not those that its choice looks at", s.replies.path)
	}
	if p.endOf(q, h, at); q.Row != nil && h.Winner < 0 {
		return errApart // a row without a winner: nothing of it can be proven
	}
	s.counts.add(q, h, p.plan.prompts())
	if p.plan.prompts() {
		if err := p.promptOf(q, at); err != nil {
			return err
		}
	}
	p.each(string(q.Domain), func(l *stats.Ledger) {
		a := l.Query()
		a.In++
		if q.State == "selected" {
			a.Out++
		} else {
			enter(a, q.State, q.Reason)
		}
	})
	if q.State != "selected" {
		s.lost = append(s.lost, q)
	}
	return nil
}

// repliesOf reads the lines of replies/ that belong to a query: it says how many answers it has.
func (p *partitionCheck) repliesOf(q *QueryLine) (raw []byte, err error) {
	s := p.samples
	clear(s.heard)
	want := 0
	for _, r := range q.Rollouts {
		if r.State != "missing" {
			want += 1 + r.Attempts
		}
	}
	for _, pair := range q.Pairs {
		want += pair.Attempts
	}
	for range want {
		line, err := s.replies.line()
		if err != nil || line == nil {
			return raw, err
		}
		all, err := replies.Decode(line, judgeNames)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: line %d: %w", s.replies.path, turnmill.ErrCorrupt, s.replies.n, err)
		}
		for _, r := range all {
			s.heard[r.ID] = append(s.heard[r.ID], r)
		}
		raw = append(raw, line...)
	}
	return raw, nil
}

// endOf holds a query's line against what was chosen again.
func (p *partitionCheck) endOf(q *QueryLine, h *hearing, at func(string, ...any)) {
	t := &turnmill.Trajectory{ID: q.Trajectory, Domain: q.Domain, Source: q.Source, Turns: []turnmill.Turn{{Index: q.Turn}}}
	if id := queryID(t, 0); id != q.ID {
		at("turn %d of %s is query %s", q.Turn, q.Trajectory, id)
	}
	again := newQueryLine(q.ID, t, 0, q.Template, h)
	again.State, again.Reason, again.Detail, again.Row, again.Prompt = q.State, q.Reason, q.Detail, q.Row, q.Prompt
	again.heard(q)
	again.reward(h, p.samples.chooser.options.Threshold)
	if q.Verifier != nil && p.plan.Config.SFT.Verifiers == nil {
		at("it has a verifier, and the run has none")
	}
	if !reflect.DeepEqual(again, q) {
		at("its rollouts, judgements, pairs or winner are not what its answers give")
	}
	ok := p.plan.prompts() // its end is not one of answers
	switch {
	case ok:
	case q.Prompt != nil:
	case h.State == reject.Dropped:
		ok = q.State == "dropped" && q.Reason == h.Reason && q.Row == nil
	case h.State == reject.Failed:
		ok = q.State == "rejected" && q.Reason == h.Reason && q.Row == nil
	case q.State == "selected":
		ok = q.Reason == "" && q.Row != nil && q.Row.Loss == p.plan.Config.SFT.Loss
	case q.State == "dropped":
		ok = slices.Contains([]turnmill.Reason{turnmill.ReasonSystemTooLong, turnmill.ReasonTurnTooLong, turnmill.ReasonNoLoss}, q.Reason) && q.Row == nil
	case q.State == "rejected":
		ok = q.Reason == turnmill.ReasonUnencodable && q.Detail != "" && q.Row == nil
	}
	if !ok {
		at("state %q, reason %q do not follow from its answers: %s %s", q.State, q.Reason, h.State, h.Reason)
	}
	tmpl, err := askedWith(p.plan.Config.Template, p.plan.Mask.Seed, q.ID, q.Domain, p.plan.Config.SFT.Pool)
	if err != nil || tmpl.ID() != q.Template {
		at("template %s %s is not the one that it is asked with", q.Template.Version, q.Template.SHA256)
	} else if q.Row != nil && h.Winner >= 0 {
		if winner := h.reply(h.Winner); q.Row.Rewritten != (answerText(tmpl, winner) != winner.Text) {
			at("rewritten %v; its template and the winner's text say otherwise", q.Row.Rewritten)
		}
	}
}

// query returns the query of a turn, or nil.
func (p *partitionCheck) query(t *stats.TurnRow, at func(string, ...any)) (*QueryLine, error) {
	q := p.samples.next
	if q == nil || q.Trajectory != t.ID || q.Turn != int(t.Turn) {
		if t.Status == "target" {
			at("it is a target, and no query asks for it")
		}
		return nil, nil
	}
	switch {
	case string(q.Domain) != t.Domain || q.Source != t.Source:
		at("its query has another domain or source")
	case q.Prompt != nil && (t.Status != "target" || t.Shard != ""):
		at("status %s, and its query has a prompt", t.Status)
	case q.Prompt != nil:
	case q.Row == nil && (t.Status == "target" || t.Status == "dropped" && t.Reason != string(q.Reason)):
		at("status %s, reason %q, and its query has no row: %s", t.Status, t.Reason, q.Reason)
	case q.Row != nil && (t.Status != "target" || t.Shard != q.Row.Shard || t.Row != q.Row.Row || t.TrainedTokens != q.Row.Trained):
		at("status %s, %s row %d, %d trained; its query has %s row %d, %d trained", t.Status, t.Shard, t.Row, t.TrainedTokens, q.Row.Shard, q.Row.Row, q.Row.Trained)
	}
	return q, p.nextQuery()
}

// sampleTurn proves a turn that stands in a row: where its texts are, and what of an answer is trained.
func (p *partitionCheck) sampleTurn(t *stats.TurnRow, q *QueryLine, action, response turnmill.Span, at func(string, ...any)) {
	if t.Status != "target" || q == nil || q.Row == nil {
		if t.TrainedTokens != 0 || t.TargetTokens != 0 {
			at("%d trained tokens of a turn that is history", t.TrainedTokens)
		}
		return
	}
	r := q.Row
	start := r.Answer.Start
	if r.Reasoning.Len() > 0 {
		start = r.Reasoning.Start
	}
	n := int32(len(p.row.IDs))
	if r.Action != action || response != (turnmill.Span{Start: start, End: r.Answer.End}) || r.Tokens != n || r.Answer.End > n || r.Reasoning.Len() < 0 || r.Answer.Len() < 1 {
		at("action, reasoning and answer of its query are not where the turns table has them, in a row of %d tokens", n)
		return
	}
	var trained int32
	mark := func(s turnmill.Span) {
		for i := s.Start; i < s.End; i++ {
			p.marks[i] = true
		}
		trained += s.Len()
	}
	if r.Loss != "answer" {
		mark(r.Reasoning)
	}
	if r.Loss != "reasoning" {
		mark(r.Answer)
	}
	if trained != r.Trained || t.TargetTokens != trained {
		at("%d target and %d trained tokens; reasoning and answer have %d", t.TargetTokens, r.Trained, trained)
	}
}

// sampleStatus proves that status and reason of a turn of sft go together with where it is.
func (p *partitionCheck) sampleStatus(t *stats.TurnRow, at func(string, ...any)) {
	reason, placed, ok := turnmill.Reason(t.Reason), t.Shard != "", false
	if p.plan.prompts() {
		p.promptStatus(t, at)
		return
	}
	switch t.Status {
	case "target":
		ok = reason == "" && placed && t.TrainedTokens > 0
	case "context":
		ok = placed && t.TrainedTokens == 0 && (reason == turnmill.ReasonHistory || slices.Contains(p.reasons[0], reason))
	case "dropped":
		ok = !placed && reason != "" && t.TrainedTokens == 0 && t.TargetTokens == 0 && t.ObservationTokens == 0
	}
	if !ok || t.KeptSpans != nil {
		at("status %q, reason %q, %d tokens trained, placed %v do not go together", t.Status, t.Reason, t.TrainedTokens, placed)
	}
}

// rejectedQuery takes a reject line of a query; they come in the order of the queries.
func (p *partitionCheck) rejectedQuery(l *rejectLine) {
	s := p.samples
	switch {
	case p.rejects.astray:
		return
	case s == nil:
		p.stray("line %d: only sft has queries", p.rejects.n)
		return
	case len(s.lost) == 0:
		p.stray("line %d: query %s: no query without a row is left", p.rejects.n, l.ID)
		return
	}
	q := s.lost[0]
	s.lost = s.lost[1:]
	detail := q.Detail
	if detail == "" {
		detail = q.judged()
	}
	if l.ID != q.ID || l.Status != q.State || l.Reason != q.Reason || l.Domain != q.Domain || l.Turn == nil || *l.Turn != q.Turn || l.Detail != detail {
		p.stray("line %d: query %s %s: %s; the next query without a row is %s %s: %s", p.rejects.n, l.ID, l.Status, l.Reason, q.ID, q.State, q.Reason)
	}
}

// rejectedReply takes the reject line of a row of recorded answers.
func (p *partitionCheck) rejectedReply(l *rejectLine) {
	known := false
	if a := p.plan.Answers; a != nil && p.commit.Partition == 0 {
		for _, f := range append(slices.Clone(a.Rollouts), a.Judgements...) {
			known = known || f.Path == l.Path
		}
		p.samples.unread[l.Reason]++
		kind, _, _ := strings.Cut(l.Path, "/")
		p.samples.named[kind]++
	}
	if !known || l.Status != "rejected" {
		p.fault(p.rejects.path, "line %d: %s: no such file of answers is in the plan, or not in this partition", p.rejects.n, l.Path)
	}
}

// endSamples makes sure that nothing is left over, and holds the counts against the commit's.
func (p *partitionCheck) endSamples(i int) error {
	s := p.samples
	if s.next != nil {
		p.fault(s.queries.path, "line %d: %s: the turns table has no such turn here", s.queries.n, s.next.ID)
		return errApart
	}
	if len(s.lost) > 0 {
		p.stray("query %s has no row, and no line says so", s.lost[0].ID)
	}
	if line, err := s.replies.line(); err != nil || line != nil {
		p.fault(s.replies.path, "line %d: it belongs to no query", s.replies.n)
		return err
	}
	whole := s.named["rollouts"] < replies.MostRejects && s.named["judgements"] < replies.MostRejects // else some are only counted
	for reason, n := range p.plan.Answers.Rejected {
		if got := s.unread[reason]; i == 0 && (got > n || got < n && whole) {
			p.fault(p.rejects.path, "%d rows of answers rejected for %s, the plan has %d", got, reason, n)
		}
	}
	p.fileRows(queriesPath(i), s.queries.n)
	p.fileRows(repliesPath(i), s.replies.n)
	if s.prompts != nil {
		if err := p.endPrompts(i); err != nil {
			return err
		}
	}
	if p.commit.SFT == nil {
		p.fault(commitPath(i), "it has no counts of queries")
		return nil
	}
	used, said := s.counts.Replies.Used, p.commit.SFT.Replies
	s.counts.Replies = said // the files hold what was used
	s.counts.Replies.Used = used
	asks := p.plan.Config.SFT.Ask != nil
	if got, want := encodeJSON(s.counts), encodeJSON(p.commit.SFT); !bytes.Equal(got, want) || used > said.Found || said.Asked > said.Found || said.Asked > 0 && !asks {
		p.fault(commitPath(i), "its counts of queries are not those that the files give")
	}
	return nil
}
