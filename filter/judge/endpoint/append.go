package endpoint

import (
	"errors"
	"fmt"
)

// batch is what one sync makes last.
type batch struct {
	buf  []byte
	adds []add
	done bool
	err  error
}

type add struct {
	key  Key
	at   place // from the start of the batch
	took Spent
}

// Append adds entries and returns when they are synced: only then they count. Entries that come while another sync
// runs share the next one. An entry for a key that has an answer is not written. After an error the journal takes
// nothing more.
func (j *Journal) Append(entries ...Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	mine := j.next
	for i := range entries {
		j.gather(mine, &entries[i])
	}
	if len(mine.adds) == 0 {
		return nil
	}
	for !mine.done {
		if j.writing {
			j.turn.Wait()
			continue
		}
		j.next = &batch{} // nobody writes, so mine is what gathered: this goroutine writes it for all
		j.writing = true
		err, end := j.err, j.end
		if err == nil {
			j.mu.Unlock()
			err = j.write(mine.buf, end)
			j.mu.Lock()
		}
		j.settle(mine, err)
		j.writing = false
		j.turn.Broadcast()
	}
	return mine.err
}

// gather adds an entry to a batch that is not yet written.
func (j *Journal) gather(b *batch, e *Entry) {
	if old, known := j.index[shorten(e.Key)]; known && old.answer() {
		j.stats.Duplicates++
		return
	}
	b.adds = append(b.adds, add{e.Key, at(int64(len(b.buf)), answers(e.Reply.State)), Spent{Sent: int64(e.Attempts), Usage: e.Reply.Usage}})
	b.buf = e.append(b.buf)
}

// write puts whole lines behind the last ones, or nothing.
func (j *Journal) write(lines []byte, end int64) error {
	_, err := j.out.WriteAt(lines, end)
	if err == nil {
		err = j.out.Sync()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", j.name, errors.Join(err, j.out.Truncate(end)))
	}
	return err
}

// settle makes what was written count.
func (j *Journal) settle(b *batch, err error) {
	b.done, b.err, j.err = true, err, err
	if err != nil {
		return
	}
	for _, a := range b.adds {
		j.note(a.key, at(j.end+a.at.offset(), a.at.answer()))
		j.spent.add(a.took)
	}
	j.end += int64(len(b.buf))
	j.lines += int64(len(b.adds))
}
