package metric_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// Ten rows: logits[i][c] = sin(7i + 3c) of four classes, their squares as distances,
// targets[i][q] = 1000 + cos(2i + 5q) and predictions that are off by 0.3·sin(3i + q).
const rows, classes = 10, 4

var labels = []int64{3, 0, 0, 1, 2, 1, 1, 2, 3, 0}

func grid(columns int, f func(i, c float64) float64) []float64 {
	out := make([]float64, 0, rows*columns)
	for i := range rows {
		for c := range columns {
			out = append(out, f(float64(i), float64(c)))
		}
	}
	return out
}

func logit(i, c float64) float64    { return math.Sin(float64(7*i) + float64(3*c)) }
func distance(i, c float64) float64 { return logit(i, c) * logit(i, c) }
func target(i, q float64) float64   { return 1000 + math.Cos(float64(2*i)+float64(5*q)) }
func guess(i, q float64) float64 {
	return target(i, q) + float64(0.3*math.Sin(float64(3*i)+q))
}

func dense(v any, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
}

// batch is the rows from lo to below hi, with the output that a metric of them is given.
func batch(output []float64, columns, lo, hi int) (*tensor.Dense, data.Batch) {
	n := hi - lo
	return dense(append([]float64(nil), output[lo*columns:hi*columns]...), n, columns), data.Batch{Rows: n, Values: map[string]*tensor.Dense{
		"y": dense(append([]int64(nil), labels[lo:hi]...), n),
		"t": dense(grid(2, target)[2*lo:2*hi], n, 2),
	}}
}

// TestValues compares with values that Python computes by the definitions, for any division into
// batches.
func TestValues(t *testing.T) {
	logits, distances, guesses := grid(classes, logit), grid(classes, distance), grid(2, guess)
	for _, c := range []struct {
		m       metric.Metric
		name    string
		output  []float64
		columns int
		want    float64
	}{
		{metric.Accuracy("y"), "accuracy", logits, classes, 0.7},
		{metric.Accuracy("y", 2, 3), "accuracy", logits, classes, 4.0 / 6},
		{metric.Nats("y"), "nats", logits, classes, 1.312265912641181},
		{metric.Nats("y", 2), "nats", logits, classes, 1.1753266069722619},
		{metric.Bits("y"), "bits", logits, classes, 1.8931995244950617},
		{metric.Perplexity("y"), "perplexity", logits, classes, 3.7145810996806707},
		{metric.ARI("y"), "ARI", logits, classes, 0.2028985507246377},
		{metric.Inertia(), "inertia", distances, classes, 3.204244936329741},
		{metric.AbsoluteError("t"), "absolute error", guesses, 2, 0.14307674288926933},
		{metric.SquaredError("t"), "squared error", guesses, 2, 0.028613730565543078},
		{metric.R2("t"), "R²", guesses, 2, 0.9416806181004526},
		{metric.NewConfusion("y"), "F1", logits, classes, 0.6916666666666667},
	} {
		if c.m.Name() != c.name {
			t.Errorf("%s is called %s", c.name, c.m.Name())
		}
		if v := c.m.Value(); !math.IsNaN(v) {
			t.Errorf("%s of nothing is %v", c.name, v)
		}
		for _, cuts := range [][]int{{0, 10}, {0, 3, 4, 10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
			c.m.Reset()
			for i, hi := range cuts[1:] {
				output, b := batch(c.output, c.columns, cuts[i], hi)
				if err := c.m.Add(output, b); err != nil {
					t.Fatal(err)
				}
			}
			if v := c.m.Value(); !(math.Abs(v-c.want) <= 1e-12) {
				t.Errorf("%s in batches cut at %v is %v, want %v", c.name, cuts, v, c.want)
			}
		}
	}
}

// narrowed is float32 and int32 instead.
func narrowed(output *tensor.Dense, b data.Batch) (*tensor.Dense, data.Batch) {
	small := func(t *tensor.Dense) *tensor.Dense {
		switch d := t.Data().(type) {
		case []float64:
			out := make([]float32, len(d))
			for i, v := range d {
				out[i] = float32(v)
			}
			return dense(out, t.Shape()...)
		case []int64:
			out := make([]int32, len(d))
			for i, v := range d {
				out[i] = int32(v)
			}
			return dense(out, t.Shape()...)
		}
		return t
	}
	values := map[string]*tensor.Dense{}
	for name, v := range b.Values {
		values[name] = small(v)
	}
	return small(output), data.Batch{Rows: b.Rows, Values: values}
}

// TestAllocations: a batch allocates nothing, in either precision, after one as large.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		m       metric.Metric
		output  []float64
		columns int
	}{
		{metric.Accuracy("y", 7), grid(classes, logit), classes}, {metric.Nats("y"), grid(classes, logit), classes},
		{metric.Inertia(), grid(classes, distance), classes}, {metric.NewConfusion("y"), grid(classes, logit), classes},
		{metric.SquaredError("t"), grid(2, guess), 2}, {metric.R2("t"), grid(2, guess), 2}, {metric.ARI("y"), grid(classes, logit), classes},
	} {
		wide, b := batch(c.output, c.columns, 0, rows)
		narrow, small := narrowed(wide, b)
		for _, in := range []struct {
			output *tensor.Dense
			b      data.Batch
		}{{wide, b}, {narrow, small}} {
			if n := testing.AllocsPerRun(20, func() {
				c.m.Reset()
				for range 3 {
					if err := c.m.Add(in.output, in.b); err != nil {
						t.Fatal(err)
					}
				}
			}); n != 0 {
				t.Errorf("%s allocates %v times for %v", c.m.Name(), n, in.output.Dtype())
			}
		}
	}
}

