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

// TestRecorder: records of one recorder are those that Take makes, and a later one leaves those
// before as they are.
func TestRecorder(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "dropout"} {
		_, roots, feed, store := model(t, name)
		rec, err := inspect.NewRecorder(t.Context(), roots...)
		if err != nil {
			t.Fatal(err)
		}
		stores := []*tape.Store{store, tape.NewStore(graph.Of(roots...), tape.Seed(2))}
		var records []*inspect.Record
		for _, s := range stores {
			r, err := rec.Take(t.Context(), feed, s)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		for i, s := range stores {
			want, err := inspect.Take(t.Context(), feed, s, roots...)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range want.Nodes() {
				for k := range n.Shape().Len() {
					if got, want := records[i].Value(n).At(k), want.Value(n).At(k); got != want {
						t.Fatalf("%s: store %d: element %d of %v is %v, Take says %v", name, i, k, n, got, want)
					}
				}
			}
		}
	}
}

// TestPrecisionOfRecord: what a record lost is what measuring the same run finds; and of an
// iteration of a loop, nodes of its body lose no more than float32 has.
func TestPrecisionOfRecord(t *testing.T) {
	_, roots, feed, store := model(t, "kmeans-softmax")
	want, err := inspect.MeasurePrecision(t.Context(), feed, store, roots...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := inspect.Take(t.Context(), feed, store, roots...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Precision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Losses) == 0 || len(got.Losses) != len(want.Losses) {
		t.Fatalf("%d losses, want %d", len(got.Losses), len(want.Losses))
	}
	for i, l := range got.Losses {
		if w := want.Losses[i]; l.Node != w.Node || l.Total != w.Total || l.Local != w.Local {
			t.Errorf("loss %d is %v, %v; want %v, %v", i, l.Node, l.Total, w.Node, w.Total)
		}
	}
	m, roots, feed, store := model(t, "rnn-lstm")
	if r, err = inspect.Take(t.Context(), feed, store, roots...); err != nil {
		t.Fatal(err)
	}
	for _, n := range graph.Reachable(m.Loss) {
		if n.Body() == nil {
			continue
		}
		inside, err := r.Enter(t.Context(), n, 3)
		if err != nil {
			t.Fatal(err)
		}
		lost, err := inside.Precision(t.Context())
		if err != nil || len(lost.Losses) == 0 {
			t.Fatalf("%d losses in an iteration: %v", len(lost.Losses), err)
		}
		for _, l := range lost.Losses {
			if inside.Value(l.Node).Type != l.Node.Type() || l.Total > 1e-4 {
				t.Errorf("%v loses %v", l.Node, l.Total)
			}
		}
	}
}
