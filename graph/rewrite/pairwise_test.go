package rewrite_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// A spelling is a way to write the squared distances of rows x[i d] and r[j d]:
// it gives them as [i j], with or without names.
type spelling struct {
	name  string
	named bool
	write func(x, r *graph.Node) *graph.Node
}

func spellings() []spelling {
	square := func(diff *graph.Node) *graph.Node { return ops.Square(diff) }
	over := func(order string, f func(diff *graph.Node) *graph.Node) spelling {
		names := strings.Split(order, "")
		return spelling{"over " + order, true, func(x, r *graph.Node) *graph.Node {
			D := ops.Sum(f(ops.Sub(ops.Over(x, names...), ops.Over(r, names...))), "d")
			return ops.Transpose(D, "i", "j")
		}}
	}
	unnamed := func(name string, write func(x, r *graph.Node) *graph.Node) spelling {
		return spelling{name, false, write}
	}
	out := []spelling{
		{"r − x", true, func(x, r *graph.Node) *graph.Node {
			return ops.Sum(ops.Square(ops.Sub(ops.Over(r, "i", "j", "d"), ops.Over(x, "i", "j", "d"))), "d")
		}},
		{"of transposed operands", true, func(x, r *graph.Node) *graph.Node {
			x, r = ops.Transpose(x), ops.Transpose(r)
			return ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d")
		}},
		{"kept", true, func(x, r *graph.Node) *graph.Node {
			return ops.Squeeze(ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d", ops.Keep), "d")
		}},
		unnamed("expanded", func(x, r *graph.Node) *graph.Node {
			return ops.Sum(ops.Square(ops.Sub(ops.Expand(x, 1, ""), ops.Expand(r, 0, ""))), 2)
		}),
		{"one expanded", true, func(x, r *graph.Node) *graph.Node {
			return ops.Sum(ops.Square(ops.Sub(ops.Expand(x, 1, "j"), r)), -1)
		}},
		unnamed("reshaped", func(x, r *graph.Node) *graph.Node {
			x, r = ops.Reshape(x, x.Dim(0), 1, -1), ops.Reshape(r, 1, r.Dim(0), -1)
			return ops.Sum(ops.Square(ops.Sub(x, r)), 2)
		}),
		unnamed("broadcast by hand", func(x, r *graph.Node) *graph.Node {
			to, _ := graph.NewShape(graph.Dims(x.Dim(0), r.Dim(0), x.Dim(1))...)
			return ops.Sum(ops.Square(ops.Sub(ops.BroadcastTo(ops.Expand(x, 1, ""), to), ops.BroadcastTo(r, to))), 2)
		}),
		unnamed("transposed after the difference", func(x, r *graph.Node) *graph.Node {
			return ops.Transpose(ops.Sum(ops.Square(ops.Sub(ops.Expand(r, 1, ""), ops.Expand(x, 0, ""))), 2))
		}),
		over("ijd", func(diff *graph.Node) *graph.Node { return ops.Mul(diff, diff) }),
		over("ijd", func(diff *graph.Node) *graph.Node { return ops.Pow(diff, ops.Lit(diff, 2)) }),
	}
	for _, order := range []string{"ijd", "idj", "jid", "jdi", "dij", "dji"} {
		out = append(out, over(order, square))
	}
	return out
}

// cloud is n rows of d numbers near offset, as float32.
func cloud(rnd *rand.Rand, n, d int, offset float64) []float32 {
	out := make([]float32, n*d)
	for i := range out {
		out[i] = float32(offset + rnd.NormFloat64())
	}
	return out
}

// distances are D_ij = ‖x_i − r_j‖² and the derivatives of Σ w_ij D_ij by x and r.
func distances(x, r, w []float32, n, k, d int) (D, dx, dr []float64) {
	D, dx, dr = make([]float64, n*k), make([]float64, n*d), make([]float64, k*d)
	for i := range n {
		for j := range k {
			for c := range d {
				e := float64(x[i*d+c]) - float64(r[j*d+c])
				D[i*k+j] += e * e
				dx[i*d+c] += 2 * e * float64(w[i*k+j])
				dr[j*d+c] -= 2 * e * float64(w[i*k+j])
			}
		}
	}
	return D, dx, dr
}

// TestPairwiseDistance: however it is written, the distance and its gradients
// are right on data far from the origin, also where a centre is a data point,
// and nothing of the size n·k·d is ever held.
func TestPairwiseDistance(t *testing.T) {
	sizes := []struct{ n, k, d int }{{6, 5, 7}, {5, 5, 5}, {1, 5, 7}, {6, 1, 7}, {6, 5, 1}, {1, 1, 1}}
	for _, s := range spellings() {
		for _, z := range sizes {
			n, k, d := z.n, z.k, z.d
			g := graph.New(s.name)
			axes := func(name string, size int) []graph.Axis {
				if s.named {
					return []graph.Axis{graph.Ax(name, size), graph.Ax("d", d)}
				}
				return graph.Dims(size, d)
			}
			x := g.Input("x", graph.F32, axes("i", n)...)
			r := g.Input("r", graph.F32, axes("j", k)...)
			w := g.Input("w", graph.F32, graph.Dims(n, k)...)
			D := s.write(x, r)
			loss := ops.Sum(ops.Mul(w, D))
			grads := grad.Of(loss, x, r)
			prog, err := tape.Compile(g, tape.Fetch(D, grads[0], grads[1]))
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			rnd := rand.New(rand.NewPCG(1, uint64(n*100+k*10+d)))
			vx, vr, vw := cloud(rnd, n, d, 1000), cloud(rnd, k, d, 1000), cloud(rnd, n, k, 0)
			copy(vr[:d], vx) // the first centre is the first point
			wantD, wantX, wantR := distances(vx, vr, vw, n, k, d)
			vm := tapetest.VM(t, prog, tape.NewStore(g))
			if err := vm.Run(context.Background(), tape.Feed{x: dense(vx, n, d), r: dense(vr, k, d), w: dense(vw, n, k)}); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				node *graph.Node
				want []float64
			}{{D, wantD}, {grads[0], wantX}, {grads[1], wantR}} {
				if i, got := worst(t, vm, c.node, c.want); i >= 0 {
					t.Errorf("%s, n=%d k=%d d=%d: element %d of %v is %v: want %v", s.name, n, k, d, i, c.node, got, c.want[i])
				}
			}
			if n > 1 && k > 1 && d > 1 {
				wantNoBuffer(t, prog, 4*n*k*d)
				wantRule(t, prog, "pairwise distance", true)
			}
		}
	}
}

