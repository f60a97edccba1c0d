package ops_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWindowMistakes: every mistake about windows is one error, at the user's line.
func TestWindowMistakes(t *testing.T) {
	g := graph.New("mistakes")
	x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", 5), graph.Ax("w", 6), graph.Ax("c", 4))
	k := g.Param("k", graph.F32, graph.Ax("", 3), graph.Ax("", 3), graph.Ax("c", 4), graph.Ax("o", 8))
	kind := g.Param("kind", graph.F64, graph.Dims(3, 3, 4, 8)...)
	e := g.Param("e", graph.F32, graph.Ax("", 3), graph.Ax("", 3), graph.Ax("e", 4), graph.Ax("o", 8))
	tall := g.Param("tall", graph.F32, graph.Dims(6, 1, 4, 8)...)
	flat := g.Param("line", graph.F32, graph.Dims(3, 4, 8)...)
	named := g.Param("named", graph.F32, graph.Ax("", 3), graph.Ax("", 3), graph.Ax("c", 4), graph.Ax("h", 8))
	v := g.Input("v", graph.F32, graph.Ax("c", 4))
	i := g.Input("i", graph.I64, graph.Dims(1, 4, 4, 1)...)
	b := g.Input("b", graph.Bool, graph.Dims(3)...)
	const most = min(40, strconv.IntSize-5) // the logarithm of the largest size of a node
	large := g.Input("large", graph.F32, graph.Dims(1<<(most-20), 1)...)
	for _, row := range []struct {
		line int
		make func() node
		want string
	}{
		{line(), func() node { return ops.Conv2D(x, e) }, `Conv2D: channels are called "c" and "e": x[n=2 h=5 w=6 c=4], e[3 3 e=4 o=8] (rename one axis)`},
		{line(), func() node { return ops.Conv2D(x, kind) }, `Conv2D: element types differ: f32 and f64: x[n=2 h=5 w=6 c=4], kind[3 3 4 8] (convert one with ops.Cast)`},
		{line(), func() node { return ops.Conv2D(x, flat) }, `Conv2D: want arrays [… h w c] and [kh kw c o]: x[n=2 h=5 w=6 c=4], line[3 4 8]`},
		{line(), func() node { return ops.Conv1D(v, flat) }, `Conv1D: want arrays [… t c] and [k c o]: v[c=4], line[3 4 8]`},
		{line(), func() node { return ops.Conv2D(x, tall) }, `Conv2D: windows of 6 elements, 1 apart, do not fit over axis h=5 with padding 0: x[n=2 h=5 w=6 c=4], tall[6 1 4 8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Dilation(3)) }, `Conv2D: windows of 3 elements, 3 apart, do not fit over axis h=5 with padding 0: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Stride(0)) }, `Conv2D: stride 0: want 1 to 2^30: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Padding(-1)) }, `Conv2D: padding -1: want 0 to 2^30: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Dilation(1, 0)) }, `Conv2D: dilation 0: want 1 to 2^30: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Stride(1, 2, 3)) }, `Conv2D: stride [1 2 3]: want one number, or 2: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Groups(0)) }, `Conv2D: 0 groups: want at least 1: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Groups(3)) }, `Conv2D: channels c=4 and o=8 do not divide into 3 groups: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Groups(2)) }, `Conv2D: weights for channels c=4: want 2: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.ExcludePadding()) }, `Conv2D: it does not take the option ExcludePadding: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, named) }, `Conv2D: two axes are called "h": x[n=2 h=5 w=6 c=4], named[3 3 c=4 h=8] (rename one with ops.Rename)`},
		{line(), func() node { return ops.ConvTranspose2D(x, e) }, `ConvTranspose2D: channels are called "c" and "e": x[n=2 h=5 w=6 c=4], e[3 3 e=4 o=8] (rename one axis)`},
		{line(), func() node { return ops.ConvTranspose2D(x, ops.Slice(k, 2, 0, 3)) }, `ConvTranspose2D: weights for channels c=3: want c=4: x[n=2 h=5 w=6 c=4], %11[3 3 c=3 o=8]`},
		{line(), func() node { return ops.ConvTranspose2D(x, k, ops.Padding(9)) }, `ConvTranspose2D: axis 1 (h=-11) has size -11: want at least 0: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.ConvTranspose2D(x, k, ops.Stride(math.MaxInt)) }, fmt.Sprintf(`ConvTranspose2D: %d is too large: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`, math.MaxInt)},
		{line(), func() node { return ops.ConvTranspose1D(v, flat) }, `ConvTranspose1D: want arrays [… t o] and [k o c]: v[c=4], line[3 4 8]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2, 7)) }, `MaxPool2D: windows of 7 elements, 1 apart, do not fit over axis w=6 with padding 0: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(0, 2)) }, `MaxPool2D: stride 0: want 1 to 2^30: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(0, 2), ops.Stride(1)) }, `MaxPool2D: windows of size 0: want at least 1: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(3), ops.Padding(2)) }, `MaxPool2D: padding 2: want at most half the size of the windows, 3: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2), ops.Groups(2)) }, `MaxPool2D: it does not take the option Groups: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x) }, `MaxPool2D: windows without a size: x[n=2 h=5 w=6 c=4] (give it: ops.Size(2))`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2, 2, 2)) }, `MaxPool2D: size [2 2 2]: want one number, or 2: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(5), ops.Wide()) }, `MaxPool2D: padding 4: want at most half the size of the windows, 5: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool1D(x, ops.Size(2), ops.Dilation(9), ops.Padding(5), ops.Stride(1)) }, `MaxPool1D: a window of 2 elements, 9 apart, with padding 5 has none of 6 elements: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2), ops.Along("h")) }, `MaxPool2D: windows along [h]: want 2 axes: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2), ops.Along("h", "c")) }, `MaxPool2D: windows along c=4, which has the channels: x[n=2 h=5 w=6 c=4] (ops.Channels says which axis has them)`},
		{line(), func() node { return ops.MaxPool2D(x, ops.Size(2), ops.Along("h", "v")) }, `MaxPool2D: no axis "v" in [n=2 h=5 w=6 c=4]: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Channels("q")) }, `Conv2D: no axis "q" in [n=2 h=5 w=6 c=4]: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv2D(x, k, ops.Size(2)) }, `Conv2D: windows of size [2]: the kernel has [3 3]: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.Conv3D(x, k) }, `Conv3D: want arrays [… d h w c] and [kd kh kw c o]: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.ConvTranspose3D(x, k) }, `ConvTranspose3D: want arrays [… d h w o] and [kd kh kw o c]: x[n=2 h=5 w=6 c=4], k[3 3 c=4 o=8]`},
		{line(), func() node { return ops.MaxPool3D(v, ops.Size(2)) }, `MaxPool3D: want an array [… d h w c]: v[c=4]`},
		{line(), func() node { return ops.AvgPool3D(x, ops.Size(4, 1, 1)) }, `AvgPool3D: windows of 4 elements, 1 apart, do not fit over axis n=2 with padding 0: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.MaxPool1D(v, ops.Size(2)) }, `MaxPool1D: want an array [… t c]: v[c=4]`},
		{line(), func() node { return ops.MaxPool2D(i, ops.Size(2)) }, `MaxPool2D: an operand of type i64: want f32, f64, f16 or bf16: i[1 4 4 1] (convert with ops.Cast)`},
		{line(), func() node { return ops.AvgPool2D(x, ops.Size(2), ops.Stride(0)) }, `AvgPool2D: stride 0: want 1 to 2^30: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.AvgPool2D(x, ops.Size(2), ops.Groups(2)) }, `AvgPool2D: it does not take the option Groups: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.AvgPool1D(v, ops.Size(2)) }, `AvgPool1D: want an array [… t c]: v[c=4]`},
		{line(), func() node { return ops.Pad(x, "h", -1, 0, 0) }, `Pad: -1 and 0 elements around axis h=5: want 0 to 1073741824: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.Pad(x, "d", 1, 0, 0) }, `Pad: no axis "d" in [n=2 h=5 w=6 c=4]: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.Pad(large, 1, 1<<20, 0, 0) }, fmt.Sprintf("Pad: more than 2^%d elements: large[%d 1]", most, 1<<(most-20))},
		{line(), func() node { return ops.ReflectPad(x, "h", 5, 0) }, `ReflectPad: 5 and 0 elements around axis h=5: want 0 to 4: x[n=2 h=5 w=6 c=4]`},
		{line(), func() node { return ops.Conv2D(ops.Transpose(x, "n", "c", "h", "w"), k) }, `Conv2D: weights for channels c=4: want 6: %14[n=2 c=4 h=5 w=6], k[3 3 c=4 o=8] (channels come last: [… h w c]; ops.Channels says another axis)`},
		{line(), func() node { return ops.Conv2D(ops.Reshape(x, 2, 5, 24), k) }, `Conv2D: weights for channels c=4: want 24: %15[n=2 h=5 24], k[3 3 c=4 o=8] (channels come last: [… h w c]; ops.Channels says another axis)`},
		{line(), func() node { return ops.Pad(b, 0, 1, 0, 1) }, ``},
	} {
		before := 0
		if errs, ok := g.Err().(graph.Errors); ok {
			before = len(errs)
		}
		y := row.make()
		if row.want == "" {
			if !y.IsValid() {
				t.Errorf("line %d: %v", row.line, g.Err())
			}
			continue
		}
		errs, _ := g.Err().(graph.Errors)
		want := fmt.Sprintf("ops/window_test.go:%d: %s", row.line, row.want)
		if errs = errs[before:]; y.IsValid() || len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("got  %v\nwant %s", errs, want)
		}
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestWindowTextMistakes: a text form cannot say what has no meaning.
func TestWindowTextMistakes(t *testing.T) {
	const head = "graph \"g\"\n%0 = input{path=\"x\" type=f32[3 4 2]} : f32[3 4 2] ; \"x\"\n%1 = input{path=\"w\" type=f32[2 2 2 5]} : f32[2 2 2 5] ; \"w\"\n"
	huge := fmt.Sprint(math.MaxInt)
	for _, c := range []struct{ line, want string }{
		{"%2 = Conv %0 %1 : f32[2 3 5] ;", "Conv: want stride, padding and dilation for one axis or two"},
		{"%2 = Conv{stride=[1 1] padding=[0] dilation=[1 1] groups=1} %0 %1 : f32[2 3 5] ;", "Conv: want stride, padding and dilation for one axis or two"},
		{"%2 = Conv{stride=[1 1] padding=[0 0] dilation=[1 1]} %0 %1 : f32[2 3 5] ;", "Conv: 0 groups: want at least 1"},
		{"%2 = Conv{stride=[1 1] padding=[0 0] dilation=[1 1] groups=1 to=[2 3 5]} %0 %1 : f32[2 3 5] ;", "Conv: its shape follows from its operands"},
		{"%2 = Conv{stride=[1 1] padding=[" + huge + " 0] dilation=[1 1] groups=1} %0 %1 : f32[2 3 5] ;", "Conv: padding " + huge + ": want 0 to 2^30"},
		{"%2 = Conv{stride=[" + huge + " 1] padding=[0 0] dilation=[1 1] groups=1} %0 %1 : f32[2 3 5] ;", "Conv: stride " + huge + ": want 1 to 2^30"},
		{"%2 = Conv{stride=[1 1] padding=[0 0] dilation=[1 " + huge + "] groups=1} %0 %1 : f32[2 3 5] ;", "Conv: dilation " + huge + ": want 1 to 2^30"},
		{"%2 = ConvInput{stride=[1 1] padding=[0 0] dilation=[1 1] groups=1 to=[3 4 2]} %0 %1 : f32[3 4 2] ;", "ConvInput: weights for channels 5: want 2"},
		{"%2 = ConvInput{stride=[1 1] padding=[0 0] dilation=[1 1] groups=1 to=[3]} %0 %1 : f32[3] ;", "ConvInput: want arrays [… h w c] and [kh kw c o]"},
		{"%2 = ConvInput{stride=[1] padding=[0] dilation=[1] groups=1 to=[3 4]} %0 %0 : f32[3] ;", "ConvInput: weights for channels 2: want 4"},
		{"%2 = ConvKernel{stride=[1 1] padding=[0 0] dilation=[1 1] groups=1 to=[2 2 2 5]} %0 %0 : f32[2 2 2 5] ;", "ConvKernel: [3 4 2] and [2 2 2 5] give [2 3 5], not [3 4 2]"},
		{"%2 = MaxPool{size=[2 2] stride=[2 2] padding=[0 0] to=[3]} %0 : f32[1 2 2] ;", "MaxPool: its shape follows from its operands"},
		{"%2 = MaxPool{size=[2 2 2] stride=[2 2] padding=[0 0]} %0 : f32[1 2 2] ;", "MaxPool: want size, stride and padding for one axis or two"},
		{"%2 = MaxPool{size=[2 " + huge + "] stride=[2 2] padding=[0 0]} %0 : f32[1 2 2] ;", "MaxPool: windows of " + huge + " elements, 1 apart, do not fit over axis 4 with padding 0"},
		{"%2 = MaxPick{size=[2 2] stride=[2 2] padding=[0 0]} %0 %1 : f32[1 2 2] ;", "MaxPick: sizes differ: [3 4 2] and [2 2 2 5]"},
		{"%2 = MaxUnpool{size=[2 2] stride=[2 2] padding=[0 0]} %0 %0 : f32[3 4 2] ;", "MaxUnpool: windows over [3 4 2] give [1 2 2], not [3 4 2]"},
		{"%2 = SumUnpool{size=[2 2] stride=[2 2] padding=[0 0] to=[4 4 2]} %0 : f32[4 4 2] ;", "SumUnpool: windows over [4 4 2] give [2 2 2], not [3 4 2]"},
		{"%2 = SumUnpool{size=[2 2] stride=[2 2] padding=[0 0]} %0 : f32[] ;", "SumUnpool: want an array [… h w c]"},
	} {
		_, err := graph.Parse(strings.NewReader(head+c.line), ops.Vocabulary()...)
		if want := "line 4: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", c.line, err, want)
		}
	}
}

