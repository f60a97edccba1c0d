package nn_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// eps is what the norms add to variances.
const eps = 1e-5

// moments are mean and variance of the elements of v by key.
func moments(v []float64, key func(p int) int) (mean, variance map[int]float64, count int) {
	mean, variance, n := map[int]float64{}, map[int]float64{}, map[int]int{}
	for p, x := range v {
		mean[key(p)] += x
		n[key(p)]++
	}
	for k := range mean {
		mean[k] /= float64(n[k])
	}
	for p, x := range v {
		variance[key(p)] += (x - mean[key(p)]) * (x - mean[key(p)]) / float64(n[key(p)])
	}
	return mean, variance, n[key(0)]
}

// TestNormStatistics: what each norm gives, before gain and bias, has mean 0 and
// variance 1 over its own axes, and is what the formula makes of the input.
func TestNormStatistics(t *testing.T) {
	const n, h, w, c = 3, 4, 5, 6
	for name, norm := range map[string]struct {
		of  func(x *graph.Node) *graph.Node
		key func(p int) int
	}{
		"layer":               {nn.LayerNorm{}.Of, func(p int) int { return p / c }},
		"layer over an image": {nn.LayerNorm{Axes: 3}.Of, func(p int) int { return p / (h * w * c) }},
		"instance":            {nn.InstanceNorm{}.Of, func(p int) int { return p/(h*w*c)*c + p%c }},
		"group":               {nn.GroupNorm{Groups: 2}.Of, func(p int) int { return p/(h*w*c)*2 + p%c/3 }},
		"batch":               {trainedBatchNorm, func(p int) int { return p % c }},
		"image":               {nn.StandardiseImage, func(p int) int { return p/(h*w*c)*c + p%c }},
		"weights":             {nn.StandardiseWeights, func(p int) int { return p % c }},
		"pixel":               {fittedInputNorm(3), func(p int) int { return p % (h * w * c) }},
		"channel":             {fittedInputNorm(1), func(p int) int { return p % c }},
	} {
		g := graph.New(name)
		x := layertest.Image(g, n, h, w, c)
		y := norm.of(x)
		feed := graph.Values{x: layertest.Random(rand.New(rand.NewPCG(1, 1)), x.Type(), 3)}
		for _, s := range g.Leaves(graph.RoleState) {
			feed[s] = graph.NewValue(s.Type()) // training does not look at them
		}
		for i := range feed[x].Data {
			feed[x].Data[i] += 1000
		}
		got := layertest.Values(t, feed, y)[0].Data
		mean, variance, _ := moments(feed[x].Data, norm.key)
		want := make([]float64, len(got))
		for p, v := range feed[x].Data {
			want[p] = (v - mean[norm.key(p)]) / math.Sqrt(variance[norm.key(p)]+eps)
		}
		if err := reftest.Near(got, want, 1e-9); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mean, variance, _ = moments(got, norm.key)
		for k := range mean {
			if math.Abs(mean[k]) > 1e-9 || math.Abs(variance[k]-1) > 1e-3 {
				t.Fatalf("%s: mean %v and variance %v", name, mean[k], variance[k])
			}
		}
	}
}

func trainedBatchNorm(x *graph.Node) *graph.Node {
	l := nn.NewBatchNorm(x.Graph(), "norm", x.DType(), x.Shape().Axis(3))
	l.Gain, l.Bias = nil, nil
	y, _ := l.OfTrain(x)
	return y
}

// fittedInputNorm has its own statistics for each place along the last axes.
func fittedInputNorm(own int) func(x *graph.Node) *graph.Node {
	return func(x *graph.Node) *graph.Node {
		l := nn.NewInputNorm(x.Graph(), "input", x.DType(), x.Shape().Axes()[x.Rank()-own:]...)
		y, _ := l.OfTrain(x)
		return y
	}
}

