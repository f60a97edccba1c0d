package inspect_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestFoundInLoop finds a fault in the body of a loop, with its step: c decreases by 1 from 2.5,
// so that the fourth logarithm is NaN.
func TestFoundInLoop(t *testing.T) {
	g := graph.New("loop")
	x := g.Input("x", graph.F32, graph.Ax("t", 6))
	start := g.Input("start", graph.F32)
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{start}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		level := ops.Log(c[0]).As("level")
		return []*graph.Node{ops.Sub(c[0], x[0])}, []*graph.Node{level}
	})
	loss := ops.Sum(r.Out[0]).As("loss")
	f := autopsy(t, fed(map[*graph.Node][]float64{x: {1, 1, 1, 1, 1, 1}, start: {2.5}}), nil, loss)
	if f == nil || f.Inside == nil {
		t.Fatalf("found %v", f)
	}
	if f.Time != 3 || f.Inside.At.Node.Label() != "level" || f.Cause != "log of a negative: log(−0.5), in step 3 of the loop" {
		t.Errorf("step %d, %v: %s", f.Time, f.Inside.At, f.Cause)
	}
	if text := f.String(); !strings.Contains(text, "autopsy_loop_test.go:20") {
		t.Errorf("the line of the body is missing:\n%s", text)
	}
}

// TestCompiledGraph: a quotient that is finite as written overflows when a rewrite
// multiplies by the reciprocal of the divisor, which is subnormal; the finding on the
// graph that is run names the user's node and line, and the rule.
func TestCompiledGraph(t *testing.T) {
	g := graph.New("quotient")
	x := g.Input("x", graph.F32, graph.Ax("i", 64))
	d := g.Input("d", graph.F32)
	y := ops.Div(x, d).As("y")
	data := make([]float64, 64)
	for k := range data {
		data[k] = 1e-10
	}
	feed := fed(map[*graph.Node][]float64{x: data, d: {1e-39}})
	if f := autopsy(t, feed, nil, y); f != nil {
		t.Fatalf("as written: %v", f)
	}
	prog, err := tape.Compile(g, tape.Fetch(y))
	if err != nil {
		t.Fatal(err)
	}
	run := prog.Graph().Lookup("y")
	if run == nil {
		t.Fatal("the rewritten graph has no y")
	}
	f := autopsy(t, inspect.Feed(feed, prog.Graph()), nil, run)
	if f == nil || f.Harmless() {
		t.Fatalf("found %v in\n%v", f, prog.Graph())
	}
	if last := f.Path[len(f.Path)-1].Node; last.Label() != "d" {
		t.Errorf("the suspect is %v, want d", last)
	}
	text := f.String()
	for _, part := range []string{"autopsy_loop_test.go:43", "divide by a repeated", "overflow: Div gives 9.99", "y = ∞"} {
		if !strings.Contains(text, part) {
			t.Errorf("the report lacks %q:\n%s", part, text)
		}
	}
}
