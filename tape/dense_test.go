package tape_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// TestTensorOfAnotherNumber: values that are not as many as their type says are refused by
// everything that takes tensors, at the line where the tensor was made, also where something else
// wants as many.
func TestTensorOfAnotherNumber(t *testing.T) {
	g := graph.New("sum")
	x := g.Input("x", graph.F32, graph.Ax("n", 3))
	y := ops.Sum(x)
	g.Param("w", graph.F32, graph.Ax("n", 3))
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	pair, _ := graph.NewShape(graph.Ax("n", 2))
	_, _, at, _ := runtime.Caller(0)
	for i, c := range []struct {
		made *tensor.Dense
		want string
	}{
		{tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1, 2}}), "the number of values for f32[n=3] is 2, want 3"},
		{tape.Tensor(graph.Value{Type: x.Type()}), "the number of values for f32[n=3] is 0, want 3"},
		{tape.Tensor(graph.Value{Type: graph.Type{DType: graph.F32, Shape: pair}, Data: []float64{1, 2, 3}}), "the number of values for f32[n=2] is 3, want 2"},
		{tape.Tensor(graph.Value{Data: []float64{1}}), "a value without an element type: want f32, f64, f16, bf16, i32, i64, i8, u8 or bool"},
	} {
		wrong := fmt.Sprintf("tape/dense_test.go:%d: Tensor: %s", at+5+i, c.want)
		wantOr(t, vm.Run(t.Context(), tape.Feed{x: c.made}), "input x: "+wrong)
		wantOr(t, vm.Store().Set("w", c.made), "store: w: "+wrong)
		wantOr(t, vm.Store().Add("v", c.made), "store: v: "+wrong)
		wantOr(t, vm.Store().Add("v", c.made.Clone().(*tensor.Dense)), "store: v: "+wrong)
		_, err := tape.ArrayOf(x.Type(), c.made)
		wantOr(t, err, wrong)
	}
}

// TestTensorOfOtherNumbers: numbers that their type does not hold are refused by everything that
// takes tensors, at the line where the tensor was made; those that it holds are taken.
func TestTensorOfOtherNumbers(t *testing.T) {
	g := graph.New("numbers")
	var of [graph.Bool + 1]*graph.Node
	var states [graph.Bool + 1]string
	var results []*graph.Node
	for dt := graph.F32; dt <= graph.Bool; dt++ {
		of[dt], states[dt] = g.Scalar(dt.String(), 1, dt), "state/"+dt.String()
		g.State(states[dt], dt)
		results = append(results, ops.Cast(of[dt], graph.F64))
	}
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(results...)), tape.NewStore(g))
	run(t, vm, nil)
	const whole, float, truth = " (write a whole number in its range, or convert the array with ops.Cast)", " (its finite numbers end at 3.4e38: use f64)", " (write 0 or 1)"
	for _, c := range []struct {
		dt   graph.DType
		v    float64
		text string // of the number that is refused; "" where it is held
		fix  string
	}{
		{graph.I32, .5, "0.5", whole}, {graph.I32, -1.7, "-1.7", whole}, {graph.I32, 1e30, "1e+30", whole}, {graph.I32, math.NaN(), "NaN", whole},
		{graph.I64, .5, "0.5", whole}, {graph.I64, 1e30, "1e+30", whole}, {graph.I64, math.Inf(1), "+Inf", whole},
		{graph.Bool, .5, "0.5", truth}, {graph.Bool, 2, "2", truth}, {graph.F32, 1e39, "1e+39", float}, {graph.F32, -1e300, "-1e+300", float},
		{graph.I32, -7, "", ""}, {graph.I64, 1 << 40, "", ""}, {graph.Bool, 1, "", ""}, {graph.F32, math.Inf(-1), "", ""}, {graph.F32, 3e38, "", ""}, {graph.F64, 1e300, "", ""},
	} {
		made := map[string]*tensor.Dense{"Scalar": tape.Scalar(c.dt, c.v), "Tensor": tape.Tensor(graph.Value{Type: graph.Type{DType: c.dt}, Data: []float64{c.v}})}
		_, _, line, _ := runtime.Caller(0)
		for call, made := range made {
			feed, store, read := "", "", ""
			if c.text != "" {
				read = fmt.Sprintf("tape/dense_test.go:%d: %s: %s is no value of type %v%s", line-1, call, c.text, c.dt, c.fix)
				feed, store = fmt.Sprintf("input %v: %s", c.dt, read), fmt.Sprintf("store: %s: %s", states[c.dt], read)
			}
			wantOr(t, vm.Run(t.Context(), tape.Feed{of[c.dt]: made}), feed)
			wantOr(t, vm.Store().Set(states[c.dt], made), store)
			array, err := tape.ArrayOf(graph.Type{DType: c.dt}, made)
			wantOr(t, err, read)
			if got := value(t, vm, results[c.dt-graph.F32])[0]; read != "" && got == c.v || read == "" && (got != c.dt.Round(c.v) || array.At(0) != got) {
				t.Errorf("%v of %v is %v, read as %v", c.v, c.dt, got, array.At(0))
			}
		}
	}
}

