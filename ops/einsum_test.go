package ops_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// einsumLoop is the definition: for every assignment of the names, the product of
// the operands' elements is added to the result's.
func einsumLoop(terms [][]string, to []string, sizes map[string]int, data [][]float64) []float64 {
	var names []string
	for _, t := range append(slices.Clone(terms), to) {
		for _, name := range t {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	length := 1
	for _, name := range to {
		length *= sizes[name]
	}
	out := make([]float64, length)
	value := map[string]int{}
	place := func(axes []string) int {
		p := 0
		for _, name := range axes {
			p = p*sizes[name] + value[name]
		}
		return p
	}
	var each func(k int)
	each = func(k int) {
		if k < len(names) {
			for value[names[k]] = 0; value[names[k]] < sizes[names[k]]; value[names[k]]++ {
				each(k + 1)
			}
			return
		}
		v := 1.0
		for i, t := range terms {
			v *= data[i][place(t)]
		}
		out[place(to)] += v
	}
	each(0)
	return out
}

// einsumCase makes operands with random numbers, unnamed axes, and checks the
// result, and the derivative of its weighted sum by each operand, which is the
// einsum of the weights and the other operands.
func einsumCase(t *testing.T, r *rand.Rand, terms [][]string, to []string, sizes map[string]int) {
	t.Helper()
	parts := make([]string, len(terms))
	g, feed := graph.New("einsum"), graph.Values{}
	var xs []node
	var data [][]float64
	for i, term := range terms {
		parts[i] = strings.Join(term, " ")
		axes := make([]graph.Axis, len(term))
		for a, name := range term {
			axes[a].Size = sizes[name]
		}
		x := g.Input(fmt.Sprint("x", i), graph.F64, axes...)
		v := graph.NewValue(x.Type())
		for p := range v.Data {
			v.Data[p] = r.NormFloat64()
		}
		feed[x] = v
		xs, data = append(xs, x), append(data, v.Data)
	}
	spec := strings.Join(parts, ", ") + " -> " + strings.Join(to, " ")
	y := ops.Einsum(spec, xs...)
	if err := g.Err(); err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	for a, name := range to {
		if got := y.Shape().Axis(a); got != graph.Ax(name, sizes[name]) {
			t.Fatalf("%s gives %v", spec, y)
		}
	}
	agree(t, feed, y)
	v, err := ref.Eval(trait.Env{}, feed, y)
	if err != nil {
		t.Fatal(err)
	}
	if err := reftest.Near(v[0].Data, einsumLoop(terms, to, sizes, data), 1e-12); err != nil {
		t.Errorf("%s: %v", spec, err)
	}
	// Adding ε to one element changes Σ w·y by ε times the derivative, exactly where the operand
	// occurs once.
	w := g.Input("w", graph.F64, y.Shape().Axes()...)
	weights := graph.NewValue(w.Type())
	for p := range weights.Data {
		weights.Data[p] = r.NormFloat64()
	}
	feed[w] = weights
	d, err := ref.Eval(trait.Env{}, feed, grad.Of(ops.Sum(ops.Mul(w, y)), xs...)...)
	if err != nil {
		t.Fatal(err)
	}
	total := func() (s float64) {
		for p, v := range einsumLoop(terms, to, sizes, data) {
			s += v * weights.Data[p]
		}
		return s
	}
	for i := range xs {
		p := r.IntN(len(data[i]))
		before := data[i][p]
		data[i][p] = before + 1
		up := total()
		data[i][p] = before - 1
		down := total()
		data[i][p] = before
		if err := reftest.Near([]float64{d[i].Data[p]}, []float64{(up - down) / 2}, 1e-10); err != nil {
			t.Errorf("%s: the derivative by operand %d: %v", spec, i, err)
		}
	}
}

func TestEinsum(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	sizes := map[string]int{"a": 2, "b": 3, "c": 1, "d": 4, "e": 2}
	for _, spec := range []string{
		"->", "a -> a", "a ->", "a b -> b a", "a b -> b", "a b c d -> d a", "b b -> b", "b b ->", "b a b -> a b", "b b b -> b",
		"a b, b d -> a d", "a b, d b -> d a", "a b d, d e -> a b e", "a b d, a d e -> e b a", "a b, a b ->", "a b, a b -> a",
		"a, b -> a b", "a, a -> a", ", a -> a", "a b, b -> a", "a, a b -> b", "a b, d e -> a", "a b d e, e d -> b a", "a e, d b e -> b d a",
		"a b, b d, d e -> a e", "a, b, d -> d a b", "b b, b d -> d", "a b, b d, d a ->", "a, , b -> b", "a b, a d, a e -> b d e",
	} {
		left, right, _ := strings.Cut(spec, "->")
		var terms [][]string
		for _, part := range strings.Split(left, ",") {
			terms = append(terms, strings.Fields(part))
		}
		einsumCase(t, r, terms, strings.Fields(right), sizes)
	}
}

// TestEinsumRandom: specifications drawn at random, one to four operands.
func TestEinsumRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	names := []string{"i", "j", "k", "l", "m"}
	for range 150 {
		sizes := map[string]int{}
		for _, name := range names {
			sizes[name] = 1 + r.IntN(3)
		}
		var terms [][]string
		var present, to []string
		for range 1 + r.IntN(4) {
			var term []string
			for range r.IntN(4) {
				term = append(term, names[r.IntN(len(names))])
			}
			terms, present = append(terms, term), append(present, term...)
		}
		for _, k := range r.Perm(len(names)) {
			if slices.Contains(present, names[k]) && r.IntN(2) == 0 {
				to = append(to, names[k])
			}
		}
		einsumCase(t, r, terms, to, sizes)
	}
}

// TestEinsumForms: without an arrow, with the operands' own names, and what a
// plain matrix product costs.
func TestEinsumForms(t *testing.T) {
	g := graph.New("")
	a, b := g.Input("a", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3)), g.Input("b", graph.F64, graph.Ax("j", 3), graph.Ax("k", 4))
	if ops.Einsum("i j, j k -> i k", a, b) != ops.MatMul(a, b) {
		t.Error("the matrix product is not one node")
	}
	if ops.Einsum("i j, j k", a, b) != ops.MatMul(a, b) || ops.Einsum("-> i k", a, b) != ops.MatMul(a, b) {
		t.Error("without an arrow, or with the operands' names, it is another node")
	}
	if y := ops.Einsum("t u, u v -> v t", a, b); y.Shape().String() != "[v=4 t=2]" {
		t.Errorf("the result has axes %v", y.Shape())
	}
	x := g.Input("x", graph.F64, graph.Ax("n", 2), graph.Ax("t", 5), graph.Ax("j", 3))
	if ops.Einsum("n t j, j k -> n t k", x, b) != ops.MatMul(x, b) {
		t.Error("a linear map of a batch is not one product")
	}
	// (200×2)·(2×200) first would make 40 000 products of pairs; the other way round 800.
	u, v, w := g.Input("u", graph.F64, graph.Dims(200, 2)...), g.Input("v", graph.F64, graph.Dims(2, 200)...), g.Input("w", graph.F64, graph.Dims(200)...)
	for _, n := range graph.Reachable(ops.Einsum("i j, j k, k -> i", u, v, w)) {
		if n.Shape().Len() > 400 {
			t.Errorf("an intermediate of shape %v", n.Shape())
		}
	}
}

