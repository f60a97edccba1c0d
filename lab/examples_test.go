package lab_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// Models whose inputs correspond have one task, whoever comes first; another size, and it is
// another task. Only what has the same task is compared by its own loss, seed by
// seed.
func TestCompareTasks(t *testing.T) {
	a, b, other := line("a", "", false), line("b", "", true), drawing("c", "x[j=9]", "y[j=9]*")
	p := lab.Config{Seeds: 5, Steps: 200, Optimisers: []train.Optimiser{train.SGD(0.1)}}
	res := compared(t, p, absolute("none of its own"), lab.Objective("", a), lab.Objective("", b), lab.Objective("", other))
	if !res.SameTask(0, 1) || !res.SameTask(1, 2) || res.SameTask(1, 3) {
		t.Errorf("tasks of %+v", res.Variants)
	}
	if x, y := res.Cells(1, lab.Setting{})[3].Loss[0], res.Cells(2, lab.Setting{})[3].Loss[0]; x != y {
		t.Errorf("the first losses are %v and %v on the same examples", x, y)
	}
	differences := res.Differences(0, lab.StudentT)
	if len(differences) != 3 {
		t.Fatalf("%d differences, want 3", len(differences))
	}
	var d []float64
	mean, ss := 0.0, 0.0
	for i, cell := range res.Cells(2, lab.Setting{}) {
		d = append(d, cell.End()-res.Cells(1, lab.Setting{})[i].End())
		mean += d[i] / 5
	}
	for _, v := range d {
		ss += (v - mean) * (v - mean)
	}
	want := math.Sqrt(ss / 4 / 5)
	got := differences[2]
	if got.A != 1 || got.B != 2 || math.Abs(got.Mean-mean) > 1e-15 || math.Abs(got.Error-want) > 1e-15 || math.Abs(got.Half-2.7764451052*want) > 1e-9*want {
		t.Errorf("difference %+v, want %v ± %v", got, mean, want)
	}
	var ps []float64
	for _, d := range differences {
		ps = append(ps, d.P)
	}
	for i, p := range lab.Holm(ps) {
		if d := differences[i]; d.Corrected != p || d.Beyond != (p <= 0.05) {
			t.Errorf("difference %d: %+v, want p = %v", i, d, p)
		}
	}
	if text := res.String(); !strings.Contains(text, "The tasks differ") {
		t.Errorf("the text does not say that the tasks differ:\n%s", text)
	}
}

// drawing makes a model with the given inputs, such as x[i=4 d=2] and label:i64<3[i=4]* for a target
// of whole numbers below 3. Floats are drawn from a normal distribution, or, with +, their absolute
// values. The output is the sum of all inputs but the targets times w, the loss its squared
// difference from the sum of the targets.
func drawing(name string, inputs ...string) func() (*builders.Model, error) {
	b := builders.Define(builders.Builder{Name: name, Title: name}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
		g := m.Graph
		var all []*graph.Node
		var below []int
		var positive []bool
		seen, wanted := g.Constant(dt, []float64{0}), g.Constant(dt, []float64{0})
		seen, wanted = ops.Sum(seen), ops.Sum(wanted)
		for _, text := range inputs {
			text, target := strings.CutSuffix(text, "*")
			head, rest, _ := strings.Cut(text, "[")
			head, plus := strings.CutSuffix(head, "+")
			path, kind, whole := strings.Cut(head, ":i64<")
			var axes []graph.Axis
			for f := range strings.FieldsSeq(strings.TrimSuffix(rest, "]")) {
				axis, size, _ := strings.Cut(f, "=")
				n := 0
				fmt.Sscan(size, &n)
				axes = append(axes, graph.Ax(axis, n))
			}
			of, most := dt, 0
			if whole {
				of = graph.I64
				fmt.Sscan(kind, &most)
			}
			n := g.Input(path, of, axes...)
			all, below, positive = append(all, n), append(below, most), append(positive, plus)
			if sum := ops.Sum(ops.Cast(n, dt)); target {
				wanted = ops.Add(wanted, sum)
			} else {
				seen = ops.Add(seen, sum)
			}
		}
		m.Output = ops.Mul(seen, g.Param("w", dt).Init(initial.Fill(0.5))).As("y")
		m.Loss = ops.Square(ops.Sub(m.Output, wanted)).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{}
			for i, n := range all {
				v := graph.NewValue(n.Type())
				for p := range v.Data {
					switch {
					case below[i] > 0:
						v.Data[p] = float64(rng.IntN(below[i]))
					case positive[i]:
						v.Data[p] = math.Abs(rng.NormFloat64())
					default:
						v.Data[p] = rng.NormFloat64()
					}
				}
				f[n] = v
			}
			return f
		}
	})
	return func() (*builders.Model, error) { return b.Build(nil, graph.F64) }
}

