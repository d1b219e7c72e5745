package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// appendValue appends the value that was taken last and is not null, texts and JSON apart.
func (l *leaf) appendValue(b []byte) []byte {
	if !l.storage.number() {
		return l.appendBytes(b)
	}
	n := l.number()
	switch l.as {
	case boolean:
		return strconv.AppendBool(b, n != 0)
	case signed32:
		return strconv.AppendInt(b, int64(int32(n)), 10)
	case signed64:
		return strconv.AppendInt(b, int64(n), 10)
	case unsigned32:
		return strconv.AppendUint(b, uint64(uint32(n)), 10)
	case float32bits:
		return appendFloat(b, float64(math.Float32frombits(uint32(n))), 32)
	case float64bits:
		return appendFloat(b, math.Float64frombits(n), 64)
	case decimal:
		return l.appendDecimal(b, strconv.AppendInt(nil, l.signed(n), 10))
	case date:
		return appendQuotedTime(b, time.Unix(int64(int32(n))*86400, 0), "2006-01-02")
	case clock:
		return l.appendClock(b, l.signed(n))
	case stamp:
		return l.appendStamp(b, l.signed(n))
	}
	return strconv.AppendUint(b, n, 10)
}

// signed widens the bits of an integer.
func (t *typed) signed(n uint64) int64 {
	if t.physic == format.Int32 {
		return int64(int32(n))
	}
	return int64(n)
}

func (l *leaf) appendBytes(b []byte) []byte {
	raw := l.bytes()
	switch {
	case l.as == float16:
		return appendFloat(b, half(binary.LittleEndian.Uint16(raw)), 32)
	case l.as == decimal:
		n := new(big.Int).SetBytes(raw)
		if len(raw) > 0 && raw[0] >= 0x80 { // two's complement
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))))
		}
		return l.appendDecimal(b, n.Append(nil, 10))
	case l.as == stamp96:
		day := int64(binary.LittleEndian.Uint32(raw[8:])) - 2440588 // the Julian day of 1970-01-01
		return appendQuotedTime(b, time.Unix(day*86400, int64(binary.LittleEndian.Uint64(raw))), stampLayout)
	case l.as == uuid:
		return appendUUID(b, raw)
	}
	return append(hex.AppendEncode(append(b, '"'), raw), '"')
}

// appendFloat appends the least digits that read back the same, as Python writes them: 1.0, 0.1, 1e+16. What
// is no number gets the names that JSON readers know, ours among them.
func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, bits)
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, bits)
	for _, c := range b[from:] {
		if c == '.' {
			return b
		}
	}
	return append(b, '.', '0')
}

// half widens a half-precision number. IEEE 754, binary16.
func half(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	exp, frac := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// appendDecimal appends a number with as many digits behind the point as the scale says.
func (t *typed) appendDecimal(b, digits []byte) []byte {
	if digits[0] == '-' {
		b, digits = append(b, '-'), digits[1:]
	}
	for len(digits) <= t.scale {
		digits = append([]byte{'0'}, digits...)
	}
	whole := len(digits) - t.scale
	b = append(b, digits[:whole]...)
	if t.scale > 0 {
		b = append(append(b, '.'), digits[whole:]...)
	}
	return b
}

const (
	stampLayout = "2006-01-02T15:04:05.999999999"
	clockLayout = "15:04:05.999999999"
)

func (t *typed) appendClock(b []byte, n int64) []byte {
	if n < 0 || n > math.MaxInt64/t.unit {
		return strconv.AppendInt(b, n, 10)
	}
	return appendQuotedTime(b, time.Unix(0, n*t.unit), clockLayout)
}

func (t *typed) appendStamp(b []byte, n int64) []byte {
	second := int64(time.Second) / t.unit
	at := time.Unix(n/second, n%second*t.unit)
	layout := stampLayout
	if t.utc {
		layout += "Z"
	}
	return appendQuotedTime(b, at, layout)
}

func appendQuotedTime(b []byte, at time.Time, layout string) []byte {
	return append(at.UTC().AppendFormat(append(b, '"'), layout), '"')
}

func appendUUID(b, u []byte) []byte {
	b = append(b, '"')
	for i, n := 0, 0; n < len(u); i++ {
		size := [...]int{4, 2, 2, 2, 6}[i]
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, u[n:n+size])
		n += size
	}
	return append(b, '"')
}

// openJSON appends a text as the JSON that it is, if it is JSON of a kind. Both tell the reader of JSON, which
// has the last word on what is mended in it.
func openJSON(b, raw []byte, kinds jsonKind, doc *jsonscan.Doc) ([]byte, bool) {
	from := len(b)
	b = append(b, raw...)
	doc.NonFinite = true
	v, err := doc.Parse(b[from:])
	if err != nil || kinds != anything && kinds&kindOf(v) == 0 {
		return b[:from], false
	}
	return b, true
}

func kindOf(v jsonscan.Value) jsonKind {
	switch v.Kind() {
	case jsonscan.Object:
		return members
	case jsonscan.Array:
		if first := v.At(0).Kind(); first == jsonscan.Invalid || first >= jsonscan.Array {
			return records | lists
		}
		return lists
	}
	return 0
}
