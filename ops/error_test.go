package ops_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// line is the caller's.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// TestMistakesNameWhatWasGiven: operands that are repeated to fit each other stand in
// a mistake as the user knows them.
func TestMistakesNameWhatWasGiven(t *testing.T) {
	g := graph.New("given")
	x := g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("m", 4))
	w := g.Param("w", graph.F32, graph.Ax("m", 4), graph.Ax("h", 5))
	v := g.Param("v", graph.F64, graph.Ax("m", 5), graph.Ax("h", 5))
	ε := g.Scalar("ε", 0.1)
	ops.MatMul(x, w)
	ops.MatMul(x, v)
	ops.Mul(x, ε)
	ops.Select(ε, x, x)
	want := []string{
		`MatMul: element types differ: f64 and f32: x[b=2 t=3 m=4], w[m=4 h=5] (convert one with ops.Cast)`,
		`MatMul: inner axes differ (4 ≠ 5): x[b=2 t=3 m=4], v[m=5 h=5]`,
		`Mul: element types differ: f64 and f32: x[b=2 t=3 m=4], ε[] (convert one with ops.Cast)`,
		`Select: a mask of type f32: want bool: ε[], x[b=2 t=3 m=4], x[b=2 t=3 m=4]`,
	}
	got := strings.Split(fmt.Sprint(g.Err()), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %v", g.Err())
	}
	for i := range want {
		if !strings.HasSuffix(got[i], ": "+want[i]) {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
}

// TestMistakes: the exact text of every mistake, at the user's line.
func TestMistakes(t *testing.T) {
	g := graph.New("mistakes")
	x := g.Input("x", graph.F32, graph.Ax("i", 32), graph.Ax("f", 784))
	w := g.Param("w", graph.F32, graph.Ax("f", 785), graph.Ax("h", 128))
	u := g.Param("u", graph.F32, graph.Ax("e", 784), graph.Ax("h", 128))
	c := g.Input("c", graph.F32, graph.Ax("k", 784))
	d := g.Input("d", graph.F64, graph.Ax("i", 32), graph.Ax("f", 784))
	b := g.Input("b", graph.Bool, graph.Ax("i", 32), graph.Ax("f", 784))
	n := g.Input("n", graph.I64, graph.Ax("m", 4))
	one := g.Scalar("one", 1)
	for _, row := range []struct {
		line int
		make func() node
		want string
	}{
		{line(), func() node { return ops.Add(x, w) }, `Add: axis "i" meets axis "f": x[i=32 f=784], w[f=785 h=128] (lay the operands out with ops.Over, or rename one axis)`},
		{line(), func() node { return ops.Add(x, ops.Rename(ops.Slice(c, 0, 0, 5), 0, "f")) }, `Add: sizes differ: f=784 and f=5 (784 ≠ 5): x[i=32 f=784], %9[f=5]`},
		{line(), func() node { return ops.Mul(x, c) }, `Mul: axis "f" meets axis "k": x[i=32 f=784], c[k=784] (lay the operands out with ops.Over, or rename one axis)`},
		{line(), func() node { return ops.Mul(x, d) }, `Mul: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.Exp(b) }, `Exp: an operand of type bool: want f32, f64, f16 or bf16: b[i=32 f=784] (convert with ops.Cast)`},
		{line(), func() node { return ops.Abs(b) }, `Abs: an operand of type bool: want numbers: b[i=32 f=784] (convert with ops.Cast)`},
		{line(), func() node { return ops.And(x, b) }, `And: an operand of type f32: want bool: x[i=32 f=784], b[i=32 f=784]`},
		{line(), func() node { return ops.Less(x, d) }, `Less: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.Select(x, x, x) }, `Select: a mask of type f32: want bool: x[i=32 f=784], x[i=32 f=784], x[i=32 f=784]`},
		{line(), func() node { return ops.Select(b, x, d) }, `Select: element types differ: f32 and f64: b[i=32 f=784], x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.MatMul(x, w) }, `MatMul: inner axes differ (784 ≠ 785): x[i=32 f=784], w[f=785 h=128]`},
		{line(), func() node { return ops.MatMul(x, u) }, `MatMul: inner axes are called "f" and "e": x[i=32 f=784], u[e=784 h=128] (transpose an operand, or rename one axis)`},
		{line(), func() node { return ops.MatMul(x, c) }, `MatMul: inner axes are called "f" and "k": x[i=32 f=784], c[k=784] (transpose an operand, or rename one axis)`},
		{line(), func() node { return ops.MatMul(c, x) }, `MatMul: inner axes differ (784 ≠ 32): c[k=784], x[i=32 f=784] (a vector [k] is a row on the left and a column on the right: [k]·[… k n], [… m k]·[k])`},
		{line(), func() node { return ops.MatMul(x, one) }, `MatMul: the second operand is a number: want vectors or matrices: x[i=32 f=784], one[] (multiply by a number with ops.Mul)`},
		{line(), func() node { return ops.MatMul(x, b) }, `MatMul: an operand of type bool: want f32, f64, f16 or bf16: x[i=32 f=784], b[i=32 f=784] (convert with ops.Cast)`},
		{line(), func() node { return ops.Add(x, x, c) }, `Add: axis "f" meets axis "k": x[i=32 f=784], x[i=32 f=784], c[k=784] (lay the operands out with ops.Over, or rename one axis)`},
		{line(), func() node { return ops.Mul(x, x, d) }, `Mul: element types differ: f32 and f64: x[i=32 f=784], x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.Add(x, nil, x) }, `Add: operand 1 is nil: x[i=32 f=784], nil`},
		{line(), func() node { return ops.MatMul(x, nil) }, `MatMul: operand 1 is nil: x[i=32 f=784], nil`},
		{line(), func() node { return ops.Sum(x, "j") }, `Sum: no axis "j" in [i=32 f=784]: x[i=32 f=784]`},
		{line(), func() node { return ops.Sum(x, "i", 0) }, `Sum: axis 0 of [i=32 f=784] is given twice: x[i=32 f=784]`},
		{line(), func() node { return ops.Any(x) }, `Any: an operand of type f32: want bool: x[i=32 f=784]`},
		{line(), func() node { return ops.Mean(x, 2) }, `Mean: axis 2 of [i=32 f=784]: it has 2 axes: x[i=32 f=784]`},
		{line(), func() node { return ops.Max(x, 1.5) }, `Max: axis 1.5 (float64): want an int or a name: x[i=32 f=784]`},
		{line(), func() node { return ops.Softmax(x, "j") }, `Softmax: no axis "j" in [i=32 f=784]: x[i=32 f=784]`},
		{line(), func() node { return ops.Standardise(x, -1, "f") }, `Standardise: eps -1: want a number from 0: x[i=32 f=784]`},
		{line(), func() node { return ops.Rstd(x, math.NaN()) }, `Rstd: eps NaN: want a number from 0: x[i=32 f=784]`},
		{line(), func() node { y, _ := ops.FFT(x, d, "i"); return y }, `FFT: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { y, _ := ops.FFT(x, w, "i"); return y }, `FFT: a real part of shape [i=32 f=784] and an imaginary part of shape [f=785 h=128]: want one shape: x[i=32 f=784], w[f=785 h=128]`},
		{line(), func() node { y, _ := ops.RFFT(n, 0); return y }, `RFFT: an operand of type i64: want f32, f64, f16 or bf16: n[m=4] (convert with ops.Cast)`},
		{line(), func() node { return ops.IRFFT(x, x, 32, "i") }, `IRFFT: 32 numbers along axis i=32 for 32 real ones: x[i=32 f=784], x[i=32 f=784] (give a size of 62 or 63)`},
		{line(), func() node { return ops.Standardise(n, 1, 0) }, `Standardise: an operand of type i64: want f32, f64, f16 or bf16: n[m=4] (convert with ops.Cast)`},
		{line(), func() node { return ops.Softmax(n, 0) }, `Softmax: an operand of type i64: want f32, f64, f16 or bf16: n[m=4] (convert with ops.Cast)`},
		{line(), func() node { return ops.Over(x, "i", "j") }, `Over: an axis of [i=32 f=784] is not among ["i" "j"]: x[i=32 f=784]`},
		{line(), func() node { return ops.Over(x, "i", "i") }, `Over: axis "i" is named twice among ["i" "i"]: x[i=32 f=784]`},
		{line(), func() node { return ops.Transpose(x, "i") }, `Transpose: 1 axes given, the operand has 2: x[i=32 f=784]`},
		{line(), func() node { return ops.Rename(x, "i", "f") }, `Rename: two axes are called "f": x[i=32 f=784] (rename one with ops.Rename)`},
		{line(), func() node { return ops.Rename(x, "i", "2d") }, `Rename: axis name "2d": want letters, digits and _, not starting with a digit: x[i=32 f=784]`},
		{line(), func() node { return ops.Reshape(x, 5, -1) }, `Reshape: 25088 elements cannot fill [5 5017] of 25085: x[i=32 f=784]`},
		{line(), func() node { return ops.Reshape(x, -1, -1) }, `Reshape: sizes [-1 -1]: want sizes of at least 0, and at most one -1: x[i=32 f=784]`},
		{line(), func() node { return ops.Reshape(x, 1<<30, 1<<30) }, `Reshape: sizes [1073741824 1073741824]: want sizes of at least 0, and at most one -1: x[i=32 f=784]`},
		{line(), func() node { return ops.Expand(x, 4, "") }, `Expand: place 4 among 2 axes: x[i=32 f=784]`},
		{line(), func() node { return ops.Squeeze(x, "i") }, `Squeeze: axis i=32 has not size 1: x[i=32 f=784]`},
		{line(), func() node { return ops.Split(x, "f", graph.Ax("a", 10), graph.Ax("b", 10)) }, `Split: 25088 elements cannot fill [i=32 a=10 b=10]: x[i=32 f=784]`},
		{line(), func() node { return ops.Merge(x, "n", "f", "i") }, `Merge: axes [f i] are not neighbours in this order: x[i=32 f=784] (bring them together with ops.Transpose)`},
		{line(), func() node { return ops.Merge(x, "n") }, `Merge: want at least one axis: x[i=32 f=784]`},
		{line(), func() node { return ops.Slice(x, "i", 3, 2) }, `Slice: elements 3 to 2 by 1 of axis i=32: x[i=32 f=784]`},
		{line(), func() node { return ops.SliceStep(x, "i", 0, 0, -1) }, `SliceStep: elements 0 to 0 by -1 of axis i=32: x[i=32 f=784]`},
		{line(), func() node { return ops.BroadcastTo(x, c.Shape()) }, `BroadcastTo: axis "f" meets axis "k": x[i=32 f=784] (lay the operands out with ops.Over, or rename one axis)`},
		{line(), func() node { return ops.BroadcastTo(x, one.Shape()) }, `BroadcastTo: [i=32 f=784] cannot be repeated to []: x[i=32 f=784]`},
		{line(), func() node { return ops.Cast(x, 77) }, `Cast: unknown element type "dtype(77)": want f32, f64, f16, bf16, i32, i64, i8, u8 or bool: x[i=32 f=784]`},
		{line(), func() node { return ops.Concat("i", x, w) }, `Concat: axis "i" meets axis "f": x[i=32 f=784], w[f=785 h=128]`},
		{line(), func() node { return ops.Concat(0, x, c) }, `Concat: [i=32 f=784] and [k=784] have different numbers of axes: x[i=32 f=784], c[k=784]`},
		{line(), func() node { return ops.Concat(0, x, d) }, `Concat: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.Gather(x, c, 0) }, `Gather: indices of type f32: want i32 or i64: x[i=32 f=784], c[k=784]`},
		{line(), func() node { return ops.SetAt(x, n, w, 0) }, `SetAt: values of shape [f=785 h=128]: want [m=4 f=784]: x[i=32 f=784], n[m=4], w[f=785 h=128]`},
		{line(), func() node { return ops.AddAt(x, c, x, 0) }, `AddAt: indices of type f32: want i32 or i64: x[i=32 f=784], c[k=784], x[i=32 f=784]`},
		{line(), func() node { return ops.MaxAt(x, n, ops.Lit(d, 0), 0) }, `MaxAt: element types differ: f32 and f64: x[i=32 f=784], n[m=4], 0 (convert one with ops.Cast)`},
		{line(), func() node { return ops.SegmentSum(n, n, graph.Ax("j", 3)) }, `SegmentSum: an operand of type i64: want f32, f64, f16 or bf16: n[m=4], n[m=4] (convert with ops.Cast)`},
		{line(), func() node { return ops.ScatterAdd(n, x, 0, graph.Ax("j", 3)) }, `ScatterAdd: values of shape [i=32 f=784]: want [m=4]: n[m=4], x[i=32 f=784]`},
		{line(), func() node { return ops.OneHot(n, 3, graph.Ax("j", 3), graph.F32) }, `OneHot: place 3 among 1 axes: n[m=4]`},
		{line(), func() node { return ops.OneHot(n, 0, graph.Ax("j", 3), graph.I32) }, `OneHot: element type i32: want f32, f64, f16 or bf16: n[m=4]`},
		{line(), func() node { return ops.SqDist(x, w) }, `SqDist: rows differ: f=784 and h=128: x[i=32 f=784], w[f=785 h=128]`},
		{line(), func() node { return ops.SqDist(x, c) }, `SqDist: want arrays of equal rank, at least 2: x[i=32 f=784], c[k=784]`},
		{line(), func() node { return ops.WeightedDiff(x, x, x) }, `WeightedDiff: two axes are called "i": x[i=32 f=784], x[i=32 f=784], x[i=32 f=784] (rename one with ops.Rename)`},
		{line(), func() node { return ops.RandomNormal(g, "ε", graph.I32) }, `RandomNormal: element type i32: want f32 or f64`},
		{line(), func() node { return ops.RandomInt(g, "k", graph.F32, 0, 3) }, `RandomInt: element type f32: want i32 or i64`},
		{line(), func() node { return ops.RandomInt(g, "k", graph.I32, 3, 3) }, `RandomInt: whole numbers from 3 up to 3, not included: want bounds in order, which i32 holds`},
		{line(), func() node { return ops.RandomInt(g, "k", graph.I32, 0, 1<<31+1) }, `RandomInt: whole numbers from 0 up to 2147483649, not included: want bounds in order, which i32 holds`},
		{line(), func() node { return ops.RandomInt(g, "k", graph.I64, 0, 1<<60) }, `RandomInt: whole numbers from 0 up to 1152921504606846976, not included: want bounds from −2⁵³ to 2⁵³`},
		{line(), func() node { return ops.RandomTruncatedNormal(g, "ε", graph.F64, 40, 41) }, `RandomTruncatedNormal: normal numbers from 40 to 41: want bounds in order, with such numbers between them`},
		{line(), func() node { return ops.RandomBernoulli("b", g.Input("whole", graph.I32)) }, `RandomBernoulli: element type i32: want f32 or f64: whole[]`},
		{line(), func() node { return ops.RandomUniform(g, "u", graph.F32, graph.Ax("h", 2), graph.Ax("h", 2)) }, `RandomUniform: two axes are called "h" (give one of them another name here)`},
		{line(), func() node { return ops.Greater(c, n) }, `Greater: axis "k" meets axis "m": c[k=784], n[m=4] (lay the operands out with ops.Over, or rename one axis)`},
		{line(), func() node { return ops.Greater(x, d) }, `Greater: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.GreaterEqual(c, ops.Slice(c, 0, 0, 5)) }, `GreaterEqual: sizes differ: k=784 and k=5 (784 ≠ 5): c[k=784], %8[k=5]`},
		{line(), func() node { return ops.GreaterEqual(nil, x) }, `GreaterEqual: operand 1 is nil: nil, x[i=32 f=784]`},
		{line(), func() node { return ops.Clip(c, one, ops.Slice(c, 0, 0, 5)) }, `Clip: sizes differ: k=784 and k=5 (784 ≠ 5): c[k=784], one[], %8[k=5]`},
		{line(), func() node { return ops.Clip(x, d, x) }, `Clip: element types differ: f32 and f64: x[i=32 f=784], d[i=32 f=784], x[i=32 f=784] (convert one with ops.Cast)`},
		{line(), func() node { return ops.RandomUniform(g, "u", graph.F32, graph.Dims(-1)...) }, `RandomUniform: axis 0 (-1) has size -1: want at least 0`},
	} {
		before := 0
		if errs, ok := g.Err().(graph.Errors); ok {
			before = len(errs)
		}
		if y := row.make(); y.IsValid() {
			t.Errorf("line %d: %v, want the mistake %s", row.line, y, row.want)
			continue
		}
		errs := g.Err().(graph.Errors)[before:]
		want := fmt.Sprintf("ops/error_test.go:%d: %s", row.line, row.want)
		if len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("got  %v\nwant %s", errs, want)
		}
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestTextMistakes: what only a text form can say is refused when it is read,
// rather than found out by a panic when it is differentiated or run.
func TestTextMistakes(t *testing.T) {
	const head = "graph \"g\"\n%0 = input{path=\"x\" type=f32[i=3 j=2]} : f32[i=3 j=2] ; \"x\"\n"
	huge := fmt.Sprint(math.MaxInt/2 + 1) // doubled, it wraps round to the smallest integer
	for _, c := range []struct{ line, want string }{
		{"%1 = Transpose{perm=[-1 0]} %0 : f32[1 i=3] ;", "Transpose: [-1 0] is not an order of 2 axes"},
		{"%1 = Transpose{perm=[0 0]} %0 : f32[3 3] ;", "Transpose: [0 0] is not an order of 2 axes"},
		{"%1 = Slice{start=[0 0] step=[0 1] size=[2 2]} %0 : f32[i=2 j=2] ;", "Slice: 2 elements from 0 by 0 of axis i=3"},
		{"%1 = Slice{start=[0 0] step=[" + huge + " 1] size=[3 2]} %0 : f32[i=3 j=2] ;", "Slice: 3 elements from 0 by " + huge + " of axis i=3"},
		{"%1 = Slice{start=[2 0] step=[" + fmt.Sprint(math.MinInt) + " 1] size=[3 2]} %0 : f32[i=3 j=2] ;", "Slice: 3 elements from 2 by " + fmt.Sprint(math.MinInt) + " of axis i=3"},
		{"%1 = Slice{start=[1 0] step=[-1 1] size=[3 2]} %0 : f32[i=3 j=2] ;", "Slice: 3 elements from 1 by -1 of axis i=3"},
		{"%1 = Place{start=[0 0] step=[" + huge + " 1] to=[5 2]} %0 : f32[5 2] ;", "Place: 3 elements from 0 by " + huge + " of axis 5"},
		{"%1 = Sum{axes=[2]} %0 : f32[] ;", "Sum: axes [2] of [i=3 j=2]"},
		{"%1 = Max{axis=9} %0 : f32[] ;", "Max: axis 9"},
		{"%1 = Softmax{axis=-1} %0 : f32[] ;", "Softmax: axis -1 of [i=3 j=2]"},
		{"%1 = Add %0 : f32[] ;", "Add: 1 operands: want 2"},
		{"%1 = Random{key=\"k\" type=bool[]} : bool[] ;", "Random: element type bool: want f32 or f64"},
		{"%1 = Random{key=\"k\" law=\"other\" type=f32[]} : f32[] ;", `Random: there is no law "other" of random numbers`},
		{"%1 = OneHot{axis=q to=f32} %0 : f32[] ;", "OneHot: attribute axis: axis \"q\": want a size, or name=size"},
	} {
		_, err := graph.Parse(strings.NewReader(head+c.line), ops.Vocabulary()...)
		if want := "line 3: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", c.line, err, want)
		}
	}
}

// TestSpecialReductions: reductions of special values are what their documents say.
func TestSpecialReductions(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	rows := []float64{1, nan, inf, inf, nan, -inf, -inf, -inf, -inf, -inf, 1, 2, 0, math.Copysign(0, -1), 0, nan, nan, nan}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("special")
		x := g.Input("x", dt, graph.Ax("i", 6), graph.Ax("j", 3))
		feed := graph.Values{x: {Type: x.Type(), Data: rows}}
		most, least := ops.Max(x, "j"), ops.Min(x, "j")
		agree(t, feed, most, least, ops.Sum(x, "j"), ops.Mean(x, "j"), ops.ArgMax(x, "j"), ops.ArgMin(x, "j"), ops.Max(x, "i"), ops.Min(x, "i"))
		finite := ops.Slice(x, "i", 2, 5)
		agree(t, feed, ops.Softmax(finite, "j"), ops.LogSoftmax(finite, "j"), ops.LogSumExp(finite, "j"))
		v, err := ref.Eval(trait.Env{}, feed, most, least)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range [][]float64{{nan, nan, -inf, 2, 0, nan}, {nan, nan, -inf, -inf, 0, nan}} {
			for i, w := range want {
				if got := v[k].Data[i]; got != w && (got == got || w == w) {
					t.Errorf("%v: extremum %d of row %d is %v, want %v", dt, k, i, got, w)
				}
			}
		}
	}
}
