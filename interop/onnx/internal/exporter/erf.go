package exporter

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// The coefficients are those of package math, which has them from FreeBSD's s_erf.c (Sun
// Microsystems, 1993) and, of the inverse, from Wichura, The percentage points of the normal distribution (1988).
var (
	erfPP   = []float64{1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02, -5.77027029648944159157e-03, -2.37630166566501626084e-05}
	erfQQ   = []float64{1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03, 1.32494738004321644526e-04, -3.96022827877536812320e-06}
	erfPA   = []float64{-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01, 3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03}
	erfQA   = []float64{1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02, 1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02}
	erfRA   = []float64{-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01, -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01, -9.81432934416914548592e+00}
	erfSA   = []float64{1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02, 6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00, -6.04244152148580987438e-02}
	erfRB   = []float64{-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01, -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02}
	erfSB   = []float64{1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03, 3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01}
	erfinvA = []float64{1.1975323115670912564578e0, 4.7072688112383978012285e1, 6.9706266534389598238465e2, 4.8548868893843886794648e3, 1.6235862515167575384252e4, 2.3782041382114385731252e4, 1.1819493347062294404278e4, 8.8709406962545514830200e2}
	erfinvB = []float64{1.0000000000000000000e0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	erfinvC = []float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	erfinvD = []float64{1.4142135623730950488016887e0, 2.9036514445419946173133295e0, 2.3707661626024532365971225e0, 9.7547832001787427186894837e-1, 2.0945065210512749128288442e-1, 2.1494160384252876777097297e-2, 7.7441459065157709165577218e-4, 1.4859850019840355905497876e-9}
	erfinvE = []float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	erfinvF = []float64{1.414213562373095048801689e0, 8.482908416595164588112026e-1, 1.936480946950659106176712e-1, 2.103693768272068968719679e-2, 1.112800997078859844711555e-3, 2.611088405080593625138020e-5, 2.010321207683943062279931e-7, 2.891024605872965461538222e-15}
)

// tail returns erfc(a) for a ≥ 0.84375; below it is of no use.
func tail(a *graph.Node) *graph.Node {
	quotient := func(x *graph.Node, p, q []float64) *graph.Node {
		return ops.Div(polynomial(x, p...), polynomial(x, q...))
	}
	near := ops.Sub(ops.Lit(a, 1-8.45062911510467529297e-01), quotient(ops.Shift(a, -1), erfPA, erfQA))
	b := ops.Minimum(ops.Maximum(a, ops.Lit(a, 0.5)), ops.Lit(a, 28))
	z := ops.Div(ops.Lit(a, 1), ops.Square(b))
	far := ops.Select(ops.Less(b, ops.Lit(b, 1/0.35)), quotient(z, erfRA, erfSA), quotient(z, erfRB, erfSB))
	far = ops.Div(ops.Exp(ops.Sub(far, ops.Shift(ops.Square(b), 0.5625))), b)
	return ops.Select(ops.Less(a, ops.Lit(a, 1.25)), near, far)
}

// center returns erf(x) for |x| ≤ 0.84375.
func center(x *graph.Node) *graph.Node {
	z := ops.Square(ops.Maximum(ops.Minimum(x, ops.Lit(x, 1)), ops.Lit(x, -1)))
	return ops.Add(x, ops.Mul(x, ops.Div(polynomial(z, erfPP...), polynomial(z, erfQQ...))))
}

func erf(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node {
		a := ops.Abs(x[0])
		return ops.Select(ops.Less(a, ops.Lit(a, 0.84375)), center(x[0]), ops.Mul(ops.Sign(x[0]), ops.OneMinus(tail(a))))
	})
}

func erfc(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node {
		a := ops.Abs(x[0])
		t := tail(a)
		t = ops.Select(ops.Less(x[0], ops.Lit(a, 0)), ops.Sub(ops.Lit(a, 2), t), t)
		return ops.Select(ops.Less(a, ops.Lit(a, 0.84375)), ops.OneMinus(center(x[0])), t)
	})
}

func erfinv(_ *graph.Graph, n *graph.Node, in []*graph.Node) *graph.Node {
	return double(n, in, func(x []*graph.Node) *graph.Node { return inverseErf(x[0]) })
}

func inverseErf(x *graph.Node) *graph.Node {
	a := ops.Abs(x)
	quotient := func(r *graph.Node, p, q []float64) *graph.Node {
		return ops.Div(polynomial(r, p...), polynomial(r, q...))
	}
	middle := ops.Mul(x, quotient(ops.Sub(ops.Lit(x, 0.180625), ops.Scale(ops.Square(x), 0.25)), erfinvA, erfinvB))
	r := ops.Sqrt(ops.Sub(ops.Lit(x, math.Ln2), ops.Log(ops.OneMinus(ops.Minimum(a, ops.Lit(a, 1-0x1p-53))))))
	far := ops.Select(ops.LessEqual(r, ops.Lit(r, 5)), quotient(ops.Shift(r, -1.6), erfinvC, erfinvD), quotient(ops.Shift(r, -5), erfinvE, erfinvF))
	far = ops.Select(ops.Equal(a, ops.Lit(a, 1)), ops.Lit(a, math.Inf(1)), far)
	far = ops.Select(ops.Greater(a, ops.Lit(a, 1)), ops.Lit(a, math.NaN()), far)
	return ops.Select(ops.LessEqual(a, ops.Lit(a, 0.85)), middle, ops.Mul(ops.Sign(x), far))
}
