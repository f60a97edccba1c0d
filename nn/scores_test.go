package nn_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// scanned is what a loop along z's first axis gives: a step sees the carry before it and an element
// of z, and gives the next carry and an out.
func scanned(z *graph.Node, step func(before, z *graph.Node) (next, out *graph.Node)) ops.Scanned {
	first := ops.Squeeze(ops.Slice(z, 0, 0, 1), 0)
	zero := ops.BroadcastTo(ops.Lit(z, 0), first.Shape())
	return ops.Scan(ops.Loop{Carry: []*graph.Node{zero}, Over: []*graph.Node{z}, Axis: 0}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		h, o := step(c[0], x[0])
		return []*graph.Node{h}, []*graph.Node{o}
	})
}

// TestScores: losses of scores refuse what is surely a probability, and name the scores that are
// meant; what only looks like one is taken.
func TestScores(t *testing.T) {
	type node = *graph.Node
	σ, lit := ops.Sigmoid, ops.Lit
	softmax := func(z node) node { return ops.Softmax(z, -1) }
	beside := func(z node) node { return z.Graph().Input("x", graph.F32, z.Shape().Axes()...) }
	mask := func(z node) node { return z.Graph().Input("mask", graph.Bool, z.Shape().Axes()...) }
	const plain, made = "(give z[n=4 c=3])", "(give scores, such as z[n=4 c=3])"
	for _, c := range []struct {
		name      string
		p         func(z node) node
		want, fix string // "" where it is scores
	}{
		{"softmax", softmax, "is a softmax, and scores are wanted", plain},
		{"named, cast and reshaped", func(z node) node {
			return ops.Rename(ops.Cast(ops.Cast(softmax(z).As("p"), graph.F64), graph.F32), 0, "m")
		}, "is a softmax", plain},
		{"sigmoid", σ, "is a sigmoid", plain},
		{"log of sigmoid", func(z node) node { return ops.Log(σ(z)) }, "is the logarithm of a sigmoid", plain},
		{"log-sigmoid", ops.LogSigmoid, "is the logarithm of a sigmoid", plain},
		{"part of a log-sigmoid", func(z node) node { return ops.Slice(ops.LogSigmoid(z), 0, 1, 3) }, "is the logarithm of a probability made of a sigmoid", made},
		{"log of a clipped sigmoid", func(z node) node { return ops.Log(ops.Clip(σ(z), lit(z, 1e-7), lit(z, 1-1e-7))) }, "is the logarithm of a probability made of a sigmoid", made},
		{"clipped", func(z node) node { return ops.Clip(σ(z), lit(z, 1e-7), lit(z, 1-1e-7)) }, "is a probability made of a sigmoid", made},
		{"clipped by inputs", func(z node) node { return ops.Clip(σ(z), z.Graph().Scalar("lo", 0), z.Graph().Scalar("hi", 1)) }, "is a probability made of a sigmoid", made},
		{"bounded", func(z node) node { return ops.Maximum(ops.Minimum(softmax(z), lit(z, .99)), lit(z, .01)) }, "is a probability made of a softmax", made},
		{"the opposite", func(z node) node { return ops.OneMinus(σ(z)) }, "is a probability made of a sigmoid", made},
		{"the opposite of the clipped", func(z node) node { return ops.OneMinus(ops.Clip(σ(z), lit(z, 0), lit(z, 1))) }, "is a probability made of a sigmoid", made},
		{"part", func(z node) node { return ops.Slice(σ(z), 0, 0, 2) }, "is a probability made of a sigmoid", made},
		{"reversed", func(z node) node { return ops.Reverse(σ(z), 0) }, "is a probability made of a sigmoid", made},
		{"joined", func(z node) node { return ops.Concat(0, σ(z), softmax(beside(z))) }, "is a probability made of a sigmoid", "(give scores, such as x[n=4 c=3])"},
		{"joined with zeros", func(z node) node { return ops.Concat(0, σ(z), ops.BroadcastTo(lit(z, 0), z.Shape())) }, "is a probability made of a sigmoid", made},
		{"rows", func(z node) node {
			return ops.Gather(σ(z), z.Graph().Constant(graph.I64, []float64{0, 2}, graph.Ax("m", 2)), 0)
		}, "is a probability made of a sigmoid", made},
		{"mean of an ensemble", func(z node) node { return ops.Mean(ops.Stack(0, "", softmax(z), softmax(beside(z))), 0) }, "is a probability made of a softmax", "(give scores, such as x[n=4 c=3])"},
		{"dropped out", func(z node) node { return nn.Dropout(σ(z), z.Graph().Scalar("p", .5)) }, "is a probability made of a sigmoid", made},
		{"masked", func(z node) node { return nn.MaskedSoftmax(z, mask(z)) }, "is a probability made of a softmax", ""},
		{"smoothed", func(z node) node { return ops.Shift(ops.Scale(softmax(z), .9), .1/3) }, "is a probability made of a softmax", made},
		{"product", func(z node) node { return ops.Mul(σ(z), σ(beside(z))) }, "is a probability made of a sigmoid", ""},
		{"halved", func(z node) node { return ops.Div(σ(z), lit(z, 2)) }, "is a probability made of a sigmoid", made},
		{"mean written out", func(z node) node { return ops.Div(ops.Add(ops.Add(σ(z), σ(beside(z))), σ(z)), lit(z, 3)) }, "is a probability made of a sigmoid", ""},
		{"out and back", func(z node) node { return ops.Scale(ops.Shift(ops.Shift(ops.Scale(σ(z), 2), -1), 1), .5) }, "is a probability made of a sigmoid", made},
		{"share of more than all", func(z node) node { return ops.Div(σ(z), ops.Shift(σ(beside(z)), 1)) }, "is a probability made of a sigmoid", ""},
		{"rectified probability", func(z node) node { return ops.Abs(ops.ReLU(σ(z))) }, "is a probability made of a sigmoid", made},
		{"padded", func(z node) node { return ops.Slice(ops.Pad(σ(z), 1, 1, 1, 0), 1, 0, 3) }, "is a probability made of a sigmoid", made},
		{"written out", func(z node) node { return ops.Div(lit(z, 1), ops.Shift(ops.Exp(ops.Neg(z)), 1)) }, "is a sigmoid", plain},
		{"written out, opposite", func(z node) node { return ops.Div(lit(z, 1), ops.Shift(ops.Exp(z), 1)) }, "is a probability made of a sigmoid", made},
		{"written out in another way", func(z node) node { return ops.Div(ops.Exp(z), ops.Shift(ops.Exp(z), 1)) }, "is a sigmoid", plain},
		{"softmax written out", func(z node) node { return ops.Div(ops.Exp(z), ops.Sum(ops.Exp(z), -1, ops.Keep)) }, "is a softmax", plain},
		{"exponential of its logarithm", func(z node) node { return ops.Exp(ops.LogSoftmax(z, -1)) }, "is a probability made of a softmax", made},
		{"mapped", func(z node) node {
			return vmap.Each(func(x []node) []node { return []node{ops.Reverse(x[0], 0)} }, σ(z))[0]
		}, "is a probability made of a sigmoid", made},
		{"carry of a loop", func(z node) node {
			return scanned(z, func(h, x node) (node, node) { h = σ(ops.Add(h, x)); return h, h }).Trace[0]
		}, "is a sigmoid", ""},
		{"out of a loop", func(z node) node {
			return scanned(z, func(h, x node) (node, node) { h = ops.Add(h, x); return h, ops.OneMinus(softmax(h)) }).Out[0]
		}, "is a probability made of a softmax", ""},
		{"out of a loop of probabilities", func(z node) node {
			return scanned(σ(z), func(h, x node) (node, node) { return ops.Add(h, x), ops.Square(x) }).Out[0]
		}, "is a probability made of a sigmoid", made},

		{"scores", func(z node) node { return z }, "", ""},
		{"scores made of probabilities", func(z node) node { return ops.Scale(softmax(z), 10) }, "", ""},
		{"between −1 and 1", func(z node) node { return ops.Shift(ops.Scale(σ(z), 2), -1) }, "", ""},
		{"a scale that is fed", func(z node) node { return ops.Mul(z.Graph().Scalar("τ", 1), softmax(z)) }, "", ""},
		{"a gate", func(z node) node { return ops.Mul(σ(z), ops.Tanh(beside(z))) }, "", ""},
		{"silu", func(z node) node { return ops.Mul(z, σ(z)) }, "", ""},
		{"a sum", func(z node) node { return ops.Add(σ(z), σ(beside(z))) }, "", ""},
		{"distance from a half", func(z node) node { return ops.Abs(ops.Shift(σ(z), -.5)) }, "", ""},
		{"odds", func(z node) node { p := σ(z); return ops.Div(p, ops.OneMinus(p)) }, "", ""},
		{"logarithm of a sum", func(z node) node { return ops.Log(ops.Add(σ(z), σ(beside(z)))) }, "", ""},
		{"share of less than all", func(z node) node { return ops.Div(σ(z), ops.Shift(σ(beside(z)), .5)) }, "", ""},
		{"log-odds", func(z node) node { p := σ(z); return ops.Sub(ops.Log(p), ops.Log(ops.OneMinus(p))) }, "", ""},
		{"a difference", func(z node) node { return ops.Sub(σ(z), σ(beside(z))) }, "", ""},
		{"some joined", func(z node) node { return ops.Concat(0, σ(z), beside(z)) }, "", ""},
		{"chosen or not", func(z node) node { return ops.Select(mask(z), σ(z), beside(z)) }, "", ""},
		{"attended", func(z node) node {
			return ops.MatMul(softmax(z), z.Graph().Input("values", graph.F32, graph.Dims(3, 3)...))
		}, "", ""},
		{"rectified", ops.ReLU, "", ""},
		{"clipped scores", func(z node) node { return ops.Clip(z, lit(z, 0), lit(z, 1)) }, "", ""},
		{"a kernel", func(z node) node { return ops.Exp(ops.Neg(ops.Square(z))) }, "", ""},
		{"rational", func(z node) node { return ops.Div(lit(z, 1), ops.Shift(ops.Square(z), 1)) }, "", ""},
		{"shares of other sums", func(z node) node { return ops.Div(ops.Exp(z), ops.Sum(ops.Exp(beside(z)), -1, ops.Keep)) }, "", ""},
		{"carry of a loop that adds", func(z node) node {
			return scanned(z, func(h, x node) (node, node) { h = ops.Add(h, σ(x)); return h, h }).Final[0]
		}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for loss, f := range scoreLosses {
				g := graph.New("scores")
				z := g.Input("z", graph.F32, graph.Ax("n", 4), graph.Ax("c", 3))
				p := c.p(z)
				if p.Rank() == 1 { // the last of a loop
					p = ops.Expand(p, 0, "n")
				}
				refused(t, g, loss, f(p), c.want, c.fix)
			}
		})
	}
}

