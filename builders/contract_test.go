package builders_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// variant is a model with settings, and the part of its loss that may be left after
// 200 steps.
type variant struct {
	name string
	s    builders.Settings
	fall float64
}

// falls are what may be left of the losses of a family's models; 0.8 where neither
// this nor the list of variants says otherwise.
var falls = map[string]float64{"attention": 0.7, "position": 0.7, "transformer": 0.7, "regression": 0.6, "initialisation": 0.6}

// variants are the models whose loss has a bound of its own, and the settings that
// make another graph of a model. A bound above 0.8 has its reason.
var variants = []variant{
	{"attention-self", builders.Settings{"scale": 0, "mask": 3}, 0.7},
	{"attention-query-norm", builders.Settings{"keys": 1}, 0.7},
	{"transformer-encoder", builders.Settings{"queries": 1, "keys": 1}, 0.7},
	{"transformer-decoder", builders.Settings{"keys": 1, "layers": 2, "shared": 1}, 0.7},
	{"attention-bidirectional", builders.Settings{"asks": 1}, 0.7},
	{"attention-bidirectional", builders.Settings{"cell": 2, "norm": 3, "run": 1}, 0.7},
	{"position-rotary", nil, 0.3}, // the mean of both neighbours, without a look at x, leaves 0.36
	{"transformer-gpt", builders.Settings{"positions": 2}, 0.7},
	{"transformer-gpt", builders.Settings{"positions": 3, "queries": 1, "layers": 2, "m": 12}, 0.7},
	{"transformer-bert", builders.Settings{"positions": 2}, 0.7},
	{"transformer-bert", builders.Settings{"positions": 3}, 0.7},
	{"transformer-seq2seq", builders.Settings{"positions": 2}, 0.7},
	{"transformer-seq2seq", builders.Settings{"positions": 3}, 0.7},
	{"transformer-unet", builders.Settings{"positions": 3, "norm": 1}, 0.7},
	// carries states through time
	{"filter-fir", nil, 0.01},
	{"filter-iir", nil, 0.1},
	{"filter-iir", builders.Settings{"n": 3, "run": 1}, 0.1},
	{"rnn-elman", nil, 0.6},
	{"rnn-elman", builders.Settings{"norm": 3}, 0.6},
	{"rnn-elman", builders.Settings{"norm": 4}, 0.6},
	{"rnn-elman", builders.Settings{"horizontal": 1}, 0.6},
	{"rnn-lstm", nil, 0.6},
	{"rnn-lstm", builders.Settings{"norm": 1}, 0.6},
	{"rnn-gru", nil, 0.6},
	{"rnn-gru", builders.Settings{"norm": 2, "run": 1}, 0.6},
	{"rnn-stacked", nil, 0.2},
	{"rnn-stacked", builders.Settings{"cell": 2, "layers": 3, "norm": 3}, 0.2},
	{"rnn-stacked", builders.Settings{"skip": 0, "cell": 1}, 0.5},
	{"rnn-stacked", builders.Settings{"cell": 1, "norm": 4, "horizontal": 1}, 0.5},
	{"rnn-stacked", builders.Settings{"cell": 2, "norm": 4, "skip": 0}, 0.5},
	{"rnn-bidirectional", nil, 0.6},
	{"rnn-bidirectional", builders.Settings{"cell": 1, "t": 1}, 0.1},
	{"seq2seq-bottleneck", nil, 0.5},
	{"seq2seq-bottleneck", builders.Settings{"cell": 1, "feedback": 2}, 0.7},
	{"seq2seq-bottleneck", builders.Settings{"feedback": 1}, 0.7},
	{"seq2seq-attention", nil, 0.3},
	{"seq2seq-attention", builders.Settings{"score": 1}, 0.5},
	{"seq2seq-attention", builders.Settings{"score": 2, "cell": 0, "feedback": 2}, 0.8},
	{"seq2seq-cnn", nil, 0.5},
	{"seq2seq-cnn", builders.Settings{"s": 5, "window": 3, "w": 2, "run": 1}, 0.7},
	// sees images and texts
	{"conv-1d-narrow", nil, 0.1},
	{"conv-1d-wide", nil, 0.1},
	{"conv-text", nil, 0.3},
	{"conv-text", builders.Settings{"wide": 1, "widest": 2}, 0.6},
	{"conv-text", builders.Settings{"widest": 2, "activation": 1}, 0.6}, // bigrams
	{"conv-2d", nil, 0.7},
	{"conv-2d", builders.Settings{"stride": 2, "around": 1, "groups": 2, "dilation": 2, "padding": 2}, 0.95}, // its windows see every other pixel, at every other place
	{"conv-transposed", nil, 0.4},
	{"pool", builders.Settings{"kind": 1}, 0.8},
	{"pool", builders.Settings{"kind": 2}, 0.8},
	{"pool", builders.Settings{"kind": 3}, 0.8},
	{"resnet-plain", nil, 0.6},
	{"resnet", nil, 0.6},
	{"resnet", builders.Settings{"stages": 2, "depth": 1}, 0.6},
	{"resnet", builders.Settings{"block": 1, "channels": 8}, 0.6},
	{"resnet-plain", builders.Settings{"stages": 2, "depth": 1, "block": 1, "channels": 8}, 0.7},
	{"convnext", nil, 0.6},
	{"convnext", builders.Settings{"scale": 1, "depth": 2, "window": 3}, 0.6},
	{"convnext", builders.Settings{"depth": 2, "drop": 0.2, "smoothing": 0.1, "cutmix": 0.3}, 0.9}, // labels that are mixed are never certain
	{"unet", nil, 0.5},
	{"ode-net", nil, 0.1},
	{"ode-net", builders.Settings{"shared": 0}, 0.1},
	{"standardise", builders.Settings{"of": 1}, 0.8},
	{"standardise", builders.Settings{"of": 2}, 0.8},
	{"standardise", builders.Settings{"of": 3}, 0.8},
	{"standardise", builders.Settings{"of": 4}, 0.8},
	{"standardise", builders.Settings{"of": 3, "centre": 1}, 0.8},
	{"norm-layer", builders.Settings{"over": 1}, 0.8},
	{"norm-instance", nil, 0.9}, // the norm takes away how much a channel holds
	// is kept from learning by heart
	{"no-regularisation", nil, 0.3},
	{"dropout", nil, 0.4},
	{"drop-connect", nil, 0.4},
	{"multiplicative-noise", nil, 0.4},
	{"multiplicative-noise", builders.Settings{"kind": 0, "sigma": 0.5}, 0.4},
	{"stochastic-depth", nil, 0.4},
	{"label-smoothing", nil, 0.6},
	{"l2-penalty", nil, 0.5},
	{"ensemble", nil, 0.5},
	{"ensemble", builders.Settings{"train": 1}, 0.5},
	{"augment-flip", builders.Settings{"p": 1}, 0.8},
	{"augment-crop", builders.Settings{"p": 1}, 0.8},
	{"augment-rotate", builders.Settings{"p": 1}, 0.8},
	{"augment-translate", builders.Settings{"p": 1}, 0.8},
	{"augment-autocontrast", builders.Settings{"p": 1}, 0.8},
	{"augment-posterise", builders.Settings{"p": 1}, 0.8},
	{"augment-cutout", builders.Settings{"p": 1}, 0.8},
	{"augment-mixup", builders.Settings{"p": 1}, 0.8},
	{"augment-cutmix", builders.Settings{"p": 1}, 0.8},
	{"augment-pixmix", builders.Settings{"p": 1}, 0.8},
	// makes its labels from the data
	{"autoencoder-linear", nil, 0.1},
	{"autoencoder-linear", builders.Settings{"offsets": 1}, 0.1},
	{"autoencoder", nil, 0.1},
	{"autoencoder-classifier", builders.Settings{"frozen": 1}, 0.9}, // an encoder drawn at random
	{"autoencoder-denoising", nil, 0.2},
	{"autoencoder-masked", nil, 0.3},
	{"word2vec", nil, 0.65},
	{"word2vec-negative", nil, 0.7},
	{"word2vec-bag", nil, 0.65},
	// regression and initialisation
	{"regression-minimum-norm", builders.Settings{"sample": 0}, 0.6},
	{"regression-ridge-features", builders.Settings{"sample": 0, "lambda": 0.1}, 0.6},
	{"regression-transfer", builders.Settings{"frozen": 1}, 0.6},
	{"init", builders.Settings{"activation": 0, "bias": 1}, 0.6},
	{"init", builders.Settings{"activation": 1, "bias": 2}, 0.6},
	{"init", builders.Settings{"activation": 2, "bias": 3}, 0.6},
	// graphs by a matrix and by edges, with every aggregation
	{"graph-message-passing", builders.Settings{"aggregate": 0, "edges": 40, "state": 0}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 1, "edges": 40, "state": 1}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 2, "edges": 40, "state": 0}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 3, "edges": 40, "state": 1}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 4, "edges": 40, "state": 0}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 5, "edges": 40, "state": 1}, 0.8},
	{"graph-message-passing", builders.Settings{"aggregate": 6, "edges": 40, "state": 0}, 0.8},
	{"graph-message-passing", builders.Settings{"residual": 1}, 0.8},
	{"graph-message-passing", builders.Settings{"residual": 1, "norm": 1, "depth": 4, "edges": 40}, 0.8},
	{"graph-message-passing", builders.Settings{"norm": 2}, 0.8},
	{"graph-gcn", builders.Settings{"edges": 40}, 0.8},
	{"graph-gat", builders.Settings{"edges": 40, "heads": 1}, 0.8},
	{"graph-batch", builders.Settings{"packing": 1}, 0.8},
	{"graph-batch", builders.Settings{"packing": 2}, 0.8},
	{"graph-batch", builders.Settings{"aggregate": 2}, 0.8},
	{"graph-pool-fixed", builders.Settings{"graph": 1}, 0.8},
	{"graph-pool-fixed", builders.Settings{"graph": 2, "n": 7}, 0.8},
	{"graph-powers", builders.Settings{"k": 0}, 0.8},
	// losses
	{"loss-cross-entropy", builders.Settings{"labels": 1, "weighted": 1}, 0.8},
	{"loss-cross-entropy", builders.Settings{"weighted": 1, "ignored": 1}, 0.8},
}

