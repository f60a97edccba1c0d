package nn_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// lossCase has the scores z_ij = 2 sin(1 + 3i + 7j) of 5 examples and 4 classes,
// and what losses compare them with.
type lossCase struct {
	g         *graph.Graph
	feed      graph.Values // of z
	z, o      *graph.Node  // o_ij = 1.5 cos(2 + 5i + 3j)
	label     *graph.Node  // 2 0 1 3 1
	gaps      *graph.Node  // 2 0 −100 3 1
	soft      *graph.Node  // softmax of o
	third     *graph.Node  // 1 at every third element, from the first on
	weights   *graph.Node  // 1 ½ 2 3
	same      *graph.Node  // where the row's label is even
	smoothing *graph.Node  // 0.2
}

func newLossCase(z func(i, j int) float64) lossCase {
	g := graph.New("losses")
	i, j := graph.Ax("i", 5), graph.Ax("c", 4)
	scores := g.Param("z", graph.F64, i, j)
	v := graph.NewValue(scores.Type())
	for p := range v.Data {
		v.Data[p] = z(p/4, p%4)
	}
	array := func(f func(i, j int) float64) *graph.Node {
		data := make([]float64, 20)
		for p := range data {
			data[p] = f(p/4, p%4)
		}
		return g.Constant(graph.F64, data, i, j)
	}
	o := array(func(i, j int) float64 { return 1.5 * math.Cos(float64(2+5*i+3*j)) })
	return lossCase{
		g: g, feed: graph.Values{scores: v}, z: scores, o: o,
		label: g.Constant(graph.I64, []float64{2, 0, 1, 3, 1}, i),
		gaps:  g.Constant(graph.I64, []float64{2, 0, -100, 3, 1}, i),
		soft:  ops.Softmax(o, "c"),
		third: array(func(i, j int) float64 {
			if (4*i+j)%3 == 0 {
				return 1
			}
			return 0
		}),
		weights:   g.Constant(graph.F64, []float64{1, 0.5, 2, 3}, j),
		same:      g.Constant(graph.Bool, []float64{1, 0, 0, 1, 0}, i),
		smoothing: g.Scalar("ε", 0.2, graph.F64),
	}
}

// losses are the objectives by name.
var losses = map[string]func(c lossCase) *graph.Node{
	"plain": func(c lossCase) *graph.Node { return nn.CrossEntropy(c.z, c.label) },
	"smoothed": func(c lossCase) *graph.Node {
		return nn.CrossEntropy(c.z, c.label, nn.Smoothed(c.smoothing))
	},
	"weighted": func(c lossCase) *graph.Node { return nn.CrossEntropy(c.z, c.label, nn.Weighted(c.weights)) },
	"ignoring": func(c lossCase) *graph.Node { return nn.CrossEntropy(c.z, c.gaps, nn.Ignoring(-100)) },
	"all three": func(c lossCase) *graph.Node {
		return nn.CrossEntropy(c.z, c.gaps, nn.Ignoring(-100), nn.Weighted(c.weights), nn.Smoothed(c.smoothing))
	},
	"soft": func(c lossCase) *graph.Node { return nn.CrossEntropy(c.z, c.soft) },
	"soft, smoothed and weighted": func(c lossCase) *graph.Node {
		return nn.CrossEntropy(c.z, c.soft, nn.Weighted(c.weights), nn.Smoothed(c.smoothing))
	},
	"binary":                    func(c lossCase) *graph.Node { return nn.BinaryCrossEntropy(c.z, c.third, nil) },
	"binary, positive weighted": func(c lossCase) *graph.Node { return nn.BinaryCrossEntropy(c.z, c.third, c.weights) },
	"squared error":             func(c lossCase) *graph.Node { return nn.SquaredError(c.z, c.o) },
	"huber":                     func(c lossCase) *graph.Node { return nn.Huber(c.z, c.o, ops.Lit(c.z, 0.6)) },
	"kl": func(c lossCase) *graph.Node {
		return nn.KLDivergence(ops.LogSoftmax(c.o, "c"), ops.LogSoftmax(c.z, "c"))
	},
	"cosine":           func(c lossCase) *graph.Node { return nn.CosineLoss(c.z, c.o) },
	"cosine embedding": func(c lossCase) *graph.Node { return nn.CosineEmbedding(c.z, c.o, c.same, ops.Lit(c.z, 0.1)) },
	"infonce":          func(c lossCase) *graph.Node { return nn.InfoNCE(c.z, c.o, ops.Lit(c.z, 0.3)) },
}

