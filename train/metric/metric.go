package metric

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Metric computes one number from the outputs for many batches. It is for one goroutine.
type Metric interface {
	Name() string // accuracy
	// Add takes the output for a batch, an array whose first axis is the batch's rows, and the
	// batch. The caller may reuse both afterwards.
	Add(output *tensor.Dense, b data.Batch) error
	// Value returns the number for all that was added since Reset, or NaN for nothing.
	Value() float64
	Reset()
}

// Score is a number with a name.
type Score struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Scores is a list of numbers with names.
type Scores []Score

// Get returns the number of that name; ok is false if there is none.
func (s Scores) Get(name string) (v float64, ok bool) {
	for _, one := range s {
		if one.Name == name {
			return one.Value, true
		}
	}
	return 0, false
}

// String returns, for example, "loss 0.1361, accuracy 0.9583".
func (s Scores) String() string {
	parts := make([]string, len(s))
	for i, one := range s {
		parts[i] = fmt.Sprintf("%s %.4g", one.Name, one.Value)
	}
	return strings.Join(parts, ", ")
}
