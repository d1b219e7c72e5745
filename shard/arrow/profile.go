package arrow

import (
	"bytes"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Profile names a set of columns.
type Profile uint8

// The profiles that this package writes and reads.
const (
	ProfileHF       Profile = iota // input_ids, attention_mask, labels
	ProfileWeighted                // those, and loss_weight
	numProfiles     = int(ProfileWeighted) + 1
)

var profileNames = [numProfiles]string{"hf", "weighted"}

// String returns the profile's name as --profile takes it.
func (p Profile) String() string { return profileNames[p] }

// ParseProfile is the inverse of String.
func ParseProfile(name string) (Profile, bool) {
	for i, n := range profileNames {
		if n == name {
			return Profile(i), true
		}
	}
	return 0, false
}

// Columns returns the columns' names in the order in which they stand in a file.
func (p Profile) Columns() []string {
	names := []string{"input_ids", "attention_mask", "labels"}
	if p == ProfileWeighted {
		names = append(names, "loss_weight")
	}
	return names
}

// dtype is the name that datasets gives to the type of a column's elements. All have 4 bytes.
func dtype(column string) string {
	if column == "loss_weight" {
		return "float32"
	}
	return "int32"
}

// bodyBytes is what rows of so many tokens in all take in a batch's body: 4 bytes a token and an offset a
// row in each column. The first offset and padding add at most 16 bytes a column.
func (p Profile) bodyBytes(rows, tokens int64) int64 {
	columns := int64(3)
	if p == ProfileWeighted {
		columns++
	}
	return 4 * columns * (rows + tokens)
}

func (p Profile) schema() *goarrow.Schema {
	var fields []goarrow.Field
	for _, name := range p.Columns() {
		elem := goarrow.DataType(goarrow.PrimitiveTypes.Int32)
		if dtype(name) == "float32" {
			elem = goarrow.PrimitiveTypes.Float32
		}
		// ListOf makes the child that datasets expects: "item", nullable.
		fields = append(fields, goarrow.Field{Name: name, Type: goarrow.ListOf(elem), Nullable: true})
	}
	return goarrow.NewSchema(fields, nil)
}

// schemaMessage returns the bytes with which each shard of the profile starts, up to its first batch.
func (p Profile) schemaMessage() ([]byte, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(p.schema())).Close(); err != nil {
		return nil, err
	}
	return b.Bytes()[:b.Len()-len(endMarker)], nil
}
