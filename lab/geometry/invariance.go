package geometry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
)

// Motion is a way to move values.
type Motion int

// The motions.
const (
	Translation Motion = iota // the same random offsets at every place along the axes; without axes one number everywhere
	Rotation                  // a random orthogonal matrix along one axis; half of them reflect
	Permutation               // a random order of the places along one axis, or along several in the same way
	Scaling                   // a positive factor s
)

var motionNames = [...]string{"translation", "rotation", "permutation", "scaling"}

// String is the name in lower case.
func (m Motion) String() string { return motionNames[min(max(int(m), 0), len(motionNames)-1)] }

// Transformation moves inputs and parameters of a model together.
type Transformation struct {
	Motion Motion
	Axes   []string      // by name; what is moved has at least one of them, except in a scaling
	Of     []*graph.Node // inputs and parameters
	// Powers are the powers of s, other than 1, by which nodes of Of are scaled: a
	// temperature γ of squared distances by −2.
	Powers map[*graph.Node]float64
}

// ResponseKind says what becomes of a quantity when inputs and parameters move.
type ResponseKind int

// The responses.
const (
	Changes     ResponseKind = iota // none of the others
	Invariant                       // it stays
	Equivariant                     // it moves as they do
	Homogeneous                     // it is multiplied by s^p
	NotFinite                       // it is NaN or infinite here or there
)

// Response is what became of a quantity in all trials.
type Response struct {
	Kind ResponseKind
	// Power is the p of a Homogeneous quantity.
	Power float64
	// Deviation is the largest in any trial from what the kind says, relative to the
	// largest element; of a quantity that Changes, from what comes nearest.
	Deviation float64
}

// String gives invariant, equivariant, ∝ s^2, no or not finite.
func (r Response) String() string {
	switch r.Kind {
	case Invariant:
		return "invariant"
	case Equivariant:
		return "equivariant"
	case Homogeneous:
		return "∝ s^" + powerText(r.Power)
	case NotFinite:
		return "not finite"
	}
	return "no"
}

// powerText leaves out what rounding made of a simple power.
func powerText(p float64) string {
	if q := math.Round(4*p) / 4; math.Abs(p-q) < 1e-4 {
		p = q
	}
	return fmt.Sprintf("%.4g", p)
}

// InvarianceConfig says how symmetries are tried. Zero values stand for the defaults.
type InvarianceConfig struct {
	Transformations []Transformation // default: those of [Site.Symmetries]
	Trials          int              // random motions of each; default 4
	Tolerance       float64          // of the deviation; default: the root of the rounding unit, 1.5e-8 or 3.5e-4
	Seed            uint64
}

// Invariances is a table: what becomes of the loss, its derivatives and the output under
// each transformation.
type Invariances struct {
	Name       string
	Quantities []string // the columns
	Rows       []InvarianceRow
	Trials     int
	Tolerance  float64
}

// InvarianceRow is one transformation.
type InvarianceRow struct {
	Transformation string
	Responses      []Response // as Quantities
}

