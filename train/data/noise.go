package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Noise adds a normal draw of mean 0 and standard deviation std, in the column's units, to each
// element of a column of tensor.Float32 or Float64. A std that is negative or not finite is an
// error, and so is a column that is missing or of another type. Package nn/augment changes images.
func Noise(column string, std float64) Change {
	return func(rng *rand.Rand, b Batch) error {
		b.Rowwise()
		t := b.Values[column]
		switch {
		case !(std >= 0) || math.IsInf(std, 0):
			return fmt.Errorf("Noise: a deviation of %g: want 0 or more", std)
		case t == nil:
			return fmt.Errorf("Noise: no column %s", input.Quote(column))
		case t.Dtype() == tensor.Float32:
			addNoise(t.Float32s(), std, rng, b)
		case t.Dtype() == tensor.Float64:
			addNoise(t.Float64s(), std, rng, b)
		default:
			return fmt.Errorf("Noise: %w", notFloats(column, t))
		}
		return nil
	}
}

// addNoise adds to each element the draw that it has in the whole batch.
func addNoise[T float32 | float64](x []T, std float64, rng *rand.Rand, b Batch) {
	skip := func(rows int) {
		if b.Rows > 0 {
			for range rows * (len(x) / b.Rows) {
				rng.NormFloat64()
			}
		}
	}
	skip(b.From)
	for i := range x {
		x[i] += T(std * rng.NormFloat64())
	}
	skip(b.Of - b.From - b.Rows)
}

// ReplaceNaN replaces each NaN of a column of tensor.Float32 or Float64 by v. Once the column is
// standardised, 0 is its mean. A column that is missing or of another type is an error.
func ReplaceNaN(column string, v float64) Change {
	return func(_ *rand.Rand, b Batch) error {
		b.Rowwise()
		t := b.Values[column]
		switch {
		case t == nil:
			return fmt.Errorf("ReplaceNaN: no column %s", input.Quote(column))
		case t.Dtype() == tensor.Float32:
			replaceNaN(t.Float32s(), float32(v))
		case t.Dtype() == tensor.Float64:
			replaceNaN(t.Float64s(), v)
		default:
			return fmt.Errorf("ReplaceNaN: %w", notFloats(column, t))
		}
		return nil
	}
}

func replaceNaN[T float32 | float64](x []T, v T) {
	for i := range x {
		if x[i] != x[i] {
			x[i] = v
		}
	}
}