// scoreLosses are the losses of scores p[n c].
var scoreLosses = map[string]func(p *graph.Node) *graph.Node{
	"CrossEntropy":      func(p *graph.Node) *graph.Node { return nn.CrossEntropy(p, labelOf(p)) },
	"CrossEntropy soft": func(p *graph.Node) *graph.Node { return nn.CrossEntropy(p, softOf(p)) },
	"CrossEntropy weighted": func(p *graph.Node) *graph.Node {
		w := p.Graph().Input("w", graph.F32, graph.Ax("c", 3))
		return nn.CrossEntropy(p, labelOf(p), nn.Weighted(w), nn.Ignoring(2))
	},
	"CrossEntropy smoothed": func(p *graph.Node) *graph.Node {
		return nn.CrossEntropy(p, labelOf(p), nn.Smoothed(p.Graph().Scalar("ε", .1)))
	},
	"HiddenCrossEntropy": func(p *graph.Node) *graph.Node {
		hidden := p.Graph().Input("hidden", graph.Bool, p.Shape().Axes()[0])
		return nn.HiddenCrossEntropy(p, labelOf(p), hidden)
	},
	"BinaryCrossEntropy": func(p *graph.Node) *graph.Node { return nn.BinaryCrossEntropy(p, softOf(p), nil) },
}