// Invariance moves what the model is fed and its parameters at random and looks at what
// becomes of the loss, of its derivative by each parameter, and of the output of a model
// that is no clustering. It is a numerical check at one site: "no" is proved by it, an
// invariance only made very likely.
func (s Site) Invariance(ctx context.Context, c InvarianceConfig) (*Invariances, error) {
	var output []*graph.Node
	if s.Model != nil && s.Model.KMeans == nil && s.Model.Output != nil && s.Model.Output != s.Model.Loss && s.Model.Output.DType().IsFloat() {
		output = append(output, s.Model.Output)
	}
	g, err := s.ground(output...)
	if err != nil {
		return nil, err
	}
	if c.Transformations == nil {
		if c.Transformations, err = s.Symmetries(); err != nil {
			return nil, err
		}
	}
	c.Trials = cmp.Or(c.Trials, 4)
	if c.Tolerance == 0 {
		c.Tolerance = math.Sqrt(0x1p-52)
		if s.Model.Loss.DType() == graph.F32 {
			c.Tolerance = math.Sqrt(0x1p-23)
		}
	}
	if c.Trials < 0 || !(c.Tolerance > 0) {
		return nil, fmt.Errorf("%s: invariance wants a positive number of trials and a positive tolerance", s.name())
	}
	t := &trial{ground: g, quantities: append([]*graph.Node{g.loss}, grad.OrZero(g.loss, g.at...)...), gradients: len(g.at)}
	out := &Invariances{Name: s.name(), Quantities: []string{"loss"}, Trials: c.Trials, Tolerance: c.Tolerance}
	for _, p := range g.params {
		out.Quantities = append(out.Quantities, "∂loss/∂"+p.Path())
	}
	for _, n := range output {
		t.quantities = append(t.quantities, g.copies[n])
		out.Quantities = append(out.Quantities, n.Label())
	}
	p, err := g.compile(ctx, t.quantities...)
	if err != nil {
		return nil, err
	}
	if t.runner, err = g.runner(p); err != nil {
		return nil, err
	}
	defer t.runner.close()
	if t.here, err = t.measure(ctx, nil); err != nil {
		return nil, err
	}
	work := s.work(len(c.Transformations), s.name()+", symmetries")
	for i, tr := range c.Transformations {
		if err := tr.check(g); err != nil {
			return nil, fmt.Errorf("%s: %v: %w", s.name(), tr, err)
		}
		row, err := t.respond(ctx, tr, c, uint64(i))
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, InvarianceRow{tr.String(), row})
		work.piece()
	}
	return out, nil
}

// check complains about what cannot be moved.
func (t Transformation) check(g *ground) error {
	size := 0
	if len(t.Of) == 0 {
		return errors.New("nothing is moved")
	}
	for _, n := range t.Of {
		switch {
		case n == nil || g.copies[n] == nil || n.Role() != graph.RoleInput && !slices.Contains(g.params, n):
			return fmt.Errorf("%v is no input or parameter that the loss depends on", n)
		case t.Motion != Permutation && !n.DType().IsFloat():
			return fmt.Errorf("%v counts or indexes: it can only be permuted", n)
		case t.Motion == Scaling:
			continue
		case t.Motion == Rotation && len(t.Axes) != 1, t.Motion == Permutation && len(t.Axes) == 0:
			return fmt.Errorf("a %v along %d axes", t.Motion, len(t.Axes))
		}
		has := len(t.Axes) == 0
		for _, name := range t.Axes {
			if k := n.Shape().Index(name); k >= 0 {
				if has = true; size != 0 && size != n.Dim(k) {
					return fmt.Errorf("the axis %s of %v has another size than %d", name, n, size)
				}
				size = n.Dim(k)
			}
		}
		if !has {
			return fmt.Errorf("%v has no axis %v", n, t.Axes)
		}
	}
	return nil
}

// trial runs the program at moved values.
type trial struct {
	*runner
	ground     *ground
	quantities []*graph.Node // the loss, its derivatives, others
	gradients  int
	here       [][]float64 // the quantities where nothing is moved
}

