package builders_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/train"
)

// TestConvNeXtTraining: stochastic depth leaves out what all blocks add if it is certain, and
// nothing if it is impossible; smoothed labels share a probability; in evaluation there is neither.
func TestConvNeXtTraining(t *testing.T) {
	g := graph.New("net")
	x := layertest.Image(g, 2, 4, 4, 3)
	net := builders.NewConvNeXt(g, graph.F64, graph.Ax("c", 3), graph.Ax("f", 4), graph.Ax("k", 3), 2, 3, 2, false)
	p := g.Input("p", graph.F64)
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	scores, dropped := net.OfTrain(x, p), net.Blocks[1].OfTrain(net.Patches.Of(x), p)
	feed[p] = layertest.Scalar(0)
	out := layertest.Values(t, feed, scores, net.Of(x))
	layertest.Same(t, "nothing dropped", out[0].Data, out[1].Data)
	feed[p] = layertest.Scalar(1)
	out = layertest.Values(t, feed, dropped, net.Patches.Of(x))
	layertest.Same(t, "a block dropped", out[0].Data, out[1].Data)
	got := layertest.Values(t, feed, scores, net.Of(x))
	if reftest.Near(got[0].Data, got[1].Data, 1e-6) == nil {
		t.Error("stochastic depth changes nothing")
	}

	const ε = 0.3
	m := layertest.Build(t, "convnext", builders.Settings{"smoothing": ε, "n": 3})
	rng := rand.New(rand.NewPCG(1, 2))
	fed := layertest.Filled(m.Graph, rng)
	for in, v := range m.Examples(rng) {
		fed[in] = v
	}
	fed[m.Graph.Lookup("ε")], fed[m.Graph.Lookup("drop")] = layertest.Scalar(ε), layertest.Scalar(0)
	values := layertest.Values(t, fed, m.Output, m.Loss)
	labels, classes, want := fed[m.Graph.Lookup("label")].Data, m.Output.Dim(1), 0.0
	for i, label := range labels {
		row, total := values[0].Data[i*classes:][:classes], 0.0
		for _, s := range row {
			total += math.Exp(s)
		}
		for k, s := range row {
			q := ε / float64(classes)
			if k == int(label) {
				q += 1 - ε
			}
			want -= q * (s - math.Log(total)) / float64(len(labels))
		}
	}
	if got := values[1].Data[0]; math.Abs(got-want) > 1e-12 {
		t.Errorf("the loss with smoothed labels is %v, want %v", got, want)
	}
	quiet, differs := m.Builder.Evaluated(builders.Settings{"drop": 0.2, "smoothing": 0.1, "cutmix": 0.5})
	if !differs || quiet["drop"] != 0 || quiet["smoothing"] != 0 || quiet["cutmix"] != 0 {
		t.Errorf("evaluation has the settings %v", quiet)
	}
}

// TestConvNeXtRecipe: the flags of train that `tapestry list convnext` shows are the whole recipe.
// Claim: a net that is trained by a cosine schedule, AdamW, label smoothing, stochastic depth and
// CutMix together recognises shapes that it has not seen.
func TestConvNeXtRecipe(t *testing.T) {
	b, err := builders.Lookup("convnext")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`train convnext --set (\S+) --optimiser (\w+) --rate '(.+)' --steps (\d+)$`).FindStringSubmatch(b.Notes)
	if flags == nil {
		t.Fatalf("no flags of train in %q", b.Notes)
	}
	s := builders.Settings{}
	for _, set := range strings.Split(flags[1], ",") {
		name, value, _ := strings.Cut(set, "=")
		if s[name], err = strconv.ParseFloat(value, 64); err != nil || s[name] <= 0 {
			t.Errorf("--set %s switches nothing on: %v", set, err)
		}
	}
	for _, z := range b.Hyperparameters {
		if _, on := s[z.Name]; z.Training && !on {
			t.Errorf("the recipe leaves out %s", z.Name)
		}
	}
	schedule, err := train.ParseSchedule(flags[3])
	if err != nil || !strings.HasPrefix(flags[3], "cosine(") || !strings.HasSuffix(flags[3], ","+flags[4]+")") {
		t.Fatalf("the rate is %s: %v", flags[3], err)
	}
	o, err := train.Named(flags[2], 1)
	if err != nil || o.Name() != "adamw" {
		t.Fatalf("the optimiser is %v: %v", o, err)
	}
	steps, err := strconv.Atoi(flags[4])
	if err != nil {
		t.Fatal(err)
	}

	m, err := b.Build(s, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	quiet, _ := b.Evaluated(s)
	eval, err := b.Build(quiet, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	taught := layertest.NewTrainer(t, m, o, 1)
	right := func() float64 {
		rng, right, all := rand.New(rand.NewPCG(7, 7)), 0, 0
		for range 25 {
			batch := eval.Examples(rng)
			scores := layertest.Outcome(t, taught.Store, eval.Output, batch)
			classes := eval.Output.Dim(1)
			for i, label := range batch[eval.Graph.Lookup("label")].Data {
				row := scores[i*classes:][:classes]
				if all++; slices.Index(row, slices.Max(row)) == int(label) {
					right++
				}
			}
		}
		return float64(right) / float64(all)
	}
	before := right()
	rng, rate := rand.New(rand.NewPCG(1, 2)), o.Rate(m.Graph)
	for i := range steps {
		batch := m.Examples(rng)
		batch[rate] = graph.Value{Type: rate.Type(), Data: []float64{schedule.At(i, steps)}}
		taught.Step(batch)
	}
	if after := right(); after < 0.8 || after < before+0.3 {
		t.Errorf("of shapes that it has not seen it recognises %.2f, and before training %.2f", after, before)
	}
}
