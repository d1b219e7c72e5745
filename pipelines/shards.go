package pipelines

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
)

// shardWriter writes rows into shards, a new one when the next row would grow the last past the limit.
type shardWriter struct {
	to      sink
	path    func(n int) string // of shard n
	limit   int64              // --shard-bytes
	options arrow.Options
	idle    chan *arrow.Writer // where writers come from and go to; nil: none are kept

	arrow *arrow.Writer
	file  sinkFile // nil between shards
	done  []FileSum
}

// put appends a row and returns where it is.
func (s *shardWriter) put(row *turnmill.Row) (place, error) {
	bytes := rowBytes(s.options.Profile, len(row.IDs))
	if s.file != nil && s.arrow.Rows() > 0 && s.arrow.Size()+bytes > s.limit {
		if err := s.end(); err != nil {
			return place{}, err
		}
	}
	if s.file == nil {
		if err := s.start(); err != nil {
			return place{}, err
		}
	}
	at := place{s.path(len(s.done)), s.arrow.Rows()}
	if err := s.arrow.Append(row); err != nil {
		return place{}, fmt.Errorf("%s: %w", at.shard, err)
	}
	return at, nil
}

// rowBytes is what a row adds to a shard: 4 bytes a token and an offset in each column.
func rowBytes(p arrow.Profile, tokens int) int64 {
	return int64(len(p.Columns())) * 4 * int64(tokens+1)
}

func (s *shardWriter) start() error {
	f, err := s.to.create(s.path(len(s.done)))
	if err != nil {
		return err
	}
	s.file = f
	if s.arrow == nil {
		select {
		case s.arrow = <-s.idle:
		default:
		}
	}
	if s.arrow != nil {
		s.arrow.Reset(f)
		return nil
	}
	s.arrow, err = arrow.NewWriter(f, s.options)
	return err
}

// end ends the open shard.
func (s *shardWriter) end() error {
	if err := s.arrow.Close(); err != nil {
		return err
	}
	sum, err := s.file.commit()
	if err != nil {
		return err
	}
	sum.Rows = s.arrow.Rows()
	s.done, s.file = append(s.done, sum), nil
	return nil
}

// finish ends the last shard, gives the writer back and returns the shards.
func (s *shardWriter) finish() ([]FileSum, error) {
	if s.file != nil {
		if err := s.end(); err != nil {
			return nil, err
		}
	}
	if s.arrow != nil {
		select {
		case s.idle <- s.arrow:
		default:
		}
		s.arrow = nil
	}
	return s.done, nil
}

// abort leaves nothing of the open shard.
func (s *shardWriter) abort() {
	if s.file == nil {
		return
	}
	if s.arrow != nil {
		s.arrow.Abandon()
	}
	s.file.abort()
}
