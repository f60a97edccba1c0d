package builders_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/train"
)

// TestSelfSupervisionByHand: output and loss of the models are those of loops over the
// numbers, with the draws as they fell.
func TestSelfSupervisionByHand(t *testing.T) {
	dot := func(a, b []float64) (s float64) {
		for i := range a {
			s += a[i] * b[i]
		}
		return s
	}
	row := func(v graph.Value, i int) []float64 {
		n := v.Type.Shape.Dim(v.Type.Shape.Rank() - 1)
		return v.Data[i*n : (i+1)*n]
	}
	// affine is x·W + b for one row.
	affine := func(x []float64, W, b graph.Value) []float64 {
		y := append([]float64(nil), b.Data...)
		for i := range x {
			for j, w := range row(W, i) {
				y[j] += x[i] * w
			}
		}
		return y
	}
	tanh := func(x []float64) []float64 {
		for i := range x {
			x[i] = math.Tanh(x[i])
		}
		return x
	}
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	// A hand gets the values by path of leaves and of what the case lists, and gives
	// the loss.
	for _, c := range []struct {
		name  string
		s     builders.Settings
		draws []string // quantities that hold the draws
		hand  func(v map[string]graph.Value) float64
	}{
		{"autoencoder-linear", builders.Settings{"i": 5, "d": 3, "k": 2, "offsets": 1}, nil, func(v map[string]graph.Value) (loss float64) {
			for i := range 5 {
				x := row(v["x"], i)
				made := affine(affine(x, v["encoder/A"], v["encoder/a"]), v["decoder/B"], v["decoder/b"])
				for j := range x {
					loss += (x[j] - made[j]) * (x[j] - made[j]) / 5
				}
			}
			return loss
		}},
		{"autoencoder-linear", builders.Settings{"i": 5, "d": 3, "k": 2}, nil, func(v map[string]graph.Value) (loss float64) { // x̂ = xAB
			for p, x := range v["x"].Data {
				for y := range 2 {
					for j := range 3 {
						x -= v["x"].Data[p/3*3+j] * v["encoder/A"].Data[j*2+y] * v["decoder/B"].Data[y*3+p%3]
					}
				}
				loss += x * x / 5
			}
			return loss
		}},
		{"autoencoder-denoising", builders.Settings{"i": 5, "d": 3, "k": 2, "h": 4}, []string{"x̃"}, func(v map[string]graph.Value) (loss float64) {
			layer := func(x []float64, at string) []float64 {
				return affine(x, v[strings.Replace(at, "/", "/W", 1)], v[strings.Replace(at, "/", "/b", 1)])
			}
			for i := range 5 {
				x := row(v["x"], i)
				y := layer(tanh(layer(row(v["x̃"], i), "encoder/₁")), "encoder/₂")
				made := layer(tanh(layer(y, "decoder/₃")), "decoder/₄")
				for j := range x {
					loss += (x[j] - made[j]) * (x[j] - made[j]) / 5
				}
			}
			return loss
		}},
		{"autoencoder-masked", builders.Settings{"i": 5, "d": 3, "h": 4, "rho": 0.4}, []string{"missing"}, func(v map[string]graph.Value) float64 {
			total, count := 0.0, 0.0
			for i := range 5 {
				x, missing := row(v["x"], i), row(v["missing"], i)
				shown := make([]float64, 3)
				for j := range x {
					shown[j] = x[j] * (1 - missing[j])
				}
				y := affine(shown, v["encoder/W₁"], graph.Value{Data: affine(missing, v["encoder/M"], v["encoder/b₁"])})
				made := affine(tanh(y), v["decoder/W₂"], v["decoder/b₂"])
				for j := range x {
					total += missing[j] * (x[j] - made[j]) * (x[j] - made[j])
					count += missing[j]
				}
			}
			return total / count
		}},
		{"word2vec", builders.Settings{"i": 7, "w": 5, "m": 3}, nil, func(v map[string]graph.Value) (loss float64) {
			for i := range 7 {
				centre := row(v["v"], int(v["c"].Data[i]))
				sum := 0.0
				for w := range 5 {
					sum += math.Exp(dot(row(v["u"], w), centre))
				}
				loss += (math.Log(sum) - dot(row(v["u"], int(v["o"].Data[i])), centre)) / 7
			}
			return loss
		}},
		{"word2vec-negative", builders.Settings{"i": 7, "w": 5, "m": 3, "k": 2}, []string{"n"}, func(v map[string]graph.Value) (loss float64) {
			for i := range 7 {
				centre := row(v["v"], int(v["c"].Data[i]))
				loss -= math.Log(logistic(dot(row(v["u"], int(v["o"].Data[i])), centre))) / 7
				for _, n := range row(v["n"], i) {
					loss -= math.Log(logistic(-dot(row(v["u"], int(n)), centre))) / 7
				}
			}
			return loss
		}},
		{"word2vec-bag", builders.Settings{"i": 7, "w": 5, "m": 3, "k": 2}, nil, func(v map[string]graph.Value) (loss float64) {
			for i := range 7 {
				mean := make([]float64, 3)
				for _, o := range row(v["o"], i) {
					for j, u := range row(v["u"], int(o)) {
						mean[j] += u / 2
					}
				}
				sum := 0.0
				for w := range 5 {
					sum += math.Exp(dot(row(v["v"], w), mean))
				}
				loss += (math.Log(sum) - dot(row(v["v"], int(v["c"].Data[i])), mean)) / 7
			}
			return loss
		}},
	} {
		m := layertest.Build(t, c.name, c.s)
		rng := rand.New(rand.NewPCG(5, 6))
		feed := graph.Values(m.Examples(rng))
		for _, p := range m.Params() {
			feed[p] = layertest.Random(rng, p.Type(), 0.7)
		}
		nodes := []*graph.Node{m.Loss}
		for _, name := range c.draws {
			nodes = append(nodes, named(t, m.Graph, name))
		}
		out := layertest.BothWays(t, feed, nodes...)
		v := map[string]graph.Value{}
		for leaf, value := range feed {
			v[leaf.Path()] = value
		}
		for i, name := range c.draws {
			v[name] = out[i+1]
		}
		if got, want := out[0].Data[0], c.hand(v); math.Abs(got-want) > 1e-12*(1+want) {
			t.Errorf("%s: loss %.15g, want %.15g", c.name, got, want)
		}
	}
}

