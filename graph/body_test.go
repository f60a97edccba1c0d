package graph_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

type nodes = []*graph.Node

// decay is h ← tanh(w·h), with checkpoints: loops within loops, and their gradient.
func decay(t *testing.T, name string) (g *graph.Graph, h *graph.Node) {
	t.Helper()
	g = graph.New(name)
	x, w := g.Input("h0", graph.F64, graph.Ax("i", 2)), g.Param("w", graph.F64)
	r := ops.Scan(ops.Loop{Carry: nodes{x}, With: nodes{w}, Steps: 5, Checkpoint: 2}, func(c, _, w nodes) (next, out nodes) {
		return nodes{ops.Tanh(ops.Mul(w[0], c[0])).As("h \"quoted\"\nname")}, nil
	})
	h = r.Final[0]
	d := grad.Of(ops.Sum(ops.Square(h)), w)
	grad.Of(ops.Sum(d[0]), w)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return g, h
}

// TestBodyText: bodies within bodies read back as they were printed.
func TestBodyText(t *testing.T) {
	g, _ := decay(t, "decay")
	text := g.String()
	for _, want := range []string{"\nbody 1\n  graph \"step\"\n  body 1\n    graph \"step\"\n    %0 = input{path=\"h \\\"quoted\\\"\\nname₋₁\" type=f64[i=2]}", "    in %0 %1\n    out %4\n  end\n", "Scan{body=1 steps=2 carries=1 constants=1}"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks\n%s\nin\n%s", want, text)
		}
	}
	back, err := graph.Parse(strings.NewReader(text), ops.Vocabulary()...)
	if err != nil {
		t.Fatal(err)
	}
	if again := back.String(); again != text {
		t.Errorf("parsed and printed:\n%s\nwant\n%s", again, text)
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestEqualBodies: what a body computes makes it one, not what it is called or where
// it stands, so equal loops are one node; a copy into another graph finds its body
// there.
func TestEqualBodies(t *testing.T) {
	g := graph.New("g")
	h := g.Input("h", graph.F32, graph.Ax("i", 2))
	loop := func(name string, c float64) *graph.Node {
		return ops.Scan(ops.Loop{Carry: nodes{h}, Steps: 3}, func(x, _, _ nodes) (next, out nodes) { return nodes{ops.Scale(x[0], c).As(name)}, nil }).Final[0]
	}
	a, b, c := loop("a", 2), loop("b", 2), loop("c", 3)
	if a != b || a == c {
		t.Errorf("the loops are %v, %v and %v", a, b, c)
	}
	to := graph.New("to")
	of := map[*graph.Node]*graph.Node{}
	for _, n := range graph.Reachable(c) {
		var in nodes
		for _, x := range n.Inputs() {
			in = append(in, of[x])
		}
		of[n] = to.Copy(n, in)
	}
	if err := graph.Verify(to); err != nil || !of[c].IsValid() {
		t.Fatalf("%v: %v", of[c], err)
	}
	for was, now := range of {
		if b := was.Body(); b != nil && (now.Body().Form() != b.Form() || now.Op() == was.Op()) {
			t.Errorf("%v runs\n%vnot\n%v", now, now.Body(), b)
		}
	}
	if g.Body(0) != nil || g.Body(9) != nil || h.Body() != nil {
		t.Error("a body comes from nowhere")
	}
}

// TestBodyMistakes: a graph that cannot be a body is refused, with the line.
func TestBodyMistakes(t *testing.T) {
	const x = "  %0 = input{path=\"x\" type=f32[]} : f32[] ; \"x\"\n"
	body := func(lines string) string { return "graph \"g\"\nbody 1\n  graph \"b\"\n" + lines }
	for _, c := range []struct{ text, want string }{
		{"body 1", `line 1: want graph "name" first`},
		{"end", `line 1: want graph "name" first`},
		{"graph \"g\"\nend", `line 2: want a node like %3, got "end"`},
		{"graph \"g\"\nin", `line 2: want a node like %3, got "in"`},
		{"graph \"g\"\nbody 2", `line 2: body: want number 1, before the nodes`},
		{"graph \"g\"\n" + x + "body 1", `line 3: body: want number 1, before the nodes`},
		{"graph \"g\"\nbody 1\nend", `line 3: want graph "name" first`},
		{body(x), `line 5: want end of the body`},
		{body(x + "in %1"), `line 5: node %1 does not exist yet`},
		{body(x + "in %0\nout %0\nend more"), `line 7: unexpected "more"`},
		{body(x + "in %0\nend"), `line 6: the body has no results`},
		{body(x + "out %0\nend"), `line 6: input "x" is made inside the body`},
		{body(x + "in %0 %0\nout %0\nend"), `line 7: x[] is not an input of the body, or is listed twice`},
		{body(x + "in %0\nout %0\nend\nbody 2\ngraph \"c\"\n" + x + "in %0\nout %0\nend"), `line 13: body: equals body 1`},
		{body(x + "in %0\nout %0\nend\n" + x + "%1 = Scan{body=2 steps=1 carries=1} %0 : f32[2] ;"), `line 9: Scan: 1 operands and body 2: want a body of the graph, and at least one operand`},
		{body(x + "in %0\nout %0\nend\n" + x + "%1 = Scan{body=1 steps=1 carries=2} %0 : f32[2] ;"), `line 9: Scan: 1 operands for a body of 1 inputs and 1 results: want what the attributes count`},
		{body(x + "in %0\nout %0\nend\n" + x + "%1 = Scan{body=1 steps=4294967296 carries=1} %0 : f32[2] ;"), `line 9: Scan: 1 operands for a body of 1 inputs and 1 results: want what the attributes count`},
		{body(x + "in %0\nout %0\nend\n" + x + "%1 = Scan{body=1 steps=2147483648 carries=1} %0 : f32[2] ;"), `line 9: Scan has type f32[2147483649], not f32[2]`},
		{strings.Repeat("graph \"g\"\nbody 1\n", 65), `line 130: body: more than 64 within each other`},
	} {
		g, err := graph.Parse(strings.NewReader(c.text), ops.Vocabulary()...)
		if err == nil || g != nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
