package builders_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
)

// blob is an image of zeros with a few numbers around its middle, moved down and right.
func blob(x *graph.Node, down, right int) graph.Value {
	v := graph.NewValue(x.Type())
	width := x.Dim(2)
	for i := range 3 {
		for j := range 3 {
			v.Data[(4+i+down)*width+4+j+right] = 1 + math.Cos(float64(3*i+j))
		}
	}
	return v
}

// TestConvolutionMovesAlong: what a convolution makes of a moved image is what it makes of
// the image, moved; its weights are shared by all places.
func TestConvolutionMovesAlong(t *testing.T) {
	const size, channels, down, right = 12, 2, 2, -1
	g := graph.New("moved")
	x := g.Input("x", graph.F64, graph.Ax("n", 1), graph.Ax("y", size), graph.Ax("x", size), graph.Ax("c", 1))
	y := ops.ReLU(nn.NewConv2D(g, "conv", graph.F64, graph.Ax("c", 1), graph.Ax("o", channels), ops.Size(3), ops.Padding(1)).Of(x))
	here, there := layertest.BothWays(t, graph.Values{x: blob(x, 0, 0)}, y)[0].Data, layertest.BothWays(t, graph.Values{x: blob(x, down, right)}, y)[0].Data
	differ := false
	for i := 1; i < size-down-1; i++ {
		for j := 2; j < size-1; j++ {
			for c := range channels {
				a, b := here[(i*size+j)*channels+c], there[((i+down)*size+j+right)*channels+c]
				if math.Abs(a-b) > 1e-12 {
					t.Errorf("(%d %d %d) is %v, and %v when moved", i, j, c, a, b)
				}
				differ = differ || a != here[channels*size+c]
			}
		}
	}
	if !differ {
		t.Error("the image is the same everywhere: this shows nothing")
	}
}

// TestPoolingForgetsSmallMoves: the largest of a square is the same wherever in it it
// stands, and the average too; the pixel that stride picks is not.
func TestPoolingForgetsSmallMoves(t *testing.T) {
	g := graph.New("pooled")
	x := g.Input("x", graph.F64, graph.Ax("n", 1), graph.Ax("y", 12), graph.Ax("x", 12), graph.Ax("c", 1))
	largest, average, picked := ops.MaxPool2D(x, ops.Size(4)), ops.AvgPool2D(x, ops.Size(4)), nn.PickOne(x, 4)
	here, there := layertest.BothWays(t, graph.Values{x: blob(x, 0, 0)}, largest, average, picked), layertest.BothWays(t, graph.Values{x: blob(x, 1, 1)}, largest, average, picked)
	layertest.Same(t, "largest", there[0].Data, here[0].Data)
	layertest.Same(t, "average", there[1].Data, here[1].Data)
	if got, want := there[2].Data[4], here[2].Data[4]; got == want {
		t.Errorf("picked %v, also when moved", got)
	}
}

// TestStepsAroundACircle: on a ring, where every node has one edge to the next, the powers
// of the adjacency matrix shift, so a filter made of them is a circular convolution.
func TestStepsAroundACircle(t *testing.T) {
	const n, taps = 5, 3
	g := graph.New("ring")
	A := g.Input("A", graph.F64, graph.Ax("i", n), graph.Ax("j", n))
	x := g.Input("x", graph.F64, graph.Ax("j", n), graph.Ax("c", 1))
	ring := graph.NewValue(A.Type())
	for i := range n {
		ring.Data[i*n+(i+n-1)%n] = 1 // node i hears of the one before
	}
	shifts := graphnet.Powers(graphnet.Adjacency{A: A}, A, x, taps-1)
	out := layertest.BothWays(t, graph.Values{A: ring}, append(shifts, x)...)
	signal := out[taps].Data
	for k := range taps {
		for i := range n {
			if got, want := out[k].Data[i], signal[(i-k+n)%n]; got != want {
				t.Errorf("%d steps: node %d has %v, want %v", k, i, got, want)
			}
		}
	}
}

// TestEmbeddingIsOneHot: the vector of a token is its one-hot row times the table.
func TestEmbeddingIsOneHot(t *testing.T) {
	g := graph.New("embedding")
	w := graph.Ax("w", 5)
	tokens := g.Input("tokens", graph.I64, graph.Ax("i", 4))
	e := nn.NewEmbedding(g, "embedding", graph.F64, w, graph.Ax("m", 3))
	long := ops.MatMul(ops.OneHot(tokens, -1, w, graph.F64), e.Table)
	out := layertest.BothWays(t, graph.Values{tokens: layertest.ValueOf(tokens, 4, 0, 2, 4)}, e.Of(tokens), long)
	layertest.Same(t, "vectors", out[0].Data, out[1].Data)
}

// TestWeightsSumToOne: a softmax is a distribution, whoever makes it, also of scores whose
// exponentials overflow; so moving all scores of a row alike changes nothing, and their
// derivatives sum to 0.
func TestWeightsSumToOne(t *testing.T) {
	const rows, n = 4, 5
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("weights")
		e := g.Input("e", dt, graph.Ax("t", rows), graph.Ax("u", n))
		feed := graph.Values{e: graph.NewValue(e.Type())}
		for i := range feed[e].Data {
			feed[e].Data[i] = dt.Round(math.Pow(10, float64(i/n)) * math.Cos(float64(i))) // up to ±1000
		}
		x, γ := g.Constant(dt, feed[e].Data, graph.Ax("t", rows), graph.Ax("d", n)), g.Constant(dt, []float64{0.5})
		_, kernel := attention.AttendKernel(x, x, x, γ, nil)
		_, dot := attention.Attend(x, x, x, nil)
		clusters := ops.Rename(ops.Rename(x, 0, "i"), 1, "d")
		α := []*graph.Node{
			ops.Softmax(e, -1), nn.MaskedSoftmax(e, attention.Causal(g, graph.Ax("t", rows), graph.Ax("u", n))),
			dot, kernel, builders.SoftKMeans(clusters, clusters, γ).Alpha,
		}
		nodes := append(α, ops.Sum(grad.Of(layertest.Wavy(α[0]), e)[0], -1))
		got, err := reftest.Tape(0, feed, nodes)
		if err != nil {
			t.Fatal(err)
		}
		tol := 4 * reftest.Tolerance(dt)
		for k, v := range got[:len(α)] {
			width := v.Type.Shape.Dim(1)
			for i := range rows {
				sum := 0.0
				for _, w := range v.Data[i*width:][:width] {
					sum += w
				}
				if math.Abs(sum-1) > tol {
					t.Errorf("%v: %v: row %d sums to %v", dt, α[k], i, sum)
				}
			}
		}
		for i, d := range got[len(α)].Data {
			if math.Abs(d) > tol {
				t.Errorf("%v: the derivatives by row %d sum to %v", dt, i, d)
			}
		}
	}
}