// TestLossesArePyTorchs: each loss and Σ_p cos(p)·∂loss/∂z_p as PyTorch 1.13 gives
// them in float64, by torch.nn.functional's cross_entropy (weight, ignore_index,
// label_smoothing), binary_cross_entropy_with_logits (pos_weight), mse_loss,
// huber_loss(delta=0.6), kl_div(log_target, batchmean), cosine_similarity,
// cosine_embedding_loss(margin=0.1), and cross_entropy of normalised products.
func TestLossesArePyTorchs(t *testing.T) {
	want := map[string][2]float64{
		"plain":                       {1.24794864082273, 0.710765613232706},
		"smoothed":                    {1.30757215056247, 0.578819469373276},
		"weighted":                    {1.22690836525952, 0.814657399944434},
		"ignoring":                    {1.33234977246597, 0.821774248443706},
		"all three":                   {1.31105536365462, 0.716708696945253},
		"soft":                        {1.52564646806855, 0.0711317625642699},
		"soft, smoothed and weighted": {2.59901133433497, 0.196533327204128},
		"binary":                      {0.957922028674406, -0.0493738799118339},
		"binary, positive weighted":   {1.23460231906691, 0.00683806036271478},
		"squared error":               {3.36246064048617, -0.331226286116411},
		"huber":                       {0.751345669763533, -0.075839027038906},
		"kl":                          {0.454869669817692, 0.0711317625642699},
		"cosine":                      {1.04565039915895, 0.0310563263101674},
		"cosine embedding":            {0.446102487914611, 0.0460766435867819},
		"infonce":                     {1.81523335606543, 0.195513281779305},
	}
	for name, loss := range losses {
		c := newLossCase(func(i, j int) float64 { return 2 * math.Sin(float64(1+3*i+7*j)) })
		slopes := make([]float64, 20)
		for p := range slopes {
			slopes[p] = math.Cos(float64(p))
		}
		l := loss(c)
		slope := ops.Sum(ops.Mul(grad.Of(l, c.z)[0], c.g.Constant(graph.F64, slopes, graph.Dims(5, 4)...)))
		got := layertest.Both(t, c.feed, 1e-13, l, slope)
		for k, what := range []string{"loss", "slope"} {
			if w, ok := want[name]; !ok || math.Abs(got[k].Data[0]-w[k]) > 2e-12 { // the embedding's lengths have another ε
				t.Errorf("%s: the %s is %.15g, want %.15g", name, what, got[k].Data[0], w[k])
			}
		}
	}
}

// TestLossesFarOut: scores of ±1000 leave losses and derivatives to second order
// finite, and the derivatives of the logistic losses right.
func TestLossesFarOut(t *testing.T) {
	far := func(i, j int) float64 { return 1000 * float64(1-2*((i+j)%2)) }
	for name, loss := range losses {
		c := newLossCase(far)
		l := loss(c)
		first := grad.Of(l, c.z)[0]
		second := grad.OrZero(ops.Sum(ops.Mul(first, c.o)), c.z)[0]
		for k, v := range layertest.Both(t, c.feed, 1e-13, l, first, second) {
			for _, x := range v.Data {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%s: derivative %d is %v", name, k, v.Data)
					break
				}
			}
		}
	}
	c := newLossCase(far)
	got := layertest.Both(t, c.feed, 1e-13, grad.Of(losses["binary"](c), c.z)[0], grad.Of(losses["plain"](c), c.z)[0])
	label := []int{2, 0, 1, 3, 1}
	for p := range 20 {
		i, j := p/4, p%4
		y, σ, soft := 0.0, 0.0, 0.0
		if p%3 == 0 {
			y = 1
		}
		if far(i, j) > 0 {
			σ, soft = 1, 0.5 // two of the four share the maximum
		}
		hot := 0.0
		if label[i] == j {
			hot = 1
		}
		if want := (σ - y) / 20; math.Abs(got[0].Data[p]-want) > 1e-16 {
			t.Errorf("binary: the derivative at %d is %v, want %v", p, got[0].Data[p], want)
		}
		if want := (soft - hot) / 5; math.Abs(got[1].Data[p]-want) > 1e-16 {
			t.Errorf("cross-entropy: the derivative at %d is %v, want %v", p, got[1].Data[p], want)
		}
	}
}

// TestIgnored positions have no influence at all, and if there are no others the
// loss is 0.
func TestIgnored(t *testing.T) {
	c := newLossCase(func(i, j int) float64 { return float64(i*j%3) - 1 })
	d := grad.Of(losses["all three"](c), c.z)[0]
	none := nn.CrossEntropy(c.z, ops.Add(ops.Mul(c.label, ops.Lit(c.label, 0)), ops.Lit(c.label, -100)), nn.Ignoring(-100), nn.Weighted(c.weights))
	got := layertest.Both(t, c.feed, 1e-13, d, none, grad.Of(none, c.z)[0])
	if reftest.Near(got[0].Data[8:12], make([]float64, 4), 0) != nil {
		t.Errorf("an ignored row has the derivative %v", got[0].Data[8:12])
	}
	if got[1].Data[0] != 0 || reftest.Largest(got[2].Data) != 0 || math.IsNaN(got[2].Data[0]) {
		t.Errorf("with all ignored the loss is %v, its derivative %v", got[1].Data, got[2].Data)
	}
}

