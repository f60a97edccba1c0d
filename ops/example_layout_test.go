package ops_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Untouched axes keep their names; -1 stands for the size that is left.
func ExampleReshape() {
	g := graph.New("reshape")
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("h", 4), graph.Ax("w", 6))
	fmt.Println(ops.Reshape(x, 2, -1).Shape(), ops.Reshape(x, 2, 4, 3, 2).Shape())
	// Output: [b=2 24] [b=2 h=4 3 2]
}

func ExampleReshapeTo() {
	g := graph.New("reshape")
	x := g.Input("x", graph.F32, graph.Ax("f", 12))
	to, err := graph.NewShape(graph.Ax("i", 3), graph.Ax("d", 4))
	fmt.Println(ops.ReshapeTo(x, to).Shape(), err)
	// Output: [i=3 d=4] <nil>
}

// The features of several heads, and back.
func ExampleSplit() {
	g := graph.New("heads")
	x := g.Input("x", graph.F32, graph.Ax("t", 10), graph.Ax("f", 32))
	heads := ops.Split(x, "f", graph.Ax("head", 4), graph.Ax("e", 8))
	fmt.Println(heads.Shape(), ops.Merge(heads, "f", "head", "e").Shape())
	// Output: [t=10 head=4 e=8] [t=10 f=32]
}

func ExampleTranspose() {
	g := graph.New("transpose")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("d", 3))
	show(ops.Transpose(x), ops.Transpose(x, "d", "i"))
	// Output:
	// [d=3 i=2] [1 4 2 5 3 6]
	// [d=3 i=2] [1 4 2 5 3 6]
}

func ExampleExpand() {
	g := graph.New("expand")
	x := g.Input("x", graph.F32, graph.Ax("b", 2), graph.Ax("d", 3))
	y := ops.Expand(x, 1, "t")
	fmt.Println(y.Shape(), ops.Expand(x, -1, "").Shape(), ops.Squeeze(y, "t").Shape())
	// Output: [b=2 t=1 d=3] [b=2 d=3 1] [b=2 d=3]
}

func ExampleSqueeze() {
	g := graph.New("squeeze")
	x := g.Input("x", graph.F32, graph.Ax("b", 1), graph.Ax("d", 3), graph.Ax("e", 1))
	fmt.Println(ops.Squeeze(x).Shape(), ops.Squeeze(x, "b").Shape())
	// Output: [d=3] [d=3 e=1]
}

// Two axes of one name do not go into one array: rename one of them.
func ExampleRename() {
	g := graph.New("gram")
	x := g.Input("x", graph.F32, graph.Ax("i", 5), graph.Ax("d", 3))
	y := ops.Rename(x, "i", "j")
	fmt.Println(ops.MatMul(x, ops.Transpose(y)).Shape())
	// Output: [i=5 j=5]
}

func ExampleBroadcastTo() {
	g := graph.New("repeat")
	b := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("d", 3))
	to, err := graph.NewShape(graph.Ax("i", 2), graph.Ax("d", 3))
	fmt.Println(err)
	show(ops.BroadcastTo(b, to))
	// Output:
	// <nil>
	// [i=2 d=3] [1 2 3 1 2 3]
}

// An outer product: x_i·y_j for every i and j.
func ExampleOver() {
	g := graph.New("outer")
	x := g.Constant(graph.F32, []float64{1, 2}, graph.Ax("i", 2))
	y := g.Constant(graph.F32, []float64{10, 20, 30}, graph.Ax("j", 3))
	show(ops.Mul(ops.Over(x, "i", "j"), ops.Over(y, "i", "j")))
	// Output: [i=2 j=3] [10 20 30 20 40 60]
}

// Negative bounds count from the end, and 0 is the end.
func ExampleSlice() {
	g := graph.New("slice")
	x := g.Constant(graph.F32, []float64{0, 1, 2, 3, 4}, graph.Ax("t", 5))
	show(ops.Slice(x, "t", 1, 3), ops.Slice(x, 0, -2, 0), ops.SliceStep(x, "t", 0, 0, 2), ops.Reverse(x, "t"))
	// Output:
	// [t=2] [1 2]
	// [t=2] [3 4]
	// [t=3] [0 2 4]
	// [t=5] [4 3 2 1 0]
}

// Joined along an axis that is there, and along a new one.
func ExampleConcat() {
	g := graph.New("concat")
	a := g.Constant(graph.F32, []float64{1, 2}, graph.Ax("d", 2))
	b := g.Constant(graph.F32, []float64{3, 4}, graph.Ax("d", 2))
	show(ops.Concat("d", a, b), ops.Stack(0, "k", a, b))
	// Output:
	// [d=4] [1 2 3 4]
	// [k=2 d=2] [1 2 3 4]
}

