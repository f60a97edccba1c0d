package geometry

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
	"gonum.org/v1/gonum/mat"
)

// CurvatureConfig configures [Site.Curvature]. Zero values stand for the defaults.
type CurvatureConfig struct {
	// Tolerance bounds the residuals, relative to the larger magnitude of the two eigenvalues. The
	// default is 1e-6, and 1e-3 in float32.
	Tolerance float64
	// MaxProducts bounds the products with the Hessian, without the two that measure the residuals.
	// The default is 100.
	MaxProducts int
	Seed        uint64 // of the random start vector
}

// Curvature has the extreme eigenvalues of the Hessian H, the second derivatives of a loss by its
// parameter vector.
type Curvature struct {
	Name              string
	Params            int // the length of the parameter vector
	Largest, Smallest Eigenpair
	Products          int  // products H·v that were computed
	Converged         bool // both residuals are within the tolerance
}

// Eigenpair is an approximate eigenvalue λ of a symmetric matrix H with its unit eigenvector v. An
// eigenvalue of H lies within Residual = ‖H·v − λ·v‖ of Value.
type Eigenpair struct {
	Value, Residual float64
	Vector          []float64 // as the parameter vector
}

// Curvature finds the largest and the smallest eigenvalue of the Hessian at the site by the method
// of Lanczos (1950) with full reorthogonalisation. It never builds the Hessian: one program
// computes its products with vectors ([grad.HVP]; Pearlmutter, 1994). The residuals, measured at
// the end, bound how far each value is from some eigenvalue. That none lies beyond is not proved;
// the random start makes it all but certain once the method has converged. Second derivatives that
// are not finite are an error.
func (s Site) Curvature(ctx context.Context, c CurvatureConfig) (*Curvature, error) {
	o, err := s.objective()
	if err != nil {
		return nil, err
	}
	at, err := o.here()
	if err != nil {
		return nil, err
	}
	var along []*graph.Node
	tolerance := 1e-6
	for i, p := range o.inputs {
		along = append(along, o.graph.Input(fmt.Sprintf("direction %d", i), p.DType(), p.Shape().Axes()...))
		if p.DType() == graph.F32 {
			tolerance = 1e-3
		}
	}
	c.Tolerance, c.MaxProducts = cmp.Or(c.Tolerance, tolerance), cmp.Or(c.MaxProducts, 100)
	if !(c.Tolerance > 0) || c.MaxProducts < 1 {
		return nil, fmt.Errorf("%s: curvature wants a positive tolerance and a positive number of products", s.name())
	}
	product := grad.HVP(o.loss, o.inputs, along)
	p, err := o.compile(ctx, product...)
	if err != nil {
		return nil, err
	}
	e, err := o.evaluator(p)
	if err != nil {
		return nil, err
	}
	defer e.close()
	out := &Curvature{Name: s.name(), Params: o.size}
	progress := s.progress(c.MaxProducts+2, s.name()+", curvature") // two for the residuals
	apply := func(v []float64) ([]float64, error) {
		defer progress.step()
		out.Products++
		e.set(along, v)
		hv, err := e.at(ctx, at, product...)
		if err == nil && !allWithin(hv, math.MaxFloat64) {
			err = fmt.Errorf("%s: its second derivatives are not finite here", s.name())
		}
		return hv, err
	}
	return out, out.find(c, apply)
}

// find builds an orthonormal basis of the space spanned by v, Hv, H²v, … In this basis H is
// tridiagonal, and the extreme eigenvalues of that matrix approach those of H.
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
		for range 2 { // after once, rounding leaves some of it
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

// String returns a few lines: the eigenvalues with their error bounds, and what they mean for
// gradient descent, which on a quadratic with the largest eigenvalue λ is stable at rates below
// 2/λ.
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