// TestNotNumbers: the values for outputs with NaN and infinities.
func TestNotNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	y := func(v ...int64) *tensor.Dense { return dense(v, len(v)) }
	reals := func(v ...float64) *tensor.Dense { return dense(v, len(v)) }
	for i, c := range []struct {
		m      metric.Metric
		output []float64 // of two columns, or one beside real targets
		column *tensor.Dense
		want   float64
	}{
		{metric.Accuracy("y"), []float64{nan, 1, 1, nan, 3, 3}, y(0, 0, 0), 1.0 / 3},
		{metric.Nats("y"), []float64{nan, 1}, y(1), nan},
		{metric.Nats("y"), []float64{0, -inf}, y(1), inf},
		{metric.Nats("y"), []float64{0, -inf}, y(0), 0},
		{metric.Nats("y"), []float64{-inf, -inf}, y(0), nan},
		{metric.Nats("y"), []float64{1e30, -1e30}, y(0), 0},
		{metric.Nats("y", 5), []float64{nan, nan, 0, 0}, y(5, 1), math.Ln2},
		{metric.Perplexity("y", 1), []float64{0, 0}, y(1), nan},
		{metric.Inertia(), []float64{1, 2, nan, 1}, y(0, 0), nan},
		{metric.ARI("y"), []float64{nan, 0, nan, 0, 1, 0, 1, 0}, y(7, 7, 8, 8), 1},
		{metric.NewConfusion("y"), []float64{nan, 0, 1, 0, 0, 1}, y(0, 0, 1), (2.0/3 + 1) / 2},
		{metric.AbsoluteError("y"), []float64{1, nan}, reals(1, 2), nan},
		{metric.SquaredError("y"), []float64{1, inf}, reals(1, 2), inf},
		{metric.R2("y"), []float64{1}, reals(1), nan},
		{metric.R2("y"), []float64{3, 3}, reals(3, 3), 1},
		{metric.R2("y"), []float64{3, 4}, reals(3, 3), 0},
		{metric.R2("y"), []float64{3, 4}, reals(3, nan), nan},
		{metric.R2("y"), []float64{-1, 3}, reals(0, 2), 0},
	} {
		n := c.column.Shape()[0]
		if err := c.m.Add(dense(c.output, n, len(c.output)/n), data.Batch{Rows: n, Values: map[string]*tensor.Dense{"y": c.column}}); err != nil {
			t.Fatal(err)
		}
		if v := c.m.Value(); v != c.want && !(math.Abs(v-c.want) < 1e-15) && !(math.IsNaN(v) && math.IsNaN(c.want)) {
			t.Errorf("%d: %s is %v, want %v", i, c.m.Name(), v, c.want)
		}
	}
}

// TestClusters: the output may be numbers of clusters, and pairs are counted across batches.
func TestClusters(t *testing.T) {
	m := metric.ARI("y")
	for i := range 2 {
		if err := m.Add(dense([]int32{int32(5 - i), int32(5 - i)}, 2), data.Batch{Rows: 2, Values: map[string]*tensor.Dense{"y": dense([]int32{int32(i), int32(i)}, 2)}}); err != nil {
			t.Fatal(err)
		}
	}
	if v := m.Value(); v != 1 {
		t.Errorf("the same clusters in two batches score %v", v)
	}
}

