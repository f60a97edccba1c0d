package inspect_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// fed makes a feed of numbers.
func fed(values map[*graph.Node][]float64) tape.Feed {
	feed := tape.Feed{}
	for n, v := range values {
		feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: v})
	}
	return feed
}

func autopsy(t *testing.T, feed tape.Feed, store *tape.Store, roots ...*graph.Node) *inspect.Finding {
	t.Helper()
	if store == nil {
		store = tape.NewStore(graph.Of(roots...))
	}
	f, err := inspect.Autopsy(context.Background(), feed, store, roots...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLogOfNegativeInThirdLayer plants the logarithm of a negative number in the
// third layer of a small network, trained by all of its weights.
func TestLogOfNegativeInThirdLayer(t *testing.T) {
	g := graph.New("three layers")
	i, d, h := graph.Ax("i", 4), graph.Ax("d", 2), graph.Ax("h", 3)
	x := g.Input("x", graph.F32, i, d)
	y := x
	end := g.Scope("one")
	y = ops.Tanh(nn.NewLinear(g, "fc", graph.F32, d, h).Of(y)).As("h1")
	end()
	end = g.Scope("two")
	y = ops.Sigmoid(nn.NewLinear(g, "fc", graph.F32, h, graph.Ax("k", 3)).Of(y)).As("h2")
	end()
	end = g.Scope("three")
	shift := g.Param("shift", graph.F32, graph.Ax("k", 3))
	z := ops.Sub(y, shift).As("z")
	planted := ops.Log(z).As("h3")
	end()
	loss := ops.Mean(ops.Square(planted)).As("loss")
	roots := append([]*graph.Node{loss}, grad.Of(loss, g.Leaves(graph.RoleParam)...)...)

	store := tape.NewStore(g, tape.Seed(3))
	if err := store.Set("three/shift", tape.Tensor(graph.Value{Type: shift.Type(), Data: []float64{0, 2, 0}})); err != nil {
		t.Fatal(err)
	}
	f := autopsy(t, fed(map[*graph.Node][]float64{x: {1, 0, 0, 1, 1, 1, -1, 1}}), store, roots...)
	if f == nil {
		t.Fatal("nothing is found")
	}
	if f.At.Node != planted || !slices.Equal(f.At.Index, []int{0, 1}) {
		t.Errorf("found at %v, want h3[i=0 k=1]", f.At)
	}
	if !strings.HasPrefix(f.Cause, "log of a negative: log(−1.") {
		t.Errorf("cause %q", f.Cause)
	}
	if len(f.Path) < 2 || f.Path[len(f.Path)-1].Node != z {
		t.Errorf("the path %v does not end in z, where the number became negative", f.Path)
	}
	if k := len(f.Carried); k == 0 || f.Carried[k-1].Node != loss || f.Harmless() {
		t.Errorf("carried to %v, want the loss", f.Carried)
	}
	text := f.String()
	for _, part := range []string{"log of a negative", "h3[i=0 k=1] = NaN", "autopsy_test.go:", "in three", "z[i=0 k=1] = −1.", "Sub h2"} {
		if !strings.Contains(text, part) {
			t.Errorf("the report lacks %q:\n%s", part, text)
		}
	}
	t.Log("\n" + text)
}

// TestCauses checks the cause named for each way in which values become NaN or infinite.
func TestCauses(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		a, b  float64
		make  func(a, b *graph.Node) *graph.Node
		cause string
		node  string // the operation at fault
	}{
		{"log of zero", 0, 1, func(a, b *graph.Node) *graph.Node { return ops.Log(ops.Mul(a, b)) }, "log of zero: log(0) is −∞", "Log"},
		{"zero by zero", 0, 0, ops.Div, "0/0", "Div"},
		{"one by zero", 1, 0, ops.Div, "division by zero: 1/0", "Div"},
		{"root", -2, 1, func(a, b *graph.Node) *graph.Node { return ops.Sqrt(ops.Mul(a, b)) }, "square root of a negative: sqrt(−2)", "Sqrt"},
		{"exp", 50, 2, func(a, b *graph.Node) *graph.Node { return ops.Exp(ops.Mul(a, b)) }, "overflow of exp: exp(100) is beyond float32's 3.4e38", "Exp"},
		{"product", 1e20, 1e20, func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, "overflow: Mul gives 1e+40, beyond float32's 3.4e38", "Mul"},
		{"power", -2, 0.5, ops.Pow, "a power of a negative that is no whole number: −2^0.5", "Pow"},
		{"fed", inf, 1, func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, "a value that is not finite was fed", "input"},
		{"infinite difference", 1e20, 1e20, func(a, b *graph.Node) *graph.Node {
			big := ops.Mul(a, b)
			return ops.Sub(big, ops.Scale(big, 2))
		}, "overflow: Mul gives 1e+40, beyond float32's 3.4e38", "Mul"},
		{"of constants", 1, 0, func(a, b *graph.Node) *graph.Node {
			return ops.Mul(b, ops.Add(a, ops.Lit(a, inf)))
		}, "0·∞", "Mul"},
	} {
		g := graph.New(c.name)
		a, b := g.Input("a", graph.F32), g.Input("b", graph.F32)
		f := autopsy(t, fed(map[*graph.Node][]float64{a: {c.a}, b: {c.b}}), nil, c.make(a, b))
		if f == nil {
			t.Errorf("%s: nothing is found", c.name)
			continue
		}
		op := f.At.Node.Role().String()
		if f.At.Node.Role() == graph.RoleOp {
			op = f.At.Node.Op().Name()
		}
		if f.Cause != c.cause || op != c.node {
			t.Errorf("%s: %s in %s, want %s in %s", c.name, f.Cause, op, c.cause, c.node)
		}
	}
}

// TestPathEndsWhereItBegan follows a negative number through operations that keep its sign to the
// product that made it, and names its factors.
func TestPathEndsWhereItBegan(t *testing.T) {
	g := graph.New("path")
	a, b := g.Input("a", graph.F32, graph.Ax("i", 2)), g.Input("b", graph.F32)
	m := ops.Mul(a, b)
	y := ops.Log(ops.Mean(ops.Add(ops.Reshape(m, 2, 1), ops.Lit(m, 0.5))))
	f := autopsy(t, fed(map[*graph.Node][]float64{a: {-3, 1}, b: {2}}), nil, y)
	if f == nil || !strings.HasPrefix(f.Cause, "log of a negative: log(−1.5)") {
		t.Fatalf("found %v", f)
	}
	if last := f.Path[len(f.Path)-1]; last.Node != m || last.Value != -6 || !slices.Equal(last.Index, []int{0}) {
		t.Errorf("the path ends in %v, want %v[i=0] = −6", last, m)
	}
	if len(f.Made) != 2 || f.Made[0].Entries[0].String() != "a[i=0] = −3" || f.Made[1].Entries[0].String() != "b = 2" {
		t.Errorf("it is made of %v", f.Made)
	}
}

// TestFoundInGradient: the loss is finite, its derivative is not; the finding names
// the forward value and where it came from.
func TestFoundInGradient(t *testing.T) {
	g := graph.New("norm")
	x := g.Param("x", graph.F32, graph.Ax("i", 3))
	y := ops.Sqrt(x).As("y")
	loss := ops.Sum(y).As("loss")
	d := grad.Of(loss, x)[0]
	store := tape.NewStore(g)
	if err := store.Set("x", tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{4, 0, 1}})); err != nil {
		t.Fatal(err)
	}
	f := autopsy(t, nil, store, loss, d)
	if f == nil || f.Twin == nil {
		t.Fatalf("found %v", f)
	}
	if f.Twin.Node != y || f.Twin.Value != 0 || !slices.Equal(f.Twin.Index, []int{1}) {
		t.Errorf("the forward twin is %v, want y[i=1] = 0", *f.Twin)
	}
	if k := len(f.Carried); k > 0 && f.Carried[k-1].Node != d {
		t.Errorf("carried to %v, want the derivative", f.Carried)
	}
	if last := f.Path[len(f.Path)-1]; last.Node != x {
		t.Errorf("the path ends in %v, want x", last)
	}
}

