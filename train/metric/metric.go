package metric

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Metric adds up what one number is made of. It is for one goroutine.
type Metric interface {
	Name() string // accuracy
	// Add takes the output of a batch, an array whose first axis is the batch's rows, and
	// the batch. Both may be reused by the caller afterwards.
	Add(output *tensor.Dense, b data.Batch) error
	// Value is the number for all that was added since Reset; NaN for nothing.
	Value() float64
	Reset()
}

// Score is a number by name.
type Score struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Scores are numbers by name, in an order.
type Scores []Score

// Get finds a number; ok is false where there is none of that name.
func (s Scores) Get(name string) (v float64, ok bool) {
	for _, one := range s {
		if one.Name == name {
			return one.Value, true
		}
	}
	return 0, false
}

// String gives loss 0.1361, accuracy 0.9583.
func (s Scores) String() string {
	parts := make([]string, len(s))
	for i, one := range s {
		parts[i] = fmt.Sprintf("%s %.4g", one.Name, one.Value)
	}
	return strings.Join(parts, ", ")
}
