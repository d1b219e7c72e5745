package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// decoder reads the members of one verifier and gathers what is wrong with them. What it returns is copied out
// of the document.
type decoder struct {
	root jsonscan.Value
	errs []error
}

func (d *decoder) fail(key, what string) {
	d.errs = append(d.errs, fmt.Errorf("`%s`: %s", key, what))
}

// known refuses members that are not in the list, and repeated ones.
func (d *decoder) known(list []string) {
	var seen []string
	for k := range d.root.Members() {
		key := str(k)
		switch {
		case !slices.Contains(list, key):
			d.fail(quoted(key), "no such key; want of "+strings.Join(list, ", "))
		case slices.Contains(seen, key):
			d.fail(key, "stands twice")
		}
		seen = append(seen, key)
	}
}

func (d *decoder) oneOf(key, got string, want ...string) {
	if !slices.Contains(want, got) {
		d.fail(key, quoted(got)+"; want one of "+strings.Join(want, ", "))
	}
}

// value returns a member that must be of a kind; absent ones are Invalid.
func (d *decoder) value(key string, want jsonscan.Kind) jsonscan.Value {
	v := d.root.Get(key)
	if v.Kind() != jsonscan.Invalid && v.Kind() != want {
		d.fail(key, fmt.Sprintf("want %s, found %s", want, v.Kind()))
		return jsonscan.Value{}
	}
	return v
}

func (d *decoder) text(key, absent string) string {
	if s := d.optional(key); s != nil {
		return *s
	}
	return absent
}

func (d *decoder) optional(key string) *string {
	v := d.value(key, jsonscan.String)
	if v.Kind() == jsonscan.Invalid {
		return nil
	}
	s := str(v)
	return &s
}

// raw returns any value as JSON text.
func (d *decoder) raw(key string) *string {
	v := d.root.Get(key)
	if v.Kind() == jsonscan.Invalid {
		return nil
	}
	s := string(v.Raw())
	return &s
}

func (d *decoder) flag(key string) bool {
	v := d.root.Get(key)
	if k := v.Kind(); k != jsonscan.Invalid && k != jsonscan.True && k != jsonscan.False {
		d.fail(key, fmt.Sprintf("want true or false, found %s", k))
	}
	return v.Kind() == jsonscan.True
}

// number returns a whole number within bounds.
func (d *decoder) number(key string, absent, least, most int64) int64 {
	v := d.root.Get(key)
	if v.Kind() == jsonscan.Invalid {
		return absent
	}
	n, ok := v.Int()
	if !ok || n < least || n > most {
		d.fail(key, fmt.Sprintf("want a whole number from %d to %d", least, most))
		return absent
	}
	return n
}

func (d *decoder) texts(key string) []string {
	var all []string
	for e := range d.value(key, jsonscan.Array).Elems() {
		if e.Kind() != jsonscan.String {
			d.fail(key, fmt.Sprintf("want strings, found %s", e.Kind()))
			return nil
		}
		all = append(all, str(e))
	}
	return all
}

func (d *decoder) pointer(key string) []string {
	parts, err := steps(d.text(key, ""))
	if err != nil {
		d.fail(key, err.Error())
	}
	return parts
}

func (d *decoder) pointers(key string) [][]string {
	var all [][]string
	for _, s := range d.texts(key) {
		parts, err := steps(s)
		if err == nil && len(parts) == 0 {
			err = fmt.Errorf("the whole document: nothing would be left to compare")
		}
		if err != nil {
			d.fail(key, err.Error())
			continue
		}
		all = append(all, parts)
	}
	return all
}

// str returns the decoded string, copied.
func str(v jsonscan.Value) string { return string(v.AppendString(nil)) }