func ExampleStack() {
	g := graph.New("stack")
	a := g.Input("a", graph.F32, graph.Ax("b", 2), graph.Ax("d", 3))
	b := g.Input("b", graph.F32, graph.Ax("b", 2), graph.Ax("d", 3))
	fmt.Println(ops.Stack(0, "k", a, b).Shape(), ops.Stack(-1, "k", a, b).Shape())
	// Output: [k=2 b=2 d=3] [b=2 d=3 k=2]
}

func ExamplePad() {
	g := graph.New("pad")
	x := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("t", 3))
	show(ops.Pad(x, "t", 1, 2, 9), ops.ReflectPad(x, "t", 2, 1))
	// Output:
	// [t=6] [9 1 2 3 9 9]
	// [t=6] [3 2 1 2 3 2]
}

// Rows of a table by their indices: an embedding.
func ExampleGather() {
	g := graph.New("gather")
	table := g.Constant(graph.F32, []float64{0, 0, 1, 10, 2, 20}, graph.Ax("v", 3), graph.Ax("m", 2))
	tokens := g.Constant(graph.I64, []float64{2, 0, 2}, graph.Ax("t", 3))
	show(ops.Gather(table, tokens, "v"))
	// Output: [t=3 m=2] [2 20 0 0 2 20]
}

// The sum of the values of each group.
func ExampleScatterAdd() {
	g := graph.New("scatter")
	group := g.Constant(graph.I64, []float64{0, 1, 0}, graph.Ax("i", 3))
	x := g.Constant(graph.F32, []float64{1, 10, 2}, graph.Ax("i", 3))
	show(ops.ScatterAdd(group, x, "c", graph.Ax("c", 3)))
	// Output: [c=3] [3 10 0]
}

func ExampleOneHot() {
	g := graph.New("onehot")
	label := g.Constant(graph.I64, []float64{2, 0}, graph.Ax("b", 2))
	show(ops.OneHot(label, -1, graph.Ax("class", 3), graph.F32))
	// Output: [b=2 class=3] [0 0 1 1 0 0]
}

// A convolution of one channel with windows of three: here the difference of both neighbours.
func ExampleConv1D() {
	g := graph.New("conv")
	x := g.Constant(graph.F32, []float64{0, 1, 4, 9, 16}, graph.Ax("t", 5), graph.Ax("c", 1))
	w := g.Constant(graph.F32, []float64{-1, 0, 1}, graph.Ax("k", 3), graph.Ax("c", 1), graph.Ax("o", 1))
	show(ops.Conv1D(x, w), ops.Conv1D(x, w, ops.Padding(1), ops.Stride(2)))
	// Output:
	// [t=3 o=1] [4 8 12]
	// [t=3 o=1] [1 8 -9]
}

// A stride halves an image; the transposed convolution brings the size back.
func ExampleConv2D() {
	g := graph.New("conv")
	x := g.Input("x", graph.F32, graph.Ax("n", 8), graph.Ax("h", 32), graph.Ax("w", 32), graph.Ax("c", 3))
	w := g.Param("w", graph.F32, graph.Ax("kh", 2), graph.Ax("kw", 2), graph.Ax("c", 3), graph.Ax("o", 16))
	y := ops.Conv2D(x, w, ops.Stride(2))
	v := ops.Transpose(w, "kh", "kw", "o", "c")
	fmt.Println(y.Shape(), ops.ConvTranspose2D(y, v, ops.Stride(2)).Shape())
	// Output: [n=8 h=16 w=16 o=16] [n=8 h=32 w=32 c=3]
}

func ExampleMaxPool2D() {
	g := graph.New("pool")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6, 7, 8}, graph.Ax("h", 2), graph.Ax("w", 4), graph.Ax("c", 1))
	show(ops.MaxPool2D(x, ops.Size(2)), ops.AvgPool2D(x, ops.Size(2)))
	// Output:
	// [h=1 w=2 c=1] [6 8]
	// [h=1 w=2 c=1] [3.5 5.5]
}

// A leaky sum over time: h_t = h_{t−1}/2 + x_t.
func ExampleScan() {
	g := graph.New("scan")
	x := g.Constant(graph.F32, []float64{1, 1, 1, 1}, graph.Ax("t", 4))
	h0 := ops.Lit(x, 0)
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{h0}, Over: []*graph.Node{x}, Axis: "t"},
		func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			h := ops.Add(ops.Scale(c[0], 0.5), x[0]).As("h")
			return []*graph.Node{h}, nil
		})
	show(r.Trace[0], r.Final[0])
	// Output:
	// [t=4] [1 1.5 1.75 1.88]
	// [] 1.88
}

