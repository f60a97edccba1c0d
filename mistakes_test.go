package tapestry_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

var update = flag.Bool("update", false, "write testdata/mistakes.golden anew")

// mistakes are programs that are easily written and wrong.
var mistakes = []struct {
	name string
	run  func() error
}{
	{"the zero optimiser", func() error {
		set, err := data.Iris().Set("x", "y", tensor.Float32)
		if err != nil {
			return err
		}
		trainer := &train.Trainer{Build: func(rows int, mode train.Mode) *train.Net {
			g := graph.New("iris")
			y := ops.MatMul(matrix(g, "x", rows, 4), g.Param("w", graph.F32, graph.Ax("d", 4), graph.Ax("k", 3)))
			return &train.Net{Loss: ops.Mean(ops.Square(y)), Output: y}
		}}
		defer trainer.Close()
		return trainer.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 50), Epochs: 1})
	}},
	{"2 numbers of 3", func() error {
		g := graph.New("sum")
		a := g.Input("a", graph.F32, graph.Ax("n", 3))
		return run(ops.Sum(a), tape.Feed{a: tape.Tensor(graph.Value{Type: a.Type(), Data: []float64{1, 2}})})
	}},
	{"2 numbers of 2×3", func() error {
		g := graph.New("sum")
		a := matrix(g, "a", 2, 3)
		return run(ops.Sum(a), tape.Feed{a: tape.Tensor(graph.Value{Type: a.Type(), Data: []float64{1, 2}})})
	}},
	{"no numbers of 3", func() error {
		g := graph.New("sum")
		a := g.Input("a", graph.F32, graph.Ax("n", 3))
		return run(ops.Sum(a), tape.Feed{a: tape.Tensor(graph.Value{Type: a.Type()})})
	}},
	{"two axes of one name", func() error {
		g := graph.New("recurrent")
		g.Param("w", graph.F32, graph.Ax("h", 4), graph.Ax("h", 4))
		return g.Err()
	}},
	{"the input of another graph", func() error {
		x, other := matrix(graph.New("one"), "a", 1, 1), matrix(graph.New("other"), "a", 1, 1)
		one := tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1}})
		return run(ops.Sum(x), tape.Feed{x: one, other: one})
	}},
	{"a layer of one example", func() error {
		g := graph.New("each")
		layer := nn.NewLinear(g, "layer0", graph.F32, graph.Ax("d", 3), graph.Ax("h", 2))
		vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{layer.Of(x[0])} }, matrix(g, "a", 4, 5))
		return g.Err()
	}},
	{"a budget for a loop", func() error {
		g := graph.New("loop")
		c := g.Input("c", graph.F32, graph.Ax("d", 1024))
		x := matrix(g, "x", 100, 1024)
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{c}, Over: []*graph.Node{x}, Axis: "n"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			h := ops.Tanh(ops.Add(c[0], x[0]))
			return []*graph.Node{h}, []*graph.Node{h}
		})
		_, err := tape.Compile(g, tape.Fetch(ops.Sum(ops.Square(r.Trace[0]))), tape.Budget(1<<10))
		return err
	}},
	{"a recurrence without rows", func() error {
		g := graph.New("recurrence")
		cell := rnn.NewRNN(g, "rnn", graph.F32, graph.Ax("d", 3), graph.Ax("h", 2))
		rnn.Recur{Cell: cell}.Of(matrix(g, "x", 5, 3))
		return g.Err()
	}},
	{"a tensor of int", func() error {
		x := matrix(graph.New("sum"), "x", 1, 2)
		return run(ops.Sum(x), tape.Feed{x: tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]int{1, 2}))})
	}},
	{"a matrix by a vector", func() error {
		g := graph.New("vectors")
		ops.MatMul(matrix(g, "w", 2, 4), g.Input("x", graph.F32, graph.Ax("d", 3)))
		return g.Err()
	}},
	{"one axis with two new names", func() error {
		_, err := notation.Parse("k.tapestry", strings.NewReader("input x[i=3]\ny[j,k] = x[i→j,i→k]"))
		return err
	}},
	{"Squeeze of an axis of size 3", func() error {
		g := graph.New("squeeze")
		ops.Squeeze(matrix(g, "x", 1, 3), "d")
		return g.Err()
	}},
	{"Greater of two sizes", func() error {
		g := graph.New("greater")
		ops.Greater(matrix(g, "a", 2, 3), matrix(g, "b", 4, 3))
		return g.Err()
	}},
	{"Clip of two sizes", func() error {
		g := graph.New("clip")
		ops.Clip(matrix(g, "x", 2, 3), matrix(g, "lo", 2, 3), matrix(g, "hi", 4, 3))
		return g.Err()
	}},
	{"a column and a list of the same axis", func() error {
		g := graph.New("column")
		ops.Sub(g.Input("ŷ", graph.F32, graph.Ax("n", 3), graph.Ax("", 1)), g.Input("y", graph.F32, graph.Ax("n", 3)))
		return g.Err()
	}},
	{"two axes of one name, drawn", func() error {
		g := graph.New("noise")
		ops.RandomNormal(g, "ε", graph.F32, graph.Ax("h", 4), graph.Ax("h", 4))
		return g.Err()
	}},
	{"an unknown path", func() error {
		g := graph.New("store")
		g.Param("fc/w", graph.F32, graph.Ax("d", 1))
		return tape.NewStore(g).Set("fc/v", tape.Scalar(graph.F32, 1))
	}},
	{"cross-entropy of probabilities, of two", func() error {
		g := graph.New("binary")
		z, y := g.Input("z", graph.F32, graph.Ax("n", 4)), g.Input("y", graph.F32, graph.Ax("n", 4))
		nn.BinaryCrossEntropy(ops.Sigmoid(z), y, g.Scalar("p", 1))
		return g.Err()
	}},
	{"cross-entropy of probabilities", func() error {
		g := graph.New("classes")
		nn.CrossEntropy(ops.Softmax(matrix(g, "z", 4, 3), "d"), g.Input("y", graph.I32, graph.Ax("n", 4)))
		return g.Err()
	}},
	{"label 7 of 3", func() error {
		g := graph.New("classes")
		z, y := matrix(g, "z", 1, 3), g.Input("y", graph.I32, graph.Ax("n", 1))
		return run(nn.CrossEntropy(z, y), tape.Feed{z: numbers(z, 1, 2, 3), y: numbers(y, 7)})
	}},
	{"weights of 2 classes of 3", func() error {
		g := graph.New("classes")
		z, y := matrix(g, "z", 1, 3), g.Input("y", graph.I32, graph.Ax("n", 1))
		nn.CrossEntropy(z, y, nn.Weighted(g.Param("w", graph.F32, graph.Ax("d", 2))))
		return g.Err()
	}},
	{"word 9 of 4", func() error {
		g := graph.New("words")
		word := g.Input("word", graph.I32, graph.Ax("k", 1))
		y := nn.NewEmbedding(g, "words", graph.F32, graph.Ax("w", 4), graph.Ax("m", 1)).Of(word)
		return run(ops.Sum(y), tape.Feed{word: numbers(word, 9)})
	}},
	{"row 9 of 4", func() error {
		g := graph.New("rows")
		table, i := matrix(g, "table", 4, 1), g.Input("i", graph.I32, graph.Ax("k", 1))
		return run(ops.Sum(ops.Gather(table, i, "n")), tape.Feed{table: numbers(table, 1, 2, 3, 4), i: numbers(i, 9)})
	}},
	{"label 7 of 3, with labels ignored", func() error {
		g := graph.New("classes")
		z, y := matrix(g, "z", 1, 3), g.Input("y", graph.I32, graph.Ax("n", 1))
		return run(nn.CrossEntropy(z, y, nn.Ignoring(-1)), tape.Feed{z: numbers(z, 1, 2, 3), y: numbers(y, 7)})
	}},
	{"row 9 of 4, chosen by a mask", func() error {
		g := graph.New("rows")
		table, i, mask := matrix(g, "table", 4, 1), g.Input("i", graph.I32, graph.Ax("k", 1)), g.Input("mask", graph.Bool, graph.Ax("k", 1))
		y := ops.Gather(table, ops.Select(mask, i, ops.Lit(i, 0)), "n")
		return run(ops.Sum(y), tape.Feed{table: numbers(table, 1, 2, 3, 4), i: numbers(i, 9), mask: numbers(mask, 1)})
	}},
	{"row 9 of 4, which a mask puts in place of another", func() error {
		g := graph.New("rows")
		table, i, mask := matrix(g, "table", 4, 1), g.Input("i", graph.I32, graph.Ax("k", 1)), g.Input("mask", graph.Bool, graph.Ax("k", 1))
		y := ops.Gather(table, ops.Select(mask, i, ops.Lit(i, 9)).As("chosen"), "n")
		return run(ops.Sum(y), tape.Feed{table: numbers(table, 1, 2, 3, 4), i: numbers(i, 2), mask: numbers(mask, 0)})
	}},
	{"row 9 of 2 of each example", func() error {
		g := graph.New("rows")
		table, i := matrix(g, "table", 2, 2), g.Input("i", graph.I32, graph.Ax("n", 2), graph.Ax("k", 1))
		each := vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Gather(x[0], x[1], "d")} }, table, i)[0]
		return run(each, tape.Feed{table: numbers(table, 1, 2, 3, 4), i: numbers(i, 0, 9)})
	}},
	{"place 9 of 2 of each example", func() error {
		g := graph.New("places")
		x, i := matrix(g, "x", 2, 1), g.Input("i", graph.I32, graph.Ax("n", 2), graph.Ax("k", 1))
		each := vmap.Each(func(x []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.ScatterAdd(x[1], x[0], 0, graph.Ax("place", 2))}
		}, x, i)[0]
		return run(each, tape.Feed{x: numbers(x, 1, 2), i: numbers(i, 0, 9)})
	}},
	{"the derivative of row 9 of 4", func() error {
		g := graph.New("rows")
		table, i := matrix(g, "table", 4, 1), g.Input("i", graph.I32, graph.Ax("k", 1))
		return run(grad.Of(ops.Sum(ops.Gather(table, i, "n")), table)[0], tape.Feed{i: numbers(i, 9)})
	}},
	{"the derivative of place 9 of 4", func() error {
		g := graph.New("places")
		x, i := g.Input("x", graph.F32, graph.Ax("k", 1)), g.Input("i", graph.I32, graph.Ax("k", 1))
		weights := g.Input("w", graph.F32, graph.Ax("n", 4))
		y := ops.Sum(ops.Mul(weights, ops.ScatterAdd(i, x, 0, graph.Ax("n", 4))))
		return run(grad.Of(y, x)[0], tape.Feed{i: numbers(i, 9), weights: numbers(weights, 1, 2, 3, 4)})
	}},
	{"row 9 of 3 of a file", func() error {
		f, err := notation.Parse("k.tapestry", strings.NewReader("index a[i=1] ~ integers(3)\ninput x[j=3]\nz = 2\ny = mean(exp(take(x, a, j)))"))
		if err != nil {
			return err
		}
		m, err := f.Build(nil, graph.F32)
		if err != nil {
			return err
		}
		x, a := m.Graph.Lookup("x"), m.Graph.Lookup("a")
		return run(m.Output, tape.Feed{x: numbers(x, 1, 2, 3), a: numbers(a, 9)})
	}},
	{"half of a whole number", func() error {
		g := graph.New("halves")
		ops.Scale(g.Input("x", graph.I32, graph.Ax("n", 3)), .5)
		return g.Err()
	}},
}

