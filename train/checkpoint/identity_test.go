package checkpoint_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// sketch says what a small graph is made of.
type sketch struct {
	reversed bool // leaves are made the other way round, and another loop comes first
	named    bool
	idle     bool // a parameter that nothing needs
	path     string
	constant float64
	rate     float64 // a default
	noise    string
	factor   float64 // in the loop
	size     int
}

// fingerprint builds it: loss = rate·Σ h_T, h ← factor·h + (w + constant)·x.
func (s sketch) fingerprint(t *testing.T) string {
	g := graph.New("g")
	loop := func(h0, x *graph.Node, factor float64) *graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h0}, Over: []*graph.Node{x}, Axis: "i"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Add(ops.Scale(c[0], factor), x[0])}, nil
		})
		return r.Trace[0]
	}
	var noise *graph.Node
	leaves := []func(){
		func() { g.Input("x", graph.F32, graph.Ax("i", s.size)) },
		func() { g.Param(s.path, graph.F32, graph.Ax("i", s.size)).Init(initial.Normal(0, 1)) },
		func() { g.Scalar("rate", s.rate) },
		func() { noise = ops.RandomNormal(g, s.noise, graph.F32, graph.Ax("i", s.size)) },
	}
	if s.reversed {
		slices.Reverse(leaves)
	}
	for _, make := range leaves {
		make()
	}
	x, w, rate := g.Lookup("x"), g.Lookup(s.path), g.Lookup("rate")
	if s.reversed {
		loop(rate, x, 17)
	}
	if s.idle {
		g.Param("idle", graph.F32)
	}
	y := ops.Mul(ops.Add(w, g.Constant(graph.F32, []float64{s.constant}, graph.Ax("i", 1))), ops.Add(x, noise))
	if s.named {
		defer g.Scope("model")()
		y = y.As("y")
	}
	loss := ops.Mul(ops.Sum(loop(ops.Lit(rate, 0), y, s.factor)), rate)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	id := checkpoint.Identify(3, loss, graph.Step{g.Assign(w, y)})
	if len(id.Leaves) != 1 || id.Leaves[0].Path != s.path || id.Leaves[0].Role != "param" || id.Name != "g" || id.Rows != 3 {
		t.Errorf("%+v", id)
	}
	return id.Fingerprint
}

func TestFingerprint(t *testing.T) {
	base := sketch{path: "w", constant: 1, rate: 0.5, noise: "ε", factor: 2, size: 4}
	want := base.fingerprint(t)
	for _, c := range []struct {
		what   string
		change func(s *sketch)
		same   bool
	}{
		{"nothing", func(s *sketch) {}, true},
		{"the order", func(s *sketch) { s.reversed = true }, true},
		{"names and scopes", func(s *sketch) { s.named = true }, true},
		{"an idle parameter", func(s *sketch) { s.idle = true }, true},
		{"a path", func(s *sketch) { s.path = "v" }, false},
		{"a constant", func(s *sketch) { s.constant = 1.5 }, false},
		{"a default", func(s *sketch) { s.rate = 0.25 }, false},
		{"a draw's key", func(s *sketch) { s.noise = "η" }, false},
		{"the body of a loop", func(s *sketch) { s.factor = 3 }, false},
		{"a size", func(s *sketch) { s.size = 5 }, false},
	} {
		s := base
		c.change(&s)
		if got := s.fingerprint(t); (got == want) != c.same {
			t.Errorf("changed %s: the same fingerprint is %v, want %v", c.what, got == want, c.same)
		}
	}
	loss, step := line("w", 3, false)
	noisy, noisyStep := line("w", 3, true)
	id := checkpoint.Identify(5, loss, step)
	for what, other := range map[string]checkpoint.Identity{
		"another loss":       checkpoint.Identify(5, noisy, noisyStep),
		"an update less":     checkpoint.Identify(5, loss, step[:1]),
		"a loss less":        checkpoint.Identify(5, nil, step),
		"a result besides":   checkpoint.Identify(5, loss, step, loss.In(0)),
		"an update in place": checkpoint.Identify(5, loss, graph.Step{step[1], {Target: step[0].Target, Value: step[0].Target}}),
	} {
		if other.Fingerprint == id.Fingerprint {
			t.Errorf("%s has the same fingerprint", what)
		}
	}
	slices.Reverse(step)
	if checkpoint.Identify(5, loss, step).Fingerprint != id.Fingerprint {
		t.Error("the order of the updates counts")
	}
}

