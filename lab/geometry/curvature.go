package geometry

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
	"gonum.org/v1/gonum/mat"
)

// CurvatureConfig says how extreme eigenvalues are looked for. Zero values stand for
// the defaults.
type CurvatureConfig struct {
	Tolerance   float64 // of the residual, relative to the larger of the two; default 1e-6, 1e-3 in float32
	MaxProducts int     // products with the Hessian; default 100
	Seed        uint64  // of the start vector
}

// Curvature are the extreme eigenvalues of the second derivatives of a loss by all
// parameters together, the Hessian H.
type Curvature struct {
	Name              string
	Params            int // the numbers that H has rows for
	Largest, Smallest Eigenpair
	Products          int  // H·v that were taken
	Converged         bool // both residuals are within the tolerance
}

// Eigenpair is an approximate eigenvalue: H has one within Residual = ‖H·v − λ·v‖ of it,
// for the unit vector v.
type Eigenpair struct {
	Value, Residual float64
	Vector          []float64
}

// Curvature finds the largest and the smallest eigenvalue of the Hessian at the site by
// the method of Lanczos (1950) with full reorthogonalisation, on products with the
// Hessian that one program computes ([grad.HVP]); the Hessian itself is never made. The
// residuals are measured at the end. They bound how far each value is from an
// eigenvalue; that no other eigenvalue lies beyond is what the random start makes all but
// certain once the method has converged.
func (s Site) Curvature(ctx context.Context, c CurvatureConfig) (*Curvature, error) {
	g, err := s.ground()
	if err != nil {
		return nil, err
	}
	at, err := g.here()
	if err != nil {
		return nil, err
	}
	var along []*graph.Node
	tolerance := 1e-6
	for i, p := range g.at {
		along = append(along, g.graph.Input(fmt.Sprintf("direction %d", i), p.DType(), p.Shape().Axes()...))
		if p.DType() == graph.F32 {
			tolerance = 1e-3
		}
	}
	if c.Tolerance == 0 {
		c.Tolerance = tolerance
	}
	if c.MaxProducts == 0 {
		c.MaxProducts = 100
	}
	if !(c.Tolerance > 0) || c.MaxProducts < 1 {
		return nil, fmt.Errorf("%s: curvature wants a positive tolerance and a positive number of products", s.name())
	}
	product := grad.HVP(g.loss, g.at, along)
	p, err := g.compile(ctx, product...)
	if err != nil {
		return nil, err
	}
	r, err := g.runner(p)
	if err != nil {
		return nil, err
	}
	defer r.close()
	out := &Curvature{Name: s.name(), Params: g.size}
	work := s.work(c.MaxProducts+2, s.name()+", curvature") // two for the residuals
	apply := func(v []float64) ([]float64, error) {
		defer work.piece()
		out.Products++
		r.set(along, v)
		if err := r.run(ctx, at); err != nil {
			return nil, err
		}
		hv, err := r.values(product...)
		if err == nil && !allWithin(hv, math.MaxFloat64) {
			err = fmt.Errorf("%s: its second derivatives are not finite here", s.name())
		}
		return hv, err
	}
	return out, out.find(c, apply)
}

// find builds an orthonormal basis of the space that v, Hv, H²v, … span. In it, H is
// tridiagonal, and its extreme eigenvalues approach those of H.
func (out *Curvature) find(c CurvatureConfig, apply func(v []float64) ([]float64, error)) error {
	rng := rand.New(rand.NewPCG(c.Seed, 0x6c616e637a6f73))
	v := make([]float64, out.Params)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	normalise(v)
	var basis [][]float64
	var diagonal, beside []float64
	var values []float64
	var vectors mat.Dense
	for {
		basis = append(basis, v)
		w, err := apply(v)
		if err != nil {
			return err
		}
		diagonal = append(diagonal, dot(v, w))
		for range 2 { // once leaves what rounding made of it
			for _, b := range basis {
				axpy(w, -dot(b, w), b)
			}
		}
		next := normalise(w)
		m := len(basis)
		t := mat.NewSymDense(m, nil)
		for i := range m {
			t.SetSym(i, i, diagonal[i])
			if i > 0 {
				t.SetSym(i-1, i, beside[i-1])
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(t, true) {
			return fmt.Errorf("%s: the eigenvalues of the projected Hessian do not converge", out.Name)
		}
		values = eigen.Values(nil)
		vectors.Reset()
		eigen.VectorsTo(&vectors)
		size := max(math.Abs(values[0]), math.Abs(values[m-1]))
		residual := next * max(math.Abs(vectors.At(m-1, 0)), math.Abs(vectors.At(m-1, m-1)))
		if residual <= c.Tolerance*size/2 || m == out.Params || m >= c.MaxProducts {
			break
		}
		beside = append(beside, next)
		v = w
	}
	extreme := func(column int) (Eigenpair, error) {
		e := Eigenpair{Value: values[column], Vector: make([]float64, out.Params)}
		for i, b := range basis {
			axpy(e.Vector, vectors.At(i, column), b)
		}
		normalise(e.Vector)
		hv, err := apply(e.Vector)
		if err != nil {
			return e, err
		}
		axpy(hv, -e.Value, e.Vector)
		e.Residual = math.Sqrt(dot(hv, hv))
		return e, nil
	}
	var err error
	if out.Smallest, err = extreme(0); err != nil {
		return err
	}
	if out.Largest, err = extreme(len(values) - 1); err != nil {
		return err
	}
	size := max(math.Abs(out.Largest.Value), math.Abs(out.Smallest.Value))
	out.Converged = max(out.Largest.Residual, out.Smallest.Residual) <= c.Tolerance*size
	return nil
}

// String is a few lines: the eigenvalues with their bounds, and what the largest means
// for gradient descent.
func (c *Curvature) String() string {
	how := "converged"
	if !c.Converged {
		how = "not converged"
	}
	s := fmt.Sprintf("%s: second derivatives by %d numbers, %d products H·v, %s\n", c.Name, c.Params, c.Products, how)
	s += fmt.Sprintf("  largest eigenvalue   %12.6g  ± %.1e\n", c.Largest.Value, c.Largest.Residual)
	s += fmt.Sprintf("  smallest eigenvalue  %12.6g  ± %.1e\n", c.Smallest.Value, c.Smallest.Residual)
	switch {
	case c.Largest.Value > c.Largest.Residual:
		s += fmt.Sprintf("  gradient descent is stable along the steepest direction at rates below 2/λ = %s\n", table.Number(2/c.Largest.Value, 4))
	default:
		s += "  the loss curves upwards in no direction\n"
	}
	if c.Smallest.Value < -c.Smallest.Residual {
		s += "  the loss curves downwards in some direction: this is no minimum\n"
	}
	return s
}