// The score of each example's label.
func ExampleTakeAlong() {
	g := graph.New("scores")
	scores := g.Constant(graph.F32, []float64{.1, .7, .2, .5, .3, .2}, graph.Ax("i", 2), graph.Ax("k", 3))
	label := g.Constant(graph.I64, []float64{1, 0}, graph.Ax("i", 2), graph.Ax("", 1))
	show(ops.TakeAlong(scores, label, "k"))
	// Output: [i=2 1] [0.7 0.5]
}

// How often each of three classes was chosen, row by row.
func ExampleAddAlong() {
	g := graph.New("votes")
	chosen := g.Constant(graph.I64, []float64{0, 2, 2, 1, 1, 1}, graph.Ax("i", 2), graph.Ax("vote", 3))
	show(ops.AddAlong(chosen, ops.Ones(g, graph.F32, graph.Ax("i", 2), graph.Ax("vote", 3)), "vote", graph.Ax("class", 3)))
	// Output: [i=2 class=3] [1 0 2 0 3 0]
}

func ExampleAt() {
	g := graph.New("parts")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("k", 3))
	show(ops.At(x, "k", -1), ops.Unstack(x, "i")[0])
	// Output:
	// [i=2] [3 6]
	// [k=3] [1 2 3]
}

func ExampleFull() {
	g := graph.New("full")
	show(ops.Full(g, graph.F32, .5, graph.Ax("i", 2)), ops.Zeros(g, graph.I64, graph.Ax("k", 3)))
	// Output:
	// [i=2] [0.5 0.5]
	// [k=3] [0 0 0]
}

// The two best of four scores, and the words in the order of their scores.
func ExampleTopK() {
	g := graph.New("best")
	scores := g.Constant(graph.F32, []float64{.1, .7, .2, .5}, graph.Ax("word", 4))
	values, indices := ops.TopK(scores, 2, "word")
	show(values, indices, ops.ArgSort(scores, "word", ops.Descending))
	// Output:
	// [word=2] [0.7 0.5]
	// [word=2] [1 3]
	// [word=4] [1 3 2 0]
}

// The bins of four numbers, between the limits 0, 1 and 2.
func ExampleSearchSorted() {
	g := graph.New("bins")
	limits := g.Constant(graph.F32, []float64{0, 1, 2}, graph.Ax("k", 3))
	x := g.Constant(graph.F32, []float64{.5, 1, -1, 9}, graph.Ax("i", 4))
	show(ops.SearchSorted(limits, x, "k"), ops.SearchSorted(limits, x, "k", ops.Right))
	// Output:
	// [i=4] [1 1 0 3]
	// [i=4] [1 2 0 3]
}

// Two elements from a place that is computed, and a crop of each row from a place of its own.
func ExampleDynamicSlice() {
	g := graph.New("window")
	x := g.Constant(graph.F32, []float64{1, 2, 3, 4, 5, 6}, graph.Ax("i", 2), graph.Ax("t", 3))
	now := g.Constant(graph.I32, []float64{1})
	places := g.Constant(graph.I32, []float64{1, 0}, graph.Ax("i", 2))
	show(ops.DynamicSlice(x, now, 2, "t"), ops.DynamicSlice(x, places, 2, "t"))
	// Output:
	// [i=2 t=2] [2 3 5 6]
	// [i=2 t=2] [2 3 4 5]
}

func ExampleDynamicUpdate() {
	g := graph.New("window")
	x := ops.Zeros(g, graph.F32, graph.Ax("t", 5))
	now := g.Constant(graph.I32, []float64{3})
	show(ops.DynamicUpdate(x, now, ops.Ones(g, graph.F32, graph.Ax("t", 2)), "t"))
	// Output: [t=5] [0 0 0 1 1]
}

func ExampleSort() {
	g := graph.New("order")
	x := g.Constant(graph.F32, []float64{3, 1, 2}, graph.Ax("i", 3))
	show(ops.Sort(x, "i"), ops.Sort(x, "i", ops.Descending), ops.ArgSort(x, "i"))
	// Output:
	// [i=3] [1 2 3]
	// [i=3] [3 2 1]
	// [i=3] [1 2 0]
}

func ExampleArange() {
	g := graph.New("numbers")
	show(ops.Arange(g, graph.I64, graph.Ax("i", 4)), ops.Linspace(g, graph.F32, 0, 1, graph.Ax("t", 5)))
	show(ops.Eye(g, graph.F32, graph.Ax("i", 2), graph.Ax("j", 2)))
	// Output:
	// [i=4] [0 1 2 3]
	// [t=5] [0 0.25 0.5 0.75 1]
	// [i=2 j=2] [1 0 0 1]
}
