package lab

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Probe is a metric of [Compare] besides the losses of the variants. It measures the parameters and
// states that each training ends with.
type Probe struct {
	Name   string
	Higher bool // larger is better
	judge  *Variant
	needs  string // what a model must have to be measured, in words; "" if that is not known
	of     func(m *builders.Model, final *tape.Store) (float64, error)
}

// Judge returns a probe that measures by the mean loss of an objective that is not trained itself,
// over the batches that a trained model is measured on. It applies to the variants that have all of
// its parameters, by path and type.
func Judge(v Variant) Probe { return Probe{Name: v.Name, judge: &v} }

// ProbeFunc returns a probe that calls f with the model of a variant and the store that its
// training ended with. If f returns NaN, the probe does not apply; an error ends the comparison. f
// is called from several goroutines at a time.
func ProbeFunc(name string, f func(m *builders.Model, final *tape.Store) (float64, error)) Probe {
	return Probe{Name: name, of: f}
}

// judge measures the parameters of trainings by the loss of a model.
type judge struct {
	name  string
	model *builders.Model
	prog  *tape.Program
	learn []*graph.Node // parameters and states that the loss depends on
	feed  feeder
	last  tape.Feed // the last values of scheduled inputs
}

// newJudge compiles the loss of a model. last has the last values of its scheduled inputs.
func newJudge(ctx context.Context, name string, m *builders.Model, f feeder, last tape.Feed) (*judge, error) {
	j := &judge{name: name, model: m, feed: f, last: last}
	for _, n := range graph.Reachable(m.Loss) {
		if n.Role() == graph.RoleParam || n.Role() == graph.RoleState {
			j.learn = append(j.learn, n)
		}
	}
	var err error
	if j.prog, err = tape.CompileContext(ctx, m.Graph, tape.Fetch(m.Loss)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return j, nil
}

// applies reports whether another model has all parameters and states that the loss depends on, by
// path and type. A loss that depends on none applies to no model.
func (j *judge) applies(m *builders.Model) bool {
	return len(j.learn) > 0 && !slices.ContainsFunc(j.learn, func(n *graph.Node) bool { return !has(m, n) })
}

// has reports whether a model has a parameter or state, by path and type.
func has(m *builders.Model, n *graph.Node) bool {
	other := m.Graph.Lookup(n.Path())
	return other != nil && (other.Role() == graph.RoleParam || other.Role() == graph.RoleState) &&
		other.DType() == n.DType() && other.Shape().SameSizes(n.Shape())
}

// measure returns the mean loss of the final values of a training over the batches that the judge
// is fed for the seed. Random draws differ between batches and are the same for every training from
// the seed.
func (j *judge) measure(ctx context.Context, final *tape.Store, seed uint64) (float64, error) {
	store := tape.NewStore(nil, tape.Seed(seed))
	vm, err := j.prog.NewVM(store, tape.Workers(1))
	if err != nil {
		return math.NaN(), fmt.Errorf("judged by %s: %w", j.name, err)
	}
	defer vm.Close()
	paths := make([]string, len(j.learn))
	for i, n := range j.learn {
		paths[i] = n.Path()
	}
	if err := copyRead(store, final, paths); err != nil {
		return math.NaN(), fmt.Errorf("judged by %s: %w", j.name, err)
	}
	sum, held := 0.0, j.feed.held(seed).with(j.last)
	for _, next := range held {
		feed, err := next()
		if err != nil {
			return math.NaN(), err
		}
		if err := vm.Run(ctx, feed); err != nil {
			return math.NaN(), fmt.Errorf("judged by %s: %w", j.name, err)
		}
		loss, err := vm.Float(j.model.Loss)
		if err != nil {
			return math.NaN(), err
		}
		sum += loss
	}
	return sum / float64(len(held)), nil
}

// measureKeys returns the mean loss of a clustering whose centres are the keys that another model looks
// up in a training from a seed, or NaN: the judge is no clustering, or of another number of centres,
// or the model looks up nothing.
func (j *judge) measureKeys(ctx context.Context, feed feeder, seed uint64) (float64, error) {
	f, is := feed.(rowFeeder)
	r := j.model.Centres()
	if !is || r == nil || len(j.learn) != 1 || j.learn[0] != r || len(f.reads.memory) == 0 || f.reads.k != r.Dim(0) {
		return math.NaN(), nil
	}
	keys := tape.NewStore(nil)
	if err := keys.Add(r.Path(), tape.Tensor(graph.Value{Type: r.Type(), Data: f.memoryRows(seed)})); err != nil {
		return math.NaN(), err
	}
	return j.measure(ctx, keys, seed)
}

// needs lists what the loss depends on, by path.
func (j *judge) needs() string {
	var out []string
	for _, n := range j.learn {
		out = append(out, n.Path())
	}
	if most := 4; len(out) > most {
		out = append(out[:most-1], fmt.Sprintf("%d more", len(out)-most+1))
	}
	return strings.Join(out, ", ")
}

// ScheduledOf returns the schedules of Config.Scheduled for the scalar inputs that a model has, by
// node. A temperature that [builders.Builder.With] has fixed has none.
func (c Config) ScheduledOf(m *builders.Model) map[*graph.Node]train.Schedule {
	out := map[*graph.Node]train.Schedule{}
	for path, s := range c.Scheduled {
		if _, fixed := m.Builder.Fixed["gamma"]; fixed && path == gammaPath {
			continue
		}
		if n := m.Graph.Lookup(path); n != nil && n.Role() == graph.RoleInput {
			if _, scalar := n.Default(); scalar {
				out[n] = s
			}
		}
	}
	return out
}

// scheduled returns the schedules for the scalar inputs that a model has, by path.
func (c Config) scheduled(m *builders.Model) map[string]train.Schedule {
	out := map[string]train.Schedule{}
	for n, s := range c.ScheduledOf(m) {
		out[n.Path()] = s
	}
	return out
}

// checkScheduled returns an error for a schedule of an input that no model has. The temperature is
// accepted if there is a Table, because centres are measured at it.
func (c Config) checkScheduled(function string, models ...*builders.Model) error {
	for _, path := range slices.Sorted(maps.Keys(c.Scheduled)) {
		has := func(m *builders.Model) bool { return !c.scheduled(m)[path].IsZero() }
		if !slices.ContainsFunc(models, has) && (path != gammaPath || c.Table == nil) {
			return fmt.Errorf("%s: Scheduled has %q: no model has a scalar input of this name", strings.ToLower(function), path)
		}
	}
	return nil
}

// lastOf returns the last values of the scheduled inputs of a model.
func (c Config) lastOf(m *builders.Model) tape.Feed {
	out := tape.Feed{}
	for n, s := range c.ScheduledOf(m) {
		out[n] = tape.Scalar(n.DType(), s.At(c.Steps-1, c.Steps))
	}
	return out
}
