package ops_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// counting is a loop whose carries are a float of each type, counters of both kinds and a mask,
// which all act on each other; its outs have all types too.
func counting(run func(ops.Loop, ops.StepFunc) ops.Scanned, wide bool, checkpoint int, reverse bool) (wrt []node, r ops.Scanned) {
	g := graph.New("counting")
	d := graph.Ax("d", 3)
	x, h := g.Input("x", graph.F32, graph.Ax("t", 7), d), g.Input("h", graph.F32, d)
	carry := []node{ops.Cast(ops.Lit(x, 5), graph.I32), h, ops.Greater(h, ops.Lit(h, 0)), ops.Cast(ops.BroadcastTo(ops.Lit(x, 1), h.Shape()), graph.I64)}
	if wide {
		carry = append(carry, ops.Cast(h, graph.F64))
	}
	return []node{x, h}, run(ops.Loop{Carry: carry, Over: []node{x}, Axis: "t", Checkpoint: checkpoint, Reverse: reverse}, func(c, x, _ []node) (next, out []node) {
		i, h, m, n := c[0], c[1], c[2], c[3]
		y := ops.Select(m, ops.Tanh(ops.Add(h, x[0])), ops.Div(h, ops.Cast(n, graph.F32)))
		next = []node{ops.Add(i, ops.Lit(i, 1)), y, ops.Less(y, h), ops.Select(m, ops.Add(n, ops.Lit(n, 1)), ops.Cast(ops.BroadcastTo(i, n.Shape()), graph.I64))}
		if wide {
			next = append(next, ops.Sin(ops.Add(c[4], ops.Cast(y, graph.F64))))
		}
		return next, []node{ops.Less(h, y), ops.Mul(n, n), ops.Square(h)}
	})
}

// TestMixedCarries: carries and outs of all types have the values and derivatives of the steps
// written out, by the definition and on the tape, also with checkpoints and back in time.
func TestMixedCarries(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for _, reverse := range []bool{false, true} {
			var want []graph.Value
			for _, checkpoint := range []int{-1, 0, 3} {
				run := ops.Scan
				if checkpoint < 0 {
					run = ops.Unroll
				}
				wrt, r := counting(run, wide, max(checkpoint, 0), reverse)
				loss := ops.Sum(ops.Add(ops.Square(r.Final[1]), ops.Sum(r.Out[2], 0)))
				if wide {
					loss = ops.Add(loss, ops.Cast(ops.Sum(ops.Square(r.Final[4])), graph.F32))
				}
				d := grad.Of(loss, wrt...)
				norm := ops.Add(ops.Sum(ops.Square(d[0])), ops.Sum(ops.Square(d[1])))
				all := slices.Concat(r.Final, r.Out, []node{loss}, d, grad.Of(norm, wrt...), grad.JVP(r.Final[1:2], wrt, d))
				if checkpoint <= 0 {
					all = append(all, r.Trace...)
				}
				if err := loss.Graph().Err(); err != nil {
					t.Fatal(err)
				}
				roundTrip(t, loss.Graph())
				feed := fill(wrt)
				for _, v := range feed {
					for i := range v.Data {
						v.Data[i] = graph.F32.Round(v.Data[i])
					}
				}
				v, err := ref.Eval(trait.Env{}, feed, all...)
				if err != nil {
					t.Fatal(err)
				}
				onTape, err := reftest.Tape(0, feed, all)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = v
				}
				for i := range all {
					if v[i].Type != want[i].Type {
						t.Errorf("checkpoint %d, value %d: has type %v, written out %v", checkpoint, i, v[i].Type, want[i].Type)
					}
					tol := 0.0
					if v[i].Type.DType.IsFloat() {
						tol = 2e-5 * max(1, reftest.Largest(want[i].Data))
					}
					for _, got := range []graph.Value{v[i], onTape[i]} {
						if err := reftest.Near(got.Data, want[i].Data, tol); err != nil {
							t.Errorf("wide %v, reverse %v, checkpoint %d, value %d, %v: %v", wide, reverse, checkpoint, i, all[i], err)
						}
					}
				}
			}
		}
	}
}

