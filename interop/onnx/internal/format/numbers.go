package format

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// ints appends the integers of a field, packed or one.
func (d *decoder) ints(f field, to []int64) []int64 {
	if f.typ != protowire.BytesType {
		add(d, f, &to, d.int(f))
		return to
	}
	n := 0
	d.varints(f.data, f.end, func(int64, uint64) { n++ })
	if !d.take(f.at, 8*int64(n)) {
		return nil
	}
	to = slices.Grow(to, n)
	d.varints(f.data, f.end, func(_ int64, v uint64) { to = append(to, int64(v)) })
	return to
}

// floats appends the floats of a field, packed or one.
func (d *decoder) floats(f field, to []float32) []float32 {
	if f.typ != protowire.BytesType {
		d.typed(f, protowire.Fixed32Type, "floats")
		add(d, f, &to, math.Float32frombits(uint32(f.v)))
		return to
	}
	if n := f.end - f.data; n%4 != 0 {
		d.fail(f.at, "%s: field %d has %d bytes of floats, which are 4 each", f.in, f.num, n)
	} else if d.take(f.at, n) {
		to = slices.Grow(to, int(n/4))
	}
	for at := f.data; at < f.end && d.err == nil; at += 4 {
		if b := d.peek(at, 4); b != nil {
			to = append(to, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
	return to
}

// varints calls f with the place and the value of each of the packed integers between two places.
func (d *decoder) varints(at, end int64, f func(at int64, v uint64)) {
	for at < end && d.err == nil {
		b := d.peek(at, int(min(windowSize, end-at)))
		for whole := at+int64(len(b)) == end; len(b) > 0 && (whole || len(b) >= 10) && d.err == nil; {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				d.fail(at, "no integer begins here")
				break
			}
			f(at, v)
			at += int64(n)
			b = b[n:]
		}
	}
}