// TestGroupNormBetweenLayerAndInstance: with a group for each channel it is instance normalisation,
// with one group layer normalisation over all channels of an image.
func TestGroupNormBetweenLayerAndInstance(t *testing.T) {
	g := graph.New("groups")
	x := layertest.Image(g, 3, 4, 5, 6)
	l := nn.NewGroupNorm(g, "norm", graph.F64, graph.Ax("c", 6), 6)
	whole := l
	whole.Groups = 1
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	layer := ops.Add(ops.Mul(ops.Standardise(x, eps, "h", "w", "c"), l.Gain), l.Bias)
	out := layertest.Values(t, feed, l.Of(x), nn.InstanceNorm{Gain: l.Gain, Bias: l.Bias}.Of(x), whole.Of(x), layer)
	layertest.Same(t, "a group for each channel", out[0].Data, out[1].Data)
	layertest.Same(t, "one group", out[2].Data, out[3].Data)
	named := g.Input("named", graph.F64, graph.Ax("group", 2), graph.Ax("h", 3), graph.Ax("c", 4))
	if y := (nn.GroupNorm{Groups: 2}).Of(named); y.Shape() != named.Shape() {
		t.Errorf("%v became %v: %v", named, y, g.Err())
	}
}

func TestRMSNorm(t *testing.T) {
	g := graph.New("rms")
	x := g.Input("x", graph.F64, graph.Ax("n", 4), graph.Ax("d", 5))
	l := nn.NewRMSNorm(g, "norm", graph.F64, graph.Ax("d", 5))
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	var want []float64
	for p, v := range feed[x].Data {
		square := 0.0
		for d := range 5 {
			square += feed[x].Data[p/5*5+d] * feed[x].Data[p/5*5+d] / 5
		}
		want = append(want, v/math.Sqrt(square+eps)*feed[l.Gain].Data[p%5])
	}
	layertest.Same(t, "RMS norm", layertest.Values(t, feed, l.Of(x))[0].Data, want)
	if only := nn.NewScaleOnlyNorm(g, "scale", graph.F64, graph.Ax("d", 5)); only.Bias != nil || only.Gain.Path() != "scale/gain" {
		t.Errorf("the norm that only scales has %v and %v", only.Gain, only.Bias)
	}
}

// TestBatchNormTrainsAndEvaluates: two graphs, one for each, share a store. On a
// stream of the same batch the running statistics are a geometric series, and
// evaluation comes to what training gives, but for the n−1 of the running variance.
func TestBatchNormTrainsAndEvaluates(t *testing.T) {
	const n, c = 12, 2
	axes := []graph.Axis{graph.Ax("n", n), graph.Ax("c", c)}
	g := graph.New("train")
	x := g.Input("x", graph.F64, axes...)
	y, step := nn.NewBatchNorm(g, "norm", graph.F64, axes[1]).OfTrain(x)
	e := graph.New("eval")
	xe := e.Input("x", graph.F64, axes...)
	ye := nn.NewBatchNorm(e, "norm", graph.F64, axes[1]).Of(xe)
	training, err := tape.Compile(g, tape.Fetch(y), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	evaluation, err := tape.Compile(e, tape.Fetch(ye))
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g)
	vm, vme := tapetest.VM(t, training, store), tapetest.VM(t, evaluation, store)
	defer vm.Close()
	defer vme.Close()
	batch := layertest.Random(rand.New(rand.NewPCG(1, 1)), x.Type(), 2)
	for i := range batch.Data {
		batch.Data[i] += 10
	}
	mean, variance, _ := moments(batch.Data, func(p int) int { return p % c })
	run := func(vm *tape.VM, in, out *graph.Node) []float64 {
		t.Helper()
		if err := vm.Run(context.Background(), tape.Feed{in: tape.Tensor(batch)}); err != nil {
			t.Fatal(err)
		}
		v, err := vm.Value(out)
		if err != nil {
			t.Fatal(err)
		}
		return reftest.Value(out.Type(), v).Data
	}
	for s := 1; s <= 400; s++ {
		got := run(vm, x, y)
		if s > 3 && s < 400 {
			continue
		}
		kept := math.Pow(0.9, float64(s)) // of the start, mean 0 and variance 1
		at := run(vme, xe, ye)
		var want []float64
		for p, v := range batch.Data {
			μ := (1 - kept) * mean[p%c]
			σ2 := kept + (1-kept)*variance[p%c]*n/(n-1)
			want = append(want, (v-μ)/math.Sqrt(σ2+eps))
		}
		if err := reftest.Near(at, want, 1e-9); err != nil {
			t.Errorf("evaluation after %d steps: %v", s, err)
		}
		if s == 400 {
			for p := range at {
				at[p] *= math.Sqrt((variance[p%c]*n/(n-1) + eps) / (variance[p%c] + eps))
			}
			if err := reftest.Near(at, got, 1e-9); err != nil {
				t.Errorf("evaluation and training: %v", err)
			}
		}
	}
}