// measure gives the quantities with some leaves at other values.
func (t *trial) measure(ctx context.Context, moved map[*graph.Node][]float64) ([][]float64, error) {
	var at []float64
	for _, p := range t.ground.params {
		v, ok := moved[p]
		if !ok {
			var err error
			if v, err = t.ground.valueOf(p); err != nil {
				return nil, err
			}
		}
		at = append(at, v...)
	}
	t.feed = feedOf(t.ground.site.Feed, t.ground.copies)
	for n, v := range moved {
		if n.Role() == graph.RoleInput {
			t.set([]*graph.Node{t.ground.copies[n]}, v)
		}
	}
	if err := t.run(ctx, at); err != nil {
		return nil, err
	}
	var out [][]float64
	for _, q := range t.quantities {
		v, err := t.values(q)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// valueOf is the value of an input or a parameter at the site.
func (g *ground) valueOf(n *graph.Node) ([]float64, error) {
	if slices.Contains(g.params, n) {
		return valuesOf(g.site.Store, []*graph.Node{n})
	}
	fed := g.site.Feed[n]
	if v, has := n.Default(); has && fed == nil {
		return []float64{v}, nil
	}
	if fed == nil {
		return nil, fmt.Errorf("%s: nothing is fed to %s", g.site.name(), n.Path())
	}
	v, err := floats(n.Type(), fed)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", g.site.name(), n.Path(), err)
	}
	return v, nil
}

// respond tries a transformation and judges every quantity.
func (t *trial) respond(ctx context.Context, tr Transformation, c InvarianceConfig, number uint64) ([]Response, error) {
	values, spread := map[*graph.Node][]float64{}, 0.0
	for _, n := range tr.Of {
		v, err := t.ground.valueOf(n)
		if err != nil {
			return nil, err
		}
		values[n] = v
		spread = max(spread, math.Sqrt(dot(v, v)/float64(max(1, len(v)))))
	}
	var moves []move
	var there [][][]float64
	for trial := range c.Trials {
		rng := rand.New(rand.NewPCG(c.Seed, 0x6d6f7665<<32+number<<16+uint64(trial)))
		m := tr.draw(rng, spread)
		moved := map[*graph.Node][]float64{}
		for _, n := range tr.Of {
			moved[n] = m.apply(values[n], n.Shape(), tr.power(n))
		}
		q, err := t.measure(ctx, moved)
		if err != nil {
			return nil, err
		}
		moves, there = append(moves, m), append(there, q)
	}
	out := make([]Response, len(t.quantities))
	for k, q := range t.quantities {
		after := make([][]float64, len(there))
		for i := range there {
			after[i] = there[i][k]
		}
		out[k] = responseOf(t.here[k], after, moves, q.Shape(), k >= 1 && k <= t.gradients, t.floor(k, c.Tolerance), c.Tolerance)
	}
	return out, nil
}

// floor is a size below which a derivative is taken for the rounding of zero: at a
// minimum there is nothing to compare.
func (t *trial) floor(k int, tolerance float64) float64 {
	if k < 1 || k > t.gradients {
		return 0
	}
	v, err := t.ground.valueOf(t.ground.params[k-1])
	if size := math.Sqrt(dot(v, v) / float64(max(1, len(v)))); err == nil && size > 0 {
		return tolerance * math.Abs(t.here[0][0]) / size
	}
	return 0
}

// responseOf compares a quantity at the moved values with what each response would make of
// it.
func responseOf(here []float64, there [][]float64, moves []move, shape graph.Shape, gradient bool, floor, tolerance float64) Response {
	for _, v := range append([][]float64{here}, there...) {
		if !allWithin(v, math.MaxFloat64) {
			return Response{Kind: NotFinite, Deviation: math.NaN()}
		}
	}
	best := Response{Kind: Changes, Deviation: math.Inf(1)}
	try := func(kind ResponseKind, power float64, want func(m move) []float64) bool {
		worst := 0.0
		for i, m := range moves {
			worst = max(worst, deviation(there[i], want(m), floor))
		}
		if worst < best.Deviation {
			best.Deviation = worst
		}
		if worst <= tolerance {
			best = Response{kind, power, worst}
			return true
		}
		return false
	}
	if try(Invariant, 0, func(move) []float64 { return here }) {
		return best
	}
	if moves[0].motion == Scaling {
		p := fittedPower(here, there, moves)
		try(Homogeneous, p, func(m move) []float64 { return m.apply(here, shape, p) })
		return best
	}
	// A derivative does not move with a translation, and what lacks the axes cannot.
	if moves[0].reaches(shape) && !(gradient && moves[0].motion == Translation) {
		try(Equivariant, 0, func(m move) []float64 { return m.apply(here, shape, 1) })
	}
	return best
}

// deviation is the largest difference relative to the largest element.
func deviation(got, want []float64, floor float64) float64 {
	size, apart := floor, 0.0
	for i := range got {
		size = max(size, math.Abs(got[i]), math.Abs(want[i]))
		apart = max(apart, math.Abs(got[i]-want[i]))
	}
	if apart == 0 {
		return 0
	}
	return apart / size
}

// fittedPower is the p of |q(s)| = s^p·|q(1)|, by least squares of the logarithms.
func fittedPower(here []float64, there [][]float64, moves []move) float64 {
	up, down := 0.0, 0.0
	for i, m := range moves {
		l := math.Log(m.factor)
		ratio := math.Log(math.Sqrt(dot(there[i], there[i])) / math.Sqrt(dot(here, here)))
		up, down = up+l*ratio, down+l*l
	}
	if p := up / down; !math.IsNaN(p) && !math.IsInf(p, 0) {
		return p
	}
	return 0
}
