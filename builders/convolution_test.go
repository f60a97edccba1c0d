package builders_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

var windows = []ops.Window{
	nil, ops.Size(3), ops.Windows(ops.Size(3), ops.Stride(2)), ops.Windows(ops.Size(3), ops.Stride(2), ops.Padding(1)),
	ops.Windows(ops.Size(2), ops.Stride(2)), ops.Windows(ops.Size(3), ops.Dilation(2)),
	ops.Windows(ops.Size(2), ops.Stride(3), ops.Padding(2), ops.Dilation(3)), ops.Windows(ops.Size(4), ops.Wide()),
	ops.Windows(ops.Size(4), ops.Same()), ops.Windows(ops.Size(2), ops.Dilation(3), ops.Stride(2), ops.Same()),
}

// TestWindowCount: the formula of the notes, dilation included, is what convolutions give.
func TestWindowCount(t *testing.T) {
	for _, w := range windows {
		for n := 1; n < 12; n++ {
			g := graph.New("window")
			x := g.Input("x", graph.F64, graph.Ax("t", n), graph.Ax("c", 1))
			y := nn.NewConv1D(g, "conv", graph.F64, graph.Ax("c", 1), graph.Ax("f", 1), w).Of(x)
			want := 0
			if y.IsValid() {
				want = y.Dim(0)
			}
			if got := w.Sliding(0).Count(n); got != want {
				t.Errorf("%+v over %d: %d windows, want %d", w.Sliding(0), n, got, want)
			}
		}
	}
	if got := ops.Windows(ops.Size(5), ops.Stride(2), ops.Padding(1)).Sliding(0).Count(32); got != (32-5+2*1)/2+1 {
		t.Errorf("%d windows", got)
	}
	if same, wide := ops.Windows(ops.Size(5), ops.Same()).Sliding(0).Count(9), ops.Windows(ops.Size(5), ops.Wide()).Sliding(0).Count(9); same != 9 || wide != 13 {
		t.Errorf("same padding gives %d, wide %d of 9", same, wide)
	}
}

// TestDepthwise: as many groups as channels are one convolution for each channel.
func TestDepthwise(t *testing.T) {
	g := graph.New("depthwise")
	x := layertest.Image(g, 2, 5, 4, 3)
	w := ops.Windows(ops.Size(3), ops.Padding(1), ops.Stride(2))
	l := nn.NewDepthwise2D(g, "conv", graph.F64, graph.Ax("c", 3), w)
	grouped := nn.Conv{W: l.W, B: l.B, Window: ops.Windows(w, ops.Groups(3))}
	var each []*graph.Node
	for c := range 3 {
		one := nn.Conv{W: ops.Slice(l.W, 3, c, c+1), B: ops.Slice(l.B, 0, c, c+1), Window: w}
		each = append(each, one.Of(ops.Slice(x, "c", c, c+1)))
	}
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	y := l.Of(x)
	out := layertest.Values(t, feed, y, grouped.Of(x), ops.Concat(-1, each...))
	layertest.Same(t, "depthwise and grouped", out[0].Data, out[1].Data)
	layertest.Same(t, "depthwise and channel by channel", out[0].Data, out[2].Data)
	var want []float64
	for p := range y.Shape().Len() {
		n, i, j, c := p/(y.Dim(1)*y.Dim(2)*3), p/(y.Dim(2)*3)%y.Dim(1), p/3%y.Dim(2), p%3
		sum := feed[l.B].Data[c]
		for k := range 9 {
			if r, s := 2*i+k/3-1, 2*j+k%3-1; r >= 0 && r < 5 && s >= 0 && s < 4 {
				sum += feed[x].Data[((n*5+r)*4+s)*3+c] * feed[l.W].Data[k*3+c]
			}
		}
		want = append(want, sum)
	}
	layertest.Same(t, "depthwise and a loop", out[0].Data, want)
}

