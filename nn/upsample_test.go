package nn_test

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
)

// Wrong sizes are mistakes that say what to give.
func TestUpsampleRefuses(t *testing.T) {
	for _, c := range []struct {
		u    nn.Upsampling
		want string
	}{
		{nn.Upsampling{}, `Upsample: factors [] and sizes []: x[n=2 h=3 w=4 c=5] (give either)`},
		{nn.Upsampling{Factors: []int{2}, Sizes: []int{6}}, `Upsample: factors [2] and sizes [6]: x[n=2 h=3 w=4 c=5] (give either)`},
		{nn.Upsampling{Factors: []int{2}, AlignCorners: true}, `Upsample: corners are aligned only where elements are interpolated: x[n=2 h=3 w=4 c=5] (set Linear)`},
		{nn.Upsampling{Sizes: []int{1, 2, 3}}, `Upsample: 3 numbers [1 2 3] for 2 spatial axes: want one for each, or one for all: x[n=2 h=3 w=4 c=5]`},
		{nn.Upsampling{Factors: []int{2, 0}}, `Upsample: [2 0]: want numbers from 1: x[n=2 h=3 w=4 c=5]`},
		{nn.Upsampling{Factors: []int{1 << 30}}, `Upsample: factor 1073741824 of axis h=3: x[n=2 h=3 w=4 c=5]`},
	} {
		g := graph.New("net")
		x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", 3), graph.Ax("w", 4), graph.Ax("c", 5))
		nn.Upsample(x, c.u)
		errs, _ := g.Err().(graph.Errors)
		if len(errs) != 1 {
			t.Errorf("%+v: %v", c.u, g.Err())
			continue
		}
		errs[0].Pos = graph.Pos{}
		if got := errs[0].Error(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.u, got, c.want)
		}
	}
	g := graph.New("net")
	if nn.Upsample(g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("c", 5)), nn.Upsampling{Factors: []int{2}}).IsValid() {
		t.Error("an array without places is taken")
	}
}

func ExampleUpsample() {
	g := graph.New("net")
	x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", 3), graph.Ax("w", 4), graph.Ax("c", 5))
	fmt.Println(nn.Upsample(x, nn.Upsampling{Factors: []int{2}}).Shape())
	fmt.Println(nn.Upsample(x, nn.Upsampling{Sizes: []int{7, 9}, Linear: true}).Shape())
	// Output:
	// [n=2 h=6 w=8 c=5]
	// [n=2 h=7 w=9 c=5]
}