// A graph deeper than any stack of calls should be.
func TestFingerprintOfDeepGraph(t *testing.T) {
	g := graph.New("deep")
	w := g.Param("w", graph.F32)
	y := w
	for range 20_000 {
		y = ops.Tanh(y)
	}
	if id := checkpoint.Identify(1, y, nil); len(id.Leaves) != 1 {
		t.Errorf("%+v", id)
	}
}

func TestCheck(t *testing.T) {
	s := stateOf(40)
	s.Path = "run/step-00000040.safetensors"
	loss, step := line("w", 3, false)
	same := checkpoint.Identify(5, loss, step)
	if err := s.Check(same, 40, s.Data); err != nil {
		t.Error(err)
	}
	of := func(name string, width int) checkpoint.Identity {
		loss, step := line(name, width, false)
		return checkpoint.Identify(5, loss, step)
	}
	many := func(n int) checkpoint.Identity {
		id := same
		for i := range n {
			id.Leaves = append(id.Leaves, checkpoint.Leaf{Path: fmt.Sprintf("v%02d", i), Type: graph.Type{DType: graph.F32}})
		}
		return id
	}
	for _, c := range []struct {
		model checkpoint.Identity
		want  string
	}{
		{of("v", 3), "it has no fc/v f32[d=3]; the model has no fc/w f32[d=3]"},
		{of("w", 4), "fc/w is f32[d=3] there, f32[d=4] in the model"},
		{checkpoint.Identify(5, loss, step[:1]), "the model has no runs i64[]"},
		{many(22), "it has no v00 f32[], v01 f32[], v02 f32[], v03 f32[], v04 f32[], v05 f32[], v06 f32[], v07 f32[], v08 f32[], v09 f32[], v10 f32[], v11 f32[], v12 f32[], v13 f32[], v14 f32[], v15 f32[], v16 f32[], v17 f32[], v18 f32[], v19 f32[]; and 2 more"},
	} {
		err := s.Check(c.model, 40, s.Data)
		if m := new(checkpoint.Mismatch); !errors.As(err, &m) || err.Error() != s.Path+" is of another model: "+c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	noisy, noisyStep := line("w", 3, true)
	other := checkpoint.Identify(5, noisy, noisyStep)
	cut := other
	cut.Lanes = 8
	for _, c := range []struct {
		model   checkpoint.Identity
		batches int
		source  string
		want    string
	}{
		{other, 40, s.Data, fmt.Sprintf("the training graph computes something else (fingerprint %.8s there, %.8s here)", same.Fingerprint, other.Fingerprint)},
		{cut, 40, s.Data, "its batches were cut into no lanes, these are cut into 8 lanes"},
		{same, 41, "shuffled(…)", "its data had 40 batches an epoch, these have 41"},
		{same, 40, "shuffled(200 rows, batches of 5, seed 2)", `its data were "shuffled(200 rows, batches of 5, seed 1)", these are "shuffled(200 rows, batches of 5, seed 2)"`},
	} {
		err := s.Check(c.model, c.batches, c.source)
		if m := new(checkpoint.Changed); !errors.As(err, &m) || err.Error() != s.Path+" fits the model, but "+c.want+": training would not go on as it began" {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := s.Check(same, 0, ""); err != nil {
		t.Errorf("an unknown number of batches, and unknown data: %v", err)
	}
	unknown := stateOf(40)
	unknown.Data = ""
	if err := unknown.Check(same, 40, "in order(200 rows, batches of 5)"); err != nil {
		t.Errorf("a checkpoint that does not know its data: %v", err)
	}
	if err := s.CheckUse(checkpoint.Identify(5, noisy, nil)); err != nil {
		t.Errorf("for predicting: %v", err)
	}
	err := s.CheckUse(of("v", 3))
	if m := new(checkpoint.Mismatch); !errors.As(err, &m) || err.Error() != s.Path+" is of another model: it has no fc/v f32[d=3]" {
		t.Errorf("for predicting: %v", err)
	}
}
