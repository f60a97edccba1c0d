package tape_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// matricesOf are random inputs x[n b i], w[i j] and u[n b j].
func matricesOf(dt graph.DType, batch, rows, terms, columns int) (x, w, u *graph.Node, feed tape.Feed, values graph.Values) {
	g := graph.New("product")
	x = g.Input("x", dt, graph.Ax("n", batch), graph.Ax("b", rows), graph.Ax("i", terms))
	w = g.Input("w", dt, graph.Ax("i", terms), graph.Ax("j", columns))
	u = g.Input("u", dt, graph.Ax("n", batch), graph.Ax("b", rows), graph.Ax("j", columns))
	r := rand.New(rand.NewPCG(uint64(rows), uint64(terms)))
	feed, values = tape.Feed{}, graph.Values{}
	for _, n := range []*graph.Node{x, w, u} {
		v := graph.NewValue(n.Type())
		for k := range v.Data {
			v.Data[k] = dt.Round(r.NormFloat64())
		}
		values[n], feed[n] = v, tape.Tensor(v)
	}
	return x, w, u, feed, values
}

// TestMixedRoundsOperands: a product under Mixed is that of the rounded operands, for each of the
// two derivatives too, alone and in a group that runs block by block.
func TestMixedRoundsOperands(t *testing.T) {
	for _, s := range [][4]int{{1, 40, 64, 48}, {3, 17, 33, 50}, {1, 700, 16, 16}, {2, 16, 1000, 31}} {
		x, w, u, feed, values := matricesOf(graph.F32, s[0], s[1], s[2], s[3])
		rounded := graph.Values{}
		for n, v := range values {
			v.Data = slices.Clone(v.Data)
			for k, e := range v.Data {
				v.Data[k] = float64(half.Brain(half.BrainBits(float32(e))))
			}
			rounded[n] = v
		}
		y := ops.MatMul(x, w)
		wanted := append(grad.Of(ops.Sum(ops.Mul(y, u)), x, w), y)
		want, err := ref.Eval(trait.Env{}, rounded, wanted...)
		if err != nil {
			t.Fatal(err)
		}
		p, got := results(t, feed, append(wanted, ops.Tanh(y)), tape.Mixed())
		if !strings.Contains(p.String(), "MatMul bf16") {
			t.Fatalf("%v: no product is rounded:\n%v", s, p)
		}
		for k, n := range wanted {
			for e, v := range got[k] {
				if truth := want[k].Data[e]; math.Abs(v-truth) > 1e-3*math.Sqrt(float64(s[2]*s[1])) {
					t.Fatalf("%v: element %d of %v is %v, of rounded operands %v", s, e, n, v, truth)
				}
			}
		}
	}
}

// TestMixedLeavesTheRest: float64 and small products have the bits that they have without it.
func TestMixedLeavesTheRest(t *testing.T) {
	for _, c := range []struct {
		dt                   graph.DType
		rows, terms, columns int
	}{{graph.F64, 64, 64, 64}, {graph.F32, 15, 64, 64}, {graph.F32, 64, 15, 64}, {graph.F32, 64, 64, 15}} {
		x, w, _, feed, _ := matricesOf(c.dt, 1, c.rows, c.terms, c.columns)
		wanted := []*graph.Node{ops.MatMul(x, w)}
		_, usual := results(t, feed, wanted)
		p, mixed := results(t, feed, wanted, tape.Mixed())
		if !slices.Equal(usual[0], mixed[0]) || strings.Contains(p.String(), "bf16") {
			t.Errorf("%v: other bits under Mixed, or an untrue listing", c)
		}
	}
}

// TestMixedOnAnyWorkers: the same bits, with sums over blocks of rows too.
func TestMixedOnAnyWorkers(t *testing.T) {
	x, w, _, feed, _ := matricesOf(graph.F32, 1, 3000, 40, 70)
	wanted := append(grad.Of(ops.Mean(ops.Square(ops.Tanh(ops.MatMul(x, w)))), w), ops.MatMul(x, w))
	p := compile(t, x.Graph(), tape.Mixed(), tape.Fetch(wanted...))
	var first [][]float64
	for _, workers := range []int{1, 2, 5} {
		vm := tapetest.VM(t, p, tape.NewStore(x.Graph()), tape.Workers(workers))
		run(t, vm, feed)
		for k, n := range wanted {
			got := value(t, vm, n)
			if workers == 1 {
				first = append(first, got)
			} else if !slices.Equal(got, first[k]) {
				t.Errorf("%v has other bits on %d workers", n, workers)
			}
		}
		vm.Close()
	}
}

// TestMixedRules: of the rules that apply to a node, the first says how it computes; none names what
// is no product.
func TestMixedRules(t *testing.T) {
	rule := func(n *graph.Node) string {
		for _, r := range tape.MixedRules() {
			if r.Applies(n) {
				return r.Operation + " " + r.Operands
			}
		}
		return ""
	}
	x, w, _, _, _ := matricesOf(graph.F32, 1, 40, 40, 40)
	small, v, _, _, _ := matricesOf(graph.F32, 1, 40, 15, 40)
	wide, u, _, _, _ := matricesOf(graph.F64, 1, 40, 40, 40)
	images, kernel, _, _ := convCases[0].build()
	for want, n := range map[string]*graph.Node{
		"product of matrices bfloat16":            ops.MatMul(x, w),
		"other products and convolutions float32": ops.MatMul(small, v),
		"convolution bfloat16":                    ops.Conv2D(images, kernel),
		"":                                        ops.Exp(x),
	} {
		if got := rule(n); got != want {
			t.Errorf("the rule for %v is %q, want %q", n, got, want)
		}
	}
	if got := rule(ops.MatMul(wide, u)); got != "other products and convolutions float32" {
		t.Errorf("the rule for float64 is %q", got)
	}
	if rule(x) != "" || rule(nil) != "" {
		t.Error("a rule applies to what computes nothing")
	}
	for _, r := range tape.MixedRules() {
		if r.Operands == "" || r.Sums == "" || r.When == "" || r.Why == "" || r.Rounds() != (r.Operands == "bfloat16") {
			t.Errorf("the rule for %s has gaps: %+v", r.Operation, r)
		}
	}
}
