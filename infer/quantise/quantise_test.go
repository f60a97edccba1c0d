package quantise_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// random returns a feed of numbers of all signs for an input.
func random(x *graph.Node, seed uint64) tape.Feed {
	r, v := rand.New(rand.NewPCG(seed, 1)), graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = r.NormFloat64()
	}
	return tape.Feed{x: tape.Tensor(v)}
}

// net is a convolution with a stride and margins, a norm, a residual block, and a linear layer.
func net(side, channels int) (x, y *graph.Node) {
	g := graph.New("net")
	x = g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", side), graph.Ax("w", side), graph.Ax("c", 3))
	c := graph.Ax("c", channels)
	h := nn.NewFilter2D(g, "stem", graph.F32, graph.Ax("c", 3), c, ops.Size(3), ops.Stride(2), ops.Padding(1)).Of(x)
	h = ops.ReLU(nn.NewBatchNorm(g, "norm", graph.F32, c).Of(h))
	h = builders.NewResNetBlock(g, "block", graph.F32, c, graph.Ax("c", 2*channels), 2).Of(h)
	return x, nn.NewLinear(g, "head", graph.F32, graph.Ax("c", 2*channels), graph.Ax("k", 5)).Of(nn.GlobalAverage(h))
}

func TestInt8(t *testing.T) {
	x, y := net(12, 6)
	store := tape.NewStore(y.Graph(), tape.Seed(3))
	before := len(store.Paths())
	batches := []tape.Feed{random(x, 1), random(x, 2)}
	q, err := quantise.Int8(context.Background(), store, batches, quantise.Options{Keep: []string{"stem"}}, y)
	if err != nil {
		t.Fatal(err)
	}
	if len(store.Paths()) != before {
		t.Error("the store has changed")
	}
	if len(q.Products) != 5 || q.Products[0].Path != "stem/w" || !q.Products[0].Kept || q.Products[4].Kept {
		t.Errorf("products:\n%v", q)
	}
	for _, p := range q.Products {
		if p.Error <= 0 || p.Error > 0.02 {
			t.Errorf("%s: error %v", p.Path, p.Error)
		}
	}
	text := fmt.Sprint(q.Graph)
	if n := strings.Count(text, "ConvInteger"); n != 3 || strings.Count(text, "MatMulInteger") != 1 || strings.Contains(text, `"head/w"`) {
		t.Errorf("%d convolutions of integers in\n%s", n, text)
	}
	if again, err := graph.Parse(strings.NewReader(text), ops.Vocabulary()...); err != nil || fmt.Sprint(again) != text {
		t.Errorf("the graph is not read back: %v", err)
	}
	// What is said about the loss is what a run shows.
	want, err := store.Eval(context.Background(), batches[0], y)
	if err != nil {
		t.Fatal(err)
	}
	got, err := q.Store.Eval(context.Background(), q.Feed(batches[0]), q.Outputs[0])
	if err != nil {
		t.Fatal(err)
	}
	off, all := 0.0, 0.0
	for i, v := range want[y].Data {
		d := got[q.Outputs[0]].Data[i] - v
		off, all = off+d*d, all+v*v
	}
	if e := math.Sqrt(off / all); e == 0 || e > 0.05 || q.Errors[0] == 0 || q.Errors[0] > 0.05 {
		t.Errorf("error %v of one batch, %v of both", e, q.Errors[0])
	}
}

// TestProducts: a matrix that is shared by examples, one that is computed from parameters, constant
// columns and rows, and products that have no weights, or one for each example.
func TestProducts(t *testing.T) {
	g := graph.New("net")
	x := g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("i", 4), graph.Ax("k", 6))
	w := g.Param("w", graph.F64, graph.Ax("j", 3), graph.Ax("k", 6))
	h := ops.MatMul(x, ops.Tanh(ops.Transpose(w)))
	zeros := g.Constant(graph.F64, make([]float64, 6), graph.Ax("j", 3), graph.Ax("l", 2))
	y := ops.Concat("l", ops.MatMul(ops.MatMul(h, ops.Transpose(h, "b", "j", "i")), ops.MatMul(h, zeros)), ops.MatMul(ops.ZerosLike(h), zeros))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	q, err := quantise.Int8(context.Background(), tape.NewStore(g), []tape.Feed{random(x, 4)}, quantise.Options{}, h, y)
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Products) != 2 || q.Products[0].Path != "w" || q.Errors[0] == 0 || q.Errors[0] > 0.02 || q.Errors[1] != 0 {
		t.Errorf("products %+v, errors %v", q.Products, q.Errors)
	}
}

