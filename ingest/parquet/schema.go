package parquet

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// node is a part of the schema as JSON sees it.
//
// Levels are counted as Parquet's format does: a value's definition level says how many of the optional and
// repeated fields above it are there, its repetition level which of the lists above it goes on.
type node struct {
	kind   kind
	name   string
	key    []byte // the name as a member: "name":
	def    int    // definition level from which on the node is not null
	rep    int    // list, mapping: repetition level of another item
	items  int    // list, mapping: definition level from which on there is an item
	parts  []*node
	leaves []*leaf // all that lie below, in order; the first one tells which levels are there
	image  bool    // an object whose bytes are left out
}

type kind uint8

const (
	object  kind = iota
	list         // one part
	mapping      // two parts; the keys are strings
	scalar       // its leaf is leaves[0]
)

// Limits of a schema that is no damage.
const (
	mostColumns = 20_000
	mostDepth   = 100
)

// schemaReader builds nodes of the flat list that a footer holds, the parts of each behind it.
type schemaReader struct {
	all    []format.SchemaElement
	at     int
	leaves []*leaf // one a column, in order; those that are not read are marked as skipped
}

// readSchema returns the node of a row and the leaf of each column.
func readSchema(all []format.SchemaElement) (*node, []*leaf, error) {
	if len(all) > mostColumns {
		return nil, nil, fmt.Errorf("a schema of %d parts, and %d are read", len(all), mostColumns)
	}
	r := &schemaReader{all: all}
	if err := r.sound(mostDepth); err != nil {
		return nil, nil, err
	}
	if r.at < len(all) {
		return nil, nil, fmt.Errorf("a schema with %d parts too many", len(all)-r.at)
	}
	r.at = 0
	root := &node{kind: object}
	for range parts(r.next()) {
		root.add(r.field(0, 0))
	}
	root.leaveOutImage()
	spliceable(root)
	return root, r.leaves, nil
}

// sound proves that the list is a tree.
func (r *schemaReader) sound(depth int) error {
	if depth == 0 {
		return fmt.Errorf("a schema of more than %d levels", mostDepth)
	}
	if r.at >= len(r.all) {
		return fmt.Errorf("a schema that ends early")
	}
	e := r.next()
	if e.LogicalType.Value != nil {
		if _, is := e.LogicalType.Value.(*format.VariantType); is {
			return fmt.Errorf("column %s is a VARIANT, which is not read; try to write it as JSON text", e.Name)
		}
	}
	for range parts(e) {
		if err := r.sound(depth - 1); err != nil {
			return err
		}
	}
	return nil
}

func (r *schemaReader) next() *format.SchemaElement {
	r.at++
	return &r.all[r.at-1]
}

// peek returns what comes next.
func (r *schemaReader) peek() *format.SchemaElement { return &r.all[r.at] }

func parts(e *format.SchemaElement) int {
	if e.Type.Valid {
		return 0
	}
	return int(max(0, e.NumChildren.V))
}

func repeated(e *format.SchemaElement) bool {
	return e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
}

// field builds the next field, whose parent stands at the levels def and rep. A repeated field by itself, as
// protocol buffers write them, is a list that is never null.
func (r *schemaReader) field(def, rep int) *node {
	e := r.next()
	if !repeated(e) {
		if e.RepetitionType.Valid && e.RepetitionType.V == format.Optional {
			def++
		}
		return r.group(e, def, rep)
	}
	item := r.group(e, def+1, rep+1)
	n := &node{kind: list, def: def, rep: rep + 1, items: def + 1, parts: []*node{item}, leaves: item.leaves}
	n.named(e.Name)
	return n
}

// group builds the node of a field, its own repetition apart. e has been taken from the list, its parts have
// not.
func (r *schemaReader) group(e *format.SchemaElement, def, rep int) *node {
	n := &node{def: def}
	n.named(e.Name)
	switch {
	case e.Type.Valid:
		n.kind = scalar
		l := newLeaf(e, def, rep)
		n.leaves = []*leaf{l}
		r.leaves = append(r.leaves, l)
		return n
	case r.listOf(n, e, rep), r.mapOf(n, e, rep):
		return n
	}
	n.kind = object
	for range parts(e) {
		n.add(r.field(def, rep))
	}
	n.leaveOutImage()
	return n
}

func (n *node) named(name string) {
	n.name, n.key = name, append(jsonscan.AppendQuoted(nil, name), ':')
}

func (n *node) add(part *node) {
	n.parts = append(n.parts, part)
	n.leaves = append(n.leaves, part.leaves...)
}

