package inspect_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// model builds a registered model with the derivatives of its loss, a feed of its
// own examples and a fresh store.
func model(t *testing.T, name string) (m *builders.Model, roots []*graph.Node, feed tape.Feed, store *tape.Store) {
	t.Helper()
	m, err := builders.Build(name, nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots = append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	feed = tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 2))))
	return m, roots, feed, tape.NewStore(m.Graph, tape.Seed(1))
}

// TestRecordIsTheRun compares every recorded value with a program that watches it.
func TestRecordIsTheRun(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "attention-self", "dropout", "rnn-elman", "norm-batch"} {
		m, roots, feed, store := model(t, name)
		r, err := inspect.Take(context.Background(), feed, store, roots...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		prog, err := tape.Compile(m.Graph, tape.Fetch(roots...), tape.Watch(r.Nodes()...), tape.Passes())
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, store.Clone())
		defer vm.Close()
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Nodes() {
			want, err := vm.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			w, err := tape.ArrayOf(n.Type(), want)
			if err != nil {
				t.Fatal(err)
			}
			got := r.Value(n)
			for i := range n.Shape().Len() {
				if d, ε := got.At(i)-w.At(i), 1e-5*max(1, math.Abs(w.At(i))); !(math.Abs(d) <= ε) { // sums of fused rows have an order of their own
					t.Fatalf("%s: %v: element %d is %v, the tape says %v", name, n, i, got.At(i), w.At(i))
				}
			}
		}
		for _, p := range m.Params() {
			if g := r.Gradient(p); g == nil || g.Type() != p.Type() {
				t.Errorf("%s: the gradient of %v is %v", name, p, g)
			}
		}
		if store.Step() != 0 {
			t.Errorf("%s: recording took a step of the store", name)
		}
	}
}