func TestInt8Refuses(t *testing.T) {
	x, y := net(6, 4)
	store, batch := tape.NewStore(y.Graph()), []tape.Feed{random(x, 1)}
	broken := graph.NewValue(x.Type())
	broken.Data[0] = math.Inf(1)
	sum := ops.Sum(x)
	for want, call := range map[string]func() (*quantise.Result, error){
		"quantise: want a store": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), nil, batch, quantise.Options{}, y)
		},
		"quantise: want at least one batch to calibrate with": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, nil, quantise.Options{}, y)
		},
		"quantise: want an output": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, batch, quantise.Options{})
		},
		"quantise: an output is nil": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, batch, quantise.Options{}, nil)
		},
		"quantise: a largest error of -1: want 0 or more": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, batch, quantise.Options{Most: -1}, y)
		},
		"quantise: every product stays float": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, batch, quantise.Options{Most: 1e-9}, y)
		},
		"quantise: the net has no product of floats by weights of its own": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, batch, quantise.Options{}, sum)
		},
		"quantise: what is multiplied by stem/w is not finite": func() (*quantise.Result, error) {
			return quantise.Int8(context.Background(), store, []tape.Feed{{x: tape.Tensor(broken)}}, quantise.Options{}, y)
		},
	} {
		if _, err := call(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkResNet18 predicts for images of 224×224 in float32 and in integers of a byte.
func BenchmarkResNet18(b *testing.B) {
	for _, images := range []int{1, 4} {
		g := graph.New("resnet18")
		x := g.Input("x", graph.F32, graph.Ax("n", images), graph.Ax("h", 224), graph.Ax("w", 224), graph.Ax("c", 3))
		c := graph.Ax("c", 64)
		h := nn.NewFilter2D(g, "stem", graph.F32, graph.Ax("c", 3), c, ops.Size(7), ops.Stride(2), ops.Padding(3)).Of(x)
		h = ops.MaxPool2D(ops.ReLU(nn.NewBatchNorm(g, "norm", graph.F32, c).Of(h)), ops.Size(3), ops.Stride(2), ops.Padding(1))
		for i := range 8 {
			wide, stride := c, 1
			if i > 0 && i%2 == 0 {
				wide.Size, stride = 2*c.Size, 2
			}
			h = builders.NewResNetBlock(g, fmt.Sprint("block", i), graph.F32, c, wide, stride).Of(h)
			c = wide
		}
		y := nn.NewLinear(g, "head", graph.F32, c, graph.Ax("k", 1000)).Of(nn.GlobalAverage(h))
		store, feed := tape.NewStore(g), random(x, 1)
		q, err := quantise.Int8(context.Background(), store, []tape.Feed{feed}, quantise.Options{}, y)
		if err != nil {
			b.Fatal(err)
		}
		run := func(name string, store *tape.Store, feed tape.Feed, y *graph.Node) {
			prog, err := tape.Compile(y.Graph(), tape.Fetch(y))
			if err != nil {
				b.Fatal(err)
			}
			vm, err := prog.NewVM(store, tape.Workers(1))
			if err != nil {
				b.Fatal(err)
			}
			defer vm.Close()
			b.Run(fmt.Sprintf("%d/%s", images, name), func(b *testing.B) {
				for b.Loop() {
					if err := vm.Run(context.Background(), feed); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("float32", store, feed, y)
		run("int8", q.Store, q.Feed(feed), q.Outputs[0])
		b.Logf("error %.2g%%", 100*q.Errors[0])
	}
}