// lines are places in this file.
var lines = regexp.MustCompile(`(mistakes_test\.go):[0-9]+`)

// matrix returns an input [n d].
func matrix(g *graph.Graph, name string, n, d int) *graph.Node {
	return g.Input(name, graph.F32, graph.Ax("n", n), graph.Ax("d", d))
}

// numbers is a tensor for an input.
func numbers(x *graph.Node, v ...float64) *tensor.Dense {
	return tape.Tensor(graph.Value{Type: x.Type(), Data: v})
}

// run computes y once.
func run(y *graph.Node, feed tape.Feed) error {
	p, err := tape.Compile(y.Graph(), tape.Fetch(y))
	if err != nil {
		return err
	}
	vm, err := p.NewVM(tape.NewStore(y.Graph()))
	if err != nil {
		return err
	}
	defer vm.Close()
	return vm.Run(context.Background(), feed)
}

// TestMistakes holds the whole text of the errors of easily made mistakes; lines of this file are
// left out.
func TestMistakes(t *testing.T) {
	const golden = "testdata/mistakes.golden"
	var b strings.Builder
	for _, m := range mistakes {
		err := m.run()
		if err == nil {
			t.Errorf("%s: no error", m.name)
			continue
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", m.name, strings.ReplaceAll(lines.ReplaceAllString(err.Error(), "$1"), "\n", "\n\t"))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
