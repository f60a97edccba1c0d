package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestBytes: on the tape, as written and rewritten, i8 and u8 are what their definitions are, which
// wrap around, in Go's arithmetic.
func TestBytes(t *testing.T) {
	wrapping := map[string]func(a, b int64) int64{
		"Add":  func(a, b int64) int64 { return a + b },
		"Sub":  func(a, b int64) int64 { return a - b },
		"Mul":  func(a, b int64) int64 { return a * b },
		"Neg":  func(a, _ int64) int64 { return -a },
		"Abs":  func(a, _ int64) int64 { return max(a, -a) },
		"More": func(a, _ int64) int64 { return a + 240 },
		"Four": func(a, _ int64) int64 { return 10000 * a },
	}
	for _, dt := range []graph.DType{graph.I8, graph.U8} {
		t.Run(dt.String(), func(t *testing.T) {
			first := int(dt.Round(math.Inf(-1)))
			g := graph.New("bytes")
			a, b := g.Input("a", dt, graph.Ax("i", 256), graph.Ax("j", 256)), g.Input("b", dt, graph.Ax("i", 256), graph.Ax("j", 256))
			i := g.Input("i", dt, graph.Ax("k", 3))
			table := g.Input("table", graph.F32, graph.Ax("v", 100), graph.Ax("d", 2))
			made := map[string]*graph.Node{
				"Add": ops.Add(a, b), "Sub": ops.Sub(a, b), "Mul": ops.Mul(a, b), "Neg": ops.Neg(a), "Abs": ops.Abs(a),
				"More": ops.Shift(ops.Shift(a, 120), 120), "Four": ops.Scale(ops.Scale(a, 100), 100),
			}
			all := []*graph.Node{
				ops.Sign(a), ops.Maximum(a, b), ops.Minimum(a, b), ops.Less(a, b), ops.LessEqual(a, b), ops.Equal(a, b),
				ops.Sum(a, "j"), ops.Sum(a, "i"), ops.Sum(a), ops.Prod(a, "j"), ops.Max(a, "i"), ops.Min(a, "j"), ops.ArgMax(a, "j"),
				ops.CumSum(a, "j"), ops.CumProd(a, "j"), ops.CumMax(ops.Sub(a, b), "j"), ops.CumMin(ops.Sub(a, b), "j"), ops.Sort(ops.Mul(a, b), "j"),
				ops.Sort(ops.Mul(a, b), "i", ops.Descending), ops.ArgSort(ops.Mul(a, b), "j", ops.Descending), ops.TakeAlong(a, ops.ArgSort(b, "j"), "j"),
				ops.SearchSorted(ops.Sort(ops.At(ops.Mul(a, b), "i", 5), "j"), b, "j", ops.Right), ops.Select(ops.Less(a, b), a, b), ops.Concat(0, a, b), ops.Pad(a, "j", 1, 2, 7), ops.Transpose(a, 1, 0),
				ops.Slice(a, "j", 3, 9), ops.Gather(table, i, 0), ops.OneHot(i, -1, graph.Ax("c", 100), graph.F32),
				ops.Cast(a, graph.F32), ops.Cast(a, graph.F16), ops.Cast(a, graph.I64), ops.Cast(a, graph.Bool), ops.Cast(a, graph.U8), ops.Cast(ops.Cast(a, graph.I32), graph.I8),
			}
			for _, n := range made {
				all = append(all, n)
			}
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			feed := graph.Values{a: graph.NewValue(a.Type()), b: graph.NewValue(b.Type()), i: {Type: i.Type(), Data: []float64{0, 99, 5}}, table: graph.NewValue(table.Type())}
			for k := range 256 * 256 {
				feed[a].Data[k], feed[b].Data[k] = float64(first+k/256), float64(first+k%256)
			}
			for k := range feed[table].Data {
				feed[table].Data[k] = float64(k)
			}
			want, err := ref.Eval(trait.Env{}, feed, all...)
			if err != nil {
				t.Fatal(err)
			}
			for _, passes := range [][]rewrite.Pass{nil, rewrite.Passes()} {
				got, err := reftest.Tape(1, feed, all, tape.Passes(passes...))
				if err != nil {
					t.Fatal(err)
				}
				for k, n := range all {
					if err := reftest.Near(got[k].Data, want[k].Data, 0); err != nil {
						t.Errorf("%v: %v", n, err)
					}
					for name, f := range wrapping {
						if made[name] != n {
							continue
						}
						for p, v := range got[k].Data {
							if w := dt.Wrap(f(int64(feed[a].Data[p]), int64(feed[b].Data[p]))); v != float64(w) {
								t.Fatalf("%s of %v and %v is %v, want %d", name, feed[a].Data[p], feed[b].Data[p], v, w)
							}
						}
					}
				}
			}
		})
	}
}
