package main

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestMixture: each row gets what its two experts say, weighed by softmax, computed here one by one; a choice
// that finds its expert's slots full is left out, first choices last.
func TestMixture(t *testing.T) {
	const n = 12
	g := graph.New("mixture")
	x := g.Input("x", graph.F32, graph.Ax("n", n), graph.Ax("d", 2))
	y, _ := size{3, 2, 4}.mixture(x, false)
	choice, taken := g.Lookup("choice"), g.Lookup("taken")
	w, b, v, c := g.Lookup("w"), g.Lookup("b"), g.Lookup("v"), g.Lookup("c")
	store := tape.NewStore(g, tape.Seed(1))
	var points []float64
	for i := range n {
		points = append(points, 1+math.Sin(float64(i)), math.Cos(2*float64(i)))
	}
	gate := []float64{3, 0.1, 0, 0, 0, 0.2}
	if err := store.Set("gate/w", tape.Of(g.Lookup("gate/w"), gate...)); err != nil {
		t.Fatal(err)
	}
	values, err := store.Eval(t.Context(), tape.Feed{x: tape.Of(x, points...)}, y, choice, taken, w, b, v, c)
	if err != nil {
		t.Fatal(err)
	}
	at := func(node *graph.Node, i int) float64 { return values[node].Data[i] }
	used := [3]int{}
	slots := int(math.Ceil(capacity * 2 * n / 3))
	full := 0
	for k := range 2 {
		for i := range n {
			e := int(at(choice, k*n+i))
			want := 0.
			if used[e] < slots {
				want = 1
			} else {
				full++
			}
			if used[e]++; at(taken, k*n+i) != want {
				t.Errorf("choice %d of row %d, expert %d: taken is %v", k, i, e, at(taken, k*n+i))
			}
		}
	}
	if full == 0 {
		t.Error("no expert is full")
	}
	for i := range n {
		p, q := points[2*i], points[2*i+1]
		want, total := 0., 0.
		for k := range 2 {
			e := int(at(choice, k*n+i))
			says := at(c, e)
			for h := range 4 {
				says += at(v, 4*e+h) * math.Tanh(p*at(w, 8*e+h)+q*at(w, 8*e+4+h)+at(b, 4*e+h))
			}
			weight := math.Exp(p*gate[e] + q*gate[3+e])
			want, total = want+weight*says*at(taken, k*n+i), total+weight
		}
		if !(math.Abs(at(y, i)-want/total) < 1e-5) {
			t.Errorf("row %d: %v, want %v", i, at(y, i), want/total)
		}
	}
}