// TestCure: a softmax written naively overflows, the stabilising rewrite is tried
// and helps; of a plain logarithm none applies.
func TestCure(t *testing.T) {
	g := graph.New("naive")
	x := g.Param("x", graph.F32, graph.Ax("i", 2), graph.Ax("j", 3))
	e := ops.Exp(x).As("e")
	p := ops.Div(e, ops.Expand(ops.Sum(e, "j"), 1, "")).As("p")
	loss := ops.Sum(ops.Square(p)).As("loss")
	d := grad.Of(loss, x)[0]
	store := tape.NewStore(g)
	if err := store.Set("x", tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1, 2, 3, 1, 100, 2}})); err != nil {
		t.Fatal(err)
	}
	f := autopsy(t, nil, store, loss, d)
	if f == nil || f.Cure == nil {
		t.Fatalf("found %v", f)
	}
	if f.At.Node != e || !slices.Equal(f.At.Index, []int{1, 1}) {
		t.Errorf("found at %v, want e[i=1 j=1]", f.At)
	}
	// 0.09² + 0.245² + 0.665² of the first row, 1 of the second
	if c := f.Cure; !c.Works || c.Rules[0].Rule != "naive softmax" || c.Rules[0].Before != p || math.Abs(c.After-(0.0900306*0.0900306+0.2447285*0.2447285+0.6652410*0.6652410+1)) > 1e-5 {
		t.Errorf("cure %+v", c)
	}
	t.Log("\n" + f.String())
}