// TestTransposedIsTheAdjoint: ⟨conv x, y⟩ = ⟨x, convᵀ y⟩.
func TestTransposedIsTheAdjoint(t *testing.T) {
	for _, w := range windows {
		for _, spatial := range []int{1, 2, 3} {
			// Sizes that the windows use up, so that the transpose gives them back.
			s := w.Sliding(0)
			size := 3*s.Stride - s.Before - s.After + (s.Size-1)*s.Dilation + 1
			if size < 1 {
				continue
			}
			g := graph.New("adjoint")
			axes := []graph.Axis{graph.Ax("n", 2)}
			var kernel []graph.Axis
			var order []any
			for i, name := range []string{"d", "h", "w"}[:spatial] {
				axes, kernel, order = append(axes, graph.Ax(name, size)), append(kernel, graph.Ax("k"+name, s.Size)), append(order, i)
			}
			axes, kernel = append(axes, graph.Ax("c", 2)), append(kernel, graph.Ax("c", 2), graph.Ax("o", 3))
			order = append(order, spatial+1, spatial)
			x, W := g.Input("x", graph.F64, axes...), g.Param("w", graph.F64, kernel...)
			forward := nn.Conv{W: W, Window: w}.Of(x)
			y := g.Input("y", graph.F64, forward.Shape().Axes()...)
			back := nn.ConvTransposed{W: ops.Transpose(W, order...), Window: w}.Of(y)
			out := layertest.Values(t, layertest.Filled(g, rand.New(rand.NewPCG(1, 1))), ops.Sum(ops.Mul(forward, y)), ops.Sum(ops.Mul(x, back)))
			layertest.Same(t, fmt.Sprintf("%+v along %d axes", s, spatial), out[0].Data, out[1].Data)
		}
	}
}

// TestMirrorPadding: a padding that mirrors continues the image by its reflection, pixel by pixel.
func TestMirrorPadding(t *testing.T) {
	g := graph.New("mirror")
	x := layertest.Image(g, 1, 4, 5, 1)
	l := nn.NewConv2D(g, "conv", graph.F64, graph.Ax("c", 1), graph.Ax("f", 1), ops.Size(3), ops.Padding(2))
	l.Reflect = true
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	reflected := func(i, n int) int {
		if i < 0 {
			return -i
		}
		return min(i, 2*(n-1)-i)
	}
	var want []float64
	for i := range 6 {
		for j := range 7 {
			sum := feed[l.B].Data[0]
			for k := range 9 {
				sum += feed[x].Data[reflected(i+k/3-2, 4)*5+reflected(j+k%3-2, 5)] * feed[l.W].Data[k]
			}
			want = append(want, sum)
		}
	}
	layertest.Same(t, "mirror padding", layertest.Values(t, feed, l.Of(x))[0].Data, want)
}

func TestPooling(t *testing.T) {
	g := graph.New("pooling")
	x := layertest.Image(g, 2, 7, 6, 3)
	weighted := nn.NewWeightedPool(g, "pool", graph.F64, graph.Ax("c", 3), 3)
	conv := nn.NewConv2D(g, "conv", graph.F64, graph.Ax("c", 3), graph.Ax("c", 2), ops.Size(2), ops.Padding(1))
	strided := conv
	strided.Window = ops.Windows(conv.Window, ops.Stride(2))
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	start := weighted.W.Initialiser()
	offset, std, width := start.Distribution(weighted.W.Shape().Sizes()...)
	if offset != 1./9 || std != 0 || width != 0 {
		t.Errorf("weighted pooling starts at %v", start)
	}
	for i := range feed[weighted.W].Data {
		feed[weighted.W].Data[i] = offset
	}
	out := layertest.Values(t, feed, weighted.Of(x), ops.AvgPool2D(x, ops.Size(3)), nn.PickOne(conv.Of(x), 2), strided.Of(x), nn.PickOne(x, 3))
	layertest.Same(t, "constant weights and the average", out[0].Data, out[1].Data)
	layertest.Same(t, "one of 2×2 of a convolution and its stride", out[2].Data, out[3].Data)
	var want []float64
	for p := range 2 * 3 * 2 * 3 {
		n, i, j, c := p/18, p/6%3, p/3%2, p%3
		want = append(want, feed[x].Data[((n*7+3*i)*6+3*j)*3+c])
	}
	layertest.Same(t, "one of 3×3", out[4].Data, want)
}

