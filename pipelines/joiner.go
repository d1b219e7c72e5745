package pipelines

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
)

// joiner joins pieces to runs: up leads from each to the first of its run.
type joiner struct {
	pieces []*piece
	up     []int
	sizes  []int64  // of runs, in bytes, by their first piece
	empty  []*piece // files of 0 bytes, of no format

	maxRecord int64
}

func (j *joiner) find(i int) int {
	for j.up[i] != i {
		j.up[i] = j.up[j.up[i]]
		i = j.up[i]
	}
	return i
}

func (j *joiner) join(a, b int) {
	a, b = j.find(a), j.find(b)
	if a != b {
		j.up[max(a, b)] = min(a, b)
		j.sizes[min(a, b)] += j.sizes[max(a, b)]
	}
}

// runs returns the pieces of each run, the kinds in their order.
func (j *joiner) runs() [][]*piece {
	at := map[int]int{}
	var runs [][]*piece
	for i, p := range j.pieces {
		root := j.find(i)
		k, known := at[root]
		if !known {
			k = len(runs)
			at[root], runs = k, append(runs, nil)
		}
		runs[k] = append(runs[k], p)
	}
	for _, run := range runs {
		slices.SortStableFunc(run, func(a, b *piece) int { return int(a.Kinds&-a.Kinds) - int(b.Kinds&-b.Kinds) })
	}
	return runs
}

// giver is a piece that others find by a key.
type giver struct {
	format string
	key    formats.Key
	folder string
	piece  int
}

func (g *giver) compare(o *giver) int {
	if c := cmp.Or(strings.Compare(g.format, o.format), bytes.Compare(g.key[:], o.key[:])); c != 0 {
		return c
	}
	return strings.Compare(g.folder, o.folder)
}

// byKeys joins each piece that takes keys to those that give them: to the nearest, where several give one. A
// piece that finds some of its keys nearer than others takes those alone, for what its own run has lost may well
// lie in another run of the same app.
func (j *joiner) byKeys() {
	var givers []giver
	for i, p := range j.pieces {
		for _, k := range p.Gives {
			givers = append(givers, giver{p.format.Name, k, p.folder, i})
		}
	}
	slices.SortFunc(givers, func(a, b giver) int { return a.compare(&b) })
	joined := map[[2]int]bool{} // stretches of givers whose pieces are one run already
	for i, p := range j.pieces {
		best := 0
		var found [][2]int
		for _, k := range p.Takes {
			from, to, depth := nearest(givers, giver{p.format.Name, k, p.folder, i})
			if from == to || depth < best {
				continue
			}
			if depth > best {
				best, found = depth, found[:0]
			}
			found = append(found, [2]int{from, to})
		}
		for _, s := range found {
			j.join(i, givers[s[0]].piece)
			if joined[s] {
				continue
			}
			joined[s] = true
			for _, g := range givers[s[0]:s[1]] {
				j.join(i, g.piece)
			}
		}
	}
}

// nearest returns the stretch of givers that give a key and share the longest way with its taker, and the
// length of that way.
func nearest(givers []giver, t giver) (from, to, depth int) {
	at, _ := slices.BinarySearchFunc(givers, t, func(a, b giver) int { return a.compare(&b) })
	for _, k := range [...]int{at - 1, at} { // who shares the longest prefix stands beside the place of the taker
		if k >= 0 && k < len(givers) && givers[k].format == t.format && givers[k].key == t.key {
			depth = max(depth, sharedWay(givers[k].folder, t.folder))
		}
	}
	if depth == 0 {
		return 0, 0, 0
	}
	way := t.folder[:depth]
	t.folder = way
	from, _ = slices.BinarySearchFunc(givers, t, func(a, b giver) int { return a.compare(&b) })
	to = from + sort.Search(len(givers)-from, func(k int) bool {
		g := &givers[from+k]
		return g.format != t.format || g.key != t.key || !strings.HasPrefix(g.folder, way)
	})
	return from, to, depth
}

// sharedWay is the length of the folders, slashes included, that two paths begin with.
func sharedWay(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '/') + 1
}

// byFolders joins what keys have left apart and lies in one folder. Where a file may belong to one of several
// runs there it is not joined but rejected.
func (j *joiner) byFolders(inputs []PlanInput) {
	in := j.places()
	kinds := j.kinds()
	for _, at := range slices.SortedFunc(maps.Keys(in), func(a, b folderOf) int {
		return cmp.Or(strings.Compare(a.format, b.format), strings.Compare(a.folder, b.folder))
	}) {
		j.byFolder(inputs, in[at], kinds)
	}
	j.empties(inputs)
}