// TestHarmless finds a bad value that a choice removes, and calls it harmless; infinities of a
// mask are not found at all.
func TestHarmless(t *testing.T) {
	g := graph.New("masked")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	bad := ops.Log(x)
	y := ops.Select(ops.Greater(x, ops.Lit(x, 0)), bad, ops.Lit(x, 0))
	feed := fed(map[*graph.Node][]float64{x: {1, -1, 2}})
	f := autopsy(t, feed, nil, y)
	if f == nil || !f.Harmless() || f.At.Node != bad || !strings.Contains(f.String(), "does no harm") {
		t.Errorf("found %v", f)
	}

	mask := ops.Select(ops.Greater(x, ops.Lit(x, 0)), x, ops.Lit(x, math.Inf(-1)))
	if f := autopsy(t, feed, nil, ops.Softmax(mask, "i")); f != nil {
		t.Errorf("a mask is found: %v", f)
	}
	none := ops.Select(ops.Greater(x, ops.Lit(x, 10)), x, ops.Lit(x, math.Inf(-1)))
	α := ops.Softmax(none, "i")
	if f := autopsy(t, feed, nil, α); f == nil || f.At.Node != α || !strings.Contains(f.Cause, "Softmax") {
		t.Errorf("all is masked, and found is %v", f)
	}
}

// anyModel is [model] for models with nothing to differentiate too.
func anyModel(t *testing.T, name string) (m *builders.Model, roots []*graph.Node, feed tape.Feed, store *tape.Store) {
	t.Helper()
	m, err := builders.Build(name, nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots = []*graph.Node{m.Result()}
	if m.Loss != nil {
		roots = append(roots, grad.OrZero(m.Loss, m.Params()...)...)
	}
	for _, u := range m.Step {
		roots = append(roots, u.Value)
	}
	feed = tape.Feed{}
	if m.Examples != nil {
		feed = tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 2))))
	}
	return m, roots, feed, tape.NewStore(m.Graph, tape.Seed(1))
}

// TestNormOfZero: a mask replaces the norm of zero by a constant, so that its derivative is
// finite; the path back goes on to the numbers that the mask compares.
func TestNormOfZero(t *testing.T) {
	g := graph.New("direction")
	w := g.Param("w", graph.F32, graph.Ax("d", 3))
	u := ops.Div(w, ops.Norm(w, "d")).As("u")
	f := autopsy(t, nil, nil, ops.Sum(u).As("loss"))
	if f == nil || f.At.Node != u || f.Cause != "0/0" {
		t.Fatalf("found %v", f)
	}
	if last := f.Path[len(f.Path)-1]; last.Node != w || last.Value != 0 {
		t.Errorf("the path %v does not end in w", f.Path)
	}
}

// TestTwoFaults: where a rule mends one fault and another is left, the other one is named.
func TestTwoFaults(t *testing.T) {
	g := graph.New("two faults")
	x := g.Input("x", graph.F32, graph.Ax("i", 2), graph.Ax("c", 2))
	p := ops.Softmax(ops.Scale(x, 1000), "c").As("p")
	entropy := ops.Sum(ops.Mul(p, ops.Log(p)))
	cosine := ops.Div(ops.Sum(x, "c"), ops.Sqrt(ops.Sum(ops.Square(x), "c"))).As("cosine")
	loss := ops.Sub(ops.Sum(cosine), entropy).As("loss")
	f := autopsy(t, fed(map[*graph.Node][]float64{x: {3, 1, 0, 0}}), nil, loss)
	if f == nil || !strings.HasPrefix(f.Cause, "log of zero") || f.Cure == nil || f.Cure.Works {
		t.Fatalf("found %v", f)
	}
	if l := f.Cure.Left; l == nil || l.At.Node.Name() != "cosine" || l.Cause != "0/0" || !slices.Equal(l.At.Index, []int{1}) {
		t.Errorf("left is %v", l)
	}
	if s := f.String(); !strings.Contains(s, "it is not enough; loss becomes NaN") || !strings.Contains(s, "left      cosine[i=1] = NaN: 0/0  (Div ") {
		t.Errorf("got\n%s", s)
	}
	f = autopsy(t, fed(map[*graph.Node][]float64{x: {3, 1, 2, 1}}), nil, loss)
	if f == nil || f.Cure == nil || !f.Cure.Works || f.Cure.Left != nil {
		t.Errorf("without the second fault: %v", f)
	}
}
