package attention_test

import (
	"errors"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

func TestAttendIsTheSum(t *testing.T) {
	const n, m, d, f = 3, 4, 5, 2
	g := graph.New("attend")
	q := g.Input("q", graph.F64, graph.Ax("t", n), graph.Ax("d", d))
	k := g.Input("k", graph.F64, graph.Ax("u", m), graph.Ax("d", d))
	v := g.Input("v", graph.F64, graph.Ax("u", m), graph.Ax("f", f))
	y, α := attention.Attend(q, k, v, nil)
	out := layertest.BothWays(t, nil, q, k, v, y, α)
	Q, K, V := out[0].Data, out[1].Data, out[2].Data
	for i := range n {
		var weights [m]float64
		total := 0.0
		for j := range m {
			dot := 0.0
			for c := range d {
				dot += Q[i*d+c] * K[j*d+c]
			}
			weights[j] = math.Exp(dot / math.Sqrt(d))
			total += weights[j]
		}
		for c := range f {
			want := 0.0
			for j := range m {
				want += weights[j] / total * V[j*f+c]
			}
			if got := out[3].Data[i*f+c]; math.Abs(got-want) > 1e-12 {
				t.Errorf("y[%d %d] = %v, want %v", i, c, got, want)
			}
		}
		if got, want := out[4].Data[i*m+1], weights[1]/total; math.Abs(got-want) > 1e-12 {
			t.Errorf("α[%d 1] = %v, want %v", i, got, want)
		}
	}
}

// multiHeadOf is self-attention of x[2 5 8].
func multiHeadOf(heads int) (x *graph.Node, a attention.MultiHead) {
	g := graph.New("heads")
	m := graph.Ax("m", 8)
	return g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("t", 5), m), attention.NewMultiHead(g, "attention", graph.F64, m, m, heads)
}

// TestOneHeadIsAttention: with one head, multi-head attention is attention, and then the output
// matrix.
func TestOneHeadIsAttention(t *testing.T) {
	x, a := multiHeadOf(1)
	single, _ := a.QKV.Attend(x, x, nil)
	out := layertest.BothWays(t, nil, a.Of(x, x, nil), a.Output.Of(single))
	layertest.Same(t, "one head", out[0].Data, out[1].Data)
}

// TestHeadsStandSideBySide: each head is an attention over its own features.
func TestHeadsStandSideBySide(t *testing.T) {
	x, a := multiHeadOf(2)
	mask := attention.Causal(x.Graph(), graph.Ax("t", 5), graph.Ax("t′", 5))
	var heads []*graph.Node
	q, k, v := a.QKV.Of(x, x)
	for h := range 2 {
		part := func(y *graph.Node) *graph.Node { return ops.Slice(y, -1, 4*h, 4*h+4) }
		y, _ := attention.Attend(part(q), part(k), part(v), mask)
		heads = append(heads, y)
	}
	out := layertest.BothWays(t, nil, a.Of(x, x, mask), a.Output.Of(ops.Concat(-1, heads...)))
	layertest.Same(t, "two heads", out[0].Data, out[1].Data)
}

// permuted is x[b t m] with its places in another order.
func permuted(x *graph.Node, order ...float64) *graph.Node {
	index := x.Graph().Constant(graph.I64, order, graph.Ax("t", len(order)))
	return ops.Gather(x, index, 1)
}

// TestOrderNeedsPositions: without positions, attention of reordered places is the reordered
// attention; with positions it is not.
func TestOrderNeedsPositions(t *testing.T) {
	x, a := multiHeadOf(2)
	order := []float64{3, 0, 4, 1, 2}
	places := attention.Sinusoidal(x.Graph(), graph.F64, graph.Ax("t", 5), graph.Ax("m", 8))
	with := func(x *graph.Node) *graph.Node { x = attention.AddPositions(x, places); return a.Of(x, x, nil) }
	out := layertest.BothWays(t, nil,
		a.Of(permuted(x, order...), permuted(x, order...), nil), permuted(a.Of(x, x, nil), order...),
		with(permuted(x, order...)), permuted(with(x), order...))
	layertest.Same(t, "permuted places", out[0].Data, out[1].Data)
	if reftest.Near(out[2].Data, out[3].Data, 1e-3) == nil {
		t.Error("with positions, attention does not see the order")
	}
}

