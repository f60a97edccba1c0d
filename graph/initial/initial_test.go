package initial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestTextForms: an initialiser reads back as the same value.
func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		in   initial.Init
		text string
	}{
		{initial.Zeros(), "zeros"}, {initial.Fill(0.5), "fill(0.5)"}, {initial.Uniform(-1, 2), "uniform(-1,2)"},
		{initial.Normal(-1, 0.5), "normal(-1,0.5)"}, {initial.Glorot(), "glorot"}, {initial.GlorotUniform(), "glorot-uniform"},
		{initial.He(), "he"}, {initial.HeUniform(), "he-uniform"}, {initial.Xavier(), "xavier"}, {initial.Orthogonal(1.5), "orthogonal(1.5)"},
		{initial.Rows("layer/x′"), "rows(layer/x′)"}, {initial.Rows("a, (b)"), `rows("a, (b)")`},
	} {
		b, err := c.in.MarshalText()
		if err != nil || string(b) != c.text {
			t.Errorf("%v marshals as %s, %v; want %s", c.in, b, err, c.text)
		}
		var out initial.Init
		if err := out.UnmarshalText(b); err != nil || out != c.in {
			t.Errorf("%s reads back as %v, %v", b, out, err)
		}
	}
	for text, want := range map[string]string{
		"normal(0)":      `initialiser "normal(0)": want 2 numbers`,
		"fill(x)":        `number "x": want a decimal`,
		"glorot(1)":      `initialiser "glorot(1)": want 0 numbers`,
		"lecun":          `unknown initialiser "lecun": want one of zeros, fill, uniform, normal, glorot, he, xavier, glorot-uniform, he-uniform, orthogonal, rows`,
		"uniform(0,1,2)": `initialiser "uniform(0,1,2)": want 2 numbers`,
	} {
		if err := new(initial.Init).UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s gives %v, want %s", text, err, want)
		}
	}
}

// TestDistribution: fan in and fan out set the spread.
func TestDistribution(t *testing.T) {
	for _, c := range []struct {
		init               initial.Init
		sizes              []int
		offset, std, width float64
	}{
		{initial.Zeros(), []int{3}, 0, 0, 0},
		{initial.Fill(2), []int{3}, 2, 0, 0},
		{initial.Uniform(-1, 3), nil, -1, 0, 4},
		{initial.Normal(1, 0.5), nil, 1, 0.5, 0},
		{initial.Glorot(), []int{6, 2}, 0, 0.5, 0},
		{initial.Glorot(), []int{2, 3, 2}, 0, 0.5, 0},
		{initial.He(), []int{8, 5}, 0, 0.5, 0},
		{initial.Glorot(), nil, 0, 1, 0},
		{initial.Glorot(), []int{7}, 0, 0.5, 0},
		{initial.Xavier(), []int{16, 5}, 0, 0.25, 0},
		{initial.Xavier(), []int{2, 2, 4, 5}, 0, 0.25, 0},
		{initial.He(), []int{2, 2, 2, 5}, 0, 0.5, 0},
		{initial.GlorotUniform(), []int{20, 4}, -0.5, 0, 1},
		{initial.HeUniform(), []int{2, 3, 4, 9}, -0.5, 0, 1},
		{initial.Orthogonal(3), []int{4, 4}, 0, 1, 0},
		{initial.Rows("x"), []int{4, 4}, 0, 1, 0},
	} {
		o, s, w := c.init.Distribution(c.sizes...)
		if o != c.offset || math.Abs(s-c.std) > 1e-15 || math.Abs(w-c.width) > 1e-15 {
			t.Errorf("%v of %v: %v %v %v, want %v %v %v", c.init, c.sizes, o, s, w, c.offset, c.std, c.width)
		}
	}
}

// TestConstant: what draws nothing says where it starts.
func TestConstant(t *testing.T) {
	for _, c := range []struct {
		init initial.Init
		v    float64
		ok   bool
	}{
		{initial.Zeros(), 0, true}, {initial.Fill(2), 2, true}, {initial.Normal(3, 0), 3, true}, {initial.Uniform(4, 4), 4, true},
		{initial.Normal(3, 1), 3, false}, {initial.Uniform(4, 5), 4, false}, {initial.Glorot(), 0, false}, {initial.Orthogonal(1), 1, false},
		{initial.Rows("x"), 0, false},
	} {
		if v, ok := c.init.Constant(); v != c.v || ok != c.ok {
			t.Errorf("%v: %v, %v", c.init, v, ok)
		}
	}
}

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Custom": initial.Custom, "Fill": initial.Fill, "Glorot": initial.Glorot, "GlorotUniform": initial.GlorotUniform,
			"He": initial.He, "HeUniform": initial.HeUniform, "Normal": initial.Normal,
			"Orthogonal": initial.Orthogonal, "Uniform": initial.Uniform, "Xavier": initial.Xavier,
			"Rows": initial.Rows, "Zeros": initial.Zeros,
		},
		Types:   []any{initial.Init{}, initial.Draw(nil)},
		Samples: func() []any { return []any{initial.Normal(0, 1), []int{2, 3}, 0.5} },
	})
}

// A name without a function, as a text has it, and calls that are told apart.
func TestCustom(t *testing.T) {
	ones := func(sizes []int, _ *rand.Rand) []float64 { return []float64{1} }
	one := initial.Custom("ones, (all)", ones)
	b, err := one.MarshalText()
	if err != nil || string(b) != `custom("ones, (all)")` {
		t.Errorf("%s, %v", b, err)
	}
	var read initial.Init
	if err := read.UnmarshalText(b); err != nil || read == one || read.String() != one.String() || read.Err() != nil {
		t.Errorf("%v, %v", read, err)
	}
	if name, f, ok := read.Custom(); name != "ones, (all)" || f != nil || !ok {
		t.Errorf("%q, %v, %v", name, f == nil, ok)
	}
	if _, f, ok := one.Custom(); f == nil || !ok || one == initial.Custom("ones, (all)", ones) {
		t.Error("the function is lost, or two initialisers are one")
	}
	if _, _, ok := initial.Zeros().Custom(); ok {
		t.Error("zeros are custom")
	}
	if _, ok := one.Input(); ok {
		t.Error("it reads an input")
	}
	for init, want := range map[initial.Init]string{
		initial.Custom("", ones):   "initialiser custom: want a name in its brackets",
		initial.Custom("own", nil): "initialiser custom(own): the function is nil",
	} {
		if err := init.Err(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func ExampleCustom() {
	// Half of the weights start at 0, the others as in He et al.
	sparse := initial.Custom("sparse", func(sizes []int, r *rand.Rand) []float64 {
		v := make([]float64, sizes[0]*sizes[1])
		for i := range v {
			if r.IntN(2) == 0 {
				v[i] = r.NormFloat64() * math.Sqrt(4/float64(sizes[0]))
			}
		}
		return v
	})
	fmt.Println(sparse)
	// Output: custom(sparse)
}

func ExampleInit_Distribution() {
	_, std, _ := initial.He().Distribution(50, 10)
	fmt.Println(std)
	// Output: 0.2
}
