package figures

import (
	"slices"

	"github.com/turnmill/turnmill"
)

// Figures are all that the report says about turns.
type Figures struct {
	Whole *Group
	Dims  [NumDimensions]Dim
	Joint *Joint
}

// Dim holds the groups of one dimension.
type Dim struct {
	Groups []*Group
	Rest   *Group // all other names together; nil when there are none
	Names  int    // how many there are, or at least are
	Lossy  bool   // there are more
	byName map[string]*Group
	bars   []turnmill.Ratio
}

// New returns empty figures for the names that have most turns.
func New(n *Names, in Bounds, tokens bool) *Figures {
	f := &Figures{Whole: newGroup("all", in.Novelty), Joint: NewJoint(in, tokens)}
	for d := range f.Dims {
		dim := &f.Dims[d]
		dim.byName, dim.Lossy, dim.bars = map[string]*Group{}, n.Lossy[d], in.Novelty
		var names []string
		names, dim.Names = n.top(Dimension(d))
		for _, name := range names {
			g := newGroup(name, in.Novelty)
			dim.Groups = append(dim.Groups, g)
			dim.byName[name] = g
		}
	}
	return f
}

// RestName is the name of the group of all that have none of their own. No name of the content can be it: Name
// leaves no text so.
const RestName = "\x00rest"

// Add adds one turn to all groups that it belongs to.
func (f *Figures) Add(t *Turn) {
	f.Whole.Add(t)
	for d, name := range t.Names() {
		if t.Document && Dimension(d) >= Tool {
			continue // it calls nothing, and nobody answers
		}
		g := f.Dims[d].group(name)
		g.Add(t)
		if Dimension(d) == Domain && t.Decided {
			f.Joint.Add(g.Name, t)
		}
	}
}

func (d *Dim) group(name string) *Group {
	if len(name) > nameBytes {
		name = Name(name)
	}
	if g := d.byName[name]; g != nil {
		return g
	}
	if d.Rest == nil {
		d.Rest = newGroup(RestName, d.bars)
	}
	return d.Rest
}

// All returns the groups with the rest last.
func (d *Dim) All() []*Group {
	if d.Rest == nil {
		return d.Groups
	}
	return append(slices.Clip(d.Groups), d.Rest)
}

// Finish ends the adding: groups without a turn go, and those of sources, agents and tools stand in the order of
// their turns.
func (f *Figures) Finish() {
	for d := range f.Dims {
		dim := &f.Dims[d]
		dim.Groups = slices.DeleteFunc(dim.Groups, func(g *Group) bool { return g.Turns == 0 })
		if Dimension(d) != Domain {
			slices.SortStableFunc(dim.Groups, func(a, b *Group) int { return int(b.Turns - a.Turns) })
		}
	}
	f.Joint.Finish()
}
