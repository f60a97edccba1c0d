package ops

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type lgamma struct{ floats1 }

// Lgamma returns log |Γ(x)|, element by element, for floats x: infinite at 0 and at the negative
// whole numbers. Its derivative is [Digamma].
func Lgamma(x *graph.Node) *graph.Node { return elementwise(lgamma{}, x) }

func (lgamma) Name() string     { return "Lgamma" }
func (lgamma) Kind() match.Kind { return match.Lgamma }
func (lgamma) Doc() string      { return "logarithm of the absolute gamma function, element by element" }

func (lgamma) Grad(y, dy *graph.Node, _ int) *graph.Node { return Mul(dy, Digamma(y.In(0))) }

func (lgamma) Scalar(x ...float64) float64      { return logGamma(x[0]) }
func (lgamma) Kernel(*graph.Node) kernel.Kernel { return kernel.Map{Of: logGamma} }
func (lgamma) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("lgamma", in[0])
}
func (lgamma) Cases() []Case { return case1(Lgamma, Positive) }

func logGamma(x float64) float64 {
	y, _ := math.Lgamma(math.Max(x, -math.MaxFloat64)) // −∞ counts as a whole number, as in C
	return y
}

type digamma struct{ floats1 }

// Digamma returns the derivative ψ(x) of log |Γ(x)|, element by element, for floats x: −∞ at 0, ∞ at
// −0 and NaN at the negative whole numbers, where the two sides differ. It has all its digits but near its
// zeros, where its error is some units in the last place of 1. Derivatives are [Polygamma].
func Digamma(x *graph.Node) *graph.Node { return elementwise(digamma{}, x) }

func (digamma) Name() string     { return "Digamma" }
func (digamma) Kind() match.Kind { return match.Digamma }
func (digamma) Doc() string {
	return "derivative of the logarithm of the gamma function, element by element"
}

func (digamma) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Polygamma(1, y.In(0)))
}

func (digamma) Scalar(x ...float64) float64                      { return newPolygammas(0).at(x[0]) }
func (digamma) Kernel(*graph.Node) kernel.Kernel                 { return polygammaKernel(0) }
func (digamma) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("digamma", in[0]) }
func (digamma) Cases() []Case                                    { return case1(Digamma, Positive) }

type polygamma struct {
	floats1
	Order int
}

// mostPolygamma is the greatest order: from about 170 on, the factorial is infinite.
const mostPolygamma = 100

// Polygamma returns the n-th derivative of [Digamma], element by element, for floats x, with n from
// 0 to 100; another n is a mistake. At 0 and at the negative whole numbers it is infinite where n is
// odd; where n is even, it is as Digamma is there.
//
// It is computed by the recurrence in x up to an argument where the asymptotic series has all
// digits, and below ½ by the reflection (−1)ⁿ·ψₙ(1−x) − ψₙ(x) = π·dⁿ/dxⁿ cot πx (Abramowitz and
// Stegun, 6.4.6, 6.4.7 and 6.4.11).
func Polygamma(n int, x *graph.Node) *graph.Node {
	defer calling("Polygamma", x)()
	if n == 0 {
		return Digamma(x)
	}
	return elementwise(polygamma{Order: n}, x)
}

func (polygamma) Name() string     { return "Polygamma" }
func (polygamma) Kind() match.Kind { return match.Polygamma }
func (polygamma) Doc() string      { return "derivative of Digamma, of any order, element by element" }

func (op polygamma) Infer(in []*graph.Node) (graph.Type, error) {
	t, err := inferEach(in, 1, wantFloat)
	if err == nil && (op.Order < 1 || op.Order > mostPolygamma) {
		err = fmt.Errorf("order %d: want 0 to %d", op.Order, mostPolygamma)
	}
	return t, err
}

func (op polygamma) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return Mul(dy, Polygamma(op.Order+1, y.In(0)))
}

func (op polygamma) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	if dx[0] == nil {
		return nil
	}
	return op.Grad(y, dx[0], 0)
}

func (op polygamma) Scalar(x ...float64) float64 {
	return newPolygammas(op.Order).at(x[0])
}
func (op polygamma) Kernel(*graph.Node) kernel.Kernel { return polygammaKernel(op.Order) }

func (op polygamma) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("polygamma", expr.Num(float64(op.Order)), in[0])
}

