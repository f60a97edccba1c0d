package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Standardiser shifts and scales a column to mean 0 and standard deviation 1. Fit it on the rows
// that a model is trained on, and apply it to all rows that the model gets. As JSON it is saved
// with the model's checkpoint:
//
//	{"column":"x","mean":[5.8,3.1],"std":[0.8,0.4]}
type Standardiser struct {
	Column string `json:"column"`
	// Mean and Std are those of k quantities, in the column's units; element j of a row is of
	// quantity j mod k.
	Mean []float64 `json:"mean"`
	Std  []float64 `json:"std"`
}

// FitStandardiser returns the mean and deviation of each element of a column's rows: of each
// feature of x[n d], or each pixel of x[n h w], computed as [Standardise] does for a table. The
// data set is read three times, 1024 rows at a time. A column that is missing or not of
// tensor.Float32 or Float64 is an error.
func FitStandardiser(ctx context.Context, d Dataset, column string) (*Standardiser, error) {
	return fitStandardiser(ctx, d, column, func(row []int) int { return tensor.Shape(row).TotalSize() })
}

// FitChannels is [FitStandardiser] with one mean and deviation for each channel of images x[n h w
// c], or for all pixels of x[n h w]. A column of another rank is an error.
func FitChannels(ctx context.Context, d Dataset, column string) (*Standardiser, error) {
	return fitStandardiser(ctx, d, column, func(row []int) int {
		switch len(row) {
		case 2:
			return 1
		case 3:
			return row[2]
		}
		return 0
	})
}

// fitStandardiser fits as many quantities as a row has by its shape; 0 is an error.
func fitStandardiser(ctx context.Context, d Dataset, column string, quantities func(row []int) int) (*Standardiser, error) {
	source := InOrder(d, blockRows)
	b := Batch{}
	next := func() (err error) {
		if b, err = source.Next(ctx); err == nil && b.Values[column] == nil {
			err = fmt.Errorf("data: no column %s", input.Quote(column))
		}
		return err
	}
	if err := next(); err != nil {
		return nil, err
	}
	row := b.Values[column].Shape()[1:]
	k := quantities(row)
	if k == 0 {
		return nil, fmt.Errorf("data: column %s: rows of %v are no images: want x[n h w] or x[n h w c]", input.Quote(column), []int(row))
	}
	var wide []float64
	mean, std, err := moments(k, func(visit func([]float64)) error {
		if err := source.Seek(Position{}); err != nil {
			return err
		}
		for source.Position().Epoch == 0 {
			if err := next(); err != nil {
				return err
			}
			switch t := b.Values[column]; t.Dtype() {
			case tensor.Float64:
				visit(t.Float64s())
			case tensor.Float32:
				wide = wide[:0]
				for _, v := range t.Float32s() {
					wide = append(wide, float64(v))
				}
				visit(wide)
			default:
				return fmt.Errorf("data: %w", notFloats(column, t))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	z := &Standardiser{Column: column, Mean: mean, Std: std}
	return z, z.check()
}

func notFloats(column string, t *tensor.Dense) error {
	return fmt.Errorf("column %s has elements of type %v: want float32 or float64", input.Quote(column), t.Dtype())
}

// check returns an error for a Standardiser that no fit returns, but a file may hold.
func (z *Standardiser) check() error {
	if z == nil {
		return errors.New("data: there is no Standardiser to scale by")
	}
	if len(z.Mean) == 0 || len(z.Mean) != len(z.Std) {
		return fmt.Errorf("data: standardising %s by %d means and %d deviations: want as many of each", input.Quote(z.Column), len(z.Mean), len(z.Std))
	}
	for j, m := range z.Mean {
		if s := z.Std[j]; !scalable(m, s) {
			return fmt.Errorf("data: standardising %s: cannot scale quantity %d by mean %g and deviation %g", input.Quote(z.Column), j, m, s)
		}
	}
	return nil
}

// Scale changes t, whose first axis is the rows, to (t − mean)/std, in place. It is an error if t
// is not of tensor.Float32 or Float64, or if its rows do not consist of the same quantities.
func (z *Standardiser) Scale(t *tensor.Dense) error {
	return z.change(t, func(v, mean, std float64) float64 { return (v - mean) / std })
}

// Unscale is the inverse of [Standardiser.Scale], t·std + mean, for predictions of a scaled column.
func (z *Standardiser) Unscale(t *tensor.Dense) error {
	return z.change(t, func(v, mean, std float64) float64 { return float64(v*std) + mean })
}

func (z *Standardiser) change(t *tensor.Dense, f func(v, mean, std float64) float64) error {
	if err := z.check(); err != nil {
		return err
	}
	if msg := tensors.CheckColumn(t); msg != "" {
		return fmt.Errorf("data: standardising %s: %s", input.Quote(z.Column), msg)
	}
	k := len(z.Mean)
	if width := t.Shape().TotalSize() / t.Shape()[0]; width%k != 0 {
		return fmt.Errorf("data: standardising %s: rows of %v are not made of %d quantities", input.Quote(z.Column), []int(t.Shape()[1:]), k)
	}
	switch t.Dtype() {
	case tensor.Float32:
		x := t.Float32s()
		for i, v := range x {
			x[i] = float32(f(float64(v), z.Mean[i%k], z.Std[i%k]))
		}
	case tensor.Float64:
		x := t.Float64s()
		for i, v := range x {
			x[i] = f(v, z.Mean[i%k], z.Std[i%k])
		}
	default:
		return fmt.Errorf("data: %w", notFloats(z.Column, t))
	}
	return nil
}

// Apply returns s with its column scaled; s itself does not change. Errors are those of Scale.
func (z *Standardiser) Apply(s *Set) (*Set, error) {
	if err := z.check(); err != nil {
		return nil, err
	}
	t := s.Column(z.Column)
	if t == nil {
		return nil, s.missing(z.Column)
	}
	scaled := tensors.Like(t, s.rows)
	copy(tensors.Bytes(scaled), tensors.Bytes(t))
	if err := z.Scale(scaled); err != nil {
		return nil, err
	}
	return s.With(z.Column, scaled)
}

// Change returns [Standardiser.Scale] as a change for [Map], for data that is larger than memory.
func (z *Standardiser) Change() Change {
	own := Standardiser{z.Column, slices.Clone(z.Mean), slices.Clone(z.Std)}
	return func(_ *rand.Rand, b Batch) error {
		b.Rowwise()
		t := b.Values[own.Column]
		if t == nil {
			return fmt.Errorf("no column %s", input.Quote(own.Column))
		}
		return own.Scale(t)
	}
}

// scalable reports whether a mean and a deviation can be scaled by.
func scalable(mean, std float64) bool {
	return !math.IsNaN(mean-mean) && !math.IsNaN(std-std) && std > 0
}
