package metric

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Confusion counts how often each class was taken for which: a [Metric] whose value is
// the macro F1, the mean of [Confusion.F1] over the classes that occur or are predicted.
// Its text form is an aligned table, a row for each class that is right and a column for
// each that is predicted:
//
//	            setosa  versicolor  virginica  precision  recall      F1
//	setosa          10           0          0          1       1       1
//	versicolor       0           9          1     0.8182     0.9  0.8571
//	virginica        0           2          8     0.8889     0.8  0.8421
//
// A column "NaN" follows where an output was not a number.
type Confusion struct {
	labelled
	names  []string
	n      int   // classes
	counts []int // of label and prediction; prediction n is NaN
	add    func(v floats, lo, hi int, y int64) error
}

// NewConfusion takes labels and output as [Accuracy] does. Classes are called by the
// names given, in their order, else by their numbers.
func NewConfusion(labels string, names ...string) *Confusion {
	c := &Confusion{labelled: labelled{name: labels}, names: names}
	c.add = c.one
	return c
}

// Name is F1.
func (c *Confusion) Name() string { return "F1" }

// Reset forgets what was counted.
func (c *Confusion) Reset() { c.n, c.counts = 0, c.counts[:0] }

// Add counts the rows of a batch. A label that is no class is an error.
func (c *Confusion) Add(output *tensor.Dense, b data.Batch) error {
	if c == nil {
		return errors.New("confusion: there is none to count in: NewConfusion makes one")
	}
	return c.each("confusion", output, b, c.add)
}

func (c *Confusion) one(v floats, lo, hi int, y int64) error {
	if c.n == 0 {
		c.n = hi - lo
		for range c.n * (c.n + 1) {
			c.counts = append(c.counts, 0)
		}
	}
	if hi-lo != c.n {
		return fmt.Errorf("scores of %d classes after scores of %d", hi-lo, c.n)
	}
	taken := v.argmax(lo, hi)
	if taken < 0 {
		taken = c.n
	}
	c.counts[int(y)*(c.n+1)+taken]++
	return nil
}

// Value is the macro F1; NaN for nothing.
func (c *Confusion) Value() float64 {
	sum, n := 0.0, 0
	for k := range c.n {
		if f := c.F1(k); !math.IsNaN(f) {
			sum, n = sum+f, n+1
		}
	}
	return sum / float64(n)
}

// Classes is the number of classes; 0 before the first batch.
func (c *Confusion) Classes() int { return c.n }

// Count is how often a label of one class was taken for another. A class that there is
// not was never met.
func (c *Confusion) Count(label, taken int) int {
	if label < 0 || label >= c.n || taken < 0 || taken >= c.n {
		return 0
	}
	return c.counts[label*(c.n+1)+taken]
}

// Precision is which part of what was taken for a class is of it; NaN if nothing was.
func (c *Confusion) Precision(class int) float64 {
	return float64(c.Count(class, class)) / float64(c.taken(class))
}

// Recall is which part of a class was taken for it; NaN if it does not occur.
func (c *Confusion) Recall(class int) float64 {
	return float64(c.Count(class, class)) / float64(c.labels(class))
}

// F1 is the harmonic mean of [Confusion.Precision] and [Confusion.Recall],
// 2·right/(labels + taken): 0 if nothing is right, NaN if the class neither occurs nor
// is predicted.
func (c *Confusion) F1(class int) float64 {
	return 2 * float64(c.Count(class, class)) / float64(c.labels(class)+c.taken(class))
}

// taken is how often something was taken for a class.
func (c *Confusion) taken(class int) (n int) {
	for k := range c.n {
		n += c.Count(k, class)
	}
	return n
}

// labels is how often a class occurs, NaN outputs included.
func (c *Confusion) labels(class int) (n int) {
	if class < 0 || class >= c.n {
		return 0
	}
	for _, m := range c.counts[class*(c.n+1) : (class+1)*(c.n+1)] {
		n += m
	}
	return n
}

// called is what a class is called.
func (c *Confusion) called(class int) string {
	if class < len(c.names) {
		return c.names[class]
	}
	return fmt.Sprint(class)
}

// String gives the table; "no rows" for nothing.
func (c *Confusion) String() string {
	if c.n == 0 {
		return "no rows"
	}
	lost := 0
	for k := range c.n {
		lost += c.counts[k*(c.n+1)+c.n]
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	// Names stand to the left, which a table of numbers set to the right has no column for.
	widest := 0
	for k := range c.n {
		widest = max(widest, len([]rune(c.called(k))))
	}
	row := func(name string, cells func(column int) string, rates ...any) {
		fmt.Fprintf(w, "%-*s\t", widest, name)
		for k := range c.n {
			fmt.Fprintf(w, "%s\t", cells(k))
		}
		if lost > 0 {
			fmt.Fprintf(w, "%s\t", cells(c.n))
		}
		for _, r := range rates {
			fmt.Fprintf(w, "%v\t", r)
		}
		fmt.Fprintln(w)
	}
	row("", func(k int) string {
		if k == c.n {
			return "NaN"
		}
		return c.called(k)
	}, "precision", "recall", "F1")
	for k := range c.n {
		rate := func(v float64) string { return fmt.Sprintf("%.4g", v) }
		row(c.called(k), func(j int) string { return fmt.Sprint(c.counts[k*(c.n+1)+j]) }, rate(c.Precision(k)), rate(c.Recall(k)), rate(c.F1(k)))
	}
	_ = w.Flush() // a buffer takes all
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(strings.TrimPrefix(line, "  "), " \n") + "\n")
	}
	return out.String()
}