// TestQueryNormSize: with the norm, how long queries are does not matter, their
// direction and the length of keys do.
func TestQueryNormSize(t *testing.T) {
	x, a := multiHeadOf(2)
	g := x.Graph()
	longer := func(l nn.Linear, by float64) nn.Linear { return nn.Linear{W: ops.Scale(l.W, by)} }
	scaled := func(query, key float64) *graph.Node {
		b := a
		b.QKV.Query, b.QKV.Key = longer(a.QKV.Query, query), longer(a.QKV.Key, key)
		return b.Of(x, x, nil)
	}
	plain, plainLonger := scaled(1, 1), scaled(100, 1)
	a.Norm = attention.NewQueryNorm(g, "norm", graph.F64, graph.Ax("e", 4))
	out := layertest.BothWays(t, nil, plain, plainLonger, scaled(1, 1), scaled(100, 1), scaled(1, 3), scaled(-1, 1))
	if err := reftest.Near(out[3].Data, out[2].Data, 1e-3); err != nil {
		t.Errorf("the norm lets the length of queries through: %v", err)
	}
	for i, what := range map[int]string{4: "the length of keys", 5: "the direction of queries"} {
		if reftest.Near(out[i].Data, out[2].Data, 1e-2) == nil {
			t.Errorf("%s makes no difference", what)
		}
	}
	if reftest.Near(out[1].Data, out[0].Data, 1e-2) == nil {
		t.Error("without a norm the length of queries makes no difference: the test shows nothing")
	}
	q := g.Input("q", graph.F64, graph.Ax("i", 6), graph.Ax("e", 4))
	gain := a.Norm.Gain
	normed := layertest.BothWays(t, graph.Values{gain: {Type: gain.Type(), Data: []float64{1, 1, 1, 1}}}, a.Norm.Of(q))[0].Data
	for i := range 6 {
		size := 0.0
		for _, v := range normed[4*i:][:4] {
			size += v * v / 4
		}
		if math.Abs(size-1) > 1e-3 {
			t.Errorf("the mean square of a query is %v", size)
		}
	}
}

// TestKeyNormSize: with a norm of the keys no key answers with more strength than another: how long
// they are does not matter, their direction and the length of queries do.
func TestKeyNormSize(t *testing.T) {
	x, a := multiHeadOf(2)
	longer := func(l nn.Linear, by float64) nn.Linear { return nn.Linear{W: ops.Scale(l.W, by)} }
	scaled := func(a attention.MultiHead, query, key float64) *graph.Node {
		a.QKV.Query, a.QKV.Key = longer(a.QKV.Query, query), longer(a.QKV.Key, key)
		return a.Of(x, x, nil)
	}
	normed := a.WithKeyNorm()
	feed := graph.Values{normed.KeyNorm.Gain: layertest.ValueOf(normed.KeyNorm.Gain, 1, 2, 0.5, -1)}
	out := layertest.BothWays(t, feed, scaled(normed, 1, 1), scaled(normed, 1, 100), scaled(a, 1, 1), scaled(a, 1, 100), scaled(normed, 3, 1), scaled(normed, 1, -1))
	if err := reftest.Near(out[1].Data, out[0].Data, 1e-3); err != nil {
		t.Errorf("the norm lets the length of keys through: %v", err)
	}
	if reftest.Near(out[3].Data, out[2].Data, 1e-2) == nil {
		t.Error("without a norm the length of keys makes no difference: the test shows nothing")
	}
	for i, what := range map[int]string{4: "the length of queries", 5: "the direction of keys"} {
		if reftest.Near(out[i].Data, out[0].Data, 1e-2) == nil {
			t.Errorf("%s makes no difference", what)
		}
	}
}

