package builders_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestScores: losses of scores refuse probabilities, and name the scores that are meant; what
// only looks like them is taken.
func TestScores(t *testing.T) {
	type node = *graph.Node
	softmax := func(z node) node { return ops.Softmax(z, -1) }
	const fix = "(give z[n=4 c=3])"
	for _, c := range []struct {
		name string
		p    func(z node) node
		want string // "" where it is scores
	}{
		{"softmax", softmax, "is a softmax, and scores are wanted"},
		{"named, cast and reshaped", func(z node) node {
			return ops.Rename(ops.Cast(ops.Cast(softmax(z).As("p"), graph.F64), graph.F32), 0, "m")
		}, "is a softmax"},
		{"log-softmax", func(z node) node { return ops.LogSoftmax(z, -1) }, "is a log-softmax"},
		{"log of softmax", func(z node) node { return ops.Log(softmax(z)) }, "is the logarithm of a softmax"},
		{"sigmoid", ops.Sigmoid, "is a sigmoid"},
		{"log of sigmoid", func(z node) node { return ops.Log(ops.Sigmoid(z)) }, "is the logarithm of a sigmoid"},
		{"scores", func(z node) node { return z }, ""},
		{"scores made of probabilities", func(z node) node { return ops.Scale(softmax(z), 10) }, ""},
	} {
		g := graph.New("scores")
		z := g.Input("z", graph.F32, graph.Ax("n", 4), graph.Ax("c", 3))
		p := c.p(z)
		n := p.Shape().Axis(0)
		label, soft := g.Input("y", graph.I64, n), g.Input("t", graph.F32, n, graph.Ax("c", 3))
		w, ε := g.Input("w", graph.F32, graph.Ax("c", 3)), g.Scalar("ε", .1)
		for loss, f := range map[string]func() node{
			"CrossEntropy":          func() node { return builders.CrossEntropy(p, label) },
			"CrossEntropy soft":     func() node { return builders.CrossEntropy(p, soft) },
			"CrossEntropy weighted": func() node { return builders.CrossEntropy(p, label, builders.Weighted(w), builders.Ignoring(2)) },
			"CrossEntropy smoothed": func() node { return builders.CrossEntropy(p, label, builders.Smoothed(ε)) },
			"BinaryCrossEntropy":    func() node { return builders.BinaryCrossEntropy(p, soft, nil) },
		} {
			before := 0
			if errs, ok := g.Err().(graph.Errors); ok {
				before = len(errs)
			}
			y := f()
			errs, _ := g.Err().(graph.Errors)
			if y.IsValid() != (c.want == "") || len(errs)-before != map[bool]int{false: 1}[c.want == ""] {
				t.Errorf("%s of %s: %v, %v", loss, c.name, y, errs)
				continue
			}
			if c.want == "" {
				continue
			}
			text := errs[before].Error()
			if !strings.Contains(text, c.want) || !strings.HasSuffix(text, fix) || errs[before].Op != strings.Fields(loss)[0] {
				t.Errorf("%s of %s: %s", loss, c.name, text)
			}
		}
	}
}
