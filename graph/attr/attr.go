// Package attr has types for the attributes of operations: numbers, sets of axes and short lists.
//
// A graph compares operations with ==, so that an attribute holds no slice, and no raw float64: 0
// and −0 must differ, and a NaN must equal itself. The types here are compared by their contents:
//
//	type Leaky struct {
//		Slope attr.Float   // attr.FloatOf(0.1)
//		Axes  attr.AxisSet // attr.AxesOf(0, 2)
//	}
//
// Each has a text, which the text form of a graph prints and reads: Leaky{slope=0.1 axes=[0 2]}.
package attr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// limit is the largest number of axes of a node, graph.MaxRank.
const limit = 8

// Float is a float64, kept as its bits.
type Float uint64

// FloatOf returns v as an attribute. It keeps the sign of a zero and the bits of a NaN.
func FloatOf(v float64) Float { return Float(math.Float64bits(v)) }

// Value returns the number.
func (f Float) Value() float64 { return math.Float64frombits(uint64(f)) }

// String returns the shortest decimal that reads back as the same bits: "0.1", "-0", "+Inf". A NaN
// other than that of [math.NaN] is printed by its bits: "nan:0x7ff8000000000abc".
func (f Float) String() string {
	v := f.Value()
	if v != v && f != FloatOf(math.NaN()) {
		return fmt.Sprintf("nan:%#x", uint64(f))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// MarshalText returns the text of String.
func (f Float) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the text of String.
func (f *Float) UnmarshalText(b []byte) error {
	if bits, ok := strings.CutPrefix(string(b), "nan:"); ok {
		u, err := strconv.ParseUint(bits, 0, 64)
		if err != nil || !math.IsNaN(math.Float64frombits(u)) {
			return fmt.Errorf("number %q: want the bits of a NaN", b)
		}
		*f = Float(u)
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("number %q: want a decimal", b)
	}
	*f = FloatOf(v)
	return nil
}

// AxisSet is a set of the numbers of axes, from 0 to 7.
type AxisSet uint8

// AxesOf returns the set of the given numbers. It leaves out those that are not from 0 to 7.
func AxesOf(indices ...int) AxisSet {
	var s AxisSet
	for _, i := range indices {
		s |= 1 << uint(i) // 0 if i is negative or over 7
	}
	return s
}

// Has reports whether axis i is in the set.
func (s AxisSet) Has(i int) bool { return s>>uint(i)&1 == 1 }

// List returns the numbers in ascending order.
func (s AxisSet) List() []int {
	var out []int
	for i := range limit {
		if s.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// String returns the numbers in ascending order: "[0 2]".
func (s AxisSet) String() string { return IntsOf(s.List()...).String() }

// MarshalText returns the text of String.
func (s AxisSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of String.
func (s *AxisSet) UnmarshalText(b []byte) error {
	var v Ints
	if err := v.UnmarshalText(b); err != nil {
		return err
	}
	*s = 0
	for _, i := range v.List() {
		if i < 0 || i >= limit {
			return fmt.Errorf("axis %d: want 0 to %d", i, limit-1)
		}
		*s |= 1 << i
	}
	return nil
}

// Ints is a list of at most 8 integers, one for each axis: a permutation, sizes, starts.
type Ints struct {
	n int // a word, so that there is no gap and the list is hashed as one piece of memory
	v [limit]int
}

// IntsOf returns the list of the given integers, of which it keeps the first 8.
func IntsOf(v ...int) Ints {
	var s Ints
	s.n = copy(s.v[:], v)
	return s
}

// Len returns the number of integers.
func (s Ints) Len() int { return s.n }

// At returns integer i. It panics if i is not from 0 to 7, and returns 0 past the end of the list.
func (s Ints) At(i int) int { return s.v[i] }

// List returns the integers as a new slice.
func (s Ints) List() []int { return append([]int(nil), s.v[:s.n]...) }

// String returns the integers in brackets: "[1 0 2]".
func (s Ints) String() string { return fmt.Sprint(s.v[:s.n]) }

// MarshalText returns the text of String.
func (s Ints) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of String.
func (s *Ints) UnmarshalText(b []byte) error {
	t := string(b)
	if len(t) < 2 || t[0] != '[' || t[len(t)-1] != ']' {
		return fmt.Errorf("list %q: want [1 0 2]", t)
	}
	var v Ints
	for _, f := range strings.Fields(t[1 : len(t)-1]) {
		i, err := strconv.Atoi(f)
		if err != nil || v.n == limit {
			return fmt.Errorf("list %q: want at most %d integers", t, limit)
		}
		v.v[v.n] = i
		v.n++
	}
	*s = v
	return nil
}