func labelOf(p *graph.Node) *graph.Node {
	return p.Graph().Input("label", graph.I64, p.Shape().Axes()[0])
}

func softOf(p *graph.Node) *graph.Node {
	return p.Graph().Input("t", graph.F32, p.Shape().Axes()...)
}

// refused wants the mistake of a call, or none.
func refused(t *testing.T, g *graph.Graph, call string, y *graph.Node, want, fix string) {
	t.Helper()
	errs, _ := g.Err().(graph.Errors)
	if y.IsValid() != (want == "") || len(errs) != map[bool]int{false: 1}[want == ""] {
		t.Errorf("%s: %v, %v", call, y, errs)
	} else if want != "" {
		text := errs[0].Error()
		if !strings.Contains(text, want) || !strings.HasSuffix(text, fix) || errs[0].Op != strings.Fields(call)[0] {
			t.Errorf("%s: %s", call, text)
		}
	}
}

// TestLogSoftmaxIsScores: the logarithm of a softmax is its own log-softmax, so that a loss that
// takes the softmax may be given it; one that takes the sigmoid may not.
func TestLogSoftmaxIsScores(t *testing.T) {
	for name, f := range map[string]func(z *graph.Node) *graph.Node{
		"a softmax":  func(z *graph.Node) *graph.Node { return ops.LogSoftmax(z, -1) },
		"a softmax ": func(z *graph.Node) *graph.Node { return ops.Log(ops.Softmax(z, -1)) },
		"a probability made of a softmax": func(z *graph.Node) *graph.Node {
			return ops.Log(nn.MaskedSoftmax(z, z.Graph().Input("mask", graph.Bool, z.Shape().Axes()...)))
		},
	} {
		for loss, of := range scoreLosses {
			g := graph.New("scores")
			z := g.Input("z", graph.F32, graph.Ax("n", 4), graph.Ax("c", 3))
			want := ""
			if loss == "BinaryCrossEntropy" {
				want = "is the logarithm of " + strings.TrimSpace(name) + ", and scores are wanted"
			}
			refused(t, g, loss, of(f(z)), want, "")
		}
	}
}

