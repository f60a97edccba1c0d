package metric

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// AbsoluteError measures the mean of |ŷ − y| over all elements, in y's units: the output is ŷ[n …]
// and the named column y[n …], both of floats and of the same shape. It is NaN if either holds NaN.
func AbsoluteError(targets string) Metric {
	return &deviation{name: "absolute error", targets: targets, of: math.Abs}
}

// SquaredError measures the mean of (ŷ − y)² over all elements, for arrays like those of
// [AbsoluteError].
func SquaredError(targets string) Metric {
	return &deviation{name: "squared error", targets: targets, of: func(d float64) float64 { return d * d }}
}

type deviation struct {
	name, targets string
	of            func(d float64) float64
	sum           float64
	n             int
}

func (e *deviation) Name() string   { return e.name }
func (e *deviation) Reset()         { e.sum, e.n = 0, 0 }
func (e *deviation) Value() float64 { return e.sum / float64(e.n) }

func (e *deviation) Add(output *tensor.Dense, b data.Batch) error {
	found, correct, err := pair(output, b, e.targets)
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	for i := range found.len() {
		e.sum += float64(e.of(found.at(i) - correct.at(i)))
	}
	e.n += found.len()
	return nil
}

// R2 measures the coefficient of determination, the share of the targets' variance that the output
// explains: 1 − Σ(ŷ − y)²/Σ(y − ȳ)², where ȳ is the mean over all rows, separately for each
// quantity of a row. A perfect output has 1, the constant ȳ has 0, and there is no lower bound. If
// the targets are all equal it is 1 if the output is right and 0 otherwise. It is NaN for fewer
// than two rows, and if a number is NaN. This is scikit-learn's r2_score with
// multioutput="variance_weighted".
func R2(targets string) Metric { return &determination{targets: targets} }

// determination sums by Welford's method (1962), so that a large mean costs no digits.
type determination struct {
	targets      string
	rows         int
	mean         []float64 // of each quantity
	spread, left float64   // Σ(y − ȳ)² and Σ(ŷ − y)²
}

func (r *determination) Name() string { return "R²" }
func (r *determination) Reset()       { *r = determination{targets: r.targets, mean: r.mean[:0]} }

func (r *determination) Value() float64 {
	switch {
	case r.rows < 2 || math.IsNaN(r.spread) || math.IsNaN(r.left):
		return math.NaN()
	case r.spread == 0 && r.left == 0:
		return 1
	case r.spread == 0:
		return 0
	}
	return 1 - r.left/r.spread
}

func (r *determination) Add(output *tensor.Dense, b data.Batch) error {
	found, correct, err := pair(output, b, r.targets)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name(), err)
	}
	n := found.len()
	if b.Rows < 1 || n%b.Rows != 0 || r.rows > 0 && n/b.Rows != len(r.mean) {
		return fmt.Errorf("%s: %d numbers in %d rows, after rows of %d: want as many in every row", r.Name(), n, b.Rows, len(r.mean))
	}
	if r.rows == 0 {
		for range n / b.Rows {
			r.mean = append(r.mean, 0)
		}
	}
	for i := range n {
		q := i % len(r.mean)
		if q == 0 {
			r.rows++
		}
		y := correct.at(i)
		before := y - r.mean[q]
		r.mean[q] += before / float64(r.rows)
		r.spread += float64(before * (y - r.mean[q]))
		d := found.at(i) - y
		r.left += float64(d * d)
	}
	return nil
}

// pair returns an output and the targets that it is compared with, which have as many elements.
func pair(output *tensor.Dense, b data.Batch, name string) (found, correct floats, err error) {
	t := b.Values[name]
	if t == nil {
		return found, correct, fmt.Errorf("the batch has no column %q", name)
	}
	correct, ok := reals(t)
	if !ok {
		return found, correct, fmt.Errorf("column %q is %s: want float32 or float64, row-major", name, describe(t))
	}
	if found, ok = reals(output); !ok {
		return found, correct, fmt.Errorf("the output is %s: want float32 or float64, row-major", describe(output))
	}
	if found.len() != correct.len() || found.len() == 0 {
		return found, correct, fmt.Errorf("the output is %s for %s in column %q: want as many numbers", describe(output), describe(t), name)
	}
	return found, correct, nil
}