func TestTableWritesAndReads(t *testing.T) {
	g := graph.New("table")
	b, d, f := graph.Ax("b", 2), graph.Ax("d", 3), graph.Ax("f", 2)
	k, v := g.Input("k", graph.F64, b, graph.Ax("i", 4), d), g.Input("v", graph.F64, b, graph.Ax("i", 4), f)
	q := g.Input("q", graph.F64, b, graph.Ax("t", 3), d)
	part := func(x *graph.Node, from, to int) *graph.Node { return ops.Slice(x, "i", from, to) }
	first := attention.Table{}.Write(part(k, 0, 1), part(v, 0, 1))
	second, _ := first.Write(part(k, 1, 4), part(v, 1, 4)).Read(q)
	whole, _ := attention.Table{Keys: k, Values: v}.Read(q)
	only, α := first.Read(q)
	sharp, _ := attention.Table{Keys: ops.Scale(k, 1e4), Values: v}.Read(part(k, 0, 3))
	out := layertest.BothWays(t, nil, second, whole, only, α, v, sharp)
	layertest.Same(t, "written twice", out[0].Data, out[1].Data)
	for i, w := range out[3].Data {
		if w != 1 || out[2].Data[2*i] != out[4].Data[i/3*8] {
			t.Errorf("a table of one pair gives weight %v, value %v", w, out[2].Data[2*i])
		}
	}
}

func TestBidirectionalContexts(t *testing.T) {
	g := graph.New("bidirectional")
	axes := []graph.Axis{graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("d", 2)}
	forward, backward := g.Input("f", graph.F64, axes...), g.Input("b", graph.F64, axes...)
	c, α := attention.AttendBidirectional(forward, backward)
	out := layertest.BothWays(t, nil, forward, backward, c, α)
	F, B := out[0].Data, out[1].Data
	for p := range 2 * 3 {
		base := p / 3 * 6
		var w [3]float64
		total := 0.0
		for j := range w {
			w[j] = math.Exp(B[2*p]*F[base+2*j] + B[2*p+1]*F[base+2*j+1]) // no scale
			total += w[j]
		}
		for k := range 2 {
			want := 0.0
			for j := range w {
				want += w[j] / total * F[base+2*j+k]
			}
			if got := out[2].Data[2*p+k]; math.Abs(got-want) > 1e-12 {
				t.Errorf("context %d %d is %v, want %v", p, k, got, want)
			}
		}
	}
}

// TestMaskedStates: a decoder's attention over the states of sequences of different
// lengths passes over what lies behind their ends.
func TestMaskedStates(t *testing.T) {
	g := graph.New("states")
	h := g.Input("h", graph.F64, graph.Ax("b", 2), graph.Ax("t", 4), graph.Ax("d", 3))
	s := g.Input("s", graph.F64, graph.Ax("b", 2), graph.Ax("d", 3))
	lengths := g.Input("length", graph.I64, graph.Ax("b", 2))
	a, α := attention.AttendStates(nil, s, h, nn.Present(lengths, graph.Ax("t", 4)))
	short, _ := attention.AttendStates(attention.DotScore{}, s, ops.Slice(h, "t", 0, 2), nil)
	out := layertest.BothWays(t, graph.Values{lengths: layertest.ValueOf(lengths, 2, 2)}, a, short, α)
	layertest.Same(t, "two of four states", out[0].Data, out[1].Data)
	for p, w := range out[2].Data {
		if p%4 >= 2 && w != 0 {
			t.Errorf("weight %v behind the end", w)
		}
	}
}

