package metric

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// integers holds the elements of an array of integers, in one of four types.
type integers struct {
	narrow []int32
	wide   []int64
	signed []int8
	bytes  []uint8
}

func (v integers) len() int { return len(v.narrow) + len(v.wide) + len(v.signed) + len(v.bytes) }

func (v integers) at(i int) int64 {
	switch {
	case v.narrow != nil:
		return int64(v.narrow[i])
	case v.wide != nil:
		return v.wide[i]
	case v.signed != nil:
		return int64(v.signed[i])
	}
	return int64(v.bytes[i])
}

// floats holds the elements of an array of floats, in one of two types.
type floats struct {
	narrow []float32
	wide   []float64
}

func (v floats) len() int { return len(v.narrow) + len(v.wide) }

func (v floats) at(i int) float64 {
	if v.narrow != nil {
		return float64(v.narrow[i])
	}
	return v.wide[i]
}

// argmax returns the index of the largest element in [lo, hi), counted from lo, the first among
// equals, or −1 if one is NaN.
func (v floats) argmax(lo, hi int) int {
	if v.narrow != nil {
		return argmax(v.narrow[lo:hi])
	}
	return argmax(v.wide[lo:hi])
}

func argmax[F float32 | float64](v []F) int {
	best := 0
	for i, x := range v {
		if x != x {
			return -1
		}
		if x > v[best] {
			best = i
		}
	}
	return best
}

// surprise returns −log softmax of the elements in [lo, hi) at index y, counted from lo.
func (v floats) surprise(lo, hi, y int) float64 {
	if v.narrow != nil {
		return surprise(v.narrow[lo:hi], y)
	}
	return surprise(v.wide[lo:hi], y)
}

func surprise[F float32 | float64](v []F, y int) float64 {
	most, sum := float64(slices.Max(v)), 0.0
	for _, x := range v {
		sum += math.Exp(float64(x) - most)
	}
	return most - float64(v[y]) + math.Log(sum)
}

// wholes returns the elements of an array of integers.
func wholes(t *tensor.Dense) (v integers, ok bool) {
	switch {
	case t == nil || t.RequiresIterator() || t.DataOrder().IsColMajor():
	case t.Dtype() == tensor.Int32:
		return integers{narrow: t.Int32s()}, true
	case t.Dtype() == tensor.Int64:
		return integers{wide: t.Int64s()}, true
	case t.Dtype() == tensor.Int8:
		return integers{signed: t.Int8s()}, true
	case t.Dtype() == tensor.Uint8:
		return integers{bytes: t.Uint8s()}, true
	}
	return v, false
}

// reals returns the elements of an array of floats.
func reals(t *tensor.Dense) (v floats, ok bool) {
	switch {
	case t == nil || t.RequiresIterator() || t.DataOrder().IsColMajor():
	case t.Dtype() == tensor.Float32:
		return floats{narrow: t.Float32s()}, true
	case t.Dtype() == tensor.Float64:
		return floats{wide: t.Float64s()}, true
	}
	return v, false
}

// describe describes an array for an error.
func describe(t *tensor.Dense) string {
	if t == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v%v", t.Dtype(), t.Shape())
}

// column returns a batch's column of integers.
func column(b data.Batch, name string) (integers, error) {
	t := b.Values[name]
	if t == nil {
		return integers{}, fmt.Errorf("the batch has no column %q", name)
	}
	v, ok := wholes(t)
	if !ok {
		return v, fmt.Errorf("column %q is %s: want integers, row-major", name, describe(t))
	}
	return v, nil
}

// scores returns the elements of an output, and how many each of n rows or labels has.
func scores(output *tensor.Dense, n int, what string) (v floats, each int, err error) {
	v, ok := reals(output)
	if !ok {
		return v, 0, fmt.Errorf("the output is %s: want float32 or float64, row-major", describe(output))
	}
	if n == 0 || v.len() == 0 || v.len()%n != 0 {
		return v, 0, fmt.Errorf("the output is %s for %d %s: want as many numbers for each", describe(output), n, what)
	}
	return v, v.len() / n, nil
}

// labelled is a column of labels, some of which are skipped.
type labelled struct {
	name    string
	ignored []int64
}

// each calls f for every label that is not skipped, with the range of its scores in v. A label that
// is not a class is an error. An error of f is located; labels counted before it stay counted.
func (l labelled) each(what string, output *tensor.Dense, b data.Batch, f func(v floats, lo, hi int, y int64) error) error {
	labels, err := column(b, l.name)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	v, classes, err := scores(output, labels.len(), "labels")
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for i := range labels.len() {
		y := labels.at(i)
		if slices.Contains(l.ignored, y) {
			continue
		}
		if y < 0 || y >= int64(classes) {
			return fmt.Errorf("%s: label %d of the batch: %d: want a class below %d", what, i, y, classes)
		}
		if err := f(v, i*classes, (i+1)*classes, y); err != nil {
			return fmt.Errorf("%s: label %d of the batch: %w", what, i, err)
		}
	}
	return nil
}
