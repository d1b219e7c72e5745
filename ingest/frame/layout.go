package frame

import "fmt"

// Layout says how records lie in a file.
type Layout uint8

// The layouts, drawn in the package comment.
const (
	Lines Layout = iota
	Array
	Values
	Whole
	Parquet // framed by ingest/parquet
)

// String returns the layout's name as it stands in plans and messages.
func (l Layout) String() string {
	switch l {
	case Lines:
		return "lines"
	case Array:
		return "array"
	case Values:
		return "values"
	case Whole:
		return "whole"
	case Parquet:
		return "parquet"
	}
	return fmt.Sprintf("layout(%d)", uint8(l))
}

// ParseLayout is the inverse of String.
func ParseLayout(name string) (Layout, error) {
	for l := Lines; l <= Parquet; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("no layout is called %q; try lines, array, values, whole or parquet", name)
}