// TestInputsCorrespond: two models have one task if their inputs correspond one to one in what they
// are and in sizes, whatever axes and inputs are called, and then see the same numbers.
func TestInputsCorrespond(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		same     bool
		replaced bool
	}{
		{"x[i=4 d=2]; y[i=4]*", "x[i=4 c=2]; y[n=4]*", true, false},
		{"x[i=4 d=2]; y[i=4]*", "q[t=4 f=2]; t[t=4]*", true, false},
		{"x[i=4 d=2]", "x[i=4 d=3]", false, false},
		{"x[i=4 d=2]", "x[i=4 d=2]; y[i=4]*", true, false},            // a has what b draws
		{"x[i=4 d=2]", "q[i=4 d=2]; y[i=4]*", false, false},           // one to one, where names do not tell
		{"x[i=4]; y[i=4]*", "u[i=4]; v[i=4]*", true, false},           // the target tells
		{"x[i=4]; y[i=4]*", "v[i=4]*; u[i=4]", true, true},            // drawn in another order
		{"x[i=4]; z[i=4]", "u[i=4]; v[i=4]", false, false},            // two ways
		{"x[i=4]; z[i=4]", "z[j=4]; x[j=4]", true, true},              // names tell
		{"x[i=4]; z[i=4]", "z[j=4]; u[j=4]", true, true},              // one name tells, and leaves one
		{"l:i64<3[i=8]", "l:i64<5[i=8]", true, true},                  // those of a are among those of b
		{"l:i64<5[i=8]", "l:i64<3[i=8]", true, true},                  // and the other way about
		{"l:i64<3[i=8]; x[i=8]", "l[i=8]; x[i=8]", false, false},      // another type
		{"p+[i=8]; y[i=8]*", "x[i=8]; y[i=8]*", true, true},           // positive numbers are numbers
		{"x[i=8]; y[i=8]*; z[i=2]", "p+[i=8]; y[i=8]*", false, false}, // and not the other way about
	} {
		a, b := drawing("a", strings.Split(c.a, "; ")...), drawing("b", strings.Split(c.b, "; ")...)
		res := compared(t, lab.Config{Seeds: 1, Steps: 3, Optimisers: []train.Optimiser{train.SGD(1e-4)}}, lab.Objective("", a), lab.Objective("", b))
		if res.SameTask(0, 1) != c.same {
			t.Errorf("%s and %s: one task is %v, want %v", c.a, c.b, !c.same, c.same)
		}
		if replaced := res.Variants[0].Replaced || res.Variants[1].Replaced; replaced != c.replaced {
			t.Errorf("%s and %s: examples replaced is %v, want %v", c.a, c.b, replaced, c.replaced)
		}
		x, y := res.Cells(0, lab.Setting{})[0].Loss[0], res.Cells(1, lab.Setting{})[0].Loss[0]
		if all := strings.Count(c.a, ";") == strings.Count(c.b, ";"); c.same && all && x != y {
			t.Errorf("%s and %s: the first losses are %v and %v on the same numbers", c.a, c.b, x, y)
		}
		if text := res.String(); strings.Contains(text, "The tasks differ") == c.same || strings.Contains(text, "draws other examples") != c.replaced {
			t.Errorf("%s and %s: %s", c.a, c.b, text)
		}
	}
}

// TestModelsOfTheNotesHaveOneTask: the variants of attention differ in a letter alone.
func TestModelsOfTheNotesHaveOneTask(t *testing.T) {
	names := []string{"attention-dot", "attention-multiplicative", "attention-additive"}
	var variants []lab.Variant
	for _, name := range names {
		variants = append(variants, lab.Registered(name, nil))
	}
	res, err := lab.Compare(context.Background(), lab.Config{Seeds: 2, Steps: 5}, variants...)
	if err != nil {
		t.Fatal(err)
	}
	if !res.SameTask(0, 1) || !res.SameTask(0, 2) || slices.ContainsFunc(res.Variants, func(v lab.Compared) bool { return v.Replaced }) {
		t.Errorf("the tasks of %v differ:\n%v", names, res)
	}
	if n := len(res.Differences(0, lab.StudentT)); n != 3 {
		t.Errorf("%d differences of losses, want 3", n)
	}
}
