package look_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// TestUnits: a unit is dead that no input turns on, and the shares are those of the inputs.
func TestUnits(t *testing.T) {
	r := fresh(t, "regression-relu", builders.Settings{"h": 3})
	set(t, r, "w", 1, 1, 0)
	set(t, r, "b", -100, 100, 0)
	units, err := r.Units(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(units) != 1 || units[0].Dead(0) != 2 || units[0].Active[0][1] != 1 || units[0].Samples != 8*32 {
		t.Errorf("units %+v", units)
	}
	conv, err := fresh(t, "conv-2d", nil).Units(t.Context())
	if err != nil || len(conv) != 2 || len(conv[0].Active[0]) != 4 || conv[0].Samples != 8*8*8*8 {
		t.Errorf("the units of a convolution are its channels: %+v, %v", conv, err)
	}
	if none, err := fresh(t, "attention-self", nil).Units(t.Context()); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// TestElbows: the kinks of hand-made units, and which are dead, also in a model of the user's whose ReLU is written as

// a maximum.
func TestElbows(t *testing.T) {
	const own = "input x[n=16] ~ uniform(-2, 2)\ninput y[n] ~ sin(x)\nparam a[u=3]\nparam c[u]\nh[n, u] = maximum(a*x*2 + c, 0)\nyhat[n] = sum(h, u)\nloss = mean((yhat - y)^2, n)\noutput yhat\n"
	for _, c := range []struct {
		model, w, b string
		times       float64
	}{{"regression-relu", "w", "b", 1}, {own, "a", "c", 2}} {
		r := fresh(t, c.model, map[bool]builders.Settings{true: {"h": 3}}[c.w == "w"])
		set(t, r, c.w, 2, -4, 1)
		set(t, r, c.b, -1, 2, -1000)
		e, err := r.Elbows(t.Context())
		if err != nil || e == nil {
			t.Fatalf("%s: %v, %v", c.model, e, err)
		}
		for h, want := range []float64{.5, .5, 1000} {
			if math.Abs(e.At[0][h]*c.times-want) > 1e-9*want {
				t.Errorf("%s: elbow %d at %v, want %v", c.model, h, e.At[0][h], want/c.times)
			}
		}
		if !e.Dead[0][2] || e.Dead[0][0] || e.Slope[0][1] != -4*c.times {
			t.Errorf("%s: dead %v, slopes %v", c.model, e.Dead, e.Slope)
		}
		curve, err := r.Curve(t.Context(), e)
		if err != nil || curve == nil || len(curve.X) != len(curve.Y[0]) {
			t.Errorf("%s: %v, %v", c.model, curve, err)
		}
	}
	for _, none := range []string{"init", "conv-2d", "attention-self"} {
		if e, err := fresh(t, none, nil).Elbows(t.Context()); e != nil || err != nil {
			t.Errorf("%s: %v, %v", none, e, err)
		}
	}
}

// TestCauchy: the ratio of normal numbers has the Cauchy distribution, that of uniform ones another.
func TestCauchy(t *testing.T) {
	r, err := fresh(t, "regression-relu", nil).Cauchy(t.Context())
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	if r.Distance > r.Chance || math.Abs(r.Scale-1) > .1 {
		t.Errorf("normal numbers: distance %v, chance %v, scale %v", r.Distance, r.Chance, r.Scale)
	}
	if got, want := r.Within(r.Scale); math.Abs(got-.5) > .03 || math.Abs(want-.5) > 1e-12 {
		t.Errorf("within one scale: %v and %v, want a half", got, want)
	}
	const uniform = "input x[n=16] ~ uniform(-2, 2)\nparam a[u=8] ~ uniform(1, 2)\nparam c[u] ~ uniform(-1, 1)\nh[n, u] = relu(a*x + c)\nloss = mean(sum(h, u), n)\n"
	if r, err = fresh(t, uniform, nil).Cauchy(t.Context()); err != nil || r == nil || r.Distance < 2*r.Chance {
		t.Errorf("uniform numbers: %+v, %v", r, err)
	}
	const still = "input x[n=16] ~ uniform(-2, 2)\nparam a[u=8] ~ uniform(1, 2)\nparam c[u]\nh[n, u] = relu(a*x + c)\nloss = mean(sum(h, u), n)\n"
	if r, err = fresh(t, still, nil).Cauchy(t.Context()); r != nil || err != nil {
		t.Errorf("offsets of 0: %v, %v", r, err)
	}
}

// TestQuadratic: singular directions are those of package linear, gradient descent goes along them as
