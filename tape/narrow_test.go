package tape_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// TestFusionKeepsHalfBits: each value of f16 and bf16 is rounded, in scratch as in the arena, and
// work shared out to several workers changes no bit.
func TestFusionKeepsHalfBits(t *testing.T) {
	for _, dt := range []graph.DType{graph.F16, graph.BF16} {
		t.Run(dt.String(), func(t *testing.T) {
			g := graph.New("half")
			x := g.Input("x", dt, graph.Ax("i", 60), graph.Ax("d", 30))
			w := g.Input("w", dt, graph.Ax("d", 30), graph.Ax("h", 20))
			b := g.Input("b", dt, graph.Ax("h", 20))
			h := ops.Tanh(ops.Add(ops.MatMul(x, w), b))
			p := ops.Softmax(h, "h")
			loss := ops.Mean(ops.Square(ops.Sub(p, ops.Sigmoid(h))))
			all := append(nodes{loss, p}, grad.Of(loss, w, b, x)...)
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			feed := graph.Values{}
			for _, n := range []*graph.Node{x, w, b} {
				v := graph.NewValue(n.Type())
				for i := range v.Data {
					v.Data[i] = dt.Round(math.Sin(float64(i*i) + float64(len(v.Data))))
				}
				feed[n] = v
			}
			fused, err := reftest.Tape(1, feed, all, tape.Passes())
			if err != nil {
				t.Fatal(err)
			}
			apart, err := reftest.Tape(1, feed, all, tape.Passes(), tape.Unfused())
			if err != nil {
				t.Fatal(err)
			}
			want, err := ref.Eval(trait.Env{}, feed, all...)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range all {
				if sums := i != 1 && i != 4; !sums { // sums over rows have another order, in float32
					if err := reftest.Near(fused[i].Data, apart[i].Data, 0); err != nil {
						t.Errorf("%v: fused and apart: %v", n, err)
					}
				}
				for k, v := range fused[i].Data {
					if dt.Round(v) != v {
						t.Fatalf("%v: element %d is %v, which is no %v", n, k, v, dt)
					}
				}
				tol := reftest.Tolerance(dt) * max(reftest.Largest(want[i].Data), 1e-3)
				if err := reftest.Near(fused[i].Data, want[i].Data, tol); err != nil {
					t.Errorf("%v: %v", n, err)
				}
			}
		})
	}
}

// TestLoopSumsInFloat32: the sum over the steps of a loop is float32's, rounded at the end: one that
// is rounded at every step stays at 256.
func TestLoopSumsInFloat32(t *testing.T) {
	const steps = 1000
	g := graph.New("loop")
	w, h0 := g.Input("w", graph.BF16), g.Input("h0", graph.BF16)
	xs := g.Input("xs", graph.BF16, graph.Ax("t", steps))
	r := ops.Scan(ops.Loop{Carry: nodes{h0}, Over: nodes{xs}, With: nodes{w}}, func(_, x, w nodes) (next, out nodes) {
		return nodes{ops.Mul(x[0], w[0])}, nil
	})
	dw := grad.Of(ops.Sum(r.Trace[0]), w)[0]
	ones := graph.NewValue(xs.Type())
	for i := range ones.Data {
		ones.Data[i] = 1
	}
	one := graph.Value{Type: w.Type(), Data: []float64{1}}
	got, err := reftest.Tape(1, graph.Values{xs: ones, w: one, h0: one}, nodes{dw, r.Final[0]})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Data[0] != steps || got[1].Data[0] != 1 {
		t.Errorf("the derivative is %v, the last carry %v; want %d and 1", got[0].Data, got[1].Data, steps)
	}
}

