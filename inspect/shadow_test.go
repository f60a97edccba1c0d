package inspect_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

func shadowOf(t *testing.T, feed tape.Feed, roots ...*graph.Node) *inspect.Precision {
	t.Helper()
	p, err := inspect.MeasurePrecision(context.Background(), feed, tape.NewStore(graph.Of(roots...)), roots...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlantedCancellation: the variance as E[x²] − E[x]² of data around 1000 has hardly a correct
// digit in float32, and the subtraction is blamed.
func TestPlantedCancellation(t *testing.T) {
	g := graph.New("variance")
	x := g.Input("x", graph.F32, graph.Ax("i", 64), graph.Ax("d", 2))
	data := make([]float64, 128)
	for k := range data {
		data[k] = graph.F32.Round(1000 + math.Sin(float64(k)*1.7))
	}
	m := ops.Mean(x, "i").As("m")
	m2 := ops.Mean(ops.Square(x), "i").As("m2")
	v := ops.Sub(m2, ops.Square(m))
	v.As("variance")
	loss := ops.Sum(ops.Sqrt(v), "d").As("loss")
	p := shadowOf(t, fed(map[*graph.Node][]float64{x: data}), loss)

	worst := p.Losses[0]
	if worst.Node != v || !strings.HasPrefix(worst.Cause, "cancellation: ") {
		t.Fatalf("the worst is %v: %s", worst.Node, worst.Cause)
	}
	if worst.Here() < 4 || worst.Lost() < 4 || worst.Amplification() < 1e4 {
		t.Errorf("lost %v here, %v in all, amplified %v: want most of 7.2", worst.Here(), worst.Lost(), worst.Amplification())
	}
	// the truth, computed here in another way
	col := worst.Worst.Index[0]
	mean, square := 0.0, 0.0
	for k := col; k < len(data); k += 2 {
		mean += data[k] / 64
	}
	for k := col; k < len(data); k += 2 {
		square += (data[k] - mean) * (data[k] - mean) / 64
	}
	if math.Abs(worst.True-square) > 1e-6 {
		t.Errorf("the shadow has %v, the variance is %v", worst.True, square)
	}
	if math.Abs(worst.Worst.Value-square) < 1e-3 {
		t.Errorf("float32 has %v, which is right", worst.Worst.Value)
	}
	for _, l := range p.Losses {
		if l.Node == loss && (l.Here() > 1 || l.Lost() < 4) {
			t.Errorf("the loss loses %v here, %v in all: want it inherited", l.Here(), l.Lost())
		}
	}
	text := p.String()
	for _, part := range []string{"variance = Sub m2", "shadow_test.go:", "cancellation: 1000", "in float64"} {
		if !strings.Contains(text, part) {
			t.Errorf("the table lacks %q", part)
		}
	}
	t.Log("\n" + text)
}

// TestLossCauses names other ways to lose digits.
func TestLossCauses(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     float64
		make  func(x *graph.Node) *graph.Node
		cause string
	}{
		{"overflow", 1e20, ops.Square, "overflow: 1e+40 is beyond"},
		{"underflow", 1e-30, ops.Square, "underflow: 1e−60 is below"},
		{"exp", 80.3, func(x *graph.Node) *graph.Node { return ops.Exp(ops.Scale(x, 1.1)) }, "large argument: exp(88.33"},
		{"sin", 1e5, func(x *graph.Node) *graph.Node { return ops.Sin(ops.Scale(x, 1.1)) }, "large argument: sin(1"},
		{"log", 1, func(x *graph.Node) *graph.Node { return ops.Log(ops.Shift(ops.Scale(x, 1e-6), 1)) }, "cancellation inside: log(1.000001"},
		{"sum", 1, func(x *graph.Node) *graph.Node {
			y := ops.Scale(x, 0.1)
			return ops.Sum(ops.Stack(0, "k", y, ops.Scale(x, 0.2), ops.Neg(ops.Scale(x, 0.3000001))))
		}, "cancellation in Sum: 3 terms"},
	} {
		g := graph.New(c.name)
		x := g.Input("x", graph.F32)
		p := shadowOf(t, fed(map[*graph.Node][]float64{x: {graph.F32.Round(c.x)}}), c.make(x))
		if l := p.Losses[0]; c.name == "sum" && l.Worst.Value == graph.F32.Round(l.True) {
			continue // kernels without assembly add in float64, and lose nothing
		}
		if got := p.Losses[0].Cause; !strings.HasPrefix(got, c.cause) {
			t.Errorf("%s: %q, want %q", c.name, got, c.cause)
		}
	}
}

// TestFlips: a decision that rounding reverses is reported, with the number of elements.
func TestFlips(t *testing.T) {
	g := graph.New("nearest")
	x := g.Input("x", graph.F32, graph.Ax("j", 3))
	best := ops.ArgMin(ops.Shift(x, 1e4), "j")
	y := ops.Gather(x, best, 0)
	p := shadowOf(t, fed(map[*graph.Node][]float64{x: {2e-4, 1e-4, 0}}), y)
	k := slices.IndexFunc(p.Losses, func(l inspect.Loss) bool { return l.Node == best })
	if k < 0 || p.Losses[k].Flips != 1 || p.Losses[k].True != 2 {
		t.Fatalf("the decision is not shown: %v", p)
	}
	if k = slices.IndexFunc(p.Losses, func(l inspect.Loss) bool { return l.Node == y }); p.Losses[k].Lost() < 5 || p.Losses[k].Here() > 1 {
		t.Errorf("what it chooses: %+v", p.Losses[k])
	}
}

// TestShadowWantsFloat32: in float64 there is nothing to compare.
func TestShadowWantsFloat32(t *testing.T) {
	g := graph.New("wide")
	y := ops.Exp(g.Input("x", graph.F64))
	_, err := inspect.MeasurePrecision(context.Background(), fed(map[*graph.Node][]float64{y.In(0): {1}}), tape.NewStore(g), y)
	if err == nil || !strings.Contains(err.Error(), "float32") {
		t.Errorf("error %v", err)
	}
}

// TestAllModels checks that the results of every registered model are finite and agree with its
// shadow to half of their digits, except where decisions differ.
func TestAllModels(t *testing.T) {
	names := builders.Names()
	if testing.Short() {
		names = names[:25]
	}
	for _, name := range names {
		_, roots, feed, store := anyModel(t, name)
		f, err := inspect.Autopsy(context.Background(), feed, store, roots...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if f != nil {
			t.Errorf("%s: %v", name, f)
		}
		p, err := inspect.MeasurePrecision(context.Background(), feed, store, roots...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := inspect.MeasurePrecision(context.Background(), feed, store, roots...)
		if err != nil || p.String() != again.String() {
			t.Errorf("%s: not the same twice: %v", name, err)
		}
		for _, l := range p.Losses {
			if l.Node == roots[0] && l.Lost() > 3.5 {
				t.Errorf("%s: the result loses %.1f digits:\n%v", name, l.Lost(), p)
			}
		}
	}
}

// TestReaches: of two values that lose the same digits, one vanishes beside a larger number and
// does no harm, the other is a result.
func TestReaches(t *testing.T) {
	g := graph.New("two differences")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	v := ops.Sub(ops.Mean(ops.Square(x)), ops.Square(ops.Mean(x))).As("v")
	hidden := ops.Maximum(v, ops.Lit(v, 7)).As("hidden")
	root := ops.Sqrt(v).As("root")
	feed := fed(map[*graph.Node][]float64{x: {1000.1, 1000.2, 1000.4}})
	reaches := func(n *graph.Node, roots ...*graph.Node) bool {
		p := shadowOf(t, feed, roots...)
		k := slices.IndexFunc(p.Losses, func(l inspect.Loss) bool { return l.Node == n })
		if k < 0 || p.Losses[k].Lost() < 2 {
			t.Fatalf("%v loses no digits:\n%v", n, p)
		}
		if said := strings.Contains(p.String(), "it reaches no result"); said == p.Losses[k].Reaches {
			t.Errorf("the table is\n%v", p)
		}
		return p.Losses[k].Reaches
	}
	if reaches(v, hidden) {
		t.Error("v is said to reach what is 7 whatever it is")
	}
	if !reaches(v, root) || !reaches(v, v) || !reaches(v, hidden, root) {
		t.Error("v is not said to reach its root")
	}
}

// TestMixedPrecision: a large product loses digits under tape.Mixed alone, and is told why; a small
// one loses none.
func TestMixedPrecision(t *testing.T) {
	for _, size := range []int{64, 8} {
		g := graph.New("product")
		x := g.Input("x", graph.F32, graph.Ax("b", size), graph.Ax("i", size))
		w := g.Input("w", graph.F32, graph.Ax("i", size), graph.Ax("j", size))
		data := map[*graph.Node][]float64{}
		for _, n := range []*graph.Node{x, w} {
			for k := range size * size {
				data[n] = append(data[n], graph.F32.Round(math.Sin(float64(3*k+1))))
			}
		}
		y := ops.MatMul(x, w).As("y")
		usual := shadowOf(t, fed(data), y)
		mixed, err := inspect.MeasureMixedPrecision(context.Background(), fed(data), tape.NewStore(g), y)
		if err != nil {
			t.Fatal(err)
		}
		if usual.Mixed || !mixed.Mixed {
			t.Errorf("mixed: %v, %v", usual.Mixed, mixed.Mixed)
		}
		if got, of := mixed.Results, usual.Results; len(got) != 1 || got[0].Node != y || got[0].Name != "y" ||
			of[0].Kept() < 6 || (size < 16) != (got[0].Kept() > 6) || got[0].Kept() < 2 {
			t.Errorf("results %+v under Mixed, %+v otherwise", got, of)
		}
		rounds := 0
		for _, r := range mixed.Rules {
			if r.Nodes > 0 && !strings.Contains(mixed.String(), "1 × "+r.Operation+": operands "+r.Operands+", sums float32") {
				t.Errorf("the rule for %s is not shown:\n%v", r.Operation, mixed)
			}
			if rounds += r.Nodes; r.Nodes > 0 && r.Rounds() != (size >= 16) {
				t.Errorf("a product of size %d: %+v", size, r)
			}
		}
		if rounds != 1 || usual.Rules != nil {
			t.Errorf("rules decide about %d nodes, want 1, and otherwise none: %v", rounds, usual.Rules)
		}
		cause := "its operands are rounded to bfloat16, which has 8 bits"
		if got := mixed.Losses[0]; size < 16 {
			if got.Local != usual.Losses[0].Local {
				t.Errorf("a small product loses %v under Mixed, %v otherwise", got.Local, usual.Losses[0].Local)
			}
		} else if got.Cause != cause || got.Here() < 3 || got.Here() < usual.Losses[0].Here()+2 || !strings.Contains(mixed.String(), "under tape.Mixed") {
			t.Errorf("a large product loses %v digits, %v without Mixed: %s", got.Here(), usual.Losses[0].Here(), got.Cause)
		}
	}
}
