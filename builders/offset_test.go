package builders_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestIrisFarFromTheOrigin: with Iris moved by 1000 in every feature, in float32, and centres on rows,
// the expansion x² + r² − 2xr has no right digit left. Distances and gradients must agree with those
// of the definitions, in float64, on the same rounded numbers.
func TestIrisFarFromTheOrigin(t *testing.T) {
	iris := data.Iris()
	x := make([]float64, len(iris.X))
	for i, v := range iris.X {
		x[i] = float64(float32(v + 1000))
	}
	var r []float64
	for _, row := range []int{0, 50, 100} {
		r = append(r, x[4*row:4*row+4]...)
	}
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []*graph.Node{m.Graph.Lookup("D"), grad.Of(m.Loss, m.Centres())[0]}
		xs, rs := graph.Value{Type: m.Points().Type(), Data: x}, graph.Value{Type: m.Centres().Type(), Data: r}
		want, err := ref.Eval(trait.Env{}, graph.Values{m.Points(): xs, m.Centres(): rs}, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := tape.Compile(m.Graph, tape.Fetch(nodes...))
		if err != nil {
			t.Fatal(err)
		}
		store := tape.NewStore(m.Graph)
		if err := store.Set("r", tape.Tensor(rs)); err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, store)
		defer vm.Close()
		if err := vm.Run(context.Background(), tape.Feed{m.Points(): tape.Tensor(xs)}); err != nil {
			t.Fatal(err)
		}
		distances, err := vm.Value(nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range distances.Float32s() {
			if w := want[0].Data[i]; math.Abs(float64(d)-w) > 1e-3*w {
				t.Fatalf("%s: distance %d is %v, want %v", name, i, d, w)
			}
		}
		gradient, err := vm.Value(nodes[1])
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, w := range want[1].Data {
			largest = max(largest, math.Abs(w))
		}
		for i, d := range gradient.Float32s() {
			if w := want[1].Data[i]; math.Abs(float64(d)-w) > 1e-3*largest {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, d, w)
			}
		}
	}
}
