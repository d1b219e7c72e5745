package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// form says how a leaf's values are written as JSON.
type form uint8

const (
	nothing form = iota // a column whose values are all null
	boolean
	signed32
	signed64
	unsigned32
	unsigned64
	float16
	float32bits
	float64bits
	decimal
	date
	clock
	stamp
	stamp96
	text
	jsonText
	uuid
	hexadecimal
)

// typed is what a schema says of a leaf's values.
type typed struct {
	storage
	as     form
	scale  int   // decimal
	unit   int64 // clock, stamp: nanoseconds
	utc    bool
	binary bool // text without a mark that it is one
}

// typeOf reads the marks of a leaf, the old ones where there are no new ones. A mark that does not fit what is
// stored is passed over.
func typeOf(e *format.SchemaElement) typed {
	t := typed{storage: storage{e.Type.V, int(max(0, e.TypeLength.V))}, unit: 1}
	switch t.physic {
	case format.Boolean:
		t.as = boolean
	case format.Int32:
		t.as = signed32
	case format.Int64:
		t.as = signed64
	case format.Int96:
		t.as = stamp96
	case format.Float:
		t.as = float32bits
	case format.Double:
		t.as = float64bits
	case format.ByteArray:
		t.as, t.binary = text, true
	default:
		t.as = hexadecimal
	}
	if e.LogicalType.Value != nil {
		t.logical(e)
	} else if e.ConvertedType.Valid {
		t.converted(e)
	}
	return t
}

func (t *typed) logical(e *format.SchemaElement) {
	switch l := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType:
		t.bytesAre(text)
	case *format.JsonType:
		t.bytesAre(jsonText)
	case *format.BsonType, *format.GeometryType, *format.GeographyType:
		t.bytesAre(hexadecimal)
	case *format.NullType:
		t.as = nothing
	case *format.UUIDType:
		if t.physic == format.FixedLenByteArray && e.TypeLength.V == 16 {
			t.as = uuid
		}
	case *format.Float16Type:
		if t.physic == format.FixedLenByteArray && e.TypeLength.V == 2 {
			t.as = float16
		}
	case *format.IntType:
		t.integers(l.IsSigned)
	case *format.DecimalType:
		t.decimals(int(l.Scale))
	case *format.DateType:
		t.dates()
	case *format.TimeType:
		t.times(clock, unitOf(l.Unit), l.IsAdjustedToUTC)
	case *format.TimestampType:
		t.times(stamp, unitOf(l.Unit), l.IsAdjustedToUTC)
	}
}

func (t *typed) converted(e *format.SchemaElement) {
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum:
		t.bytesAre(text)
	case deprecated.Json:
		t.bytesAre(jsonText)
	case deprecated.Bson:
		t.bytesAre(hexadecimal)
	case deprecated.Decimal:
		t.decimals(int(e.Scale.V))
	case deprecated.Date:
		t.dates()
	case deprecated.TimeMillis:
		t.times(clock, 1e6, true)
	case deprecated.TimeMicros:
		t.times(clock, 1e3, true)
	case deprecated.TimestampMillis:
		t.times(stamp, 1e6, true)
	case deprecated.TimestampMicros:
		t.times(stamp, 1e3, true)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		t.integers(false)
	}
}

func (t *typed) bytesAre(as form) {
	if t.physic == format.ByteArray {
		t.as, t.binary = as, false
	}
}

func (t *typed) integers(signed bool) {
	switch {
	case signed:
	case t.physic == format.Int32:
		t.as = unsigned32
	case t.physic == format.Int64:
		t.as = unsigned64
	}
}

func (t *typed) decimals(scale int) {
	const most = 1000 // digits; the least that holds what anybody writes
	if scale < 0 || scale > most {
		return
	}
	switch t.physic {
	case format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray:
		t.as, t.scale, t.binary = decimal, scale, false
	}
}

func (t *typed) dates() {
	if t.physic == format.Int32 {
		t.as = date
	}
}

func (t *typed) times(as form, unit int64, utc bool) {
	if t.physic == format.Int32 && as == clock || t.physic == format.Int64 {
		t.as, t.unit, t.utc = as, unit, utc
	}
}

func unitOf(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1e6
	case *format.MicroSeconds:
		return 1e3
	}
	return 1
}
