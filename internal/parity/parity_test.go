package parity

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// A family gives the Go form of the calls in a file of cases, by the name of the operation.
type family map[string]func(c *call) []*graph.Node

// one is the list of results of an operation that has one.
func one(y *graph.Node) []*graph.Node { return []*graph.Node{y} }

// A number is a float of a file, where infinities and NaN are strings.
type number float64

func (v *number) UnmarshalJSON(text []byte) error {
	s := string(text)
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	f, err := strconv.ParseFloat(s, 64)
	*v = number(f)
	return err
}

type array struct {
	Name  string
	Shape []int
	Data  []number
}

func (a array) value(typ graph.Type) graph.Value {
	v := graph.NewValue(typ)
	for i, x := range a.Data {
		v.Data[i] = typ.DType.Round(float64(x))
	}
	return v
}

type testCase struct {
	Op                                   string
	Attrs                                map[string]json.RawMessage
	Arrays, Ints, Results, First, Second []array
}

// A call is a case whose operation is being built in a graph.
type call struct {
	*testing.T
	testCase
	g    *graph.Graph
	dt   graph.DType
	feed graph.Values
}

// x returns the operand of that name: a parameter of the call's float type, or an input of integers.
func (c *call) x(name string) *graph.Node {
	c.Helper()
	if n := c.g.Lookup(name); n != nil {
		return n
	}
	for _, a := range c.Arrays {
		if a.Name == name {
			n := c.g.Param(name, c.dt, graph.Dims(a.Shape...)...)
			c.feed[n] = a.value(n.Type())
			return n
		}
	}
	for _, a := range c.Ints {
		if a.Name == name {
			n := c.g.Input(name, graph.I64, graph.Dims(a.Shape...)...)
			c.feed[n] = a.value(n.Type())
			return n
		}
	}
	c.Fatalf("no operand %q", name)
	return nil
}

// has reports whether the case has an attribute.
func (c *call) has(name string) bool { return c.Attrs[name] != nil }

// attr reads an attribute into v.
func (c *call) attr(name string, v any) {
	c.Helper()
	if err := json.Unmarshal(c.Attrs[name], v); err != nil {
		c.Fatalf("attribute %s: %v", name, err)
	}
}

// int returns an attribute that is a whole number.
func (c *call) int(name string) (v int) { c.Helper(); c.attr(name, &v); return v }

// bool returns an attribute that is true or false.
func (c *call) bool(name string) (v bool) { c.Helper(); c.attr(name, &v); return v }

// ints returns an attribute that is a list of whole numbers.
func (c *call) ints(name string) (v []int) { c.Helper(); c.attr(name, &v); return v }

// compare holds every case of testdata/NAME.json.gz to its values and derivatives: in float64 by the
// definitions and on the tape, to 1e-10 of the largest element of each array, or of 1, and in float32 on the
// tape, values alone, to 1e-4. Every operation of the file must be in f, and the other way round,
// with 20 cases or more.
func compare(t *testing.T, name string, f family) {
	t.Helper()
	count := map[string]int{}
	for _, tc := range read(t, name) {
		count[tc.Op]++
		t.Run(fmt.Sprintf("%s/%d", tc.Op, count[tc.Op]), func(t *testing.T) {
			if f[tc.Op] == nil {
				t.Fatalf("no form in Go of %s", tc.Op)
			}
			for _, dt := range []graph.DType{graph.F64, graph.F32} {
				c := &call{T: t, testCase: tc, g: graph.New(tc.Op), dt: dt, feed: graph.Values{}}
				c.check(f[tc.Op](c))
			}
		})
	}
	for op := range f {
		if count[op] < 20 {
			t.Errorf("%d cases of %s: want 20 or more", count[op], op)
		}
	}
}

func read(t *testing.T, name string) (cases []testCase) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// check compares the results, and the derivatives that the case has.
func (c *call) check(results []*graph.Node) {
	c.Helper()
	if len(results) != len(c.Results) {
		c.Fatalf("%d results, want %d", len(results), len(c.Results))
	}
	var nodes []*graph.Node
	var want []array
	add := func(kind string, n *graph.Node, a array) {
		c.Helper()
		if n.IsValid() && !slices.Equal(n.Shape().Sizes(), a.Shape) {
			c.Fatalf("%s %s has shape %v, want %v", kind, a.Name, n.Shape(), a.Shape)
		}
		a.Name = kind + " " + a.Name
		nodes, want = append(nodes, n), append(want, a)
	}
	var floats []*graph.Node
	for i, y := range results {
		add(fmt.Sprintf("result %d", i), y, c.Results[i])
		if y.DType().IsFloat() {
			floats = append(floats, y)
		}
	}
	if c.dt == graph.F64 && c.First != nil {
		var xs []*graph.Node
		for _, a := range c.Arrays {
			xs = append(xs, c.x(a.Name))
		}
		first := grad.OrZero(weighted(floats, math.Cos, 0), xs...)
		for i, d := range first {
			add("first derivative by", d, c.First[i])
		}
		if c.Second != nil {
			for i, d := range grad.OrZero(weighted(first, math.Sin, 1), xs...) {
				add("second derivative by", d, c.Second[i])
			}
		}
	}
	if err := c.g.Err(); err != nil {
		c.Fatal(err)
	}
	onTape, err := reftest.Tape(0, c.feed, nodes)
	if err != nil {
		c.Fatal(err)
	}
	tol := 1e-4
	if c.dt == graph.F64 {
		tol = 1e-10
		byDefinition, err := ref.Eval(trait.Env{}, c.feed, nodes...)
		if err != nil {
			c.Fatal(err)
		}
		for i, v := range byDefinition {
			c.near("by the definition", v, want[i], tol)
		}
	}
	for i, v := range onTape {
		c.near("on the tape", v, want[i], tol)
	}
}

func (c *call) near(how string, got graph.Value, a array, tol float64) {
	c.Helper()
	want := make([]float64, len(a.Data))
	for i, v := range a.Data {
		want[i] = float64(v)
	}
	if err := reftest.Near(got.Data, want, tol*max(1, reftest.Largest(want))); err != nil {
		c.Errorf("%v, %s: %s: %v", c.dt, how, a.Name, err)
	}
}

// weighted is Σ_k Σ_i y_k[i] · wave(i + k + offset), as make.py has it.
func weighted(ys []*graph.Node, wave func(float64) float64, offset int) *graph.Node {
	terms := make([]*graph.Node, len(ys))
	for k, y := range ys {
		w := make([]float64, y.Shape().Len())
		for i := range w {
			w[i] = wave(float64(i + k + offset))
		}
		terms[k] = ops.Sum(ops.Mul(y, y.Graph().Constant(y.DType(), w, y.Shape().Axes()...)))
	}
	total := terms[0]
	for _, term := range terms[1:] {
		total = ops.Add(total, term)
	}
	return total
}
