package tape_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// outcome are the bits of fetched values after a run, and of what the store had before.
func outcome(t *testing.T, p *tape.Program, feed tape.Feed, store *tape.Store, wanted []*graph.Node) (bits []uint64) {
	t.Helper()
	paths := store.Paths()
	vm := tapetest.VM(t, p, store)
	defer vm.Close()
	run(t, vm, feed)
	for _, n := range wanted {
		bits = append(bits, patterns(value(t, vm, n))...)
	}
	for _, path := range paths {
		bits = append(bits, patterns(stored(t, store, path))...)
	}
	return bits
}

// differ counts the places where two lists are not the same.
func differ(a, b []uint64) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n + len(b) - len(a)
}

// TestWatchMovesNothing: what only a watched value needs does not move a copy that it shares with
// the rest, which would cut the groups elsewhere.
func TestWatchMovesNothing(t *testing.T) {
	g := graph.New("pools")
	normal := initial.Normal(0, 1)
	x, w := g.Param("x", graph.F64, graph.Dims(3, 8, 8, 5)...).Init(normal), g.Param("w", graph.F64, graph.Dims(1, 3)...).Init(normal)
	vx, vw := g.Param("vx", graph.F64, graph.Dims(3, 8, 8, 5)...).Init(normal), g.Param("vw", graph.F64, graph.Dims(1, 3)...)
	a := ops.AvgPool2D(ops.MaxPool2D(ops.Expand(ops.Transpose(x, 0, 3, 1, 2), -1, ""), ops.Size(4, 1), ops.Stride(1), ops.Padding(2, 0)),
		ops.Size(4, 3), ops.Stride(3, 1), ops.Padding(1), ops.ExcludePadding())
	loss := ops.Mean(ops.MatMul(a, w))
	h := grad.HVP(loss, []*graph.Node{x, w}, []*graph.Node{vx, vw})
	for _, wanted := range [][]*graph.Node{h[:1], h[1:], h} {
		var want []uint64
		for k, watch := range [][]*graph.Node{nil, {loss}, {a, loss}, {a}, h} {
			p := compile(t, g, tape.Fetch(wanted...), tape.Watch(watch...))
			got := outcome(t, p, nil, tape.NewStore(g, tape.Seed(1)), wanted)
			if k == 0 {
				want = got
			} else if n := differ(want, got); n > 0 {
				t.Errorf("%d of %d results have other bits with %v watched", n, len(got), watch)
			}
		}
	}
}

// TestWatchKeepsWhatIsMadeAgain: a value that a group makes again, instead of reading it, counts
// among what the group does, and so decides into how many parts its sums are cut. That it is
// watched, and in memory therefore, changes neither.
func TestWatchKeepsWhatIsMadeAgain(t *testing.T) {
	g := graph.New("made again")
	normal := initial.Normal(0, 1)
	x, w := g.Param("x", graph.F32, graph.Ax("i", 600), graph.Ax("d", 24)).Init(normal), g.Param("w", graph.F32, graph.Ax("d", 24)).Init(normal)
	v := g.Param("v", graph.F32, graph.Ax("d", 24), graph.Ax("o", 7)).Init(normal)
	h := ops.Tanh(ops.Mul(x, w))
	r := ops.ReLU(ops.Shift(h, 0.25))
	loss := ops.Mean(ops.Square(ops.Softmax(ops.MatMul(ops.Mul(r, ops.OneMinus(ops.Square(h))), v), "o")))
	d := grad.Of(loss, w, v)
	for _, options := range [][]tape.Option{nil, {tape.Small()}} {
		want := outcome(t, compile(t, g, append(options, tape.Fetch(d...))...), nil, tape.NewStore(g, tape.Seed(1)), d)
		for _, n := range g.Nodes() {
			p := compile(t, g, append(options, tape.Fetch(d...), tape.Watch(n))...)
			if k := differ(want, outcome(t, p, nil, tape.NewStore(g, tape.Seed(1)), d)); k > 0 {
				t.Errorf("%d of %d numbers have other bits with %v watched", k, len(want), n)
			}
		}
	}
}