func dense(v []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
}

// worst is the first element of a node's value that is off by more than 1e-3 of
// its size (where terms cancel: of the largest), -1 if none is.
func worst(t *testing.T, vm *tape.VM, n *graph.Node, want []float64) (i int, got float64) {
	t.Helper()
	v, err := vm.Value(n)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range v.Float32s() {
		if !(math.Abs(float64(g)-want[i]) <= 1e-3*math.Abs(want[i])+1e-5) {
			return i, float64(g)
		}
	}
	return -1, 0
}

func wantNoBuffer(t *testing.T, p *tape.Program, bytes int) {
	t.Helper()
	for _, row := range p.Rows() {
		if row.Bytes >= bytes {
			t.Errorf("%s holds %d bytes: want less than %d\n%v", row.Result, row.Bytes, bytes, p)
		}
	}
}

func wantRule(t *testing.T, p *tape.Program, rule string, fired bool) {
	t.Helper()
	found := false
	for _, e := range p.Log() {
		found = found || e.Rule == rule
	}
	if found != fired {
		t.Errorf("rule %q fired: %v, want %v; log: %v", rule, found, fired, p.Log())
	}
}

// TestPairwiseDistanceInBatches: a batch may go through both operands or
// through one, and there may be several.
func TestPairwiseDistanceInBatches(t *testing.T) {
	const n, k, d = 4, 3, 5
	ax := graph.Ax
	for _, c := range []struct {
		name  string
		x, r  []graph.Axis
		order []string
	}{
		{"of both", []graph.Axis{ax("b", 2), ax("i", n), ax("d", d)}, []graph.Axis{ax("b", 2), ax("j", k), ax("d", d)}, []string{"b", "i", "j", "d"}},
		{"of both, inside", []graph.Axis{ax("i", n), ax("b", 2), ax("d", d)}, []graph.Axis{ax("j", k), ax("b", 2), ax("d", d)}, []string{"i", "d", "j", "b"}},
		{"of x", []graph.Axis{ax("b", 2), ax("i", n), ax("d", d)}, []graph.Axis{ax("j", k), ax("d", d)}, []string{"b", "i", "j", "d"}},
		{"of r, between", []graph.Axis{ax("i", n), ax("d", d)}, []graph.Axis{ax("d", d), ax("b", 2), ax("j", k)}, []string{"j", "i", "b", "d"}},
		{"two", []graph.Axis{ax("a", 2), ax("b", 3), ax("i", n), ax("d", d)}, []graph.Axis{ax("b", 3), ax("j", k), ax("a", 2), ax("d", d)}, []string{"a", "b", "i", "j", "d"}},
		{"two and one of x", []graph.Axis{ax("a", 2), ax("b", 3), ax("c", 2), ax("i", n), ax("d", d)}, []graph.Axis{ax("b", 3), ax("j", k), ax("a", 2), ax("d", d)}, []string{"c", "a", "j", "b", "i", "d"}},
		{"of size 1", []graph.Axis{ax("b", 1), ax("i", n), ax("d", d)}, []graph.Axis{ax("b", 1), ax("j", k), ax("d", d)}, []string{"b", "i", "j", "d"}},
	} {
		g := graph.New(c.name)
		x, r := g.Input("x", graph.F64, c.x...), g.Input("r", graph.F64, c.r...)
		diff := ops.Sub(ops.Over(x, c.order...), ops.Over(r, c.order...))
		D := ops.Sum(ops.Square(diff), "d")
		grads := grad.Of(ops.Sum(ops.Sin(D)), x, r)
		wanted := append([]*graph.Node{D}, grads...)
		p := compareWithWritten(t, g, wanted)
		wantRule(t, p, "pairwise distance", true)
		wantNoBuffer(t, p, 8*diff.Shape().Len())
	}
}