// named finds the quantity of that name.
func named(t *testing.T, g *graph.Graph, name string) *graph.Node {
	t.Helper()
	for _, n := range g.Nodes() {
		if n.Name() == name {
			return n
		}
	}
	t.Fatalf("nothing is called %s", name)
	return nil
}

// TestMaskedReconstructionCannotPeek: nothing that is missing moves a guess, and no
// guess of what is shown moves the loss.
func TestMaskedReconstructionCannotPeek(t *testing.T) {
	g := graph.New("masked")
	axes := []graph.Axis{graph.Ax("i", 6), graph.Ax("d", 4)}
	x := g.Input("x", graph.F64, axes...)
	missing := builders.Missing(x, g.Scalar("ρ", 0.5, graph.F64))
	made := builders.NewMaskedAutoencoder(g, graph.F64, axes[1], graph.Ax("h", 5)).Of(x, missing)
	dx := grad.Of(layertest.Wavy(made), x)[0]
	guess := g.Input("guess", graph.F64, axes...)
	dguess := grad.Of(builders.MissingSquaredError(guess, x, missing), guess)[0]
	out := layertest.BothWays(t, nil, missing, dx, dguess)
	hidden := 0
	for p, is := range out[0].Data {
		if moves := out[1].Data[p] != 0; moves == (is == 1) {
			t.Errorf("number %d: missing %v, the guesses' derivative %g", p, is, out[1].Data[p])
		}
		if moves := out[2].Data[p] != 0; moves != (is == 1) {
			t.Errorf("number %d: missing %v, the loss's derivative by its guess %g", p, is, out[2].Data[p])
		}
		hidden += int(is)
	}
	if hidden == 0 || hidden == len(out[0].Data) {
		t.Errorf("%d of %d numbers are missing", hidden, len(out[0].Data))
	}
	zero := g.Constant(graph.Bool, make([]float64, 24), axes...)
	if loss := layertest.BothWays(t, nil, builders.MissingSquaredError(guess, x, zero))[0].Data[0]; loss != 0 {
		t.Errorf("nothing is missing, and the loss is %g", loss)
	}
}

// TestSmallestSelfSupervision: the least sizes that the settings allow build, and their
// examples are in range.
func TestSmallestSelfSupervision(t *testing.T) {
	for _, c := range everyModel() {
		if c.family != "self-supervision" {
			continue
		}
		s := builders.Settings{}
		for _, z := range c.builder.Hyperparameters {
			if z.Kind == builders.Count {
				s[z.Name] = 1
			}
		}
		for words := range 4 {
			if _, has := s["w"]; has {
				s["w"] = float64(words + 1)
			}
			m := layertest.Build(t, c.name, s)
			feed := graph.Values(m.Examples(rand.New(rand.NewPCG(1, 2))))
			for in, v := range feed {
				for _, x := range v.Data {
					if in.DType() == graph.I64 && (x < 0 || int(x) > words) {
						t.Errorf("%s: %v is word %v of %d", c.name, in, x, words+1)
					}
				}
			}
			if loss := layertest.BothWays(t, feed, m.Loss)[0].Data[0]; math.IsNaN(loss) || math.IsInf(loss, 0) {
				t.Errorf("%s %v: loss %v", c.name, s, loss)
			}
		}
	}
}

