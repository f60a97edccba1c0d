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

// Confusion is a confusion matrix: it counts, for each true class, how often each class was
// predicted. Its value as a [Metric] is the macro F1, the mean of [Confusion.F1] over the classes
// that occur or are predicted. Its text form is an aligned table, with a row for each true class
// and a column for each predicted one:
//
//	            setosa  versicolor  virginica  precision  recall      F1
//	setosa          10           0          0          1       1       1
//	versicolor       0           9          1     0.8182     0.9  0.8571
//	virginica        0           2          8     0.8889     0.8  0.8421
//
// A column "NaN" follows if an output was not a number.
type Confusion struct {
	labelled
	names  []string
	n      int   // classes
	counts []int // by label and prediction; prediction n is NaN
	add    func(v floats, lo, hi int, y int64) error
}

// NewConfusion returns a confusion matrix of labels and outputs like those of [Accuracy]. The names
// are those of classes 0, 1, …; further classes are called by their numbers.
func NewConfusion(labels string, names ...string) *Confusion {
	c := &Confusion{labelled: labelled{name: labels}, names: names}
	c.add = c.one
	return c
}

// Name returns "F1".
func (c *Confusion) Name() string { return "F1" }

// Reset sets all counts to 0.
func (c *Confusion) Reset() { c.n, c.counts = 0, c.counts[:0] }

// Add counts the labels of a batch. A label that is not a class of the output is an error.
func (c *Confusion) Add(output *tensor.Dense, b data.Batch) error {
	if c == nil {
		return errors.New("confusion: the matrix is nil: NewConfusion makes one")
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

// Value returns the macro F1, or NaN if nothing was counted.
func (c *Confusion) Value() float64 {
	sum, n := 0.0, 0
	for k := range c.n {
		if f := c.F1(k); !math.IsNaN(f) {
			sum, n = sum+f, n+1
		}
	}
	return sum / float64(n)
}

// Classes returns the number of classes, 0 before the first batch.
func (c *Confusion) Classes() int { return c.n }

// Count returns the number of labels of the class label for which the class predicted was
// predicted; 0 for classes that do not exist.
func (c *Confusion) Count(label, predicted int) int {
	if label < 0 || label >= c.n || predicted < 0 || predicted >= c.n {
		return 0
	}
	return c.counts[label*(c.n+1)+predicted]
}

// Precision returns the share of the predictions of a class that are right, or NaN if there are
// none.
func (c *Confusion) Precision(class int) float64 {
	return float64(c.Count(class, class)) / float64(c.taken(class))
}

// Recall returns the share of a class that was predicted as such, or NaN if it does not occur.
func (c *Confusion) Recall(class int) float64 {
	return float64(c.Count(class, class)) / float64(c.labels(class))
}

// F1 returns the harmonic mean of [Confusion.Precision] and [Confusion.Recall], which is
// 2·right/(labels + predictions): 0 if nothing is right, NaN if the class neither occurs nor is
// predicted.
func (c *Confusion) F1(class int) float64 {
	return 2 * float64(c.Count(class, class)) / float64(c.labels(class)+c.taken(class))
}

// taken returns how often a class was predicted.
func (c *Confusion) taken(class int) (n int) {
	for k := range c.n {
		n += c.Count(k, class)
	}
	return n
}

// labels returns how often a class occurs, NaN outputs included.
func (c *Confusion) labels(class int) (n int) {
	if class < 0 || class >= c.n {
		return 0
	}
	for _, m := range c.counts[class*(c.n+1) : (class+1)*(c.n+1)] {
		n += m
	}
	return n
}

// called returns the name of a class.
func (c *Confusion) called(class int) string {
	if class < len(c.names) {
		return c.names[class]
	}
	return fmt.Sprint(class)
}

// String returns the table, or "no rows" if nothing was counted.
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
	// Names are aligned left, which a tabwriter that aligns numbers right cannot do.
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
	_ = w.Flush() // writing to a buffer does not fail
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(strings.TrimPrefix(line, "  "), " \n") + "\n")
	}
	return out.String()
}