// TestPlainAndResidualNets: the two have the same parameters; without what the blocks add, a
// residual net is its first layer, and a plain one is nothing.
func TestPlainAndResidualNets(t *testing.T) {
	paths := func(name string) (out []string) {
		m, err := builders.Build(name, builders.Settings{"depth": 3}, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
			out = append(out, n.Path()+" "+n.Type().String())
		}
		return out
	}
	if plain, residual := paths("resnet-plain"), paths("resnet"); !slices.Equal(plain, residual) || len(plain) != 4+3*10 {
		t.Errorf("plain %v, residual %v", plain, residual)
	}
	g := graph.New("block")
	x := layertest.Image(g, 2, 4, 4, 3)
	b := builders.NewResNetBlock(g, "block", graph.F64, graph.Ax("c", 3), graph.Ax("c", 3), 1)
	plain := b
	plain.Plain = true
	y, step := b.OfTrain(x)
	yPlain, _ := plain.OfTrain(ops.Scale(x, 2)) // another input, so that the states' updates are not the same
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	for _, n := range []*graph.Node{b.Norm2.Gain, b.Norm2.Bias} {
		feed[n] = graph.NewValue(n.Type())
	}
	out := layertest.Values(t, feed, y, ops.ReLU(x), yPlain)
	layertest.Same(t, "a residual block that adds nothing", out[0].Data, out[1].Data)
	layertest.Same(t, "a plain block that gives nothing", out[2].Data, make([]float64, len(out[2].Data)))
	if len(step) != 4 || b.Expand != nil {
		t.Errorf("%d updates, skip %v", len(step), b.Expand)
	}
	wide := builders.NewResNetBlock(g, "wide", graph.F64, graph.Ax("c", 3), graph.Ax("c", 5), 2)
	if got := wide.Of(x).Shape().Sizes(); wide.Expand == nil || !slices.Equal(got, []int{2, 2, 2, 5}) {
		t.Errorf("a block to 5 channels with stride 2 gives %v", got)
	}
}

// TestConvNeXtBlock: a block whose scale is 0 changes nothing.
func TestConvNeXtBlock(t *testing.T) {
	g := graph.New("block")
	x := layertest.Image(g, 2, 4, 4, 3)
	b := builders.NewConvNeXtBlock(g, "block", graph.F64, graph.Ax("c", 3), 7, true)
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	y := b.Of(x)
	moved := layertest.Values(t, feed, y)[0].Data
	feed[b.Scale] = graph.NewValue(b.Scale.Type())
	layertest.Same(t, "a scale of 0", layertest.Values(t, feed, y)[0].Data, feed[x].Data)
	if reftest.Near(moved, feed[x].Data, 0.1) == nil {
		t.Error("a block with a scale changes nothing either")
	}
	if got := b.Depthwise.W.Shape().Sizes(); !slices.Equal(got, []int{7, 7, 1, 3}) || b.Up.W.Dim(1) != 12 {
		t.Errorf("depthwise weights %v, up %v", got, b.Up.W)
	}
}

// TestUNetSkips: with nothing coming up from below, the scores still see the image,
// through the skip alone and no further than its convolutions reach.
func TestUNetSkips(t *testing.T) {
	g := graph.New("unet")
	x := layertest.Image(g, 1, 8, 8, 1)
	u := builders.NewUNet(g, "unet", graph.F64, graph.Ax("c", 1), graph.Ax("k", 2), 2, 2)
	y := u.Of(x)
	at := ops.Sum(ops.Slice(ops.Slice(y, "h", 3, 4), "w", 3, 4))
	dx := grad.Of(at, x)[0]
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	for n, v := range feed { // positive, so that every relu lets through
		for i := range v.Data {
			v.Data[i] = 0.1 + math.Abs(v.Data[i])
		}
		feed[n] = v
	}
	far := func() (out int) {
		for p, d := range layertest.Values(t, feed, dx)[0].Data {
			if d != 0 {
				out = max(out, p/8-3, 3-p/8, p%8-3, 3-p%8)
			}
		}
		return out
	}
	if reach := far(); reach != 4 {
		t.Errorf("the whole net reaches %d pixels, want 4, to the edge", reach)
	}
	for _, l := range u.Up {
		feed[l.W] = graph.NewValue(l.W.Type())
	}
	if reach := far(); reach != 2 {
		t.Errorf("the finest skip reaches %d pixels, want 2", reach)
	}
	if !slices.Equal(y.Shape().Sizes(), []int{1, 8, 8, 2}) {
		t.Errorf("scores %v", y)
	}
}