func (polygamma) Cases() []Case {
	return append(case1(func(x *graph.Node) *graph.Node { return Polygamma(1, x) }, Positive),
		case1(func(x *graph.Node) *graph.Node { return Polygamma(2, x) }, Positive)...)
}

func polygammaKernel(n int) kernel.Kernel { return kernel.Map{Of: newPolygammas(n).at} }

// bernoulli are the numbers B₂, B₄, … .
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330,
	854513. / 138, -236364091. / 2730, 8553103. / 6}

// polygammas computes ψₙ.
type polygammas struct {
	n         int
	scale     float64   // ±n!, by which everything else is divided
	least     float64   // from which on the asymptotic series has all digits
	terms     []float64 // of it
	cotangent []float64 // as [cotangent] returns it
}

func newPolygammas(n int) *polygammas {
	k := float64(n)
	s := &polygammas{n: n, scale: float64(2*(n%2)-1) * math.Gamma(k+1), least: k + 15, cotangent: cotangent(n)}
	list := bernoulli[:]
	if n < 2 { // where terms grow slowly, and most calls are
		s.least, list = 10, bernoulli[:9]
	}
	ratio := (k + 1) / 2
	for i, b := range list {
		two := float64(2*i + 2)
		s.terms = append(s.terms, b*ratio)
		ratio *= (two + k) * (two + k + 1) / ((two + 1) * (two + 2))
	}
	return s
}

// at returns ψₙ(x).
func (s *polygammas) at(x float64) float64 {
	n := s.n
	switch {
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case x <= 0 && x == math.Floor(x):
		switch {
		case n%2 == 1:
			return math.Inf(1)
		case x == 0:
			return math.Copysign(math.Inf(1), -x)
		}
		return math.NaN()
	case x < 0.5:
		return reflected(n, s.cotangent, s.at(1-x), x)
	}
	// From the small terms to the large.
	shift := int(max(0, math.Ceil(s.least-x)))
	far := x + float64(shift)
	square := 1 / (far * far)
	sum := 0.0
	for i := len(s.terms) - 1; i >= 0; i-- {
		sum = (sum + s.terms[i]) * square
	}
	sum += 0.5 / far
	if n == 0 {
		sum -= math.Log(far)
	} else {
		sum = (sum + 1/float64(n)) * inversePower(far, n)
	}
	switch {
	case n < 2 && shift > 0:
		sum += inverses(x, shift, n+1)
	case n >= 2:
		for i := shift - 1; i >= 0; i-- {
			sum += inversePower(x+float64(i), n+1)
		}
	}
	return s.scale * sum
}

// inverses returns the sum of 1/x, 1/(x+1), … or of their squares, by one division. The numbers are
// less than 11, and not many, so that the product of all is finite.
func inverses(x float64, terms, power int) float64 {
	over, under := 0.0, 1.0
	for i := terms - 1; i >= 0; i-- {
		t := x + float64(i)
		if power == 2 {
			t *= t
		}
		over, under = over*t+under, under*t
	}
	return over / under
}

// inversePower returns x⁻ⁿ, for whole numbers above 0.
func inversePower(x float64, n int) float64 {
	switch n {
	case 1:
		return 1 / x
	case 2:
		return 1 / (x * x)
	}
	return math.Pow(x, float64(-n))
}

// cotangent returns the coefficients, by powers of c = cot πx, of the n-th derivative of c by x
// without its factor (−π)ⁿ. As c' = −π·(1 + c²), they have one sign: nothing cancels in their sum.
func cotangent(n int) []float64 {
	p := []float64{0, 1}
	for range n {
		next := make([]float64, len(p)+1)
		for i := 1; i < len(p); i++ {
			next[i-1] += float64(i) * p[i]
			next[i+1] += float64(i) * p[i]
		}
		p = next
	}
	return p
}

// reflected returns ψₙ(x), given cotangent(n) and ψₙ(1−x).
func reflected(n int, p []float64, mirror, x float64) float64 {
	r := x - math.RoundToEven(x)
	c := 1 / math.Tan(math.Pi*r)
	if math.Abs(r) > 0.25 { // near ±½, where c is 0
		c = math.Tan(math.Pi * (math.Copysign(0.5, r) - r))
	}
	cot := 0.0
	for i := len(p) - 1; i >= 0; i-- {
		cot = cot*c + p[i]
	}
	cot *= math.Pow(math.Pi, float64(n+1))
	if n%2 == 1 {
		return cot - mirror
	}
	return mirror - cot
}
