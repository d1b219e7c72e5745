package pipelines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
)

// stagedShards reads the shards of one split of a partition, in order, and holds their bytes against the commit's
// sums: what is read is what was written, or the run does not go on.
type stagedShards struct {
	root    string
	profile arrow.Profile
	left    []FileSum
	now     FileSum
	file    *os.File
	sum     hash.Hash
	reader  *arrow.Reader
}

// next returns the next row, which has to be the one at a place.
func (s *stagedShards) next(at place) (*arrow.Row, error) {
	row, err := s.read()
	if err != nil {
		return nil, err
	}
	if row == nil || unstaged(s.now.Path) != at.shard || row.Number != at.row {
		return nil, fmt.Errorf("%s: %w: its turns name row %d of %s, which is not the next; delete its commit and run the same command again", s.now.Path, turnmill.ErrCorrupt, at.row, at.shard)
	}
	return row, nil
}

// read returns the next row, nil at the end.
func (s *stagedShards) read() (*arrow.Row, error) {
	for {
		if s.reader == nil {
			if len(s.left) == 0 {
				return nil, nil
			}
			if err := s.open(); err != nil {
				return nil, err
			}
		}
		row, err := s.reader.Next()
		if err == nil {
			return row, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if hex.EncodeToString(s.sum.Sum(nil)) != s.now.SHA256 {
			return nil, fmt.Errorf("%s: %w: its SHA-256 is not the one that was written; delete it and run the same command again", s.now.Path, turnmill.ErrCorrupt)
		}
		s.close()
	}
}

func (s *stagedShards) open() (err error) {
	s.now, s.left = s.left[0], s.left[1:]
	if s.file, err = os.Open(filepath.Join(s.root, filepath.FromSlash(s.now.Path))); err != nil {
		return err
	}
	s.sum = sha256.New()
	s.reader, err = arrow.NewReader(io.TeeReader(s.file, s.sum), s.now.Bytes, s.now.Path, s.profile)
	return err
}

// end makes sure that no row is left over.
func (s *stagedShards) end() error {
	row, err := s.read()
	if err == nil && row != nil {
		err = fmt.Errorf("%s: %w: row %d and what follows belong to no turn; delete its commit and run the same command again", s.now.Path, turnmill.ErrCorrupt, row.Number)
	}
	return err
}

func (s *stagedShards) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.reader = nil, nil
}