// TestTensorsAsTheyLie: a tensor is taken by its elements, however they lie in memory; a mask,
// and elements that no graph has, are refused, by everything that takes tensors.
func TestTensorsAsTheyLie(t *testing.T) {
	data := func() []float32 { return []float32{1, 2, 3, 4, 5, 6} }
	whole := func() *tensor.Dense { return tensor.New(tensor.WithShape(2, 3), tensor.WithBacking(data())) }
	columns := func() *tensor.Dense {
		return tensor.New(tensor.WithShape(2, 3), tensor.AsFortran(data()))
	}
	cut := func(d *tensor.Dense) *tensor.Dense {
		s, err := d.Slice(nil, tensor.S(1, 3))
		if err != nil {
			t.Fatal(err)
		}
		return s.(*tensor.Dense)
	}
	turned := whole()
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	masked := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking(data(), []bool{false, true, false, false, false, false}))
	const elements = "want float32, float64, int32, int64, int8, uint8 or bool"
	const whole32 = " (give []int32 for i32, []int64 for i64)"
	for _, c := range []struct {
		name  string
		t     *tensor.Dense
		want  []float32
		wrong string
	}{
		{"row-major", whole(), data(), ""},
		{"column-major", columns(), data(), ""},
		{"a slice", cut(whole()), []float32{2, 3, 5, 6}, ""},
		{"a slice of a column-major one", cut(columns()), []float32{2, 3, 5, 6}, ""},
		{"transposed", turned, []float32{1, 4, 2, 5, 3, 6}, ""},
		{"masked", masked, nil, "want a tensor without a mask: what its mask hides would count (feed the mask as an input of its own)"},
		{"ints", tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{1, 2})), nil, "elements of type int: " + elements + whole32},
		{"integers of two bytes", tensor.New(tensor.WithShape(2), tensor.WithBacking([]int16{1, 2})), nil, "elements of type int16: " + elements + whole32},
		{"strings", tensor.New(tensor.WithShape(2), tensor.WithBacking([]string{"a", "b"})), nil, "elements of type string: " + elements},
		{"complex numbers", tensor.New(tensor.WithShape(2), tensor.WithBacking([]complex128{1, 2})), nil, "elements of type complex128: " + elements},
	} {
		s := tape.NewStore(nil)
		wrong := ""
		if c.wrong != "" {
			wrong = "store: x: " + c.wrong
		}
		wantOr(t, s.Add("x", c.t), wrong)
		shape, _ := graph.NewShape(graph.Dims(c.t.Shape()...)...)
		_, err := tape.ArrayOf(graph.Type{DType: graph.F32, Shape: shape}, c.t)
		if strings.HasSuffix(c.wrong, whole32) {
			c.wrong = fmt.Sprintf("want elements of type f32, got %v (tape.Of converts numbers)", c.t.Dtype())
		}
		wantOr(t, err, c.wrong)
		if wrong != "" {
			continue
		}
		if got, err := s.Get("x"); err != nil || !slices.Equal(got.Float32s(), c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

// TestStoreMissing: the error of a path that is not there says which was meant.
func TestStoreMissing(t *testing.T) {
	s := tape.NewStore(nil)
	one := tape.Scalar(graph.F32, 1)
	wantError(t, s.Set("x", one), `store: nothing under "x": it is empty (NewStore makes the entries of a graph, Store.Add one of a new path)`)
	for _, p := range []string{"encoder/fc1/w", "encoder/fc1/b", "encoder/fc2/w", "encoder/fc2/b", "a", "b", "c", "d"} {
		wantOr(t, s.Add(p, one), "")
	}
	const want = `store: nothing under "encoder/fc1w": it has "encoder/fc1/w", then ["a" "b" "c" "d" "encoder/fc1/b"] and 2 more (Store.Add makes an entry of a new path)`
	_, got := s.Get("encoder/fc1w")
	_, viewed := s.View("encoder/fc1w")
	for _, err := range []error{s.Set("encoder/fc1w", one), got, viewed} {
		wantError(t, err, want)
	}
}

// wantOr wants no error where none is named.
func wantOr(t *testing.T, err error, want string) {
	t.Helper()
	if want != "" {
		wantError(t, err, want)
	} else if err != nil {
		t.Error(err)
	}
}