// TestLogarithms: the divergence of distributions refuses the probabilities themselves.
func TestLogarithms(t *testing.T) {
	logarithm := func(z *graph.Node) *graph.Node { return ops.LogSoftmax(z, -1) }
	probability := func(z *graph.Node) *graph.Node { return ops.Softmax(z, -1) }
	for _, c := range []struct {
		p, q func(z *graph.Node) *graph.Node
		want string
	}{
		{logarithm, logarithm, ""},
		{probability, logarithm, "%1[n=4 c=3] is a softmax, and logarithms of probabilities are wanted"},
		{logarithm, probability, "%2[n=4 c=3] is a softmax, and logarithms of probabilities are wanted"},
	} {
		g := graph.New("divergence")
		z := g.Input("z", graph.F32, graph.Ax("n", 4), graph.Ax("c", 3))
		refused(t, g, "KLDivergence", nn.KLDivergence(c.p(z), c.q(z)), c.want, "(ops.LogSoftmax and ops.LogSigmoid give those of scores, ops.Log others)")
	}
}

// TestScoresInLoops: in the step of a loop as outside, a loss refuses what is surely a probability
// there, whichever way it came in.
func TestScoresInLoops(t *testing.T) {
	type node = *graph.Node
	σ := ops.Sigmoid
	same := func(x node) node { return x }
	opposite := func(x node) node { return ops.OneMinus(x) }
	bounded := func(x node, with []node) node { return ops.Clip(x, with[0], with[1]) }
	fed := func(z node, name string) node { return z.Graph().Input(name, graph.F32, z.Shape().Axes()[1:]...) }
	row := func(z node) node { return ops.Squeeze(ops.Slice(z, 0, 0, 1), 0) }
	for _, c := range []struct {
		name string
		over func(z node) node   // the sequence
		with func(z node) []node // what every step sees
		step func(before, x node, with []node) node
		want string
	}{
		{"a sequence", σ, nil, func(_, x node, _ []node) node { return x }, "is a sigmoid"},
		{"a sequence of softmaxes", func(z node) node { return ops.Softmax(z, -1) }, nil, func(_, x node, _ []node) node { return opposite(x) }, "is a probability made of a softmax"},
		{"a sequence along another axis", func(z node) node { return ops.Transpose(ops.Transpose(σ(z))) }, nil, func(_, x node, _ []node) node { return x }, "is a sigmoid"},
		{"what every step sees", same, func(z node) []node { return []node{σ(row(z))} }, func(_, _ node, w []node) node { return w[0] }, "is a sigmoid"},
		{"bounds that every step sees", σ, func(z node) []node { return []node{ops.Lit(z, .1), z.Graph().Scalar("hi", .9)} }, func(_, x node, w []node) node { return bounded(x, w) }, "is a probability made of a sigmoid"},
		{"a factor that every step sees", σ, func(z node) []node { return []node{ops.Lit(z, .5)} }, func(_, x node, w []node) node { return ops.Mul(x, w[0]) }, "is a probability made of a sigmoid"},
		{"of the step", same, nil, func(_, x node, _ []node) node { return σ(x) }, "is a sigmoid"},

		{"scores", same, nil, func(_, x node, _ []node) node { return x }, ""},
		{"scores of probabilities", σ, func(z node) []node { return []node{fed(z, "w")} }, func(_, x node, w []node) node { return ops.Mul(x, w[0]) }, ""},
		{"a carry", σ, nil, func(before, x node, _ []node) node { return ops.Add(before, x) }, ""},
		{"a large factor", σ, func(z node) []node { return []node{ops.Lit(z, 5)} }, func(_, x node, w []node) node { return ops.Mul(x, w[0]) }, ""},
	} {
		for name, call := range map[string]func(ops.Loop, ops.StepFunc) ops.Scanned{
			"scan": ops.Scan, "unroll": ops.Unroll,
			"checkpoint": func(l ops.Loop, step ops.StepFunc) ops.Scanned { l.Checkpoint = 3; return ops.Scan(l, step) },
			"in a loop": func(l ops.Loop, step ops.StepFunc) ops.Scanned {
				n := len(l.With)
				with := append(append([]node{}, l.With...), l.Over...)
				ops.Scan(ops.Loop{Carry: l.Carry, With: with, Steps: 2}, func(c, _, w []node) (next, out []node) {
					return ops.Scan(ops.Loop{Carry: c, Over: w[n:], With: w[:n]}, step).Final, nil
				})
				return ops.Scanned{}
			},
		} {
			g := graph.New("scores")
			z := g.Input("z", graph.F32, graph.Ax("t", 8), graph.Ax("n", 4), graph.Ax("c", 3))
			l := ops.Loop{Carry: []node{fed(z, "before")}, Over: []node{c.over(z), fed(z, "t")}}
			l.Over[1] = ops.BroadcastTo(l.Over[1], z.Shape())
			if c.with != nil {
				l.With = c.with(z)
			}
			call(l, func(before, x, with []node) (next, out []node) {
				p := c.step(before[0], x[0], with)
				return []node{ops.Add(before[0], nn.BinaryCrossEntropy(p, x[1], nil))}, nil
			})
			want := c.want
			if strings.HasPrefix(c.name, "a sequence") && (name == "unroll" || name == "checkpoint") {
				want = strings.Replace(want, "a sigmoid", "a probability made of a sigmoid", 1) // a part of it
			}
			errs, _ := g.Err().(graph.Errors)
			if c.want == "" && errs != nil || c.want != "" && (len(errs) == 0 || !strings.Contains(errs[0].Error(), want) || errs[0].Op != "BinaryCrossEntropy" || name != "unroll" && len(errs) != 1) {
				t.Errorf("%s, %s: %v, want %q", c.name, name, errs, want)
			}
		}
	}
}

// TestScalarOfALoop: a scalar that a step carries or sees is no number but what it is outside.
func TestScalarOfALoop(t *testing.T) {
	g := graph.New("scalars")
	z := g.Input("z", graph.F32, graph.Ax("t", 8), graph.Ax("n", 4))
	score := ops.Sum(z, "n")
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Lit(z, 0)}, Over: []*graph.Node{z, score}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		p, s := ops.Sigmoid(x[0]), ops.Expand(x[1], 0, "n")
		joined := ops.Concat(0, p, s)
		nn.BinaryCrossEntropy(joined, joined, nil)
		return []*graph.Node{ops.Add(c[0], x[1])}, []*graph.Node{joined, ops.Concat(0, p, ops.Expand(c[0], 0, "n"))}
	})
	for _, o := range r.Out {
		nn.BinaryCrossEntropy(o, g.Input("y"+o.Label(), graph.F32, o.Shape().Axes()...), nil)
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
