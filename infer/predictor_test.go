package infer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// affine returns y[n] = Σ_d 2x[n d] + k[n], with integers k and the scale s, 1 unless fed.
func affine(rows int) infer.Forward {
	g := graph.New("affine")
	n, d := graph.Ax("n", rows), graph.Ax("d", 2)
	x, k := g.Input("x", graph.F32, n, d), g.Input("k", graph.I32, n)
	w := g.Param("w", graph.F32, d).Init(initial.Fill(2))
	y := ops.Sum(ops.Mul(ops.Mul(x, g.Scalar("s", 1)), w), "d")
	return infer.Forward{Rows: rows, Output: ops.Add(y, ops.Cast(k, graph.F32)).As("y")}
}

func array[T any](sizes []int, values ...T) *tensor.Dense {
	return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(values))
}

func set(t *testing.T, columns map[string]*tensor.Dense) *data.Set {
	t.Helper()
	s, err := data.NewSet(columns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rows returns n rows, for row i of which 4i + 6 + 10i is predicted.
func rows[X, K float64 | float32 | int32 | int64](t *testing.T, n int) *data.Set {
	t.Helper()
	x, k := make([]X, 2*n), make([]K, n)
	for i := range n {
		x[2*i], x[2*i+1], k[i] = X(i+1), X(i+2), K(10*i)
	}
	return set(t, map[string]*tensor.Dense{"x": array([]int{n, 2}, x...), "k": array([]int{n}, k...)})
}

// TestPredictIndexOutside: the error for a number that is no index has its place in the data,
// whichever net its row is fed to.
func TestPredictIndexOutside(t *testing.T) {
	lookup := func(rows int) infer.Forward {
		g := graph.New("lookup")
		w := g.Input("w", graph.I64, graph.Ax("n", rows), graph.Ax("t", 2))
		table := g.Param("table", graph.F32, graph.Ax("v", 7))
		return infer.Forward{Rows: rows, Output: ops.Sum(ops.Gather(table, ops.Rename(w, 0, "i"), 0), 1).As("y")}
	}
	p, err := infer.NewPredictor(t.Context(), tape.NewStore(lookup(1).Output.Graph()), 1, lookup(4), lookup(1))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, bad := range []int{0, 2, 3, 4, 5} { // rows of the net of 4, then of the net of 1
		w := make([]int64, 12)
		w[2*bad+1] = 9_000_000_000
		_, err := p.Predict(context.Background(), set(t, map[string]*tensor.Dense{"w": array([]int{6, 2}, w...)}))
		want := fmt.Sprintf(`predict: 9000000000 in column "w", row %d: `, bad)
		if outside := new(trait.IndexError); err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &outside) || outside.Value != 9_000_000_000 {
			t.Errorf("row %d: %v, want %s…", bad, err, want)
		}
	}
}

// TestPredict: any number of rows of any types is predicted, by all nets and by one alone.
func TestPredict(t *testing.T) {
	store := tape.NewStore(affine(1).Output.Graph())
	for _, nets := range [][]infer.Forward{{affine(4), affine(1)}, {affine(1), affine(4)}, {affine(1)}, {affine(5), affine(2), affine(1)}} {
		p, err := infer.NewPredictor(t.Context(), store, 1, nets...)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if got := fmt.Sprint(p.Inputs(), p.Output()); got != "[x f32[d=2] k i32[]] y f32[]" {
			t.Errorf("inputs and output are %s", got)
		}
		for n := 1; n < 12; n++ {
			for _, s := range []*data.Set{rows[float32, int32](t, n), rows[float64, int64](t, n), rows[int32, float64](t, n), rows[int64, float32](t, n)} {
				y, err := p.Predict(context.Background(), s)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal([]int(y.Shape()), []int{n}) {
					t.Fatalf("%d rows give %v", n, y.Shape())
				}
				for i, v := range y.Float32s() {
					if want := float32(4*i + 6 + 10*i); v != want {
						t.Errorf("row %d of %v is %v, want %v", i, s, v, want)
					}
				}
			}
		}
	}
}

// TestPredictWithoutSingleRow: where no net is for one row, and the larger net's rows are no
// multiple of the smaller one's, every multiple of the smaller is predicted, and other numbers are
// errors.
func TestPredictWithoutSingleRow(t *testing.T) {
	p, err := infer.NewPredictor(t.Context(), tape.NewStore(affine(1).Output.Graph()), 1, affine(5), affine(3))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for n := 1; n < 31; n++ {
		y, err := p.Predict(context.Background(), rows[float32, int32](t, n))
		if n%3 != 0 {
			if want := fmt.Sprintf("predict: %d rows: want a multiple of 3, as no net of the model takes fewer", n); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y.Float32s() {
			if want := float32(4*i + 6 + 10*i); v != want {
				t.Errorf("row %d of %d is %v, want %v", i, n, v, want)
			}
		}
	}
}

func TestPredictMistakes(t *testing.T) {
	store := tape.NewStore(affine(1).Output.Graph())
	p, err := infer.NewPredictor(t.Context(), store, 1, affine(4))
	if err != nil {
		t.Fatal(err)
	}
	x, k := array([]int{4, 2}, make([]float32, 8)...), array([]int{4}, 1, 2, 2.5, 4.)
	for want, columns := range map[string]map[string]*tensor.Dense{
		"predict: the data have no column k of i32[] a row; they have x[4 2] float32": {"x": x},
		"predict: x: want f32[d=2] a row, got [3]":                                    {"x": array([]int{4, 3}, make([]float32, 12)...), "k": k},
		"predict: x: want elements of type f32, got bool":                             {"x": array([]int{4, 2}, make([]bool, 8)...), "k": k},
		"predict: 3 rows: want a multiple of 4, as no net of the model takes fewer":   {"x": array([]int{3, 2}, make([]float32, 6)...), "k": array([]int{3}, make([]int32, 3)...)},
		"predict: k: row 2: 2.5 does not fit into i32":                                {"x": x, "k": k},
		"predict: k: row 1: 3e+09 does not fit into i32":                              {"x": x, "k": array([]int{4}, int64(0), 3e9, 0, 0)},
	} {
		if _, err := p.Predict(context.Background(), set(t, columns)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	p.Close()
	if _, err := p.Predict(context.Background(), rows[float32, int32](t, 4)); fmt.Sprint(err) != "predict: the VM is closed" {
		t.Errorf("after Close: %v", err)
	}
	if _, err := p.Predict(context.Background(), nil); err == nil || err.Error() != "predict: there are no data" {
		t.Errorf("of no set: %v", err)
	}
	g := graph.New("g")
	n, square := g.Input("x", graph.F32, graph.Ax("n", 3), graph.Ax("d", 2)), g.Input("A", graph.F32, graph.Ax("d", 2), graph.Ax("j", 3))
	alone := g.Param("w", graph.F32, graph.Ax("n", 3))
	for want, nets := range map[string][]infer.Forward{
		"predictor: want at least one net":                                                                                               nil,
		"predictor: the net has no output":                                                                                               {{Rows: 3}},
		"predictor: the output x[n=3 d=2]: want 2 as its first axis, that of the rows":                                                   {{Rows: 2, Output: n}},
		"predictor: the input A[d=2 j=3]: want 3 as its first axis, that of the rows":                                                    {{Rows: 3, Output: ops.MatMul(n, square)}},
		"predictor: the output w[n=3] depends on no input":                                                                               {{Rows: 3, Output: alone}},
		"predictor: there is no value for v":                                                                                             {{Rows: 3, Output: ops.Mul(n, g.Param("v", graph.F32))}},
		"predictor: the model has w of type f32[n=3], the stored values are f32[d=2]":                                                    {{Rows: 3, Output: ops.Mul(n, ops.Expand(alone, -1, ""))}},
		"predictor: the net for 4 rows takes [x f32[d=2] k i32[]] and gives y f32[], that for 3 takes [x f32[d=2]] and gives x f32[d=2]": {{Rows: 3, Output: n}, affine(4)},
	} {
		if _, err := infer.NewPredictor(t.Context(), store, 1, nets...); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestTexts: a text form is read as an equal net or model, and the error for a wrong one says where
// it is wrong.
func TestTexts(t *testing.T) {
	n := affine(3)
	again, err := infer.ParseForward(n.Text())
	if err != nil || again.Text() != n.Text() || again.Rows != 3 || again.Output.Name() != "y" {
		t.Errorf("%v\n%s\nwant\n%s", err, again.Text(), n.Text())
	}
	if !strings.HasPrefix(n.Text(), "predict rows 3 output %") {
		t.Error(n.Text())
	}
	m := modelOf(gpt(4, graph.F32))
	text, err := m.Text()
	if err != nil || !strings.HasPrefix(text, "speak token %") || !strings.Contains(text, " window 4\ngraph ") {
		t.Fatalf("%v\n%s", err, text)
	}
	read, err := infer.ParseModel(text)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := read.Text(); back != text || err != nil {
		t.Errorf("%v\n%s\nwant\n%s", err, back, text)
	}
	_, graphText, _ := strings.Cut(n.Text(), "\n")
	for text, want := range map[string]string{
		"":                                         `model: line 1: got "", want "predict rows 0 output %0"`,
		"predict rows x output %1\n":               `model: line 1: got "predict rows x output %1", want "predict rows 0 output %0"`,
		"predict rows 1 output %1 more\n":          `model: line 1: got "predict rows 1 output %1 more", want "predict rows 0 output %0"`,
		"predict rows 0 output %1\n" + graphText:   "model: line 1: for 0 rows: want at least 1",
		"predict rows 3 output %99\n" + graphText:  "model: line 1: no node %99: the graph has 11",
		"predict rows 3 output %-1\n" + graphText:  "model: line 1: no node %-1: the graph has 11",
		"predict rows 3 output %0\ngraph \"g\"\n?": `model: after line 1: line 2: `,
	} {
		if _, err := infer.ParseForward(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got  %v\nwant %s", text, err, want)
		}
	}
	_, graphText, _ = strings.Cut(text, "\n")
	for first, want := range map[string]string{
		"speak token %0 fresh %1 logits %2 window 4":   "generator: Token is the param ",
		"speak token %0 fresh %1 logits %2 window":     `model: line 1: got "speak token %0 fresh %1 logits %2 window", want "speak token %0 fresh %0 logits %0 window 0"`,
		"speak token %0 fresh %1 logits %999 window 4": "model: line 1: no node %999: ",
	} {
		if _, err := infer.ParseModel(first + "\n" + graphText); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got  %v\nwant %s", first, err, want)
		}
	}
	g := m.Token.Graph()
	g.Assign(g.State("other", graph.F32), g.Lookup("fresh"))
	if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), "updates") {
		t.Errorf("a model among other updates has a text: %v", err)
	}
}

func FuzzParseNet(f *testing.F) {
	f.Add(affine(2).Text())
	f.Add("predict rows 1 output %0\ngraph \"g\"\n%0 = input{path=\"x\" type=f32[n=1]} : f32[n=1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := infer.ParseForward(text)
		if err != nil {
			return
		}
		if again, err := infer.ParseForward(n.Text()); err != nil || again.Text() != n.Text() {
			t.Errorf("%v: read again it is\n%s\nnot\n%s", err, again.Text(), n.Text())
		}
		n.Columns()
	})
}

// TestCompileIsStopped: making a predictor or a generator ends with the error of its context, while
// it compiles.
func TestCompileIsStopped(t *testing.T) {
	ctx := tapetest.Uncompiled(t.Context())
	net := affine(2)
	store := tape.NewStore(net.Output.Graph())
	if _, err := infer.NewPredictor(ctx, store, 1, net); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := infer.LoadPredictor(ctx, &checkpoint.State{Store: store, Meta: infer.ForwardMeta(net)}, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := infer.NewGenerator(ctx, modelOf(gpt(4, graph.F32)), tape.NewStore(nil), infer.Sampling{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
