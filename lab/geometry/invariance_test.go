package geometry_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// responses tries the transformations and gives the verdicts of each as one text.
func responses(t *testing.T, s geometry.Site, tr ...geometry.Transformation) map[string]string {
	t.Helper()
	table, err := s.Invariance(t.Context(), geometry.InvarianceConfig{Transformations: tr})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, row := range table.Rows {
		var all []string
		for _, r := range row.Responses {
			all = append(all, r.String())
			if within := r.Deviation <= table.Tolerance; within != (r.Kind != geometry.Changes) {
				t.Errorf("%s: %v with a deviation of %v", row.Transformation, r, r.Deviation)
			}
		}
		out[row.Transformation] = strings.Join(all, " | ")
		if !strings.Contains(table.String(), row.Transformation) {
			t.Errorf("%q is not in the text", row.Transformation)
		}
	}
	return out
}

func expect(t *testing.T, got, want map[string]string) {
	t.Helper()
	for tr, w := range want {
		if g, ok := got[tr]; !ok || g != w {
			t.Errorf("%s: %q, want %q", tr, g, w)
		}
	}
	if t.Failed() {
		t.Logf("all: %q", got)
	}
}

// TestSymmetriesOfClusterings: what is known of squared distances. If points and centres
// move together nothing changes, and the gradient by the centres turns with them; the
// order of points and of centres is nothing. Losses without a temperature are homogeneous
// of degree 2, so that their gradients are of degree 1; with γ they are only if γ shrinks
// as 1/s².
func TestSymmetriesOfClusterings(t *testing.T) {
	always := map[string]string{
		"translation of x, r along d": "invariant | invariant",
		"translation of x along d":    "no | no",
		"rotation of x, r along d":    "invariant | equivariant",
		"permutation of x, r along d": "invariant | equivariant",
		"permutation of x along i":    "invariant | invariant",
		"permutation of r along j":    "invariant | equivariant",
		"scaling of x by s":           "no | no",
		"scaling of r by s":           "no | no",
	}
	for name, more := range map[string]map[string]string{
		"kmeans-lloyd":   {"scaling of x, r by s": "∝ s^2 | ∝ s^1"},
		"kmeans-sgd":     {"scaling of x, r by s": "∝ s^2 | ∝ s^1"},
		"kmeans-softmax": {"scaling of x, r by s": "no | no", "scaling of x, r by s, γ by s^-2": "∝ s^2 | ∝ s^1"},
		"kmeans-goofy":   {"scaling of x, r by s": "no | no", "scaling of x, r by s, γ by s^-2": "∝ s^2 | ∝ s^1"},
	} {
		got := responses(t, irisSite(t, name, 1))
		expect(t, got, always)
		expect(t, got, more)
	}
}

// TestSymmetriesOfAttention: self-attention does not know the order of places: what comes
// out moves with what comes in. The features of x are not alike.
func TestSymmetriesOfAttention(t *testing.T) {
	g := graph.New("attention")
	x := g.Input("x", graph.F64, graph.Ax("t", 5), graph.Ax("m", 4))
	q, k, v := g.Param("q", graph.F64, graph.Ax("m", 4), graph.Ax("e", 3)), g.Param("k", graph.F64, graph.Ax("m", 4), graph.Ax("e", 3)), g.Param("v", graph.F64, graph.Ax("m", 4), graph.Ax("o", 3))
	keys := ops.Rename(x, "t", "u")
	α := ops.Softmax(ops.MatMul(ops.MatMul(x, q), ops.Transpose(ops.MatMul(keys, k))), "u")
	y := ops.MatMul(α, ops.MatMul(keys, v)).As("y")
	own := &builders.Model{Graph: g, Output: y, Loss: ops.Mean(ops.Square(y)).As("loss")}
	s := geometry.Site{Name: "own", Model: own, Store: tape.NewStore(g, tape.Seed(2)), Feed: tape.Feed{x: randomTensor(x, 3)}}
	expect(t, responses(t, s), map[string]string{
		"permutation of x along t":          "invariant | invariant | invariant | invariant | equivariant",
		"permutation of q, k along e":       "invariant | equivariant | equivariant | invariant | invariant",
		"permutation of v along o":          "invariant | invariant | invariant | equivariant | equivariant",
		"permutation of x, q, k, v along m": "invariant | equivariant | equivariant | equivariant | invariant",
		"rotation of x, q, k, v along m":    "invariant | equivariant | equivariant | equivariant | invariant",
		"scaling of x by s":                 "no | no | no | no | no",
	})
	// Values alone go through linearly: y is of degree 1 in them, the loss of degree 2.
	expect(t, responses(t, s, geometry.Transformation{Motion: geometry.Scaling, Of: []*graph.Node{v}}), map[string]string{
		"scaling of v by s": "∝ s^2 | ∝ s^2 | ∝ s^2 | ∝ s^1 | ∝ s^1",
	})
}

