package ops_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestGammaAtPoles: the functions at infinities, zeros of both signs and negative whole numbers are
// as SciPy's, but for NaN where the two sides differ.
func TestGammaAtPoles(t *testing.T) {
	at := []float64{math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1, -2, 1, -0.5}
	g := graph.New("poles")
	x := g.Input("x", graph.F64, graph.Ax("i", len(at)))
	for _, c := range []struct {
		y    *graph.Node
		want string
	}{
		{ops.Lgamma(x), "[+Inf +Inf +Inf +Inf +Inf +Inf 0 1.265512]"},
		{ops.Digamma(x), "[+Inf NaN -Inf +Inf NaN NaN -0.5772157 0.03648997]"},
		{ops.Polygamma(1, x), "[0 NaN +Inf +Inf +Inf +Inf 1.644934 8.934802]"},
		{ops.Polygamma(2, x), "[-0 NaN -Inf +Inf NaN NaN -2.404114 -0.8287966]"},
		{ops.Polygamma(100, x), "[-0 NaN -Inf +Inf NaN NaN -9.332622e+157 -1.530335e+140]"},
	} {
		v, err := tape.Eval(context.Background(), tape.Feed{x: tape.Of(x, at...)}, c.y)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.7g", v[c.y].Data); got != c.want {
			t.Errorf("%s: %s, want %s", c.y, got, c.want)
		}
	}
}

func TestPolygammaOrder(t *testing.T) {
	for _, n := range []int{-1, 101} {
		g := graph.New("order")
		ops.Polygamma(n, g.Input("x", graph.F64))
		if want := fmt.Sprintf("Polygamma: order %d: want 0 to 100: x[]", n); !strings.HasSuffix(fmt.Sprint(g.Err()), want) {
			t.Errorf("%v, want %s", g.Err(), want)
		}
	}
}
