package ops_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// Where indices are trusted, what ScatterAdd leaves out because its index is outside the axis has
// no derivative, while Gather, which the derivative is made of, gives NaN there.
func TestScatterAddDerivativeOutsideTheAxis(t *testing.T) {
	g := graph.New("scatter")
	index := g.Input("a", graph.I64, graph.Ax("i", 4))
	values := g.Input("v", graph.F64, graph.Ax("i", 4), graph.Ax("d", 2))
	sum := ops.ScatterAdd(index, values, 0, graph.Ax("j", 3), graph.Ax("d", 2))
	loss := ops.Sum(ops.Square(sum))
	dv := grad.Of(loss, values)[0]
	feed := graph.Values{
		index:  {Type: index.Type(), Data: []float64{0, 3, -1, 2}},
		values: {Type: values.Type(), Data: []float64{1, 2, 3, 4, 5, 6, 7, 8}},
	}
	want := []float64{2, 4, 0, 0, 0, 0, 14, 16}
	run, err := reftest.Tape(0, feed, []*graph.Node{dv}, tape.TrustIndices())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(run[0].Data, want) {
		t.Errorf("derivative %v, want %v", run[0].Data, want)
	}
	wrong := "ScatterAdd: a[i=1] is 3: want an index from 0 to 2"
	outside := new(trait.IndexError)
	if _, err := ref.Eval(trait.Env{}, feed, dv); !errors.As(err, &outside) || !strings.HasSuffix(err.Error(), wrong) {
		t.Errorf("by definition: %v, want %s", err, wrong)
	}
	if _, err := reftest.Tape(0, feed, []*graph.Node{dv}); !errors.As(err, &outside) || !strings.Contains(err.Error(), wrong) {
		t.Errorf("on the tape: %v, want %s", err, wrong)
	}
}

// TestIndices: whatever takes whole numbers refuses one that is no place of the axis, by the
// definition and on the tape in the same words, or reads it as a number.
func TestIndices(t *testing.T) {
	numbers := []string{"ArgMax", "ArgMin", "ArgSort", "Cast", "ConvInteger", "CumArg", "FirstEqual", "LinearRecurrence", "MatMulInteger", "SearchSorted"}
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		for _, x := range b.in {
			if !x.DType().IsInt() {
				continue
			}
			if in, ok := b.y.Op().(trait.Indexing); ok {
				if k, _ := in.Places(b.y); b.y.In(k) != x && slices.Contains(b.y.Inputs(), x) {
					continue // whole numbers that are placed or picked
				}
			}
			for _, wrong := range []float64{-1, 1 << 20} {
				feed := maps.Clone(b.feed)
				v := graph.Value{Type: x.Type(), Data: slices.Clone(feed[x].Data)}
				v.Data[len(v.Data)-1] = wrong
				feed[x] = v
				_, exact := ref.Eval(trait.Env{}, feed, b.y)
				_, run := reftest.Tape(0, feed, []*graph.Node{b.y})
				var defined, ran *trait.IndexError
				is := errors.As(exact, &defined)
				if errors.As(run, &ran) != is || is && ran.Error() != defined.Error() {
					t.Errorf("%v of %s: %v on the tape, %v by the definition", wrong, x, run, exact)
				}
				if is == slices.Contains(numbers, op.Name()) || is && ran.Value != int64(wrong) {
					t.Errorf("%v of %s: %v", wrong, x, exact)
				}
			}
		}
	})
}

// TestConstantIndices: an index that is a constant is a mistake where it is written.
func TestConstantIndices(t *testing.T) {
	square, _ := graph.NewShape(graph.Ax("n", 2), graph.Ax("i", 4))
	column, _ := graph.NewShape(graph.Ax("n", 2), graph.Ax("i", 1))
	for name, make := range map[string]func(x, k *graph.Node) *graph.Node{
		"Gather": func(x, k *graph.Node) *graph.Node { return ops.Gather(x, k, 0) },
		"OneHot": func(_, k *graph.Node) *graph.Node { return ops.OneHot(k, 0, graph.Ax("i", 4), graph.F32) },
		"ScatterAdd": func(x, k *graph.Node) *graph.Node {
			return ops.ScatterAdd(k, ops.Slice(x, 0, 0, 2), 0, graph.Ax("i", 4))
		},
		"SetAt": func(x, k *graph.Node) *graph.Node { return ops.SetAt(x, k, ops.Lit(x, 0), 0) },
		"DynamicSlice": func(x, k *graph.Node) *graph.Node {
			return ops.DynamicSlice(ops.BroadcastTo(x, square), k, 1, 1)
		},
		"DynamicUpdate": func(x, k *graph.Node) *graph.Node {
			return ops.DynamicUpdate(ops.BroadcastTo(x, square), k, ops.BroadcastTo(ops.Lit(x, 0), column), 1)
		},
	} {
		g := graph.New("constant")
		x, k := g.Input("x", graph.F32, graph.Ax("i", 4)), g.Constant(graph.I64, []float64{0, 4}, graph.Ax("n", 2)).As("k")
		y := make(x, k)
		want := name + ": k[n=1] is 4: want an index from 0 to 3: "
		if err := g.Err(); y.IsValid() || err == nil || !strings.HasPrefix(err.Error(), "ops/gather_test.go:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		g = graph.New("computed") // by the passes
		x, k = g.Input("x", graph.F32, graph.Ax("i", 4)), g.Constant(graph.I64, []float64{0, 4}, graph.Ax("n", 2))
		y = make(x, ops.Add(k, k))
		_, err := tape.Compile(g, tape.Fetch(y))
		if outside := new(trait.IndexError); !errors.As(err, &outside) || outside.Value != 8 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