func TestEinsumMistakes(t *testing.T) {
	for spec, want := range map[string]string{
		"i j -> i":           `"i j -> i": it names 1 operands, 2 are given`,
		"i j k, j k":         `"i j k, j k": "i j k" names 3 axes, the operand [2 3] has 2`,
		"ij, jk -> ik":       `"ij, jk -> ik": "ij" names 1 axes, the operand [2 3] has 2: a[2 3], b[3 4] (put spaces between the names of axes)`,
		"i j, i k -> j":      `"i j, i k -> j": axis i has sizes 2 and 3`,
		"i j, j k -> i l":    `"i j, j k -> i l": no operand has the result's axis l`,
		"i j, j k -> i i":    `"i j, j k -> i i": the result has axis i twice`,
		"-> i":               `"-> i": an operand [2 3] has an axis without a name`,
		"i j, j 7k -> i 7k":  `axis name "7k"`,
		"i j, j k -> i -> k": `no operand has the result's axis ->`,
	} {
		g := graph.New("")
		ops.Einsum(spec, g.Input("a", graph.F32, graph.Dims(2, 3)...), g.Input("b", graph.F32, graph.Dims(3, 4)...))
		err := g.Err()
		if err == nil || !strings.Contains(err.Error(), "einsum_test.go:") || !strings.Contains(err.Error(), "Einsum: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
		if all, _ := err.(graph.Errors); len(all) > 1 {
			t.Errorf("%s: more than one mistake: %v", spec, err)
		}
	}
	g := graph.New("")
	ops.Einsum("i, i", g.Input("a", graph.I64, graph.Ax("i", 2)), g.Input("b", graph.I64, graph.Ax("i", 2)))
	if err := g.Err(); err == nil || !strings.Contains(err.Error(), "Einsum: an operand of type i64") {
		t.Errorf("integers: %v", err)
	}
}
