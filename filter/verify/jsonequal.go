package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// jsonEqual compares JSON texts as values: the order of keys does not count, the last of repeated keys does, and
// strings are compared decoded, without normalisation.
type jsonEqual struct {
	at       []string   // pointer to the part that is compared; nil: all
	ignore   [][]string // pointers below it; "*" stands for any one step
	drop     []string   // keys that are left out at any depth
	spelling bool       // numbers by spelling instead of value
}

func (r jsonEqual) check(prediction, expected string) Verdict {
	var want, got jsonscan.Doc
	w, err := want.Parse([]byte(expected))
	if err != nil {
		return bad("what is expected is not JSON: " + err.Error())
	}
	g, err := got.Parse([]byte(prediction))
	if err != nil {
		return Verdict{Fail, "the prediction is not JSON: " + err.Error()}
	}
	if w = follow(w, r.at); w.Kind() == jsonscan.Invalid {
		return bad("what is expected has nothing at " + pointer(r.at))
	}
	if g = follow(g, r.at); g.Kind() == jsonscan.Invalid {
		return Verdict{Fail, "the prediction has nothing at " + pointer(r.at)}
	}
	path, same := r.differ(g, w, r.ignore, nil)
	return equal(same, "differs at "+pointer(path))
}

// differ returns the path of the first difference, in the order of what is expected.
func (r jsonEqual) differ(got, want jsonscan.Value, ignore [][]string, path []string) ([]string, bool) {
	if got.Kind() != want.Kind() {
		return path, false
	}
	switch want.Kind() {
	case jsonscan.Number:
		a, b := got.RawStr(), want.RawStr()
		return path, a == b || !r.spelling && decimal(a) == decimal(b)
	case jsonscan.String:
		return path, string(got.AppendString(nil)) == string(want.AppendString(nil))
	case jsonscan.Array:
		return r.arrays(got, want, ignore, path)
	case jsonscan.Object:
		return r.objects(got, want, ignore, path)
	}
	return path, true
}

func (r jsonEqual) arrays(got, want jsonscan.Value, ignore [][]string, path []string) ([]string, bool) {
	if got.Len() != want.Len() {
		return path, false
	}
	others := slices.Collect(got.Elems())
	i := 0
	for w := range want.Elems() {
		step := strconv.Itoa(i)
		if rest, skip := below(ignore, step); !skip {
			if p, same := r.differ(others[i], w, rest, append(path, step)); !same {
				return p, false
			}
		}
		i++
	}
	return path, true
}

func (r jsonEqual) objects(got, want jsonscan.Value, ignore [][]string, path []string) ([]string, bool) {
	gots, order := r.members(got, ignore)
	wants, keys := r.members(want, ignore)
	for _, key := range keys {
		g, ok := gots[key]
		if !ok {
			return append(path, key), false
		}
		rest, _ := below(ignore, key)
		if p, same := r.differ(g, wants[key], rest, append(path, key)); !same {
			return p, false
		}
	}
	for _, key := range order {
		if _, ok := wants[key]; !ok {
			return append(path, key), false
		}
	}
	return path, true
}

// members returns what counts of an object, and its keys in the order of the document.
func (r jsonEqual) members(v jsonscan.Value, ignore [][]string) (map[string]jsonscan.Value, []string) {
	all := make(map[string]jsonscan.Value, v.Len())
	var keys []string
	for k, member := range v.Members() {
		key := string(k.AppendString(nil))
		if _, skip := below(ignore, key); skip || slices.Contains(r.drop, key) {
			continue
		}
		if _, repeated := all[key]; !repeated {
			keys = append(keys, key)
		}
		all[key] = member
	}
	return all, keys
}

// below takes patterns one step down; skip says that one of them ends there.
func below(patterns [][]string, step string) (rest [][]string, skip bool) {
	for _, p := range patterns {
		if p[0] != "*" && p[0] != step {
			continue
		}
		if len(p) == 1 {
			return nil, true
		}
		rest = append(rest, p[1:])
	}
	return rest, false
}

// follow walks a pointer; the zero Value says that it leads nowhere.
func follow(v jsonscan.Value, steps []string) jsonscan.Value {
	for _, step := range steps {
		switch v.Kind() {
		case jsonscan.Object:
			v = v.Get(step)
		case jsonscan.Array:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != step {
				return jsonscan.Value{}
			}
			v = v.At(i)
		default:
			return jsonscan.Value{}
		}
	}
	return v
}

// pointer is the inverse of steps. RFC 6901.
func pointer(steps []string) string {
	if len(steps) == 0 {
		return "the root"
	}
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return quoted(b.String())
}
