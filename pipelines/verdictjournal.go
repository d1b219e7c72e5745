package pipelines

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/filter/verify"
)

// kindVerdict is the kind of entries in a journal of verdicts. They are keyed by the verifier's SHA-256, the query, the
// sample, prediction, reference and messages. A verdict is an answer, but for refused_no_sandbox, which is a failure:
// it stands until a machine with a sandbox runs the partition.
const kindVerdict = "verdict"

// openVerdicts opens one journal, for this process alone where it writes. Without write it is nil where there is none.
func openVerdicts(root, path string, write bool) (*os.File, *endpoint.Journal, error) {
	name := filepath.Join(root, filepath.FromSlash(path))
	file, err := openJournal(name, write)
	switch {
	case !write && errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case write:
		j, err := endpoint.OpenJournal(file, path)
		return file, j, err
	}
	j, err := endpoint.ReadJournal(file, path)
	return file, j, err
}

// verdictRequest names a case as journals name questions.
func verdictRequest(by *verify.Verifier, c *verify.Case, sample int) *turnmill.Request {
	id := c.Query
	if sample < 0 {
		id, sample = id+"/recorded", 0
	}
	messages := append([]turnmill.Message{{Role: "prediction", Content: c.Prediction}, {Role: "reference", Content: c.Reference}}, c.Messages...)
	return &turnmill.Request{ID: id, Sample: sample, Model: by.SHA256, Messages: messages}
}

// verdictEntry is a verdict as a journal keeps it.
func verdictEntry(key *turnmill.Request, said verify.Verdict) endpoint.Entry {
	state := turnmill.ReplyComplete
	if said.State == verify.Refused {
		state = turnmill.ReplyFailed
	}
	return endpoint.Entry{Key: endpoint.KeyOf(kindVerdict, key), Kind: kindVerdict, Attempts: 1,
		Reply: turnmill.Reply{ID: key.ID, Sample: key.Sample, Model: key.Model, State: state, Text: string(said.State), Error: said.Detail}}
}