// TestConfusion shows the table and its rates.
func TestConfusion(t *testing.T) {
	c := metric.NewConfusion("y", "ant", "bee", "löwe")
	if c.String() != "no rows" || c.Classes() != 0 || c.Count(0, 0) != 0 || !math.IsNaN(c.Recall(3)) {
		t.Errorf("nothing prints as %q", c)
	}
	nan := math.NaN()
	scores := []float64{9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 9, 0, nan, 0, 0, 0, 9, 0}
	b := data.Batch{Rows: 6, Values: map[string]*tensor.Dense{"y": dense([]int32{0, 0, 0, 1, 1, 1}, 6)}}
	for range 4 {
		if err := c.Add(dense(scores, 6, 3), b); err != nil {
			t.Fatal(err)
		}
	}
	const want = `      ant  bee  löwe  NaN  precision  recall      F1
ant     4    4     4    0          1  0.3333     0.5
bee     0    8     0    4     0.6667  0.6667  0.6667
löwe    0    0     0    0          0     NaN       0
`
	if got := c.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v := c.Value(); math.Abs(v-(0.5+2.0/3)/3) > 1e-15 || c.Classes() != 3 || c.Count(0, 2) != 4 || c.Count(1, 3) != 0 {
		t.Errorf("macro F1 is %v", v)
	}
	c.Reset()
	if err := c.Add(dense(scores[:4], 2, 2), data.Batch{Rows: 2, Values: map[string]*tensor.Dense{"y": dense([]int32{0, 1}, 2)}}); err != nil || c.Classes() != 2 {
		t.Errorf("after Reset: %d classes, %v", c.Classes(), err)
	}
}

// TestMistakes: an output that does not fit is an error with the metric's name.
func TestMistakes(t *testing.T) {
	y := data.Batch{Rows: 2, Values: map[string]*tensor.Dense{"y": dense([]int32{0, 5}, 2), "t": dense([]float32{1, 2}, 2), "b": dense([]bool{true, false}, 2)}}
	four := dense([]float32{1, 2, 3, 4}, 2, 2)
	turned := dense([]float32{1, 2, 3, 4}, 2, 2)
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	confusion := metric.NewConfusion("z")
	z := data.Batch{Rows: 1, Values: map[string]*tensor.Dense{"z": dense([]int64{0}, 1)}}
	if err := confusion.Add(dense([]float64{1, 2, 3}, 1, 3), z); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m      metric.Metric
		output *tensor.Dense
		b      data.Batch
		want   string
	}{
		{metric.Accuracy("label"), four, y, `accuracy: the batch has no column "label"`},
		{metric.Accuracy("t"), four, y, `accuracy: column "t" is float32(2): want integers, row-major`},
		{metric.Accuracy("y"), nil, y, `accuracy: the output is nothing: want float32 or float64, row-major`},
		{metric.Accuracy("y"), turned, y, `accuracy: the output is float32(2, 2): want float32 or float64, row-major`},
		{metric.Accuracy("y"), dense([]float32{1, 2, 3}, 3), y, `accuracy: the output is float32(3) for 2 labels: want as many numbers for each`},
		{metric.Accuracy("y"), four, y, `accuracy: label 1 of the batch: 5: want a class below 2`},
		{metric.Bits("y"), four, y, `bits: label 1 of the batch: 5: want a class below 2`},
		{metric.ARI("y"), dense([]int32{1}, 1), y, `ARI: the output is int32(1) for 2 labels: want a cluster for each`},
		{metric.ARI("y"), dense([]bool{true, true}, 2), y, `ARI: the output is bool(2): want float32 or float64, row-major`},
		{metric.Inertia(), dense([]float32{1, 2, 3}, 3), y, `inertia: the output is float32(3) for 2 rows: want as many numbers for each`},
		{metric.AbsoluteError("y"), four, y, `absolute error: column "y" is int32(2): want float32 or float64, row-major`},
		{metric.SquaredError("t"), four, y, `squared error: the output is float32(2, 2) for float32(2) in column "t": want as many numbers`},
		{metric.R2("x"), four, y, `R²: the batch has no column "x"`},
		{metric.NewConfusion("y"), four, y, `confusion: label 1 of the batch: 5: want a class below 2`},
		{confusion, dense([]float64{1, 2}, 1, 2), z, `confusion: label 0 of the batch: scores of 2 classes after scores of 3`},
	} {
		if err := c.m.Add(c.output, c.b); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestScores(t *testing.T) {
	s := metric.Scores{{Name: "loss", Value: 0.136142}, {Name: "accuracy", Value: 0.9583333}}
	if got := fmt.Sprint(s); got != "loss 0.1361, accuracy 0.9583" {
		t.Error(got)
	}
	if v, ok := s.Get("accuracy"); !ok || v != 0.9583333 {
		t.Error(v, ok)
	}
	if _, ok := s.Get("ARI"); ok || strings.Contains(s.String(), "ARI") {
		t.Error("a score that is not there is found")
	}
}