// folderOf is a folder with pieces of one format.
type folderOf struct{ format, folder string }

// places returns the pieces that go by folder. One that may lie above the others of its run goes with the one
// folder below it that has some.
func (j *joiner) places() map[folderOf][]int {
	in := map[folderOf][]int{}
	below := map[folderOf]string{} // the one folder with pieces in a folder; "" for several
	var above []int
	for i, p := range j.pieces {
		switch join := p.format.Join; {
		case p.Kinds&join.Whole != 0:
			continue
		case p.Kinds&^join.Above == 0:
			above = append(above, i)
			continue
		}
		at := folderOf{p.format.Name, p.folder}
		in[at] = append(in[at], i)
		up := folderOf{at.format, path.Dir(path.Clean(p.folder)) + "/"}
		if was, known := below[up]; known && was != p.folder {
			below[up] = ""
		} else {
			below[up] = p.folder
		}
	}
	into := make([]folderOf, 0, len(above))
	for _, i := range above {
		at := folderOf{j.pieces[i].format.Name, j.pieces[i].folder}
		if only := below[at]; in[at] == nil && only != "" {
			at.folder = only
		}
		into = append(into, at)
	}
	for k, i := range above {
		in[into[k]] = append(in[into[k]], i)
	}
	return in
}

// kinds returns what each run has, by its first piece.
func (j *joiner) kinds() map[int]uint16 {
	kinds := map[int]uint16{}
	for i, p := range j.pieces {
		kinds[j.find(i)] |= p.Kinds
	}
	return kinds
}

// byFolder joins the pieces of one folder that are of no complete run, or all of them where nothing can tell two
// runs in one folder apart.
func (j *joiner) byFolder(inputs []PlanInput, pieces []int, kinds map[int]uint16) {
	join := j.pieces[pieces[0]].format.Join
	if join.Single == 0 {
		j.all(pieces)
		return
	}
	whole := -1 // the first piece of the complete run
	var loose []int
	var once, twice uint16 // kinds of the complete run and of loose pieces
	count := func(k uint16) {
		twice |= once & k & join.Single
		once |= k
	}
	runs := map[int]bool{}
	for _, i := range pieces {
		root := j.find(i)
		if loosely(join, kinds[root]) {
			loose = append(loose, i)
			count(j.pieces[i].Kinds)
		} else if !runs[root] {
			runs[root], whole = true, root
			count(kinds[root])
		}
	}
	for _, i := range loose {
		if len(runs) > 1 || twice&j.pieces[i].Kinds != 0 || whole < 0 && twice != 0 {
			inputs[j.pieces[i].input].refuse(turnmill.ReasonMissingPart,
				"parts of several recordings lie in its folder, and nothing in it says which one it belongs to; try a folder for each recording")
			continue
		}
		if whole < 0 {
			whole = i
		}
		j.join(whole, i)
	}
}

// loosely tells whether parts of these kinds are no run yet.
func loosely(join *formats.Join, kinds uint16) bool {
	if join.Begins != 0 {
		return kinds&join.Begins == 0
	}
	return join.Lacks(kinds) != ""
}

// all joins pieces, unless the run would be larger than a record may be: then what keys joined has to do.
func (j *joiner) all(pieces []int) {
	roots := map[int]bool{}
	size := int64(0)
	for _, i := range pieces {
		if root := j.find(i); !roots[root] {
			roots[root] = true
			size += j.sizes[root]
		}
	}
	if size > j.maxRecord {
		return
	}
	for _, i := range pieces {
		j.join(pieces[0], i)
	}
}

// empties puts empty files beside the one run in their folder: a recorder makes all of its files, and leaves
// empty those that it has nothing for.
func (j *joiner) empties(inputs []PlanInput) {
	runs := map[string][]int{} // complete ones, by folder; two are as good as more
	kinds := j.kinds()
	for i, p := range j.pieces {
		root := j.find(i)
		if p.format.Join.Single != 0 && p.Kinds&p.format.Join.Whole == 0 && inputs[p.input].Rejected == "" && p.format.Join.Lacks(kinds[root]) == "" && len(runs[p.folder]) < 2 && !slices.Contains(runs[p.folder], root) {
			runs[p.folder] = append(runs[p.folder], root)
		}
	}
	for _, e := range j.empty {
		if beside := runs[e.folder]; len(beside) == 1 {
			e.format = j.pieces[beside[0]].format
			in := &inputs[e.input]
			in.Rejected, in.Detail, in.Format, in.Layout = "", "", e.format.Name, frame.Whole.String()
			j.pieces, j.up = append(j.pieces, e), append(j.up, beside[0])
		}
	}
}
