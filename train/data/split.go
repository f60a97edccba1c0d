package data

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Split returns a set of the rows i for which held(i) is false, and one of the others, which are
// held out. It is an error if either is empty.
//
//	fit, test, err := digits.Split(func(i int) bool { return i%5 == 4 })
func (s *Set) Split(held func(i int) bool) (rest, out *Set, err error) {
	if held == nil {
		return nil, nil, errors.New("data: Split has no function that holds rows out")
	}
	parts := make([][]int, 2)
	for i := range s.Rows() {
		p := 0
		if held(i) {
			p = 1
		}
		parts[p] = append(parts[p], i)
	}
	sets, err := s.subsets(parts)
	if err != nil {
		return nil, nil, err
	}
	return sets[0], sets[1], nil
}

// RandomSplit deals the rows at random into sets of the given shares, which must add up to 1.
// Within each they keep their order:
//
//	parts, err := digits.RandomSplit(1, 0.8, 0.1, 0.1) // training, validation, test
//
// A part without rows is an error.
func (s *Set) RandomSplit(seed uint64, shares ...float64) ([]*Set, error) {
	return s.deal(Order(seed, 0, s.Rows()), shares)
}

// StratifiedSplit is [Set.RandomSplit] in which each part also gets its share, up to rounding, of
// the rows of every class. The classes are the values of the named column, [n] of tensor.Int32,
// Int64, Int8 or Uint8; another column is an error.
func (s *Set) StratifiedSplit(column string, seed uint64, shares ...float64) ([]*Set, error) {
	order, err := s.byClass(column, seed)
	if err != nil {
		return nil, err
	}
	return s.deal(order, shares)
}

// Folds cuts the rows at random into k parts whose sizes differ by at most one row. For each part
// it yields the set of all other rows, to fit, and the part, held out:
//
//	folds, err := iris.Folds(5, 1)
//	for fit, held := range folds { … }
//
// It is an error if k is below 2 or above the number of rows.
func (s *Set) Folds(k int, seed uint64) (iter.Seq2[*Set, *Set], error) {
	return s.folds(k, Order(seed, 0, s.Rows()))
}

// StratifiedFolds is [Set.Folds] in which the parts also differ by at most one row in every class;
// the classes are those of [Set.StratifiedSplit].
func (s *Set) StratifiedFolds(column string, k int, seed uint64) (iter.Seq2[*Set, *Set], error) {
	order, err := s.byClass(column, seed)
	if err != nil {
		return nil, err
	}
	return s.folds(k, order)
}

// byClass returns a random order of the rows in which those of a class follow each other.
func (s *Set) byClass(column string, seed uint64) ([]int, error) {
	t := s.Column(column)
	if t == nil {
		return nil, s.missing(column)
	}
	var class func(i int) int64
	switch {
	case t.Shape().TotalSize() != s.rows:
	case t.Dtype() == tensor.Int32:
		class = func(i int) int64 { return int64(t.Int32s()[i]) }
	case t.Dtype() == tensor.Int64:
		class = func(i int) int64 { return t.Int64s()[i] }
	case t.Dtype() == tensor.Int8:
		class = func(i int) int64 { return int64(t.Int8s()[i]) }
	case t.Dtype() == tensor.Uint8:
		class = func(i int) int64 { return int64(t.Uint8s()[i]) }
	}
	if class == nil {
		return nil, fmt.Errorf("data: column %s%v of %v holds no classes: want one int32, int64, int8 or uint8 a row", input.Quote(column), []int(t.Shape()), t.Dtype())
	}
	order := Order(seed, 0, s.rows)
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := class(i), class(j); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	return order, nil
}

// deal gives each row in turn to the part that is furthest below its share so far, so that every
// run of the order is dealt in nearly these shares.
func (s *Set) deal(order []int, shares []float64) ([]*Set, error) {
	total := 0.0
	for _, share := range shares {
		if !(share > 0) {
			return nil, fmt.Errorf("data: a split into shares %v: want positive numbers", shares)
		}
		total += share
	}
	if !(math.Abs(total-1) < 1e-6) {
		return nil, fmt.Errorf("data: a split into shares %v: they add up to %g, not 1", shares, total)
	}
	parts := make([][]int, len(shares))
	for k, row := range order {
		to, furthest := 0, math.Inf(-1)
		for p, share := range shares {
			due := float64(share*float64(k+1)) - float64(len(parts[p]))
			if due > furthest+1e-9 { // ties go to the first, whatever the rounding
				to, furthest = p, due
			}
		}
		parts[to] = append(parts[to], row)
	}
	for _, rows := range parts {
		slices.Sort(rows)
	}
	return s.subsets(parts)
}

// subsets returns sets of the given rows, none of which may be empty.
func (s *Set) subsets(parts [][]int) ([]*Set, error) {
	sizes, empty := make([]int, len(parts)), false
	for p := range parts {
		sizes[p] = len(parts[p])
		empty = empty || sizes[p] == 0
	}
	if empty {
		return nil, fmt.Errorf("data: a split of %d rows into %v: want some in each", s.Rows(), sizes)
	}
	sets := make([]*Set, len(parts))
	for p := range parts {
		var err error
		if sets[p], err = s.Subset(parts[p]); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

func (s *Set) folds(k int, order []int) (iter.Seq2[*Set, *Set], error) {
	if k < 2 || k > len(order) {
		return nil, fmt.Errorf("data: %d folds of %d rows: want at least 2, and a row in each", k, len(order))
	}
	fold := make([]int, len(order)) // by row
	for i, row := range order {
		fold[row] = i % k
	}
	return func(yield func(fit, held *Set) bool) {
		for f := range k {
			fit, held, err := s.Split(func(i int) bool { return fold[i] == f })
			if err != nil || !yield(fit, held) { // err is nil, because each part has rows
				return
			}
		}
	}, nil
}
