package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The attribute types of operations. An operation is compared with ==, so its
// attributes hold no slices, and no raw floats: 0 and -0 must differ, and a NaN
// must equal itself.

// Float is a float64 attribute, kept as its bit pattern.
type Float uint64

// Bits makes an attribute of a number.
func Bits(v float64) Float { return Float(math.Float64bits(v)) }

// Value is the number.
func (f Float) Value() float64 { return math.Float64frombits(uint64(f)) }

// String is the shortest decimal that reads back as the same bits; NaN is that of
// [math.NaN], and any other NaN is printed by its bits.
func (f Float) String() string {
	v := f.Value()
	if v != v && f != Bits(math.NaN()) {
		return fmt.Sprintf("nan:%#x", uint64(f))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// MarshalText is String.
func (f Float) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the form of String.
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
	*f = Bits(v)
	return nil
}

// AxisSet is a set of axis indices.
type AxisSet uint8

// AxesOf makes a set.
func AxesOf(indices ...int) AxisSet {
	var s AxisSet
	for _, i := range indices {
		s |= 1 << i
	}
	return s
}

// Has reports whether axis i is in the set.
func (s AxisSet) Has(i int) bool { return s>>i&1 == 1 }

// List gives the indices in order.
func (s AxisSet) List() []int {
	var out []int
	for i := range MaxRank {
		if s.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// String gives [0 2].
func (s AxisSet) String() string { return IntsOf(s.List()...).String() }

// MarshalText is String.
func (s AxisSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the form of String.
func (s *AxisSet) UnmarshalText(b []byte) error {
	var v Ints
	if err := v.UnmarshalText(b); err != nil {
		return err
	}
	*s = 0
	for _, i := range v.List() {
		if i < 0 || i >= MaxRank {
			return fmt.Errorf("axis %d: want 0 to %d", i, MaxRank-1)
		}
		*s |= 1 << i
	}
	return nil
}

// Ints is a list of at most MaxRank integers: a permutation, sizes, starts.
type Ints struct {
	n int // a word, so that there is no gap and the list is hashed as one piece of memory
	v [MaxRank]int
}

// IntsOf makes a list; what is over MaxRank is cut off.
func IntsOf(v ...int) Ints {
	var s Ints
	s.n = copy(s.v[:], v)
	return s
}

// Len is the number of integers.
func (s Ints) Len() int { return s.n }

// At is integer i.
func (s Ints) At(i int) int { return s.v[i] }

// List gives the integers.
func (s Ints) List() []int { return append([]int(nil), s.v[:s.n]...) }

// String gives [1 0 2].
func (s Ints) String() string {
	return strings.ReplaceAll(fmt.Sprint(s.v[:s.n]), ",", "")
}

// MarshalText is String.
func (s Ints) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the form of String.
func (s *Ints) UnmarshalText(b []byte) error {
	t := string(b)
	if len(t) < 2 || t[0] != '[' || t[len(t)-1] != ']' {
		return fmt.Errorf("list %q: want [1 0 2]", t)
	}
	var v Ints
	for _, f := range strings.Fields(t[1 : len(t)-1]) {
		i, err := strconv.Atoi(f)
		if err != nil || v.n == MaxRank {
			return fmt.Errorf("list %q: want at most %d integers", t, MaxRank)
		}
		v.v[v.n] = i
		v.n++
	}
	*s = v
	return nil
}