// TestNarrowTensors: tensors of int8, uint8 and of the bits of halves are fed and stored, and read
// with the type that they have; uint16 that say nothing are taken where halves are wanted.
func TestNarrowTensors(t *testing.T) {
	g := graph.New("narrow")
	shape := graph.Dims(3)
	u, i := g.Input("u", graph.U8, shape...), g.Input("i", graph.I8, shape...)
	h, b := g.Input("h", graph.F16, shape...), g.Input("b", graph.BF16, shape...)
	all := nodes{ops.Add(u, u), ops.Neg(i), ops.Mul(h, h), ops.Add(b, b)}
	last := ops.Reshape(ops.Slice(all[3], 0, 2, 3), []int{}...)
	prog := compile(t, g, tape.Fetch(append(all, last)...))
	vm := tapetest.VM(t, prog, tape.NewStore(g))
	defer vm.Close()
	feed := tape.Feed{
		u: tensor.New(tensor.WithShape(3), tensor.WithBacking([]uint8{1, 100, 200})),
		i: tensor.New(tensor.WithShape(3), tensor.WithBacking([]int8{1, 100, -128})),
		h: tensor.New(tensor.WithShape(3), tensor.WithBacking([]uint16{0x3c00, 0x4200, 0x7bff})), // 1, 3, 65504
		b: tape.HalfBits(b.Type(), []uint16{0x3f80, 0x4040, 0x3dcd}),                             // 1, 3, 0.1
	}
	if err := vm.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]float64{{2, 200, 144}, {-1, -100, -128}, {1, 9, math.Inf(1)}, {2, 6, 2 * graph.BF16.Round(0.1)}} {
		v, err := vm.Value(all[k])
		if err != nil {
			t.Fatal(err)
		}
		if got := reftest.Value(all[k].Type(), v).Data; !slices.Equal(got, want) {
			t.Errorf("%v is %v, want %v", all[k], got, want)
		}
		s := tape.NewStore(nil)
		if err := s.Add("v", v); err != nil {
			t.Fatal(err)
		}
		if typ, _ := s.Type("v"); typ.DType != all[k].DType() {
			t.Errorf("%v is stored as %v", all[k], typ)
		}
	}
	if v, err := vm.Float(last); err != nil || v != 2*graph.BF16.Round(0.1) {
		t.Errorf("the scalar is %v, %v", v, err)
	}
	untold := tensor.New(tensor.WithShape(3), tensor.WithBacking([]uint16{1, 2, 3}))
	floats := tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{1, 0.1, 3}))
	for _, c := range []struct {
		err  error
		want string
	}{
		{tape.NewStore(nil).Add("v", untold), "store: v: elements of type uint16 may be the bits of f16 or of bf16: give them with tape.HalfBits"},
		{vm.Run(context.Background(), tape.Feed{u: feed[u], i: feed[i], h: floats, b: feed[b]}),
			"input h: want elements of type f16, got float32, of which element 1, 0.1, would be rounded (make the input f32 and ops.Cast it, round numbers with tape.Tensor, or give their bits with tape.HalfBits)"},
		{vm.Run(context.Background(), tape.Feed{u: feed[u], i: feed[i], h: tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{1, 0x1p-24, 65504})), b: feed[b]}), ""},
		{vm.Run(context.Background(), tape.Feed{u: untold, i: feed[i], h: feed[h], b: feed[b]}),
			"input u: want elements of type u8, got uint16, the bits of f16 or bf16"},
		{vm.Run(context.Background(), tape.Feed{u: feed[u], i: feed[i], h: feed[b], b: feed[b]}),
			"input h: want elements of type f16, got bf16 (round numbers with tape.Tensor, or give their bits with tape.HalfBits)"},
	} {
		wantOr(t, c.err, c.want)
	}
}

// TestHalfOfUsersOperation: an operation from outside that has loops of float32 alone runs on f16.
func TestHalfOfUsersOperation(t *testing.T) {
	g := graph.New("custom")
	x := g.Input("x", graph.F16, graph.Dims(2)...)
	y := graph.Apply(third{}, x)
	got, err := reftest.Tape(1, graph.Values{x: {Type: x.Type(), Data: []float64{1, 2}}}, nodes{y})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{graph.F16.Round(1.0 / 3), graph.F16.Round(2.0 / 3)}; !slices.Equal(got[0].Data, want) {
		t.Errorf("%v, want %v", got[0].Data, want)
	}
}

// third divides by 3.
type third struct{}

func (third) Name() string                               { return "Third" }
func (third) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (third) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	for i, v := range in[0].F32 {
		out.F32[i] = v / 3
	}
}

// TestViewsShareTheWideArray: an array of bf16 and its transposed view are converted once, a part of
// it by itself.
func TestViewsShareTheWideArray(t *testing.T) {
	g := graph.New("views")
	x := g.Input("x", graph.BF16, graph.Ax("i", 40), graph.Ax("j", 30))
	all := nodes{ops.MatMul(ops.Transpose(x), ops.Rename(x, "j", "k")), ops.Exp(ops.Slice(x, "j", 3, 5)), ops.Add(x, ops.Slice(x, "i", 0, 1))}
	p := compile(t, g, tape.Passes(), tape.Unfused(), tape.Fetch(all...))
	if got := strings.Count(p.String(), "Widen x["); got != 1 {
		t.Errorf("x is converted %d times:\n%v", got, p)
	}
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = graph.BF16.Round(math.Sin(float64(i)))
	}
	got, err := reftest.Tape(1, graph.Values{x: v}, all)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(trait.Env{}, graph.Values{x: v}, all...)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range all {
		if err := reftest.Near(got[i].Data, want[i].Data, reftest.Tolerance(graph.BF16)*reftest.Largest(want[i].Data)); err != nil {
			t.Errorf("%v: %v", n, err)
		}
	}
}
