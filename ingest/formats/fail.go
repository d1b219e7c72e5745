package formats

import (
	"errors"
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// fieldError says which field has the wrong type. Readers of an inner object name the field; its owner
// puts the way to the object in front.
type fieldError struct {
	path string
	want string
	got  jsonscan.Kind
}

func (e *fieldError) Error() string {
	return fmt.Sprintf("%s is %s, want %s", e.path, article(e.got), e.want)
}

func article(k jsonscan.Kind) string {
	switch k {
	case jsonscan.Invalid:
		return "missing"
	case jsonscan.Null:
		return "null"
	case jsonscan.Array, jsonscan.Object:
		return "an " + k.String()
	}
	return "a " + k.String()
}

func badField(path, want string, got jsonscan.Value) error {
	return &turnmill.RecordError{
		Step:   "decode",
		Reason: turnmill.ReasonBadField,
		Err:    &fieldError{path, want, got.Kind()},
	}
}

// inside puts list[i] in front of the path that err names.
func inside(list string, i int, err error) error {
	return under(fmt.Sprintf("%s[%d]", list, i), err)
}

// under puts the way to an object in front of the path that err names, which is empty for the object. No error
// stays none.
func under(way string, err error) error {
	if err == nil {
		return nil
	}
	var f *fieldError
	if errors.As(err, &f) {
		if f.path != "" {
			way += "."
		}
		f.path = way + f.path
	}
	return err
}

func notJSON(err error) error {
	reason := turnmill.ReasonBadJSON
	var s *jsonscan.SyntaxError
	if errors.As(err, &s) && s.Deep {
		reason = turnmill.ReasonTooDeep
	}
	return &turnmill.RecordError{Step: "decode", Reason: reason, Err: err}
}

// wrongFormat rejects a record that is not of its file's format.
func wrongFormat(name, why string) error {
	return &turnmill.RecordError{
		Step:   "decode",
		Reason: turnmill.ReasonWrongFormat,
		Err:    fmt.Errorf("not %s: %s", name, why),
		Hint:   "--format with another name if the whole file is of another format (turnmill formats lists them)",
	}
}

func reject(reason turnmill.Reason, format string, args ...any) error {
	return &turnmill.RecordError{Step: "decode", Reason: reason, Err: fmt.Errorf(format, args...)}
}

// recordError returns the RecordError that err is, or one that holds it.
func recordError(err error) *turnmill.RecordError {
	var e *turnmill.RecordError
	if !errors.As(err, &e) {
		e = &turnmill.RecordError{Step: "decode", Reason: turnmill.ReasonBadField, Err: err}
	}
	return e
}
