package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxProblems bounds the errors of one file.
const maxProblems = 20

// MetaKey is the key of a trajectory's meta under which its verifiers stand.
const MetaKey = "verifier"

// Set holds the verifiers of a file by query.
type Set struct{ byQuery map[string]*Verifier }

// Get returns the verifier of a query, nil when it has none.
func (s *Set) Get(query string) *Verifier {
	if s == nil {
		return nil
	}
	return s.byQuery[query]
}

// Len returns how many queries have one.
func (s *Set) Len() int { return len(s.byQuery) }

// Queries returns the ids, sorted: what names no query of the run shows here.
func (s *Set) Queries() []string { return slices.Sorted(maps.Keys(s.byQuery)) }

// SHA256 changes with any id, definition or source of a program; not with the order of lines.
func (s *Set) SHA256() string {
	h := sha256.New()
	for _, id := range s.Queries() {
		fmt.Fprintf(h, "%q %s\n", id, s.byQuery[id].SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ReadSet reads a file of verifiers, one line a query; blank lines are left out. It is the person's own file, so
// nothing of it is skipped: the error joins "line N: what is wrong", the first twenty.
//
//	{"query":"run-7@3","verifier":{"kind":"exact","class":"control"}}
func ReadSet(r io.Reader, open Open) (*Set, error) {
	set := &Set{byQuery: map[string]*Verifier{}}
	var errs []error
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxDefinition+64<<10)
	n := 0
	for lines.Scan() {
		if n++; len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := set.add(lines.Bytes(), open); err != nil {
			if len(errs) == maxProblems {
				errs = append(errs, errors.New("and more"))
				return nil, errors.Join(errs...)
			}
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		errs = append(errs, fmt.Errorf("line %d: a verifier of more than %d bytes", n+1, maxDefinition))
	} else if err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return set, nil
}

func (s *Set) add(line []byte, open Open) error {
	var doc jsonscan.Doc
	root, err := doc.Parse(line)
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	d := &decoder{root: root}
	if root.Kind() != jsonscan.Object {
		return fmt.Errorf("want an object with query and verifier, found %s", root.Kind())
	}
	d.known([]string{"query", "verifier"})
	id := d.text("query", "")
	if id == "" {
		d.fail("query", "want the id of a query: the trajectory's, \"@\" and the turn's index")
	} else if s.byQuery[id] != nil {
		d.fail("query", quoted(id)+" has a verifier already")
	}
	if root.Get("verifier").Kind() == jsonscan.Invalid {
		d.fail("verifier", "is absent")
	}
	if err := errors.Join(d.errs...); err != nil {
		return err
	}
	v, err := Parse(root.Get("verifier").Raw(), open)
	if err != nil {
		return fmt.Errorf("query %s: %w", quoted(id), err)
	}
	s.byQuery[id] = v
	return nil
}

// Beside returns an Open that reads files in the folder of a file of verifiers and below it, nowhere else.
func Beside(file string) Open {
	return func(name string) ([]byte, error) {
		dir, err := os.OpenRoot(filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		f, err := dir.Open(name)
		if err != nil {
			return nil, errors.Join(err, dir.Close())
		}
		source, err := io.ReadAll(io.LimitReader(f, maxDefinition+1)) // one more, so that it shows
		return source, errors.Join(err, f.Close(), dir.Close())
	}
}

// ParseMeta returns the verifier that a trajectory's meta carries for the turn with an index, nil when there is
// none. The member `verifier` is one verifier, for each turn, or an object of them by index: {"3":{"kind":...}}.
// Files of the machine cannot be named there. The error costs this query its verifier and nothing else: its verdict
// is BadVerifier.
func ParseMeta(meta string, turn int) (*Verifier, error) {
	if meta == "" {
		return nil, nil
	}
	var doc jsonscan.Doc
	root, err := doc.Parse([]byte(meta))
	if err != nil {
		return nil, fmt.Errorf("meta is not JSON: %w", err)
	}
	v := root.Get(MetaKey)
	switch {
	case !v.Present():
		return nil, nil
	case v.Kind() == jsonscan.Object && v.Get("kind").Kind() == jsonscan.Invalid:
		for k := range v.Members() {
			if i, err := strconv.Atoi(str(k)); err != nil || i < 0 || strconv.Itoa(i) != str(k) {
				return nil, fmt.Errorf("meta `verifier`: %s is neither a key of a verifier with a kind nor the index of a turn", quoted(str(k)))
			}
		}
		if v = v.Get(strconv.Itoa(turn)); v.Kind() == jsonscan.Invalid {
			return nil, nil
		}
	}
	return Parse(v.Raw(), nil)
}