// TestSymmetriesOfNorms: a layer norm forgets shift and scale of each row (but for ε,
// which is nothing beside rows as wide as these), an RMS norm the scale alone.
func TestSymmetriesOfNorms(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"norm-layer": {"translation of x by one number": "invariant", "scaling of x by s": "invariant"},
		"norm-rms":   {"translation of x by one number": "no", "scaling of x by s": "invariant"},
	} {
		g := graph.New(name)
		c := graph.Ax("c", 6)
		x := g.Input("x", graph.F64, graph.Ax("i", 4), c)
		var y *graph.Node
		if name == "norm-layer" {
			y = nn.NewLayerNorm(g, "norm", graph.F64, c).Of(x)
		} else {
			y = nn.NewRMSNorm(g, "norm", graph.F64, c).Of(x)
		}
		y = y.As("y")
		s := geometry.Site{Name: name, Model: &builders.Model{Graph: g, Output: y, Loss: ops.Sum(ops.Sin(y)).As("loss")},
			Store: tape.NewStore(g), Feed: tape.Feed{x: randomTensor(x, 1000)}}
		got := responses(t, s)
		for tr, w := range want {
			parts := strings.Split(got[tr], " | ")
			if parts[0] != w || parts[len(parts)-1] != w {
				t.Errorf("%s: %s: %q, want %s of loss and y", name, tr, got[tr], w)
			}
		}
	}
}

// TestSymmetriesOfEveryModel: whatever the axes of a model of the registry are called, there
// are transformations that fit them.
func TestSymmetriesOfEveryModel(t *testing.T) {
	looked := 0
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if m.Loss == nil || m.Centres() == nil && len(lab.Trained(m)) == 0 {
			continue
		}
		looked++
		s, err := geometry.NewSite(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Invariance(t.Context(), geometry.InvarianceConfig{Trials: 1})
		if err != nil {
			t.Errorf("%s: %v", b.Name, err)
		} else if len(table.Rows) == 0 {
			t.Errorf("%s has no transformation", b.Name)
		}
	}
	if looked < 40 {
		t.Errorf("%d models have a loss to look at", looked)
	}
}

// TestManyParametersAreCounted: a table has room for a few parameters; the hidden units of
// two layers move three of them.
func TestManyParametersAreCounted(t *testing.T) {
	m, err := builders.Build("transformer-gpt", nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	s, err := geometry.NewSite(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.Invariance(t.Context(), geometry.InvarianceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	text := table.String()
	for _, want := range []string{"derivatives by 17 parameters", "invariant: 14, equivariant: 3", "all no", " more by s"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from\n%s", want, text)
		}
	}
}

// TestPowersAreFitted: of Σ|w|^2.5 the power is 2.5.
func TestPowersAreFitted(t *testing.T) {
	g := graph.New("power")
	w := g.Param("w", graph.F64, graph.Ax("i", 5)).Init(initial.Normal(0, 1))
	loss := ops.Sum(ops.Mul(ops.Square(w), ops.Sqrt(ops.Abs(w)))).As("loss")
	s := geometry.Site{Name: "power", Model: &builders.Model{Graph: g, Loss: loss}, Store: tape.NewStore(g)}
	table, err := s.Invariance(t.Context(), geometry.InvarianceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	last := table.Rows[len(table.Rows)-1]
	if r := last.Responses[0]; r.Kind != geometry.Homogeneous || math.Abs(r.Power-2.5) > 1e-9 || last.Responses[1].String() != "∝ s^1.5" {
		t.Errorf("%s: %+v", last.Transformation, last.Responses)
	}
}

// TestInvarianceRefuses what cannot be moved.
func TestInvarianceRefuses(t *testing.T) {
	s := irisSite(t, "kmeans-softmax", 0)
	x, r, D := s.Model.Points(), s.Model.Centres(), s.Model.Graph.Lookup("D")
	for _, c := range []struct {
		tr   geometry.Transformation
		want string
	}{
		{geometry.Transformation{Motion: geometry.Rotation, Axes: []string{"q"}, Of: []*graph.Node{x}}, "has no axis [q]"},
		{geometry.Transformation{Motion: geometry.Rotation, Of: []*graph.Node{x}}, "a rotation along 0 axes"},
		{geometry.Transformation{Motion: geometry.Scaling, Of: []*graph.Node{D}}, "is no input or parameter"},
		{geometry.Transformation{Motion: geometry.Scaling}, "nothing is moved"},
		{geometry.Transformation{Motion: geometry.Permutation, Axes: []string{"i", "j"}, Of: []*graph.Node{x, r}}, "another size"},
	} {
		_, err := s.Invariance(t.Context(), geometry.InvarianceConfig{Transformations: []geometry.Transformation{c.tr}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.tr, err, c.want)
		}
	}
}

// randomTensor is a value for an input: normal numbers, that many times as wide.
func randomTensor(n *graph.Node, wide float64) *tensor.Dense {
	rng := rand.New(rand.NewPCG(5, 6))
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = wide * rng.NormFloat64()
	}
	return tape.Tensor(v)
}