// TestReducedPairwiseDistance: means, sums over more axes than one, rows that are
// matrices, and differences written as sums.
func TestReducedPairwiseDistance(t *testing.T) {
	diff := func(x, r *graph.Node) *graph.Node { return ops.Sub(x, r) }
	for _, c := range []struct {
		name  string
		write func(x, r *graph.Node) *graph.Node // of i, j, d, e
	}{
		{"mean", func(x, r *graph.Node) *graph.Node { return ops.Mean(ops.Square(diff(x, r)), "d", "e") }},
		{"mean, kept", func(x, r *graph.Node) *graph.Node { return ops.Mean(ops.Square(diff(x, r)), "d", "e", ops.Keep) }},
		{"over j too", func(x, r *graph.Node) *graph.Node { return ops.Sum(ops.Square(diff(x, r)), "j", "d", "e") }},
		{"mean over i too", func(x, r *graph.Node) *graph.Node { return ops.Mean(ops.Square(diff(x, r)), "i", "d", "e") }},
		{"over everything", func(x, r *graph.Node) *graph.Node { return ops.Sum(ops.Square(diff(x, r))) }},
		{"over one of two", func(x, r *graph.Node) *graph.Node { return ops.Sum(ops.Square(diff(x, r)), "e") }},
		{"x + (−r)", func(x, r *graph.Node) *graph.Node { return ops.Sum(ops.Square(ops.Add(x, ops.Neg(r))), "d", "e") }},
		{"−x + r", func(x, r *graph.Node) *graph.Node { return ops.Mean(ops.Square(ops.Add(ops.Neg(x), r)), "d", "e") }},
		{"−x − (−r)", func(x, r *graph.Node) *graph.Node {
			return ops.Sum(ops.Square(ops.Sub(ops.Neg(x), ops.Neg(r))), "d", "e")
		}},
	} {
		g := graph.New(c.name)
		x := g.Input("x", graph.F64, graph.Ax("i", 7), graph.Ax("d", 3), graph.Ax("e", 2))
		r := g.Input("r", graph.F64, graph.Ax("e", 2), graph.Ax("j", 5), graph.Ax("d", 3))
		D := c.write(ops.Over(x, "i", "j", "d", "e"), ops.Over(r, "i", "j", "d", "e"))
		p := compareWithWritten(t, g, append([]*graph.Node{D}, grad.Of(ops.Sum(ops.Sin(D)), x, r)...))
		wantRule(t, p, "pairwise distance", true)
		wantNoBuffer(t, p, 8*7*5*3*2)
	}
}

// TestWeightsBetweenAreNoDistance: a weight inside the sum must stay there.
func TestWeightsBetweenAreNoDistance(t *testing.T) {
	for name, f := range map[string]func(diff, w *graph.Node) *graph.Node{
		"of squares":            func(diff, w *graph.Node) *graph.Node { return ops.Mul(w, ops.Square(diff)) },
		"of differences":        func(diff, w *graph.Node) *graph.Node { return ops.Mul(diff, ops.Mul(w, diff)) },
		"cubed":                 func(diff, w *graph.Node) *graph.Node { return ops.Pow(diff, ops.Lit(diff, 3)) },
		"exponent from outside": func(diff, w *graph.Node) *graph.Node { return ops.Pow(ops.Abs(diff), w) },
	} {
		g := graph.New(name)
		x := g.Input("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 4))
		r := g.Input("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 4))
		w := g.Input("w", graph.F64, graph.Ax("d", 4))
		diff := ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))
		D := ops.Sum(f(diff, w), "d")
		p := compareWithWritten(t, g, append([]*graph.Node{D}, grad.Of(ops.Sum(D), x, r)...))
		wantRule(t, p, "pairwise distance", false)
	}
}
