package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Bound indices give way to free ones, whatever was renamed on the way.
func TestIndicesAreNotCaptured(t *testing.T) {
	g := graph.New("attention")
	x := g.Input("x", graph.F64, graph.Ax("i", 5), graph.Ax("d", 4))
	keys := ops.Rename(x, "i", "l")
	α := ops.Softmax(ops.MatMul(x, ops.Transpose(keys)), "l").As("α")
	moved := ops.Rename(ops.Softmax(ops.Tanh(x), "i"), "i", "k")
	a := g.Input("a", graph.F64, graph.Ax("i", 5), graph.Ax("j", 3))
	s := ops.Sum(a, "j", ops.Keep)
	twice := ops.Sum(ops.Mul(a, s), "j")
	long := g.Input("z", graph.F64, graph.Ax("row", 2), graph.Ax("l", 2), graph.Ax("j", 2))
	for _, c := range []struct {
		n    *graph.Node
		want string
	}{
		{α, "αᵢₗ = softmaxₗ(Σ_d x_{id}·x_{ld})"},
		{moved.As("m"), "m_{kd} = softmaxₖ(tanh(x_{kd}))"},
		{ops.Mul(a, s).As("p"), "pᵢⱼ = aᵢⱼ·Σₗ aᵢₗ"},
		{twice.As("q"), "qᵢ = Σⱼ pᵢⱼ"},
		{ops.Mul(long, ops.Sum(long, "row", ops.Keep)).As("u"), "u_{row,l,j} = z_{row,l,j}·Σ_{row′} z_{row′,l,j}"},
		{ops.Mul(long, ops.Sum(ops.Sum(long, "j", ops.Keep), "l", ops.Keep)).As("v"), "v_{row,l,j} = z_{row,l,j}·Σₘ Σₙ z_{row,m,n}"},
	} {
		if got := Formula(c.n); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

// An operand's index that the result lacks must not be taken for one around it.
func TestWholeRowsShowNoIndex(t *testing.T) {
	g := graph.New("lookup")
	r := g.Input("r", graph.F64, graph.Ax("j", 5), graph.Ax("d", 4))
	a := g.Input("a", graph.I64, graph.Ax("i", 3))
	y := ops.Gather(r, a, "j").As("y")
	if got, want := Unicode(Expr(y)), "gather(r_d, aᵢ)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	hot := ops.OneHot(a, -1, graph.Ax("j", 5), graph.F64).As("h")
	if got, want := Formula(hot), "hᵢⱼ = [j = aᵢ]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	sum := ops.Sum(ops.OneHot(a, -1, graph.Ax("k", 6), graph.F64), "k").As("s")
	if got, want := Formula(sum), "sᵢ = Σₖ [k = aᵢ]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wide := ops.Mul(hot, ops.Sum(ops.OneHot(a, -1, graph.Ax("j", 5), graph.F64), "j", ops.Keep)).As("w")
	if got, want := Formula(wide), "wᵢⱼ = hᵢⱼ·Σₗ hᵢₗ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNorms(t *testing.T) {
	g := graph.New("norms")
	x := g.Input("x", graph.F64, graph.Ax("i", 5), graph.Ax("d", 4))
	r := g.Input("r", graph.F64, graph.Ax("j", 3), graph.Ax("d", 4))
	c := g.Scalar("c", 1, graph.F64)
	for _, e := range []struct {
		n    *graph.Node
		want string
	}{
		{ops.SqDist(x, r), "‖xᵢ − rⱼ‖²"},
		{ops.Sum(ops.Square(ops.Mul(c, x)), "d"), "‖c·xᵢ‖²"},
		{ops.Sum(ops.Square(ops.Sub(x, c)), "d"), "Σ_d (x_{id} − c)²"}, // x − c is no sum of vectors
		{ops.Sum(ops.Square(x), "i"), "Σᵢ x_{id}²"},                    // a column: ‖x_d‖² would not say so
		{ops.Sum(ops.Square(ops.Tanh(x)), "d"), "Σ_d tanh(x_{id})²"},   //
		{ops.Sum(ops.Mul(x, x), "d"), "‖xᵢ‖²"},                         //
		{ops.SqDist(ops.Tanh(x), r), "Σ_d (tanh(x_{id}) − r_{jd})²"},   // the operation's norm, opened again
	} {
		if got := Unicode(Expr(e.n)); got != e.want {
			t.Errorf("got %s, want %s", got, e.want)
		}
	}
}
