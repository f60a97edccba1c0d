package gorgonia

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// evaluate runs nodes on gorgonia, with every leaf of the graph an input.
func evaluate(t *testing.T, feed graph.Values, nodes ...*graph.Node) ([]graph.Value, error) {
	t.Helper()
	m, err := Compile(nodes[0].Graph(), Fetch(nodes...))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	tensors := tape.Feed{}
	for n, v := range feed {
		tensors[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: v.Data})
	}
	if err := m.Run(t.Context(), tensors, tape.NewStore(nodes[0].Graph())); err != nil {
		t.Fatal(err)
	}
	var out []graph.Value
	for _, n := range nodes {
		d, err := m.Value(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, valueOf(t, n.Type(), d))
	}
	return out, nil
}

func valueOf(t *testing.T, typ graph.Type, d *tensor.Dense) graph.Value {
	t.Helper()
	if !slices.Equal(d.Shape(), typ.Shape.Sizes()) {
		t.Fatalf("shape %v, want %v", d.Shape(), typ.Shape)
	}
	v := graph.NewValue(typ)
	for i := range v.Data {
		switch typ.DType {
		case graph.F32:
			v.Data[i] = float64(d.Float32s()[i])
		case graph.F64:
			v.Data[i] = d.Float64s()[i]
		case graph.Bool:
			if d.Bools()[i] {
				v.Data[i] = 1
			}
		default:
			t.Fatalf("type %v", typ)
		}
	}
	return v
}

// differs says where got is not want, to a tolerance relative to the largest finite element.
func differs(got, want graph.Value, tolerance float64) string {
	scale := 1.0
	for _, w := range want.Data {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			scale = max(scale, math.Abs(w))
		}
	}
	for i, w := range want.Data {
		g := got.Data[i]
		if g != w && !(math.IsNaN(g) && math.IsNaN(w)) && !(math.Abs(g-w) <= tolerance*scale && !math.IsInf(w, 0)) {
			return fmt.Sprintf("element %d is %v, want %v", i, g, w)
		}
	}
	return ""
}

// eachDiffers is differs with every element for itself, and want rounded to its
// type: for values of many orders of magnitude.
func eachDiffers(got, want graph.Value) string {
	dt := want.Type.DType
	for i, w := range want.Data {
		one := graph.Value{Data: []float64{dt.Round(w)}}
		if d := differs(graph.Value{Data: got.Data[i : i+1]}, one, tolerance(dt)); d != "" {
			return fmt.Sprintf("element %d: %s", i, d)
		}
	}
	return ""
}

func tolerance(dt graph.DType) float64 {
	if dt == graph.F32 {
		return 1e-4
	}
	return 1e-9
}

func draw(r *rand.Rand, typ graph.Type, d ops.Domain) graph.Value {
	v := graph.NewValue(typ)
	for i := range v.Data {
		v.Data[i] = d.Lo + (d.Hi-d.Lo)*r.Float64()
		if !typ.DType.IsFloat() {
			v.Data[i] = math.Round(v.Data[i])
		}
		v.Data[i] = typ.DType.Round(v.Data[i])
	}
	return v
}

// operands makes inputs for a case, with "float" read as dt.
func operands(t *testing.T, g *graph.Graph, c ops.Case, dt graph.DType) []*graph.Node {
	t.Helper()
	var in []*graph.Node
	for i, o := range c.Operands {
		var typ graph.Type
		if err := typ.UnmarshalText([]byte(strings.Replace(o.Type, "float", dt.String(), 1))); err != nil {
			t.Fatal(err)
		}
		in = append(in, g.Input(fmt.Sprint("x", i), typ.DType, typ.Shape.Axes()...))
	}
	return in
}

// TestCases runs every case of every operation, in both float types: the result
// is the reference's, or the error says what is not supported.
func TestCases(t *testing.T) {
	supported := Supported()
	ran := map[string]bool{}
	for _, op := range ops.List() {
		for i, c := range op.Cases() {
			for _, dt := range []graph.DType{graph.F32, graph.F64} {
				t.Run(fmt.Sprintf("%s/%d/%v", op.Name(), i, dt), func(t *testing.T) {
					g := graph.New("case")
					in := operands(t, g, c, dt)
					y := c.Make(in)
					if err := y.Graph().Err(); err != nil {
						t.Fatal(err)
					}
					r := rand.New(rand.NewPCG(1, uint64(i)))
					feed := graph.Values{}
					for k, x := range in {
						feed[x] = draw(r, x.Type(), c.Operands[k].Domain)
					}
					got, err := evaluate(t, feed, y)
					var u *Unsupported
					if errors.As(err, &u) {
						if !slices.Contains(supported, op.Name()) && u.Op != op.Name() && y.Op().Name() == op.Name() {
							t.Fatalf("the error names %s: %v", u.Op, err)
						}
						t.Log(err)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					ran[op.Name()] = true
					want, err := ref.Eval(trait.Env{}, feed, y)
					if err != nil {
						t.Fatal(err)
					}
					if d := differs(got[0], want[0], tolerance(dt)); d != "" {
						t.Fatal(d)
					}
				})
			}
		}
	}
	for _, op := range ops.List() {
		if slices.Contains(supported, op.Name()) != ran[op.Name()] {
			t.Errorf("%s: supported %v, ran %v", op.Name(), !ran[op.Name()], ran[op.Name()])
		}
	}
}

// TestTable holds the table to the list of operations.
func TestTable(t *testing.T) {
	all := map[match.Kind]bool{}
	for _, op := range ops.List() {
		all[match.Of(op)] = true // one that the table does not have is refused
	}
	for _, e := range table() {
		if !all[e.op] {
			t.Errorf("kind %d is no operation, or there twice", e.op)
		}
		delete(all, e.op)
		if (e.rule == nil) == (e.refused == "") {
			t.Errorf("kind %d: want a rule, or why there is none", e.op)
		}
	}
	for _, op := range []string{"Softmax", "SqDist", "WeightedDiff", "DiffDot"} {
		if !slices.Contains(Supported(), op) {
			t.Errorf("%s is not supported", op)
		}
	}
	if slices.Contains(Supported(), "ArgMin") || !slices.IsSorted(Supported()) {
		t.Errorf("supported: %v", Supported())
	}
}
