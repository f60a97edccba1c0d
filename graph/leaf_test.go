package graph_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLeaves: what leaves know of themselves.
func TestLeaves(t *testing.T) {
	g := graph.New("g")
	for _, c := range []struct {
		n          *graph.Node
		role       graph.Role
		typ, init  string
		def        float64
		hasDefault bool
	}{
		{g.Input("x", graph.I32, graph.Ax("i", 2)), graph.RoleInput, "i32[i=2]", "zeros", 0, false},
		{g.Scalar("γ", 0.1), graph.RoleInput, "f32[]", "zeros", float64(float32(0.1)), true},
		{g.Scalar("n", 2, graph.I64), graph.RoleInput, "i64[]", "zeros", 2, true},
		{g.Scalar("zero", 0), graph.RoleInput, "f32[]", "zeros", 0, true},
		{g.Param("w", graph.F32, graph.Dims(2, 3)...), graph.RoleParam, "f32[2 3]", "glorot", 0, false},
		{g.Param("b", graph.F32, graph.Dims(3)...), graph.RoleParam, "f32[3]", "zeros", 0, false},
		{g.Param("v", graph.F64).Init(initial.Uniform(-1, 1)), graph.RoleParam, "f64[]", "uniform(-1,1)", 0, false},
		{g.State("m", graph.F32, graph.Dims(3)...).Init(initial.He()), graph.RoleState, "f32[3]", "he", 0, false},
		{ops.Neg(g.Lookup("w")), graph.RoleOp, "f32[2 3]", "zeros", 0, false},
		{g.Constant(graph.Bool, []float64{1}), graph.RoleConstant, "bool[]", "zeros", 0, false},
	} {
		d, has := c.n.Default()
		if c.n.Role() != c.role || c.n.Type().String() != c.typ || c.n.Initialiser().String() != c.init || d != c.def || has != c.hasDefault {
			t.Errorf("%v: %v %v %v %v %v", c.n, c.n.Role(), c.n.Type(), c.n.Initialiser(), d, has)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestRound: what becomes of a number in each type.
func TestRound(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		d        graph.DType
		in, want float64
	}{
		{graph.F64, 0.1, 0.1}, {graph.F32, 0.1, float64(float32(0.1))}, {graph.F32, 1e300, inf}, {graph.F32, 1e-60, 0},
		{graph.I32, -2.9, -2}, {graph.I32, 1e300, math.MaxInt32}, {graph.I32, -inf, math.MinInt32}, {graph.I32, nan, 0},
		{graph.I64, 2.9, 2}, {graph.I64, inf, 1 << 63}, {graph.I64, -1e300, -1 << 63}, {graph.I64, nan, 0},
		{graph.Bool, nan, 1}, {graph.Bool, -0.5, 1}, {graph.Bool, 0, 0},
	} {
		if got := c.d.Round(c.in); got != c.want {
			t.Errorf("%v of type %v is %v, want %v", c.in, c.d, got, c.want)
		}
	}
	for _, d := range []graph.DType{graph.I32, graph.I64, graph.Bool} {
		if math.Signbit(d.Round(math.Copysign(0, -1))) || math.Signbit(d.Round(-0.5)) {
			t.Errorf("%v has a -0", d)
		}
	}
	if !math.Signbit(graph.F32.Round(math.Copysign(0, -1))) || graph.F64.Round(nan) == graph.F64.Round(nan) {
		t.Error("a float lost its -0 or NaN")
	}
}

// TestUpdates: updates are kept in order, and a failed one is not kept.
func TestUpdates(t *testing.T) {
	g := graph.New("g")
	w := g.Param("w", graph.F32, graph.Ax("i", 2))
	s := g.State("s", graph.F32, graph.Dims(2)...)
	a, b := g.Assign(w, ops.Neg(w)), g.Assign(s, w) // a name may be missing
	g.Assign(w, nil)
	g.Assign(w, g.Apply(nil))
	if u := g.Updates(); len(u) != 2 || u[0] != a || u[1] != b || len(g.Err().(graph.Errors)) != 2 {
		t.Errorf("got %v, %v", u, g.Err())
	}
}

// TestCopy: nodes are added to another graph with their constants and paths.
func TestCopy(t *testing.T) {
	g, h := graph.New("g"), graph.New("h")
	h.Constant(graph.F32, []float64{9})
	end := g.Scope("s")
	w := g.Param("w", graph.F32).Init(initial.Fill(3))
	end()
	defer h.Scope("other")()
	y := ops.Add(w, g.Constant(graph.F32, []float64{2}))
	z := h.Copy(y, []*graph.Node{h.Copy(w, nil), h.Copy(y.In(1), nil)})
	if v, _ := z.In(1).Constant(); z.Graph() != h || z.In(0).Path() != "s/w" || z.In(0).Initialiser() != initial.Fill(3) || v.Data[0] != 2 {
		t.Errorf("got\n%v", h)
	}
	if err := graph.Verify(h); err != nil {
		t.Error(err)
	}
}

// TestRowsOfInput: a parameter starts at rows of an input that is there and has such rows.
func TestRowsOfInput(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"z", `initialiser rows(z): there is no input "z"`},
		{"w", `initialiser rows(w): there is no input "w"`},
		{"y", `initialiser rows(y): f64[j=3 d=2] is no array of rows of f64[i=5]`},
		{"x", ""},
	} {
		g := graph.New("rows")
		g.Input("x", graph.F64, graph.Ax("i", 5), graph.Ax("d", 2))
		g.Input("y", graph.F64, graph.Ax("i", 5))
		g.Param("w", graph.F64, graph.Ax("d", 2))
		g.Param("r", graph.F64, graph.Ax("j", 3), graph.Ax("d", 2)).Init(initial.Rows(c.path))
		if err := g.Err(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("rows(%s): %v, want %s", c.path, err, c.want)
		}
	}
}