// entry is a variant, or a model as it is by default, and where it stands.
type entry struct {
	variant
	family  string
	builder builders.Builder
}

// everyModel is the registry, family by family: each model as it is by default, and
// its variants.
func everyModel() (all []entry) {
	of := map[string][]variant{}
	for _, v := range variants {
		of[v.name] = append(of[v.name], v)
	}
	for _, f := range builders.Families() {
		for _, b := range f.Builders {
			own := of[b.Name]
			if !slices.ContainsFunc(own, func(v variant) bool { return v.s == nil }) {
				plain := variant{b.Name, nil, 0.8}
				if fall, ok := falls[f.Name]; ok {
					plain.fall = fall
				}
				own = append([]variant{plain}, own...)
			}
			for _, v := range own {
				all = append(all, entry{v, f.Name, b})
			}
			delete(of, b.Name)
		}
	}
	if len(of) > 0 {
		panic(fmt.Sprintf("variants of models that there are not: %v", of))
	}
	return all
}

// TestEveryModelLearns: 200 steps of Adam, in float32, bring the loss on fresh
// batches down; on one batch where every batch has clusters of its own. Graph networks
// start from the seed 2: from 1 some message passing has no live units, or runs away.
func TestEveryModelLearns(t *testing.T) {
	for _, c := range everyModel() {
		m, err := c.builder.Build(c.s, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		if m.Loss == nil {
			continue
		}
		start := uint64(1)
		if c.family == "graph networks" {
			start = 2
		}
		taught := layertest.NewTrainer(t, m, train.Adam(0.01), start)
		var first, last float64
		if c.family == "clustering" {
			batch := m.Examples(rand.New(rand.NewPCG(1, 2)))
			for i := range 200 {
				if last = taught.Step(batch); i == 0 {
					first = last
				}
			}
		} else {
			losses := taught.Learn(200)
			first, last = layertest.Average(losses[:10]), layertest.Average(losses[180:])
		}
		if label := m.Graph.Lookup("label"); label != nil && label.DType() == graph.I64 { // a start that is worse than a guess is no merit
			first = min(first, math.Log(float64(m.Output.Dim(m.Output.Rank()-1))))
		}
		t.Logf("%s %v: %d nodes, loss %.4g to %.4g: %.2f", c.name, c.s, len(graph.Reachable(m.Loss)), first, last, last/first)
		if !(last < c.fall*first) {
			t.Errorf("%s %v: the loss went from %.4g to %.4g", c.name, c.s, first, last)
		}
	}
}

// TestDerivativesOfVariants: the first and the second derivative of every variant are
// those of its definition, in a random direction of all parameters, with the same
// draws; and the tape computes the loss, the output, both derivatives and the updates.
// The models as they are by default are checked, for more than this, by the tests of
// the command.
func TestDerivativesOfVariants(t *testing.T) {
	for _, c := range variants {
		if c.s != nil {
			derivatives(t, c)
		}
	}
}

func derivatives(t *testing.T, c variant) {
	t.Helper()
	m := layertest.Build(t, c.name, c.s)
	rng := rand.New(rand.NewPCG(3, 1)) // no kink of relu or max within reach
	feed, direction := graph.Values{}, graph.Values{}
	for in, v := range m.Examples(rng) {
		feed[in] = v
	}
	params := m.Params()
	for _, p := range params {
		feed[p], direction[p] = layertest.Random(rng, p.Type(), 0.5), layertest.Random(rng, p.Type(), 1)
	}
	for _, n := range m.Graph.Leaves(graph.RoleState) { // variances are positive
		feed[n] = layertest.Computed(n.Type(), func(int) float64 { return 1 + math.Abs(rng.NormFloat64()) })
	}
	along := func(f *graph.Node) *graph.Node {
		sum := ops.Lit(f, 0)
		for i, d := range grad.OrZero(f, params...) {
			sum = ops.Add(sum, ops.Sum(ops.Mul(d, m.Graph.ConstantValue(direction[params[i]]))))
		}
		return sum
	}
	slope := along(m.Loss)
	curve := along(slope)
	nodes := []*graph.Node{m.Loss, slope, curve, m.Output}
	for _, u := range m.Step {
		nodes = append(nodes, u.Value)
	}
	here := layertest.Both(t, feed, 1e-10, nodes...)
	moved := func(h float64) []graph.Value {
		there := maps.Clone(feed)
		for p, d := range direction {
			there[p] = layertest.Computed(p.Type(), func(i int) float64 { return feed[p].Data[i] + h*d.Data[i] })
		}
		return layertest.Values(t, there, m.Loss, slope)
	}
	for order := range 2 {
		got, want := here[order+1].Data[0], math.NaN()
		right := false
		for _, h := range []float64{1e-5, 1e-6} { // a kink may lie within the longer step
			want = (moved(h)[order].Data[0] - moved(-h)[order].Data[0]) / (2 * h)
			if right = math.Abs(got-want) <= 1e-6*max(1, math.Abs(want)); right {
				break
			}
		}
		if !right {
			t.Errorf("%s %v: derivative %d is %v, differences give %v", c.name, c.s, order+1, got, want)
		}
	}
}

// TestLoopsAreUnrolledModels: as a loop and written out, a model has the same values
// and derivatives; the loop does not grow with the number of steps.
func TestLoopsAreUnrolledModels(t *testing.T) {
	for _, c := range everyModel() {
		loops := slices.ContainsFunc(c.builder.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == "run" })
		if _, ok := c.s["run"]; ok || !loops {
			continue
		}
		results := [2][]graph.Value{}
		for run := range 2 {
			s := builders.Settings{"run": float64(run)}
			for k, v := range c.s {
				s[k] = v
			}
			m := layertest.Build(t, c.name, s)
			nodes := append([]*graph.Node{m.Loss, m.Output}, grad.Of(m.Loss, m.Params()...)...)
			feed := graph.Values{}
			rng := rand.New(rand.NewPCG(5, 6))
			for _, p := range m.Params() {
				feed[p] = layertest.Random(rng, p.Type(), 0.5)
			}
			for in, v := range m.Examples(rand.New(rand.NewPCG(1, 2))) {
				feed[in] = v
			}
			results[run] = layertest.BothWays(t, feed, nodes...)
		}
		for i := range results[0] {
			layertest.Same(t, c.name, results[1][i].Data, results[0][i].Data)
		}
	}
	for _, name := range []string{"rnn-elman", "rnn-lstm", "rnn-gru"} {
		few, many := layertest.Build(t, name, builders.Settings{"t": 3}), layertest.Build(t, name, builders.Settings{"t": 1000})
		if a, b := len(few.Graph.Nodes()), len(many.Graph.Nodes()); a != b {
			t.Errorf("%s has %d nodes for 3 steps and %d for 1000", name, a, b)
		}
	}
}