// TestInputNorm: evaluation uses what is fitted; without a fit, nothing changes but for ε. The first
// batch that is fitted is standardised by its own statistics.
func TestInputNorm(t *testing.T) {
	for _, own := range []int{1, 3} {
		for _, centre := range []bool{false, true} {
			g := graph.New("input")
			x := layertest.Image(g, 4, 2, 3, 2)
			l := nn.NewInputNorm(g, "input", graph.F64, x.Shape().Axes()[4-own:]...)
			l.CentreOnly = centre
			_, step := l.OfTrain(x)
			y := l.Of(x)
			feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
			for i, v := range feed[l.Var].Data {
				feed[l.Var].Data[i] = 1 + math.Abs(v)
			}
			feed[l.Count] = layertest.Scalar(0)
			out := layertest.Values(t, feed, y, step[0].Value, step[1].Value)
			key := func(p int) int { return p % l.Mean.Shape().Len() }
			var want []float64
			for p, v := range feed[x].Data {
				v -= feed[l.Mean].Data[key(p)]
				if !centre {
					v /= math.Sqrt(feed[l.Var].Data[key(p)] + eps)
				}
				want = append(want, v)
			}
			layertest.Same(t, fmt.Sprintf("with statistics over %d axes", own), out[0].Data, want)
			mean, variance, _ := moments(feed[x].Data, key)
			for k := range mean {
				if math.Abs(out[1].Data[k]-mean[k]) > 1e-12 || math.Abs(out[2].Data[k]-variance[k]) > 1e-12 {
					t.Errorf("fitted %v and %v, want %v and %v", out[1].Data[k], out[2].Data[k], mean[k], variance[k])
				}
			}
		}
	}
}