// TestImpossibleClass: a class that p gives no probability adds nothing to the
// divergence, and vectors of length 0 are similar to nothing.
func TestImpossibleClass(t *testing.T) {
	g := graph.New("limits")
	logP := g.Input("p", graph.F64, graph.Dims(1, 3)...)
	logQ := g.Input("q", graph.F64, graph.Dims(1, 3)...)
	loss := nn.KLDivergence(logP, logQ)
	feed := graph.Values{
		logP: {Type: logP.Type(), Data: []float64{math.Log(0.25), math.Log(0.75), math.Inf(-1)}},
		logQ: {Type: logQ.Type(), Data: []float64{math.Log(0.5), math.Log(0.25), math.Log(0.25)}},
	}
	got := layertest.Both(t, feed, 1e-13, append([]*graph.Node{loss}, grad.Of(loss, logP, logQ)...)...)
	if want := 0.25*math.Log(0.5) + 0.75*math.Log(3); math.Abs(got[0].Data[0]-want) > 1e-15 {
		t.Errorf("the divergence is %v, want %v", got[0].Data, want)
	}
	if err := reftest.Near(got[2].Data, []float64{-0.25, -0.75, 0}, 1e-15); err != nil {
		t.Errorf("derivative by log q: %v", err)
	}
	zero := g.Constant(graph.F64, make([]float64, 3), graph.Dims(1, 3)...)
	cos := nn.CosineSimilarity(logQ, zero)
	got = layertest.Both(t, feed, 1e-13, cos, grad.Of(ops.Sum(cos), logQ)[0], grad.Of(ops.Sum(cos), zero)[0])
	for _, v := range got {
		if m := reftest.Largest(v.Data); math.IsNaN(v.Data[0]) || m > 1e9 {
			t.Errorf("of a vector of zeros: %v", v.Data)
		}
	}
}

// TestLossMistakes name what does not fit.
func TestLossMistakes(t *testing.T) {
	for want, call := range map[string]func(c lossCase){
		"labels of shape [c=4] for scores of shape [i=5 c=4]": func(c lossCase) { nn.CrossEntropy(c.z, c.weights) },
		"CrossEntropy: labels of shape [] for scores":         func(c lossCase) { nn.CrossEntropy(c.z, ops.Lit(c.label, 1)) },
		"have no label to ignore":                             func(c lossCase) { nn.CrossEntropy(c.z, c.soft, nn.Ignoring(0)) },
		"want as many keys":                                   func(c lossCase) { nn.InfoNCE(c.z, ops.Slice(c.o, 0, 0, 3), ops.Lit(c.z, 1)) },
	} {
		c := newLossCase(func(i, j int) float64 { return 0 })
		call(c)
		layertest.WantMistake(t, c.g, want)
	}
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("i", 3), graph.Ax("d", 2)), map[string]func(g *graph.Graph, x *graph.Node){
		"no option":        func(_ *graph.Graph, x *graph.Node) { nn.CrossEntropy(x, ops.Sum(x, "d"), nil) },
		"squared error":    func(_ *graph.Graph, x *graph.Node) { nn.SquaredError(x, nil) },
		"cross-entropy":    func(_ *graph.Graph, x *graph.Node) { nn.CrossEntropy(x, nil) },
		"no scores":        func(_ *graph.Graph, x *graph.Node) { nn.CrossEntropy(nil, x) },
		"huber":            func(_ *graph.Graph, x *graph.Node) { nn.Huber(x, nil, nil) },
		"binary":           func(_ *graph.Graph, x *graph.Node) { nn.BinaryCrossEntropy(x, nil, nil) },
		"kl":               func(_ *graph.Graph, x *graph.Node) { nn.KLDivergence(x, nil) },
		"cosine":           func(_ *graph.Graph, x *graph.Node) { nn.CosineLoss(x, nil) },
		"cosine embedding": func(_ *graph.Graph, x *graph.Node) { nn.CosineEmbedding(x, x, nil, nil) },
		"infonce":          func(_ *graph.Graph, x *graph.Node) { nn.InfoNCE(x, nil, nil) },
		"no temperature":   func(_ *graph.Graph, x *graph.Node) { nn.InfoNCE(x, x, nil) },
	})
}
