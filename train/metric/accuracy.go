package metric

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Accuracy measures the share of labels, from 0 to 1, at which the output is largest along its last
// axis: output[n c] against labels[n], or output[n t c] against labels[n t]. The labels are
// integers in the named column. Among equal outputs the first counts, and NaN is never right.
// Labels that are among the ignored are skipped; any other that is outside [0, c) is an error of
// Add.
func Accuracy(labels string, ignored ...int64) Metric {
	a := &accuracy{labelled: labelled{labels, ignored}}
	a.add = a.one
	return a
}

type accuracy struct {
	labelled
	right, all int
	add        func(v floats, lo, hi int, y int64) error // made once, so that a batch allocates nothing
}

func (a *accuracy) Name() string { return "accuracy" }
func (a *accuracy) Reset()       { a.right, a.all = 0, 0 }

func (a *accuracy) Value() float64 {
	if a.all == 0 {
		return math.NaN()
	}
	return float64(a.right) / float64(a.all)
}

func (a *accuracy) Add(output *tensor.Dense, b data.Batch) error {
	return a.each("accuracy", output, b, a.add)
}

func (a *accuracy) one(v floats, lo, hi int, y int64) error {
	a.all++
	if int64(v.argmax(lo, hi)) == y {
		a.right++
	}
	return nil
}