// TestTrainingSetStandardisesValidationSet: fitted batch by batch, even to batches of other sizes,
// the statistics are those of the whole training set, and images that training has not seen are
// standardised by them, whatever batch came last.
func TestTrainingSetStandardisesValidationSet(t *testing.T) {
	const h, w, c = 2, 3, 2
	rng := rand.New(rand.NewPCG(4, 1))
	for _, own := range []int{1, 3} {
		var all []float64
		var mean, variance, count graph.Value
		for batch, n := range []int{4, 1, 5, 2} {
			g := graph.New("training")
			x := layertest.Image(g, n, h, w, c)
			l := nn.NewInputNorm(g, "input", graph.F64, x.Shape().Axes()[4-own:]...)
			y, step := l.OfTrain(x)
			if batch == 0 {
				mean, variance, count = graph.NewValue(l.Mean.Type()), graph.NewValue(l.Var.Type()), graph.NewValue(l.Count.Type())
			}
			images := layertest.Computed(x.Type(), func(p int) float64 { return 100*float64(batch) + float64(p%c+1)*rng.NormFloat64() })
			all = append(all, images.Data...)
			out := layertest.Both(t, graph.Values{x: images, l.Mean: mean, l.Var: variance, l.Count: count}, 1e-9, step[0].Value, step[1].Value, step[2].Value, y)
			mean, variance, count = out[0], out[1], out[2]
			key := func(p int) int { return p % l.Mean.Shape().Len() }
			wantMean, wantVar, size := moments(all, key)
			for k := range wantMean {
				if math.Abs(mean.Data[k]-wantMean[k]) > 1e-9 || math.Abs(variance.Data[k]-wantVar[k]) > 1e-9*max(1, wantVar[k]) || count.Data[0] != float64(size) {
					t.Fatalf("after %d batches: %v, %v of %v, want %v, %v of %d", batch+1, mean.Data[k], variance.Data[k], count.Data[0], wantMean[k], wantVar[k], size)
				}
			}
			var want []float64 // training standardises as evaluation will
			for p, v := range images.Data {
				want = append(want, (v-wantMean[key(p)])/math.Sqrt(wantVar[key(p)]+eps))
			}
			if err := reftest.Near(out[3].Data, want, 1e-9); err != nil {
				t.Errorf("batch %d: %v", batch, err)
			}
		}
		g := graph.New("validation")
		x := layertest.Image(g, 3, h, w, c)
		l := nn.NewInputNorm(g, "input", graph.F64, x.Shape().Axes()[4-own:]...)
		fresh := layertest.Random(rng, x.Type(), 50)
		wantMean, wantVar, _ := moments(all, func(p int) int { return p % l.Mean.Shape().Len() })
		var want []float64
		for p, v := range fresh.Data {
			k := p % l.Mean.Shape().Len()
			want = append(want, (v-wantMean[k])/math.Sqrt(wantVar[k]+eps))
		}
		got := layertest.Values(t, graph.Values{x: fresh, l.Mean: mean, l.Var: variance}, l.Of(x))[0].Data
		if err := reftest.Near(got, want, 1e-9); err != nil {
			t.Errorf("the validation set, statistics over %d axes: %v", own, err)
		}
	}
}

// TestPatches: local means and deviations against loops over the patch.
func TestPatches(t *testing.T) {
	const h, w, c, k = 5, 4, 2, 3
	g := graph.New("patch")
	x := layertest.Image(g, 2, h, w, c)
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	for i := range feed[x].Data {
		feed[x].Data[i] += 1000
	}
	around := func(v []float64, p int) float64 {
		sum, count := 0.0, 0.0
		n, i, j := p/(h*w*c), p/(w*c)%h, p/c%w
		for q := range k * k {
			if r, s := i+q/k-1, j+q%k-1; r >= 0 && r < h && s >= 0 && s < w {
				sum += v[((n*h+r)*w+s)*c+p%c]
				count++
			}
		}
		return sum / count
	}
	centred := make([]float64, len(feed[x].Data))
	squares, want := make([]float64, len(centred)), make([]float64, len(centred))
	for p, v := range feed[x].Data {
		centred[p] = v - around(feed[x].Data, p)
		squares[p] = centred[p] * centred[p]
	}
	for p, v := range centred {
		want[p] = v / math.Sqrt(around(squares, p)+eps)
	}
	out := layertest.Values(t, feed, nn.CentrePatch(x, k), nn.StandardisePatch(x, k), nn.CentreImage(x), nn.CentreRange(x, 990, 1010))
	for i, want := range [][]float64{centred, want} {
		if err := reftest.Near(out[i].Data, want, 1e-9); err != nil {
			t.Errorf("patch: %v", err)
		}
	}
	mean, _, _ := moments(feed[x].Data, func(p int) int { return p/(h*w*c)*c + p%c })
	for p, v := range feed[x].Data {
		if d := out[2].Data[p] - (v - mean[p/(h*w*c)*c+p%c]); math.Abs(d) > 1e-9 {
			t.Fatalf("centred by the image: off by %v", d)
		}
		if d := out[3].Data[p] - (v-1000)/10; math.Abs(d) > 1e-9 {
			t.Fatalf("centred by the range: off by %v", d)
		}
	}
}
