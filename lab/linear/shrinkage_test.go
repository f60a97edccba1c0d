package linear_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train"
)

// linearData draws y = X·w* + noise with features of spreads 1, ½, ⅓, …
func linearData(seed uint64, n, d int, noise float64) linear.LeastSquares {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := linear.LeastSquares{N: n, D: d, X: make([]float64, n*d), Y: make([]float64, n)}
	for i := range p.X {
		p.X[i] = rng.NormFloat64() / float64(1+i%d)
	}
	for i := range p.Y {
		p.Y[i] = noise * rng.NormFloat64()
		for j := range d {
			p.Y[i] += p.X[i*d+j] * math.Cos(float64(j))
		}
	}
	return p
}

// residual is y − X·w, and its product with every feature.
func residual(p linear.LeastSquares, w []float64) (r, features []float64) {
	r, features = append([]float64(nil), p.Y...), make([]float64, p.D)
	for i := range r {
		for j, v := range w {
			r[i] -= p.X[i*p.D+j] * v
		}
		for j := range features {
			features[j] += p.X[i*p.D+j] * r[i]
		}
	}
	return r, features
}

func norm(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// TestSolve: the normal equations hold, Xᵀ(y − Xw) = λw; where weights outnumber
// observations the solution is exact and lies in the span of the rows.
func TestSolve(t *testing.T) {
	for _, λ := range []float64{0, 0.3, 10} {
		p := linearData(1, 20, 5, 0.5)
		w, err := p.Solve(λ)
		if err != nil {
			t.Fatal(err)
		}
		_, features := residual(p, w)
		for j, f := range features {
			if math.Abs(f-λ*w[j]) > 1e-12 {
				t.Errorf("λ = %v: Xᵀ(y − Xw) is %v, λw is %v", λ, f, λ*w[j])
			}
		}
	}
	p := linearData(2, 4, 9, 0.5)
	w, err := p.Solve(0)
	if r, _ := residual(p, w); err != nil || norm(r) > 1e-12 {
		t.Errorf("the residual is %v, %v", norm(r), err)
	}
	// What is in the span of the rows is the least squares combination of them.
	rows := linear.LeastSquares{N: p.D, D: p.N, X: make([]float64, len(p.X)), Y: w}
	for i := range p.N {
		for j := range p.D {
			rows.X[j*p.N+i] = p.X[i*p.D+j]
		}
	}
	c, err := rows.Solve(0)
	if out, _ := residual(rows, c); err != nil || norm(out) > 1e-12 {
		t.Errorf("a part of %v lies outside the span of the rows, %v", norm(out), err)
	}
}

// TestDescendToLeastNorm: from zero, gradient descent ends at the solution of least
// norm, and at that of ridge regression on data with fake observations.
func TestDescendToLeastNorm(t *testing.T) {
	for name, c := range map[string]struct {
		data linear.LeastSquares
		λ    float64
	}{
		"more weights than observations": {linearData(3, 4, 9, 0.5), 0},
		"fake observations":              {linearData(4, 20, 4, 0.5), 2},
		"two equal features":             {linear.LeastSquares{N: 3, D: 2, X: []float64{1, 1, 2, 2, 0.5, 0.5}, Y: []float64{1, 2, 0}}, 0},
	} {
		want, err := c.data.Solve(c.λ)
		if err != nil {
			t.Fatal(err)
		}
		data := c.data
		if c.λ > 0 {
			data = data.Augmented(c.λ)
		}
		got, err := data.Descend(context.Background(), 0.02, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-8 {
				t.Errorf("%s: gradient descent ends at %v, want %v", name, got, want)
				break
			}
		}
	}
}

// TestShrink: along a singular direction of X, ridge regression keeps the part σ²/(σ² + λ) of the
// least squares solution, and t steps of gradient descent from zero the part 1 − (1 − 2ησ²)ᵗ; the
// larger σ is, the more.
func TestShrink(t *testing.T) {
	p := linearData(5, 30, 6, 0.3)
	s, err := p.Shrink(context.Background(), 0.7, 0.004, 25)
	if err != nil || len(s) != 6 {
		t.Fatalf("%v, %v", s, err)
	}
	for i, d := range s {
		for what, f := range map[string]linear.Factor{"ridge": d.Ridge, "descent": d.Descent} {
			if math.Abs(f.Measured-f.Predicted) > 1e-9 {
				t.Errorf("σ = %v: %s leaves %v, want %v", d.Sigma, what, f.Measured, f.Predicted)
			}
		}
		if i > 0 && (d.Sigma >= s[i-1].Sigma || d.Descent.Measured >= s[i-1].Descent.Measured || d.Ridge.Measured >= s[i-1].Ridge.Measured) {
			t.Errorf("a smaller singular value is shrunk less: %v", s)
		}
	}
	if first, last := s[0].Descent.Measured, s[5].Descent.Measured; first < 0.95 || last > 0.3 {
		t.Errorf("descent leaves %v of the largest direction and %v of the smallest: no case of early stopping", first, last)
	}
	lines := strings.Split(strings.TrimSpace(s.String()), "\n")
	if len(lines) != 7 || strings.Join(strings.Fields(lines[0]), " ") != "σ length ridge predicted descent predicted" {
		t.Errorf("the table is\n%v", s)
	}
	wide, err := linearData(6, 3, 5, 0).Shrink(context.Background(), 1, 0.01, 3)
	if err != nil || len(wide) != 3 {
		t.Errorf("%v, %v: want three directions", wide, err)
	}
}

// TestEarlyStopping: on few noisy observations, gradient descent that is stopped
// when held-out data say so predicts better than the solution it was going to, with
// smaller weights.
func TestEarlyStopping(t *testing.T) {
	data, held := linearData(7, 14, 12, 1), linearData(8, 400, 12, 0)
	miss := func(w []float64) float64 {
		r, _ := residual(held, w)
		return norm(r)
	}
	const stride, rate = 5, 0.005
	step := 0
	p := train.EarlyStop{Patience: 10, Value: func() (float64, error) {
		now, err := data.Descend(context.Background(), rate, step)
		return miss(now), err
	}}
	for done := false; !done; {
		if step += stride; step > 500*stride {
			t.Fatal("patience without end")
		}
		err := p.Observe(train.Event{Kind: train.Stepped, Step: step})
		if done = errors.Is(err, train.ErrStop); err != nil && !done {
			t.Fatal(err)
		}
	}
	at, best, _ := p.Best()
	w, err := data.Descend(context.Background(), rate, at)
	if err != nil {
		t.Fatal(err)
	}
	end, err := data.Solve(0)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := miss(w), miss(end); a != best || a > b/2 || norm(w) > norm(end)/2 {
		t.Errorf("stopped at step %d: error %v (%v), norm %v; converged: error %v, norm %v", at, a, best, norm(w), b, norm(end))
	}
}

func TestLinearMistakes(t *testing.T) {
	for _, p := range []linear.LeastSquares{{}, {N: 2, D: 2, X: make([]float64, 3), Y: make([]float64, 2)}, {N: 2, D: 2, X: make([]float64, 4), Y: make([]float64, 3)}} {
		if _, err := p.Solve(0); err == nil {
			t.Errorf("%v is solved", p)
		}
		if _, err := p.Descend(context.Background(), 1, 1); err == nil {
			t.Errorf("%v is descended", p)
		}
	}
	if _, err := linearData(1, 3, 2, 0).Solve(-1); err == nil {
		t.Error("a negative λ is solved")
	}
	if _, err := linearData(1, 3, 2, 0).Shrink(context.Background(), -1, 0.1, 2); err == nil {
		t.Error("a negative λ shrinks")
	}
}