// TestTextCNN against loops over windows.
func TestTextCNN(t *testing.T) {
	for _, wide := range []bool{false, true} {
		g := graph.New("text")
		tokens := g.Input("tokens", graph.I64, graph.Ax("n", 2), graph.Ax("t", 6))
		m := builders.NewTextCNN(g, graph.F64, graph.Ax("v", 5), graph.Ax("d", 3), graph.Ax("f", 2), graph.Ax("k", 2), []int{2, 4}, wide)
		rng := rand.New(rand.NewPCG(1, 1))
		feed := layertest.Filled(g, rng)
		for i := range feed[tokens].Data {
			feed[tokens].Data[i] = float64(rng.IntN(5))
		}
		var want []float64
		for n := range 2 {
			var found []float64
			for _, l := range m.Filters {
				k, first, last := l.W.Dim(0), 0, 6-l.W.Dim(0)
				if wide {
					first, last = 1-k, 5
				}
				for f := range 2 {
					most := math.Inf(-1)
					for i := first; i <= last; i++ {
						sum := feed[l.B].Data[f]
						for p := range k * 3 {
							if at := i + p/3; at >= 0 && at < 6 {
								sum += feed[m.Table].Data[int(feed[tokens].Data[n*6+at])*3+p%3] * feed[l.W].Data[p*2+f]
							}
						}
						most = max(most, sum, 0)
					}
					found = append(found, most)
				}
			}
			for k := range 2 {
				sum := feed[m.Head.B].Data[k]
				for i, c := range found {
					sum += c * feed[m.Head.W].Data[i*2+k]
				}
				want = append(want, sum)
			}
		}
		layertest.Same(t, fmt.Sprintf("wide %v", wide), layertest.Values(t, feed, m.Of(tokens))[0].Data, want)
	}
}

// TestBigrams: with windows of two words and tanh, what the model makes of every pair is
// p = tanh(W·[c₁; c₂] + b), with the vectors of the two words on each other.
func TestBigrams(t *testing.T) {
	m := layertest.Build(t, "conv-text", builders.Settings{"narrowest": 2, "widest": 2, "activation": layertest.Choice(t, "conv-text", "activation", "tanh")})
	feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(4, 1)))
	for in, v := range m.Examples(rand.New(rand.NewPCG(4, 2))) {
		feed[in] = v
	}
	tokens, table := feed[m.Graph.Lookup("tokens")], feed[m.Graph.Lookup("embedding")]
	W, b := feed[m.Graph.Lookup("filters1/w")], feed[m.Graph.Lookup("filters1/b")]
	n, words, d, filters := tokens.Type.Shape.Dim(0), tokens.Type.Shape.Dim(1), table.Type.Shape.Dim(1), len(b.Data)
	word := func(at int) []float64 { return table.Data[int(tokens.Data[at])*d:][:d] }
	var want, most []float64
	for text := range n {
		first := len(want)
		for i := range words - 1 {
			pair := slices.Concat(word(text*words+i), word(text*words+i+1)) // [c₁; c₂]
			for f := range filters {
				sum := b.Data[f]
				for k, v := range pair {
					sum += W.Data[k*filters+f] * v
				}
				want = append(want, math.Tanh(sum))
			}
		}
		for f := range filters {
			largest := math.Inf(-1)
			for i := first + f; i < len(want); i += filters {
				largest = max(largest, want[i])
			}
			most = append(most, largest)
		}
	}
	out := layertest.Values(t, feed, m.Graph.Lookup("c₁"), m.Graph.Lookup("ĉ₁"))
	layertest.Same(t, "pairs", out[0].Data, want)
	layertest.Same(t, "the largest over time", out[1].Data, most)
}

// decay is the field f(x) = −x.
type decay struct{}

func (decay) Of(x *graph.Node) *graph.Node { return ops.Neg(x) }

// TestEuler: n steps for dx/dt = −x are x·(1−h)ⁿ, which nears e⁻ᵗ; sharing makes the
// number of parameters independent of the steps.
func TestEuler(t *testing.T) {
	g := graph.New("ode")
	x, h := g.Input("x", graph.F64, graph.Ax("d", 1)), g.Scalar("h", 0.01, graph.F64)
	y := builders.Euler(x, h, slices.Repeat([]nn.Layer{decay{}}, 100)...)
	got := layertest.Values(t, graph.Values{x: {Type: x.Type(), Data: []float64{2}}}, y)[0].Data[0]
	if math.Abs(got-2*math.Pow(0.99, 100)) > 1e-12 || math.Abs(got-2*math.Exp(-1)) > 0.01 {
		t.Errorf("x(1) = %v, want near %v", got, 2*math.Exp(-1))
	}
	for _, c := range []struct{ shared, steps, want float64 }{{1, 1, 4}, {1, 5, 4}, {0, 5, 20}} {
		m, err := builders.Build("ode-net", builders.Settings{"shared": c.shared, "steps": c.steps}, graph.F64)
		if err != nil || len(m.Params()) != int(c.want) {
			t.Errorf("%+v: %d parameters, %v", c, len(m.Params()), err)
		}
	}
}