// TestIntegersAreExact: a loop keeps all bits of integers, beside f32, beside f64 and alone.
func TestIntegersAreExact(t *testing.T) {
	for _, beside := range []graph.DType{graph.F32, graph.F64, graph.Bool} {
		g := graph.New("exact")
		i, k, f := g.Input("i", graph.I64, graph.Ax("n", 6)), g.Input("k", graph.I32, graph.Ax("n", 4)), g.Input("f", beside)
		r := ops.Scan(ops.Loop{Carry: []node{i, k, f}, Steps: 3}, func(c, _, _ []node) (next, out []node) {
			return []node{ops.Neg(c[0]), ops.Neg(c[1]), c[2]}, []node{c[0]}
		})
		prog, err := tape.Compile(g, tape.Fetch(r.Final[0], r.Final[1], r.Out[0]))
		if err != nil {
			t.Fatal(err)
		}
		vm, err := prog.NewVM(tape.NewStore(g))
		if err != nil {
			t.Fatal(err)
		}
		long := []int64{1<<63 - 1, -1 << 63, 1<<53 + 1, -(1<<44 + 3), 1<<22 + 1, -7}
		short := []int32{1<<31 - 1, -1 << 31, 1<<24 + 1, -70001}
		data := map[graph.DType]any{graph.F32: []float32{1}, graph.F64: []float64{1}, graph.Bool: []bool{true}}[beside]
		err = vm.Run(context.Background(), tape.Feed{
			i: tensor.New(tensor.WithShape(6), tensor.WithBacking(slices.Clone(long))), k: tensor.New(tensor.WithShape(4), tensor.WithBacking(slices.Clone(short))),
			f: tensor.New(tensor.FromScalar(reflect.ValueOf(data).Index(0).Interface())),
		})
		if err != nil {
			t.Fatal(err)
		}
		of := func(n node) any {
			v, err := vm.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			return v.Data()
		}
		for j := range short {
			short[j] = -short[j]
		}
		if got := of(r.Final[1]); !reflect.DeepEqual(got, short) {
			t.Errorf("beside %v: got %v, want %v", beside, got, short)
		}
		out := slices.Clone(long)
		for range 2 {
			for j := range long {
				long[j] = -long[j]
			}
			out = append(out, long...)
		}
		for j := range long {
			long[j] = -long[j]
		}
		if got := of(r.Final[0]); !reflect.DeepEqual(got, long) {
			t.Errorf("beside %v: got %v, want %v", beside, got, long)
		}
		if got := of(r.Out[0]); !reflect.DeepEqual(got, out) {
			t.Errorf("beside %v: got %v, want %v", beside, got, out)
		}
	}
}

// TestMixedCarriesInBatches: mapped over examples, a loop of carries of all types does for each what
// it does for it alone.
func TestMixedCarriesInBatches(t *testing.T) {
	wrt, r := counting(ops.Scan, true, 0, false)
	x, h := wrt[0], wrt[1]
	g := x.Graph()
	var over []vmap.Over
	var each [2][]node
	for b := range each {
		for _, n := range wrt {
			each[b] = append(each[b], g.Input(fmt.Sprint(n.Path(), b), n.DType(), n.Shape().Axes()...))
		}
	}
	for k, n := range wrt {
		over = append(over, vmap.Over{X: n, Batch: ops.Stack(0, "b", each[0][k], each[1][k])})
	}
	results := slices.Concat(r.Final, r.Out)
	mapped := vmap.Map(results, over...)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := fill(slices.Concat(each[0], each[1], wrt))
	for _, v := range feed {
		for i := range v.Data {
			v.Data[i] = graph.F32.Round(v.Data[i])
		}
	}
	together, err := ref.Eval(trait.Env{}, feed, mapped...)
	if err != nil {
		t.Fatal(err)
	}
	for b := range each {
		feed[x], feed[h] = feed[each[b][0]], feed[each[b][1]]
		alone, err := ref.Eval(trait.Env{}, feed, results...)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range alone {
			n := len(v.Data)
			if got := together[i].Data[b*n:][:n]; mapped[i].DType() != results[i].DType() || !slices.Equal(got, v.Data) {
				t.Errorf("example %d, result %d: got %v, alone %v", b, i, got, v.Data)
			}
		}
	}
}