// TestWindowValues: small results spelt out.
func TestWindowValues(t *testing.T) {
	g := graph.New("")
	x := g.Constant(graph.F64, []float64{1, 2, 3, 4, 5}, graph.Ax("t", 5), graph.Ax("c", 1))
	plane := g.Constant(graph.F64, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, graph.Ax("h", 3), graph.Ax("w", 3), graph.Ax("c", 1))
	k := g.Constant(graph.F64, []float64{1, 10, 100}, graph.Dims(3, 1, 1)...)
	both := g.Constant(graph.F64, []float64{1, 10, 100, 1000}, graph.Dims(2, 1, 2)...)
	truth := g.Constant(graph.Bool, []float64{1}, graph.Ax("i", 1))
	for _, c := range []struct {
		name string
		y    node
		want string
	}{
		{"a correlation: the kernel is not turned round", ops.Conv1D(x, k), "f64[t=3 1]: 321 432 543"},
		{"as wide as x", ops.Conv1D(x, k, ops.Padding(1)), "f64[t=5 1]: 210 321 432 543 54"},
		{"every second", ops.Conv1D(x, k, ops.Padding(1), ops.Stride(2)), "f64[t=3 1]: 210 432 54"},
		{"dilated", ops.Conv1D(x, k, ops.Dilation(2)), "f64[t=1 1]: 531"},
		{"wholly outside on one side", ops.Conv1D(x, k, ops.Padding(4), ops.Stride(4)), "f64[t=3 1]: 0 321 5"},
		{"one number for both axes", ops.Conv2D(plane, ops.Expand(k, 0, ""), ops.Padding(0, 1), ops.Stride(2)), "f64[h=2 w=2 1]: 210 32 870 98"},
		{"groups", ops.Conv1D(ops.Concat("c", x, ops.Neg(x)), both, ops.Groups(2)), "f64[t=4 2]: 201 -2010 302 -3020 403 -4030 504 -5040"},
		{"channels of the result", ops.Conv1D(x, both), "f64[t=4 2]: 201 2010 302 3020 403 4030 504 5040"},
		{"transpose", ops.ConvTranspose1D(ops.Slice(x, 0, 0, 2), k, ops.Stride(2)), "f64[t=5 1]: 1 10 102 20 200"},
		{"transpose with padding", ops.ConvTranspose1D(ops.Slice(x, 0, 0, 2), k, ops.Padding(1)), "f64[t=2 1]: 12 120"},
		{"maximum", ops.MaxPool1D(x, ops.Size(2)), "f64[t=2 c=1]: 2 4"},
		{"maximum of overlapping windows", ops.MaxPool1D(ops.Neg(x), ops.Size(3), ops.Stride(1), ops.Padding(1)), "f64[t=5 c=1]: -1 -1 -2 -3 -4"},
		{"maximum over planes", ops.MaxPool2D(plane, ops.Size(2, 3), ops.Stride(1)), "f64[h=2 w=1 c=1]: 6 9"},
		{"average", ops.AvgPool1D(x, ops.Size(2)), "f64[t=2 c=1]: 1.5 3.5"},
		{"padding counts as zeros", ops.AvgPool1D(x, ops.Size(2), ops.Padding(1)), "f64[t=3 c=1]: 0.5 2.5 4.5"},
		{"padding does not count", ops.AvgPool1D(x, ops.Size(2), ops.Padding(1), ops.ExcludePadding()), "f64[t=3 c=1]: 1 2.5 4.5"},
		{"average over planes", ops.AvgPool2D(plane, ops.Size(3)), "f64[h=1 w=1 c=1]: 5"},
		{"average over planes without padding", ops.AvgPool2D(plane, ops.Size(3), ops.Padding(1), ops.Stride(2), ops.ExcludePadding()), "f64[h=2 w=2 c=1]: 3 4 6 7"},
		{"zeros around", ops.Pad(ops.Slice(x, 0, 0, 2), "t", 1, 2, 0), "f64[t=5 c=1]: 0 1 2 0 0"},
		{"minus infinity before", ops.Pad(ops.Slice(x, 0, 0, 2), "t", 1, 0, math.Inf(-1)), "f64[t=3 c=1]: -Inf 1 2"},
		{"falsehood after", ops.Pad(truth, 0, 0, 1, 0), "bool[i=2]: 1 0"},
		{"nothing around", ops.Pad(truth, 0, 0, 0, 7), "bool[i=1]: 1"},
		{"mirrored", ops.ReflectPad(x, "t", 2, 3), "f64[t=10 c=1]: 3 2 1 2 3 4 5 4 3 2"},
		{"mirrored before", ops.ReflectPad(x, "t", 1, 0), "f64[t=6 c=1]: 2 1 2 3 4 5"},
	} {
		if !c.y.IsValid() {
			t.Errorf("%s: %v", c.name, g.Err())
			continue
		}
		v, err := ref.Eval(trait.Env{}, nil, c.y)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := v[0].String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		t.Run(c.name, func(t *testing.T) { agree(t, nil, c.y) })
	}
}