// TestMultiHeadHoldsNoScores: forward and backward, the layer runs over parts of the
// batch, and the scores of all heads are never in memory.
func TestMultiHeadHoldsNoScores(t *testing.T) {
	const b, n = 8, 64
	g := graph.New("heads")
	m := graph.Ax("m", 64)
	x := g.Input("x", graph.F32, graph.Ax("b", b), graph.Ax("t", n), m)
	a := attention.NewMultiHead(g, "attention", graph.F32, m, m, 4)
	loss := ops.Mean(ops.Square(a.Of(x, x, attention.Causal(g, graph.Ax("t", n), graph.Ax("t′", n)))))
	params := g.Leaves(graph.RoleParam)
	step := graph.Step{}
	for i, d := range grad.Of(loss, params...) {
		step = append(step, g.Assign(params[i], ops.Sub(params[i], ops.Scale(d, 0.1))))
	}
	p, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range p.Rows() {
		if s := r.Node.Shape(); s.Rank() == 4 && s.Dim(2) == n && s.Dim(3) == n {
			if seen++; !r.Scratch {
				t.Errorf("%s is an array of all heads\n%v", r.Result, p)
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d rows make scores: the test shows nothing", seen)
	}
}

// TestNoStepsAttend: masks, positions and attention of sequences without steps have none either.
func TestNoStepsAttend(t *testing.T) {
	g := graph.New("none")
	x := g.Input("x", graph.F64, graph.Ax("t", 0), graph.Ax("d", 4))
	mask := attention.Causal(g, graph.Ax("t", 0), graph.Ax("u", 0))
	y := attention.AddPositions(x, attention.Sinusoidal(g, graph.F64, graph.Ax("t", 0), graph.Ax("d", 4)))
	z, _ := attention.Attend(y, ops.Rename(y, "t", "u"), ops.Rename(y, "t", "u"), mask)
	if err := g.Err(); err != nil || z.Shape().String() != "[t=0 d=4]" {
		t.Errorf("%v, %v", z.Shape(), err)
	}
}

func TestAttentionMistakes(t *testing.T) {
	_, err := builders.Build("attention-multihead", builders.Settings{"heads": 3}, graph.F32)
	var all graph.Errors
	if want := "3 heads cannot share 8 features evenly"; !errors.As(err, &all) || len(all) != 1 || all[0].Err.Error() != want {
		t.Errorf("got %v, want %q once", err, want)
	}
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("d", 4)), map[string]func(g *graph.Graph, x *graph.Node){
		"scores":     func(_ *graph.Graph, x *graph.Node) { attention.Scores(x, nil) },
		"pool":       func(_ *graph.Graph, x *graph.Node) { attention.Pool(x, nil, nil) },
		"attend":     func(_ *graph.Graph, x *graph.Node) { attention.Attend(nil, x, x, nil) },
		"masked":     func(_ *graph.Graph, x *graph.Node) { nn.MaskedSoftmax(x, x) },
		"padding":    func(_ *graph.Graph, x *graph.Node) { ops.And(x, attention.Padding(nil, graph.Ax("u", 3))) },
		"mean where": func(_ *graph.Graph, x *graph.Node) { nn.MeanWhere(x, nil) },
		"dot":        func(_ *graph.Graph, x *graph.Node) { attention.AttendStates(nil, nil, x, nil) },
		"additive":   func(_ *graph.Graph, x *graph.Node) { attention.AttendStates(attention.AdditiveScore{}, x, x, nil) },
		"product": func(_ *graph.Graph, x *graph.Node) {
			attention.AttendStates(attention.MultiplicativeScore{}, x, x, nil)
		},
		"bidirectional": func(_ *graph.Graph, x *graph.Node) { attention.AttendBidirectional(x, nil) },
		"table":         func(_ *graph.Graph, x *graph.Node) { attention.Table{}.Read(x) },
		"written":       func(_ *graph.Graph, x *graph.Node) { attention.Table{}.Write(x, x).Write(x, nil) },
		"qkv":           func(_ *graph.Graph, x *graph.Node) { attention.QKV{}.Attend(x, x, nil) },
		"heads":         func(_ *graph.Graph, x *graph.Node) { attention.MultiHead{Heads: 1}.Of(x, nil, nil) },
		"no heads": func(g *graph.Graph, x *graph.Node) {
			m := graph.Ax("d", 4)
			attention.NewMultiHead(g, "a", graph.F32, m, m, 0).Of(x, x, nil)
		},
		"query norm": func(_ *graph.Graph, x *graph.Node) { attention.QueryNorm{}.Of(x) },
		"vector":     func(g *graph.Graph, x *graph.Node) { attention.Attend(ops.Sum(x, 0, 1), x, x, nil) },
	})
}
