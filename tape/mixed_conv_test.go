package tape_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// A convCase is a convolution of images of size², and how many of it and its two derivatives round.
type convCase struct {
	name                               string
	images, size, in, window, out, per int
	options                            []ops.Window
	forward, input, weights            int
}

var convCases = []convCase{
	{"3×3", 2, 8, 64, 3, 64, 64, []ops.Window{ops.Same()}, 1, 1, 1},
	{"groups", 1, 7, 128, 3, 64, 64, []ops.Window{ops.Same(), ops.Groups(2)}, 1, 1, 0},
	{"odd channels and strides", 2, 9, 33, 3, 35, 33, []ops.Window{ops.Stride(2, 2), ops.Padding(1, 1)}, 1, 1, 0},
	{"pointwise", 1, 7, 64, 1, 64, 64, nil, 1, 1, 1},
	{"windows as long as strides", 1, 14, 64, 2, 64, 64, []ops.Window{ops.Stride(2, 2)}, 1, 0, 1},
	{"few places", 1, 6, 64, 3, 64, 64, []ops.Window{ops.Same()}, 1, 1, 0},
	{"few channels", 1, 9, 31, 3, 64, 31, []ops.Window{ops.Same()}, 0, 0, 0},
}

// build returns x and w, the derivatives by both of a sum of their convolution with the weights u,
// the convolution, and values.
func (c convCase) build() (x, w *graph.Node, wanted []*graph.Node, values graph.Values) {
	g := graph.New("conv")
	x = g.Input("x", graph.F32, graph.Ax("n", c.images), graph.Ax("h", c.size), graph.Ax("w", c.size), graph.Ax("c", c.in))
	w = g.Input("k", graph.F32, graph.Ax("kh", c.window), graph.Ax("kw", c.window), graph.Ax("c", c.per), graph.Ax("o", c.out))
	y := ops.Conv2D(x, w, c.options...)
	var axes []graph.Axis
	for a := range y.Rank() {
		axes = append(axes, y.Shape().Axis(a))
	}
	u := g.Input("u", graph.F32, axes...)
	r := rand.New(rand.NewPCG(uint64(c.in), uint64(c.out)))
	values = graph.Values{}
	for _, n := range []*graph.Node{x, w, u} {
		v := graph.NewValue(n.Type())
		for k := range v.Data {
			v.Data[k] = graph.F32.Round(r.NormFloat64())
		}
		values[n] = v
	}
	return x, w, append(grad.Of(ops.Sum(ops.Mul(y, u)), x, w), y), values
}

// feedOf gives the values to inputs.
func feedOf(values graph.Values) tape.Feed {
	feed := tape.Feed{}
	for n, v := range values {
		feed[n] = tape.Tensor(v)
	}
	return feed
}

// TestMixedConvolutions: a convolution under Mixed, and its two derivatives, are those of the
// rounded operands where the table says so, and otherwise have the bits that they have without it.
func TestMixedConvolutions(t *testing.T) {
	for _, c := range convCases {
		t.Run(c.name, func(t *testing.T) {
			_, _, wanted, values := c.build()
			p, got := results(t, feedOf(values), wanted, tape.Mixed())
			count := instructions(p)
			if have := [3]int{count["Conv bf16"], count["ConvInput bf16"], count["ConvKernel bf16"]}; have != [3]int{c.forward, c.input, c.weights} ||
				p.Mixed() != c.forward+c.input+c.weights {
				t.Errorf("%v round, in all %d:\n%v", have, p.Mixed(), p)
			}
			_, usual := results(t, feedOf(values), wanted)
			rounded := graph.Values{}
			for n, v := range values {
				v.Data = slices.Clone(v.Data)
				for k, e := range v.Data {
					v.Data[k] = half.RoundBrain(e)
				}
				rounded[n] = v
			}
			want, err := ref.Eval(trait.Env{}, rounded, wanted...)
			if err != nil {
				t.Fatal(err)
			}
			for k, rounds := range []int{c.input, c.weights, c.forward} {
				if rounds == 0 {
					if !slices.Equal(got[k], usual[k]) {
						t.Errorf("result %d has other bits under Mixed, though it rounds nothing", k)
					}
					continue
				}
				for e, v := range got[k] {
					if truth := want[k].Data[e]; math.Abs(v-truth) > 1e-4*math.Sqrt(float64(c.in*c.window*c.window)) {
						t.Fatalf("element %d of result %d is %v, of rounded operands %v", e, k, v, truth)
					}
				}
			}
		})
	}
}

// TestMixedConvolutionsOnAnyWorkers: the same bits.
func TestMixedConvolutionsOnAnyWorkers(t *testing.T) {
	c := convCases[0]
	c.images = 5
	x, _, wanted, values := c.build()
	p := compile(t, x.Graph(), tape.Mixed(), tape.Fetch(wanted...))
	var first [][]float64
	for _, workers := range []int{1, 2, 5} {
		vm := tapetest.VM(t, p, tape.NewStore(x.Graph()), tape.Workers(workers))
		run(t, vm, feedOf(values))
		for k, n := range wanted {
			got := value(t, vm, n)
			if workers == 1 {
				first = append(first, got)
			} else if !slices.Equal(got, first[k]) {
				t.Errorf("result %d has other bits on %d workers", k, workers)
			}
		}
		vm.Close()
	}
}