// TestSelfSupervisionMistakes are recorded, and nothing panics.
func TestSelfSupervisionMistakes(t *testing.T) {
	d, k := graph.Ax("d", 3), graph.Ax("k", 2)
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("i", 3), d), map[string]func(g *graph.Graph, x *graph.Node){
		"encode":          func(g *graph.Graph, _ *graph.Node) { builders.NewAutoencoder(g, graph.F32, d, k).Of(nil) },
		"linear":          func(g *graph.Graph, _ *graph.Node) { builders.NewLinearAutoencoder(g, graph.F32, d, k, true).Of(nil) },
		"error":           func(_ *graph.Graph, x *graph.Node) { builders.ReconstructionError(x, nil) },
		"corrupt":         func(_ *graph.Graph, x *graph.Node) { builders.Corrupt(x, nil) },
		"corrupt nothing": func(_ *graph.Graph, x *graph.Node) { builders.Corrupt(nil, x) },
		"missing":         func(_ *graph.Graph, x *graph.Node) { builders.Missing(x, nil) },
		"nothing missing": func(_ *graph.Graph, x *graph.Node) { builders.Missing(nil, x) },
		"masked":          func(g *graph.Graph, x *graph.Node) { builders.NewMaskedAutoencoder(g, graph.F32, d, k).Of(x, nil) },
		"masked nothing":  func(g *graph.Graph, x *graph.Node) { builders.NewMaskedAutoencoder(g, graph.F32, d, k).Of(nil, x) },
		"missing error":   func(_ *graph.Graph, x *graph.Node) { builders.MissingSquaredError(x, x, nil) },
		"scores":          func(g *graph.Graph, _ *graph.Node) { builders.NewSkipGram(g, graph.F32, d, k).Scores(nil) },
		"negative": func(g *graph.Graph, _ *graph.Node) {
			builders.NewSkipGram(g, graph.F32, d, k).NegativeSampling(nil, nil, nil)
		},
		"negative counts": func(g *graph.Graph, _ *graph.Node) { builders.Negatives(g, graph.F32, d, []float64{1, 1, -1}, k) },
		"no counts":       func(g *graph.Graph, _ *graph.Node) { builders.Negatives(g, graph.F32, d, make([]float64, 3), k) },
		"too few counts":  func(g *graph.Graph, _ *graph.Node) { builders.Negatives(g, graph.F32, d, []float64{1, 1}, k) },
		"infinite counts": func(g *graph.Graph, _ *graph.Node) {
			builders.Negatives(g, graph.F32, d, []float64{1, 1, math.Inf(1)}, k)
		},
		"equal axis names": func(g *graph.Graph, _ *graph.Node) { builders.NewAutoencoder(g, graph.F32, d, d) },
	})
}

// TestPreTraining: an encoder that has learnt to reconstruct rows without labels is a better start
// for their classes than one drawn at random: far better where it is kept as it is, and sooner where
// it is fine-tuned.
func TestPreTraining(t *testing.T) {
	source := layertest.NewTrainer(t, layertest.Build(t, "autoencoder", nil), train.Adam(0.01), 1)
	source.Learn(2000)
	classified := func(frozen float64, copied bool, steps int) (came, left []float64, loss float64) {
		r := layertest.NewTrainer(t, layertest.Build(t, "autoencoder-classifier", builders.Settings{"frozen": frozen}), train.Adam(0.01), 2)
		if copied {
			if _, err := r.Store.CopyFrom(source.Store, "encoder", "encoder"); err != nil {
				t.Fatal(err)
			}
		}
		came = r.Read("encoder/W₁")
		losses := r.Learn(steps)
		return came, r.Read("encoder/W₁"), layertest.Average(losses[steps-10:])
	}
	learnt := source.Read("encoder/W₁")
	came, left, frozen := classified(1, true, 300)
	if !slices.Equal(came, learnt) || !slices.Equal(left, learnt) {
		t.Error("the frozen encoder differs from what was learnt")
	}
	came, left, tuned := classified(0, true, 40)
	if !slices.Equal(came, learnt) || slices.Equal(left, learnt) {
		t.Error("the fine-tuned encoder differs at first, or not at all")
	}
	_, _, random := classified(1, false, 300)
	_, _, scratch := classified(0, false, 40)
	t.Logf("frozen %.3f, fine-tuned %.3f, random %.3f, from scratch %.3f", frozen, tuned, random, scratch)
	if frozen > 0.4*random || tuned > 0.9*scratch {
		t.Errorf("loss with the frozen encoder %v, with a random one %v; fine-tuned %v, from scratch %v", frozen, random, tuned, scratch)
	}
}
