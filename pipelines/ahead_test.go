package pipelines

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestReadAhead: what is read ahead is what is there, to its end or its error, and a reader that asks again
// after the end gets the same answer.
func TestReadAhead(t *testing.T) {
	long := strings.Repeat("0123456789", aheadBytes/3)
	broken := errors.New("the disk is broken")
	for name, c := range map[string]struct {
		in   io.Reader
		want string
		err  error
	}{
		"nothing":        {strings.NewReader(""), "", io.EOF},
		"long":           {strings.NewReader(long), long, io.EOF},
		"a byte a time":  {iotest.OneByteReader(strings.NewReader("abc")), "abc", io.EOF},
		"data with EOF":  {iotest.DataErrReader(strings.NewReader(long)), long, io.EOF},
		"an error":       {io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)), long, broken},
		"nothing a time": {&stutter{strings.NewReader("abc")}, "abc", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			r := readAhead(t.Context(), c.in)
			var got strings.Builder
			_, err := io.Copy(&got, r)
			if err == nil {
				err = io.EOF
			}
			if got.String() != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d bytes of %d, %v, want %v", got.Len(), len(c.want), err, c.err)
			}
			for range 5 {
				if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, c.err) {
					t.Fatalf("after the end: %d, %v", n, err)
				}
			}
		})
	}
}

// stutter reads nothing, without an error, before each read.
type stutter struct{ in io.Reader }

func (s *stutter) Read(p []byte) (int, error) {
	in := s.in
	s.in = pause{in, s}
	return in.Read(p[:1])
}

type pause struct {
	in io.Reader
	of *stutter
}

func (p pause) Read([]byte) (int, error) {
	p.of.in = p.in
	return 0, nil
}

// TestReadAheadCancelled: a cancelled reader says why as often as it is asked, though its producer says nothing.
func TestReadAheadCancelled(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	r := readAhead(ctx, in)
	if _, err := out.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if n, err := io.ReadFull(r, make([]byte, 3)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	why := errors.New("the machine goes down")
	cancel(why)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10 {
			if _, err := r.Read(make([]byte, 1)); !errors.Is(err, why) {
				t.Errorf("%v, want %v", err, why)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}
