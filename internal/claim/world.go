package claim

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// seed is that of everything random in a claim.
const seed = 1

// world is a model under conditions, with the values of its quantities.
type world struct {
	under conditions
	m     *builders.Model
	step  graph.Step
	names map[string][]*graph.Node // by each name with some of the scopes before it
	whole map[string]*graph.Node   // by the name with all scopes
	known graph.Values             // the values of leaves, and of what was evaluated
}

// newWorld builds a model, trains it if the conditions say so, and gives its leaves values.
func newWorld(ctx context.Context, under conditions) (*world, error) {
	w := &world{under: under, known: graph.Values{}}
	var err error
	if w.m, err = build(under.model); err != nil {
		return nil, err
	}
	w.step = w.m.Step
	if under.optimiser != "" && under.steps < 0 {
		o, err := under.trainedBy()
		if err != nil {
			return nil, err
		}
		w.step = lab.TrainingStep(w.m, o)
		if err := w.m.Graph.Err(); err != nil {
			return nil, err
		}
	}
	w.index()
	return w, w.begin(ctx)
}

// build builds a model of the registry in float64, with the settings in its braces.
func build(name string) (*builders.Model, error) {
	base, braces, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	b, err := builders.Lookup(base)
	if err != nil {
		return nil, err
	}
	var s builders.Settings
	if braces != "" {
		if s, err = b.ParseSettings(braces); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m, err := b.Build(s, graph.F64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// optimiserOptions are the options that a claim can give an optimiser, by name.
var optimiserOptions = map[string]func(float64) train.Option{
	"clip-norm": train.ClipNorm, "clip-value": train.ClipValue, "ema": train.EMA, "epsilon": train.Epsilon, "smoothing": train.Smoothing,
	"weight-decay": func(λ float64) train.Option { return train.WeightDecay(λ) },
}

// trainedBy returns the optimiser of the conditions.
func (c conditions) trainedBy() (train.Optimiser, error) {
	var options []train.Option
	for _, part := range strings.Split(c.options, ", ")[1:] {
		name, number, _ := strings.Cut(part, " ")
		option := optimiserOptions[name]
		v, err := strconv.ParseFloat(number, 64)
		if option == nil || err != nil {
			return train.Optimiser{}, fmt.Errorf("an optimiser with %s: want one of %s and a number", part, strings.Join(slices.Sorted(maps.Keys(optimiserOptions)), ", "))
		}
		options = append(options, option(v))
	}
	return train.Named(c.optimiser, c.rate, options...)
}

// begin gives the leaves their values.
func (w *world) begin(ctx context.Context) error {
	feed, err := lab.Examples(w.m, seed, 0)
	if err != nil {
		return err
	}
	for n, t := range feed {
		if w.known[n], err = valueOf(n.Type(), t); err != nil {
			return err
		}
	}
	store, err := w.trained(ctx)
	if err != nil {
		return err
	}
	for _, n := range w.m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		if store == nil {
			w.known[n] = random(n)
		} else if t, err := store.Get(n.Path()); err != nil {
			return err
		} else if w.known[n], err = valueOf(n.Type(), t); err != nil {
			return err
		}
	}
	for _, o := range w.under.with {
		n, err := w.leaf(o.name)
		if err != nil {
			return err
		}
		if w.under.steps > 0 && n.Role() != graph.RoleInput {
			continue // it began with that value
		}
		w.known[n] = filled(n.Type(), o.value)
	}
	return nil
}

// leaf returns the leaf of the name.
func (w *world) leaf(name string) (*graph.Node, error) {
	found := w.names[name]
	if len(found) != 1 || found[0].Path() == "" {
		return nil, fmt.Errorf("%s has no one leaf %s", w.under.model, name)
	}
	return found[0], nil
}

// trained returns the store after initialisation and training; nil where there is none of either.
func (w *world) trained(ctx context.Context) (*tape.Store, error) {
	if w.under.steps < 0 {
		return nil, nil
	}
	store, err := lab.NewStore(w.m, seed)
	if err != nil || w.under.steps == 0 {
		return store, err
	}
	c := lab.Config{Seeds: 1, Seed: seed, Steps: w.under.steps, OneBatch: w.under.oneBatch}
	if w.under.optimiser != "" {
		o, err := w.under.trainedBy()
		if err != nil {
			return nil, err
		}
		c.Optimisers = []train.Optimiser{o}
	}
	set := map[string]*tensor.Dense{}
	c.Scheduled = map[string]train.Schedule{}
	for _, o := range w.under.with {
		n, err := w.leaf(o.name)
		switch {
		case err != nil:
			return nil, err
		case n.Role() == graph.RoleInput:
			c.Scheduled[n.Path()] = train.Constant(o.value)
		default:
			set[n.Path()] = tensor.New(tensor.WithShape(n.Shape().Sizes()...), tensor.WithBacking(filled(n.Type(), o.value).Data))
		}
	}
	c.Plan = func(t *train.Trainer, _ *train.Plan) error {
		store = t.Store()
		for path, v := range set {
			if err := store.Set(path, v); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = lab.Learn(ctx, func() (*builders.Model, error) { return build(w.under.model) }, c)
	return store, err
}

// value evaluates a node by the definitions.
func (w *world) value(n *graph.Node) (graph.Value, error) {
	if v, ok := w.known[n]; ok {
		return v, nil
	}
	v, err := ref.Eval(trait.Env{Seed: seed}, w.known, n)
	if err != nil {
		return graph.Value{}, err
	}
	w.known[n] = v[0]
	return v[0], nil
}

// random draws values for a parameter, or positive ones for a state, which depend on its path
// alone.
func random(n *graph.Node) graph.Value {
	h := fnv.New64a()
	h.Write([]byte(n.Path()))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		switch {
		case !n.DType().IsFloat():
			v.Data[i] = 0
		case n.Role() == graph.RoleState:
			v.Data[i] = 0.5 + rng.Float64()/2
		default:
			v.Data[i] = rng.NormFloat64() / 2
		}
	}
	return v
}

// filled returns an array of one number.
func filled(t graph.Type, x float64) graph.Value {
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = x
	}
	return v
}

// valueOf returns the elements of a tensor.
func valueOf(t graph.Type, x *tensor.Dense) (graph.Value, error) {
	a, err := tape.ArrayOf(t, x)
	if err != nil {
		return graph.Value{}, err
	}
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = a.At(i)
	}
	return v, nil
}