// TestMaxPoolTies: of equal elements the first has the derivative, as in PyTorch,
// and in a window with a NaN, whose maximum is NaN, the first of all.
func TestMaxPoolTies(t *testing.T) {
	nan := math.NaN()
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("ties")
		x := g.Input("x", dt, graph.Dims(2, 8, 1)...)
		feed := graph.Values{x: {Type: x.Type(), Data: []float64{7, 7, 0, 0, 1, nan, 2, 2, 7, 7, 0, 1, 3, 3, 1, 2}}}
		y := ops.MaxPool2D(x, ops.Size(2))
		d := grad.Of(ops.Sum(ops.Slice(y, 1, 0, 2)), x)[0]
		e := grad.Of(ops.Sum(y), x)[0]
		agree(t, feed, y, d, e)
		v, err := ref.Eval(trait.Env{}, feed, y, d, e)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range [][]float64{{7, 1, nan, 2}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}} {
			for i, w := range want {
				if got := v[k].Data[i]; got != w && (got == got || w == w) {
					t.Errorf("%v: %d: element %d is %v, want %v", dt, k, i, got, w)
				}
			}
		}
	}
}

// TestGelu: the exact form, and how far the approximation is from it.
func TestGELU(t *testing.T) {
	g := graph.New("gelu")
	x := g.Input("x", graph.F64, graph.Ax("i", 161))
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = float64(i-80) / 10
	}
	y, z := ops.GELU(x), ops.GELUTanh(x)
	out, err := ref.Eval(trait.Env{}, graph.Values{x: v}, y, z)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range v.Data {
		want := at * math.Erfc(-at/math.Sqrt2) / 2
		if got := out[0].Data[i]; math.Abs(got-want) > 1e-15 {
			t.Errorf("GELU(%v) is %v, want %v", at, got, want)
		}
		if got := out[1].Data[i]; math.Abs(got-want) > 5e-4 {
			t.Errorf("GELUTanh(%v) is %v, GELU %v", at, got, want)
		}
	}
	if s := y.First().Scope; s != "gelu" {
		t.Errorf("it is in the scope %q", s)
	}
}

