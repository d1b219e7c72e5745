package pipelines

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// promptCheck reads the prompts of a partition in step with its queries.
type promptCheck struct {
	path string
	file *os.File
	rows *stats.PromptReader
	n    int64
}

func openPrompts(root string, i int) (*promptCheck, error) {
	c := &promptCheck{path: promptsPath(i)}
	var err error
	if c.file, err = os.Open(filepath.Join(root, filepath.FromSlash(c.path))); err != nil {
		return nil, err
	}
	info, err := c.file.Stat()
	if err == nil {
		c.rows, err = stats.NewPromptReader(c.file, info.Size(), c.path)
	}
	if err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

func (c *promptCheck) close() {
	if c != nil {
		c.rows.Close()
		c.file.Close()
	}
}

// promptOf proves the prompt of a query: it is the next row, and says what the line says.
func (p *partitionCheck) promptOf(q *QueryLine, at func(string, ...any)) error {
	c := p.samples.prompts
	most := p.plan.Config.SFT.MaxPrompt
	ok := false
	switch q.State {
	case "selected":
		ok = q.Reason == "" && q.Prompt != nil
	case "dropped":
		ok = slices.Contains([]turnmill.Reason{turnmill.ReasonPromptTooLong, turnmill.ReasonSystemTooLong, turnmill.ReasonTurnTooLong}, q.Reason) && q.Prompt == nil
	case "rejected":
		ok = q.Reason == turnmill.ReasonUnencodable && q.Detail != "" && q.Prompt == nil
	}
	if !ok || q.Row != nil || q.Winner != nil {
		at("state %q, reason %q and its prompt do not go together", q.State, q.Reason)
		return nil
	}
	if q.Prompt == nil {
		return nil
	}
	row, err := c.rows.Next()
	if err != nil {
		return err
	}
	if row == nil {
		at("%s has %d rows, and none for it", c.path, c.n)
		return errApart
	}
	n := len(row.Prompt)
	if q.Prompt.File != c.path || q.Prompt.Row != c.n || row.ID != q.ID || row.PromptTokens != q.Prompt.Tokens || q.Prompt.Tokens < 1 || int(q.Prompt.Tokens) > most {
		at("%s row %d has query %s with %d tokens; the line says row %d of %s with %d, of at most %d", c.path, c.n, row.ID, row.PromptTokens, q.Prompt.Row, q.Prompt.File, q.Prompt.Tokens, most)
	}
	if row.Domain != string(q.Domain) || row.Source != q.Source || row.Template != q.Template.Version || row.DataSource != row.Domain ||
		row.RewardModel.GroundTruth != row.Reference || n < 2 || row.Prompt[0].Role != "system" || row.Prompt[n-1].Role != "user" {
		at("%s row %d: domain, source, template, reference or roles are not those of its query", c.path, c.n)
	}
	if served := q.Verifier.serves(); served != (row.Verifier != "") || served != q.Prompt.Verifier || served && row.VerifierClass != string(q.Verifier.Class) || served != (row.RewardModel.Style == "rule") {
		at("%s row %d: a verifier stands there or not, and its query says otherwise", c.path, c.n)
	}
	c.n++
	return nil
}

// promptStatus proves status and reason of a turn where prompts are written: no token of it is trained, and it has no place.
func (p *partitionCheck) promptStatus(t *stats.TurnRow, at func(string, ...any)) {
	reason := turnmill.Reason(t.Reason)
	ok := t.Shard == "" && t.TrainedTokens == 0 && t.TargetTokens == 0 && t.ObservationTokens == 0 && t.KeptSpans == nil
	switch t.Status {
	case "target":
		ok = ok && reason == ""
	case "context":
		ok = ok && (reason == turnmill.ReasonHistory || slices.Contains(p.reasons[0], reason))
	default:
		ok = ok && reason != ""
	}
	if !ok {
		at("status %q, reason %q, %d tokens, placed %v do not go together in a set of prompts", t.Status, t.Reason, t.ObservationTokens, t.Shard != "")
	}
}

// endPrompts makes sure that no prompt is left over.
func (p *partitionCheck) endPrompts(i int) error {
	c := p.samples.prompts
	if row, err := c.rows.Next(); err != nil || row != nil {
		p.fault(c.path, "row %d: it belongs to no query", c.n)
		return err
	}
	p.fileRows(promptsPath(i), c.n)
	return nil
}
