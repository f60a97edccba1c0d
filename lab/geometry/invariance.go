package geometry

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/table"
)

// InvarianceConfig configures [Site.Invariance]. Zero values stand for the defaults.
type InvarianceConfig struct {
	Transformations []Transformation // default: those of [Site.Symmetries]
	Trials          int              // random moves of each; default 4
	Tolerance       float64          // of deviations; default: the square root of the loss type's rounding unit, 1.5e-8 or 3.5e-4
	Seed            uint64           // of the random moves
}

// Invariances is a table of how the loss, its derivatives and the output respond to
// transformations.
type Invariances struct {
	Name       string
	Quantities []string // the columns
	Rows       []InvarianceRow
	Trials     int
	Tolerance  float64
}

// InvarianceRow is the row of one transformation.
type InvarianceRow struct {
	Transformation string
	Responses      []Response // one per quantity
}

// Invariance transforms inputs and parameters at random and classifies how the loss responds, its
// derivative by each parameter, and the output of a model that is no clustering. This is a
// numerical check at one site: a "no" is certain, an invariance only very likely. A transformation
// that does not fit the model, and a configuration out of range, are errors.
func (s Site) Invariance(ctx context.Context, c InvarianceConfig) (*Invariances, error) {
	var output []*graph.Node
	if s.Model != nil && s.Model.Centres() == nil && s.Model.Output != nil && s.Model.Output != s.Model.Loss && s.Model.Output.DType().IsFloat() {
		output = append(output, s.Model.Output)
	}
	o, err := s.objective(output...)
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
	t := &trials{quantities: append([]*graph.Node{o.loss}, grad.OrZero(o.loss, o.inputs...)...), gradients: len(o.inputs)}
	out := &Invariances{Name: s.name(), Quantities: []string{"loss"}, Trials: c.Trials, Tolerance: c.Tolerance}
	for _, p := range o.params {
		out.Quantities = append(out.Quantities, "∂loss/∂"+p.Path())
	}
	for _, n := range output {
		t.quantities = append(t.quantities, o.copies[n])
		out.Quantities = append(out.Quantities, n.Label())
	}
	p, err := o.compile(ctx, t.quantities...)
	if err != nil {
		return nil, err
	}
	if t.evaluator, err = o.evaluator(p); err != nil {
		return nil, err
	}
	defer t.close()
	if t.before, err = t.measure(ctx, nil); err != nil {
		return nil, err
	}
	progress := s.progress(len(c.Transformations), s.name()+", symmetries")
	for i, tr := range c.Transformations {
		if err := tr.check(o); err != nil {
			return nil, fmt.Errorf("%s: %v: %w", s.name(), tr, err)
		}
		row, err := t.respond(ctx, tr, c, uint64(i))
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, InvarianceRow{tr.String(), row})
		progress.step()
	}
	return out, nil
}

// trials evaluates quantities where inputs and parameters are moved.
type trials struct {
	*evaluator
	quantities []*graph.Node // the loss, its derivatives, others
	gradients  int
	before     [][]float64 // the quantities where nothing is moved
}

// measure evaluates the quantities with some inputs and parameters at other values.
func (t *trials) measure(ctx context.Context, moved map[*graph.Node][]float64) ([][]float64, error) {
	var at []float64
	for _, p := range t.objective.params {
		v, ok := moved[p]
		if !ok {
			var err error
			if v, err = t.objective.valueOf(p); err != nil {
				return nil, err
			}
		}
		at = append(at, v...)
	}
	t.feed = feedOf(t.objective.site.Feed, t.objective.copies)
	for n, v := range moved {
		if n.Role() == graph.RoleInput {
			t.set([]*graph.Node{t.objective.copies[n]}, v)
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

// respond tries a transformation and classifies the response of every quantity.
func (t *trials) respond(ctx context.Context, tr Transformation, c InvarianceConfig, number uint64) ([]Response, error) {
	values, spread := map[*graph.Node][]float64{}, 0.0
	for _, n := range tr.Of {
		v, err := t.objective.valueOf(n)
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
		out[k] = responseOf(t.before[k], after, moves, q.Shape(), k >= 1 && k <= t.gradients, t.floor(k, c.Tolerance), c.Tolerance)
	}
	return out, nil
}

// floor returns a size below which a derivative counts as a rounding error: at a minimum there is
// nothing to compare.
func (t *trials) floor(k int, tolerance float64) float64 {
	if k < 1 || k > t.gradients {
		return 0
	}
	v, err := t.objective.valueOf(t.objective.params[k-1])
	if size := math.Sqrt(dot(v, v) / float64(max(1, len(v)))); err == nil && size > 0 {
		return tolerance * math.Abs(t.before[0][0]) / size
	}
	return 0
}

// String returns the table, one line per transformation. Derivatives by more than four parameters
// share a column that counts their responses.
func (t *Invariances) String() string {
	const most = 4
	var gradients []int
	for i, q := range t.Quantities {
		if strings.HasPrefix(q, "∂") {
			gradients = append(gradients, i)
		}
	}
	counted := len(gradients) > most
	rows := [][]string{{"transformation"}}
	for i, q := range t.Quantities {
		switch {
		case !counted || !slices.Contains(gradients, i):
			rows[0] = append(rows[0], q)
		case i == gradients[0]:
			rows[0] = append(rows[0], fmt.Sprintf("derivatives by %d parameters", len(gradients)))
		}
	}
	for _, r := range t.Rows {
		row := []string{r.Transformation}
		for i, a := range r.Responses {
			switch {
			case !counted || !slices.Contains(gradients, i):
				row = append(row, a.text())
			case i == gradients[0]:
				row = append(row, tally(r.Responses[i:i+len(gradients)]))
			}
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("%s: response to %d random moves of each, with the largest relative deviation\n", t.Name, t.Trials) + table.Lines("  ", rows)
}