// TestWindowNotation: windows slide along the spatial axes, which stand below the
// function as the axis of softmax does.
func TestWindowNotation(t *testing.T) {
	g := graph.New("notation")
	x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("h", 4), graph.Ax("w", 4), graph.Ax("c", 1))
	k := g.Param("k", graph.F32, graph.Dims(1, 2, 1, 1)...)
	y := ops.Conv2D(x, k)
	dk := grad.Of(ops.Sum(ops.MaxPool2D(y, ops.Size(2))), k)[0]
	for _, c := range []struct {
		n    node
		text string
		subs []string
	}{
		{y, "conv", []string{"h", "w"}},
		{ops.ConvTranspose2D(x, k), "transposed conv", []string{"h", "w"}},
		{dk, "convkernel", []string{"h", "w"}},
		{ops.MaxPool2D(x, ops.Size(2)), "maxpool", []string{"h", "w"}},
		{ops.MaxPool1D(ops.Rename(x, "w", ""), ops.Size(2)), "maxpool", nil},
		{ops.MaxPool1D(x, ops.Size(2)), "maxpool", []string{"w"}},
	} {
		e := c.n.Op().(ops.Op).Notation(c.n, []expr.Expr{expr.Sym("a"), expr.Sym("b")})
		if e.Kind != expr.KindCall || e.Text != c.text || !slices.Equal(e.Subs, c.subs) {
			t.Errorf("%v is written %s along %v, want %s along %v", c.n, e.Text, e.Subs, c.text, c.subs)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