// listOf builds a list, if e is one, in any of its published layouts. The names inside are the writer's.
//
//	optional group messages (LIST) { repeated group list { optional T element } }              current writers
//	                                 repeated group list { optional T item }                   older pyarrow
//	                                 repeated group bag { optional T array_element }           Hive
//	                                 repeated T array                                          two levels: Avro, old Spark
//	                                 repeated group array { the fields of T }                  the same of a struct
//	                                 repeated group messages_tuple { the fields of T }         the same, by Thrift
func (r *schemaReader) listOf(n *node, e *format.SchemaElement, rep int) bool {
	if parts(e) != 1 || !repeated(r.peek()) {
		return false
	}
	inner := r.peek()
	if !isList(e) && !(parts(inner) == 1 && !isMap(e) && plainList(inner.Name, r.all[r.at+1].Name)) {
		return false
	}
	r.next()
	n.kind, n.rep, n.items = list, rep+1, n.def+1
	only := parts(inner) == 1
	if only {
		below := &r.all[r.at]
		only = !repeated(below) && inner.Name != "array" && inner.Name != e.Name+"_tuple"
	}
	if only {
		n.add(r.field(n.items, n.rep))
	} else {
		n.add(r.group(inner, n.items, n.rep))
	}
	return true
}

// plainList tells the names of three levels that some writers leave without a mark.
func plainList(inner, item string) bool {
	return (inner == "list" || inner == "bag") && (item == "element" || item == "item" || item == "array_element")
}

// mapOf builds a map, if e is one. A map of keys alone is a list of them.
//
//	optional group env (MAP) { repeated group key_value { required K key; optional V value } }
func (r *schemaReader) mapOf(n *node, e *format.SchemaElement, rep int) bool {
	if !isMap(e) || parts(e) != 1 || !repeated(r.peek()) {
		return false
	}
	inner := r.peek()
	count := parts(inner)
	if count != 1 && count != 2 {
		return false
	}
	r.next()
	n.rep, n.items = rep+1, n.def+1
	key := r.field(n.items, n.rep)
	if count == 1 {
		n.kind = list
		n.add(key)
		return true
	}
	value := r.field(n.items, n.rep)
	if key.kind == scalar && key.def == n.items && key.leaves[0].as == text {
		n.kind = mapping
		n.add(key)
		n.add(value)
		return true
	}
	n.kind = list
	pair := &node{kind: object, def: n.items}
	pair.add(key)
	pair.add(value)
	n.add(pair)
	return true
}

func isList(e *format.SchemaElement) bool {
	_, is := e.LogicalType.Value.(*format.ListType)
	return is || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

func isMap(e *format.SchemaElement) bool {
	_, is := e.LogicalType.Value.(*format.MapType)
	return is || e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

// leaveOutImage leaves the bytes out where an object is an image, a sound or a video of Hugging Face data
// sets: struct<bytes: binary, path: string>.
func (n *node) leaveOutImage() {
	if len(n.parts) != 2 {
		return
	}
	for i, part := range n.parts {
		if part.name == "bytes" && part.kind == scalar && part.leaves[0].binary && n.parts[1-i].name == "path" {
			part.leaves[0].skipped = true
			other := n.parts[1-i]
			n.parts, n.leaves, n.image = []*node{other}, other.leaves, true
			return
		}
	}
}

// jsonKind says which JSON a text may stand for.
type jsonKind uint8

const (
	records jsonKind = 1 << iota // a list whose items, if any, are lists or objects
	members                      // an object
	lists                        // any list

	anything jsonKind = 1<<8 - 1 // a column that is JSON by its type
)

// opened are the columns that a format wants as a list or an object. A text in one that is JSON of that kind
// stands for it: sets hold them so to keep the columns of arguments apart. It is asked in records alone where
// formats of texts have a column of that name.
var opened = map[string]jsonKind{
	"messages": records, "conversations": records, "prompt": records, "completion": records, "turns": records,
	"traj": records, "trajectory": records, "history": records, "steps": records, "content": records, "traces": records,
	"trace": records | members, "info": members, "observations": records, "answer_generation": members, "turn_history": members,
	"contents": records, "input": records, "output": records, "resourceSpans": records, "accessibility_trees": lists, "actions": lists,
}

// besides are such columns beside turns alone: elsewhere they are texts as well.
var besides = map[string]jsonKind{"system": members, "meta": members}

// spliceable marks the columns of texts that may stand for lists and objects.
func spliceable(root *node) {
	unified := false
	for _, n := range root.parts {
		unified = unified || n.name == "turns"
	}
	for _, n := range root.parts {
		if n.kind != scalar || n.leaves[0].as != text {
			continue
		}
		n.leaves[0].opens = opened[n.name]
		if unified {
			n.leaves[0].opens |= besides[n.name]
		}
	}
}

// pathOf names a column, for messages.
func pathOf(chunk *format.ColumnChunk) string {
	var b bytes.Buffer
	for i, name := range chunk.MetaData.PathInSchema {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}
