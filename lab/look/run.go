package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Run is a model with the values of its parameters and states at some moments.
type Run struct {
	Model *builders.Model
	// Feeds are what the model is measured on. What is drawn of single examples is of the first.
	Feeds   []tape.Feed
	Moments []Moment // at least one, in the order of their steps
	// Trained is how the training went; nil for values that were not trained here.
	Trained *lab.History
	seed    uint64
}

// Moment is a store before a step of a training, or at its end.
type Moment struct {
	Step  int
	Store *tape.Store
}

// Start returns the first moment.
func (r *Run) Start() Moment {
	if r == nil || len(r.Moments) == 0 {
		return Moment{}
	}
	return r.Moments[0]
}

// End returns the last moment.
func (r *Run) End() Moment {
	if r == nil || len(r.Moments) == 0 {
		return Moment{}
	}
	return r.Moments[len(r.Moments)-1]
}

// measurable reports whether there is something to measure, on a batch; a run without a model is an
// error.
func (r *Run) measurable() (bool, error) {
	if r == nil || r.Model == nil || r.Model.Graph == nil || r.Model.Result() == nil || r.End().Store == nil {
		return false, errors.New("look: want a run by At or Train")
	}
	return len(r.Feeds) > 0, nil
}

// measuredBatches is the number of batches that a run is measured on, at most.
const measuredBatches = 8

// At returns the run of a model that is not trained: its values are those of the store alone. It is
// measured on batches of its data, or of its own examples from the seed.
func At(m *builders.Model, store *tape.Store, seed uint64) (*Run, error) {
	if m == nil || m.Graph == nil || m.Result() == nil || store == nil {
		return nil, errors.New("look: want a model, and a store of its values")
	}
	r := &Run{Model: m, Moments: []Moment{{Step: 0, Store: store}}, seed: seed}
	return r, r.feed(false)
}

// Train trains a model from one seed, as [lab.Learn] does, and keeps the values before the given
// steps and at the end. It is measured on the first batches of the training, where every step has
// the same one (lab.Config.OneBatch) on that.
func Train(ctx context.Context, m *builders.Model, c lab.Config, steps []int) (*Run, error) {
	if m == nil || m.Graph == nil {
		return nil, errors.New("look: there is no model")
	}
	r := &Run{Model: m, seed: c.Seed}
	c.Seeds = 1
	plan := c.Plan
	c.Plan = func(t *train.Trainer, p *train.Plan) error {
		if plan != nil {
			if err := plan(t, p); err != nil {
				return err
			}
		}
		keep := func(step int) { r.Moments = append(r.Moments, Moment{step, t.Store().Clone()}) }
		keep(0)
		p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped && (slices.Contains(steps, e.Step) || e.Step == e.Steps) {
				keep(e.Step)
			}
			return nil
		}))
		return nil
	}
	learned, err := lab.Learn(ctx, func() (*builders.Model, error) { return m, nil }, c)
	if err != nil {
		return nil, err
	}
	r.Trained = &learned.Runs[0]
	return r, r.feed(c.OneBatch)
}

// Spaced returns about thirty steps of a training of so many, which lie closer at the beginning.
func Spaced(steps int) []int {
	var out []int
	for i, at := 0, 1.0; i < 30; i++ {
		at = max(at*1.25, at+1)
		out = append(out, int(at))
	}
	for i := range 11 {
		out = append(out, i*steps/10)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(s int) bool { return s > steps })
}

// feed reads the batches to measure on.
func (r *Run) feed(one bool) error {
	m := r.Model
	if m.Rows == nil {
		n := measuredBatches
		if one || m.Examples == nil {
			n = 1
		}
		for t := range n {
			f, err := lab.Examples(m, r.seed, t)
			if err != nil {
				return err
			}
			r.Feeds = append(r.Feeds, f)
		}
		return nil
	}
	_, trained, _ := m.Rows.Batches()
	for i := range min(trained, measuredBatches) {
		f, err := m.Rows.Trained(i)
		if err != nil {
			return err
		}
		r.Feeds = append(r.Feeds, tape.Tensors(f))
	}
	return nil
}

// nodes lists what the loss and the output depend on, in an order in which it can be computed.
func (r *Run) nodes() []*graph.Node {
	roots := []*graph.Node{r.Model.Result()}
	if r.Model.Output != nil {
		roots = append(roots, r.Model.Output)
	}
	return graph.Reachable(roots...)
}

// name returns the name of the model, for errors.
func (r *Run) name() string { return r.Model.Builder.Name }

// middle returns the moments at the start, about half way and at the end, each once.
func (r *Run) middle() []Moment {
	last := r.End().Step
	half := slices.MinFunc(r.Moments, func(a, b Moment) int { return abs(2*a.Step-last) - abs(2*b.Step-last) })
	out := []Moment{r.Start(), half, r.End()}
	return slices.CompactFunc(out, func(a, b Moment) bool { return a.Step == b.Step })
}

func abs(n int) int { return max(n, -n) }

// place returns where the user wrote a node, to tell nodes apart: its scope and its name, of which
// one may be missing.
func place(n *graph.Node) string {
	o := n.First()
	name := n.Name()
	switch {
	case o.Scope != "" && name != "":
		return o.Scope + "/" + name
	case o.Scope != "":
		return o.Scope
	case name != "":
		return name
	}
	if n.Role() == graph.RoleOp && n.NumIn() > 0 {
		return "after " + strings.TrimPrefix(place(n.In(0)), "after ")
	}
	return n.Label()
}

// named returns the place of a node or, where it has no name, that of one that only lays its elements
// out anew.
func (r *Run) named(n *graph.Node) string {
	if n.Name() == "" {
		for _, user := range r.nodes() {
			if root, _ := match.Laid(user); root == n && user.Name() != "" {
				return place(user)
			}
		}
	}
	return place(n)
}

// unique numbers names that occur more than once.
func unique(names []string) {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	seen := map[string]int{}
	for i, n := range names {
		if count[n] > 1 {
			seen[n]++
			names[i] = fmt.Sprintf("%s (%d)", n, seen[n])
		}
	}
}
