package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// Option is an option of [Graph] and [Blame]; see [Feed], [From], [Also], [Do], [Seed], [Noise],
// [Vocabulary], [On].
type Option func(*settings)

type settings struct {
	feed       tape.Feed
	also       []*graph.Node
	steps      []graph.Update
	seed       uint64
	noise      float64
	vocabulary []graph.Op
	on         []engine
	store      *tape.Store
}

// Feed gives inputs their values. Other inputs take their default, or else are drawn from the
// standard normal distribution; integers and masks are 0. The feed is read when the check begins.
func Feed(feed tape.Feed) Option {
	return func(s *settings) { s.feed = feed }
}

// Also adds further results, whose values are compared.
func Also(nodes ...*graph.Node) Option {
	return func(s *settings) { s.also = append(s.also, nodes...) }
}

// Do adds the updates of a step to the values that are compared.
func Do(step graph.Step) Option {
	return func(s *settings) { s.steps = append(s.steps, step...) }
}

// Seed determines everything random: the parameters, directions, and the graph's own draws; 0 by
// default.
func Seed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// Noise sets the standard deviation of the noise that is added to fresh parameters and float
// states, 0.1 by default: biases that start at zero hide mistakes.
func Noise(std float64) Option { return func(s *settings) { s.noise = std } }

// From takes the parameters and states of a store as they are, instead of fresh ones with noise.
// The store is not changed.
func From(store *tape.Store) Option { return func(s *settings) { s.store = store } }

// Vocabulary adds operations from outside package ops that the graph uses, to read its text form
// with.
func Vocabulary(more ...graph.Op) Option {
	return func(s *settings) { s.vocabulary = append(s.vocabulary, more...) }
}

// kind is one line of the list of checks.
type kind struct {
	name string
	doc  string
	run  func(c *checker, ctx context.Context) Verdict
}

// kinds lists the checks of a graph, in this order. A check of a further
// transformation of graphs is a line here.
var kinds = []kind{
	{"verify", "every invariant of the graph, and its text form read back", (*checker).verify},
	{"gradient", "against difference quotients of the definition, in a random direction", (*checker).gradient},
	{"second", "the derivative of that derivative, likewise", (*checker).second},
	{"tape", "the tape, as the graph is written, against the definition", (*checker).tape},
	{"rewrite", "the rewritten tape against the tape as written", (*checker).rewrite},
	{"fused", "the fused tape against one instruction at a time; the same bits where all is elementwise", (*checker).fused},
	{"workers", "the same bits from 1, 2 and 8 workers, with the work cut as finely as can be too", (*checker).workers},
	{"jvp", "forward mode against reverse mode, of the loss and of its derivatives: JVP·v = vᵀ·VJP", (*checker).jvp},
	{"vmap", "a batch at once against one example after the other, derivatives among them", (*checker).vmap},
}

// Kinds returns the names of the checks that [Graph] makes, and a line on each.
func Kinds() (names, docs []string) {
	for _, k := range kinds {
		names, docs = append(names, k.name), append(docs, k.doc)
	}
	return names, docs
}

// Graph checks the graph of y, a loss or any other result, and its derivatives by all float
// parameters, inputs and states. An array is differentiated through the sum of its elements with
// fixed random weights. The derivatives are added to the graph. See [Kinds] for the checks; those
// of [On] come last. If the graph itself is wrong, that is the only verdict.
//
// While workers are checked, GOMAXPROCS is at least 8.
func Graph(ctx context.Context, y *graph.Node, options ...Option) []Verdict {
	c, err := prepared(y, options)
	if err != nil {
		return []Verdict{failed(kinds[0].name, err)}
	}
	var out []Verdict
	for _, k := range kinds {
		v := guarded(k.name, func() Verdict { return k.run(c, ctx) })
		v.Check = k.name
		if out = append(out, v); len(out) == 1 && v.Err != nil {
			return out
		}
	}
	return append(out, c.engines(ctx)...)
}

// Engines makes the checks of [On] alone, as [Graph] does: for an engine that has another element type
// than the one in which everything else is checked. If the graph itself is wrong, every verdict says
// so.
func Engines(ctx context.Context, y *graph.Node, options ...Option) []Verdict {
	c, err := prepared(y, options)
	if err == nil {
		return c.engines(ctx)
	}
	var out []Verdict
	for _, e := range settled(options).on {
		out = append(out, failed(e.name, err))
	}
	return out
}

// settled returns what the options say.
func settled(options []Option) settings {
	s := settings{noise: 0.1}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	return s
}

// prepared makes the checker of a result.
func prepared(y *graph.Node, options []Option) (c *checker, err error) {
	err = safely(func() (err error) { c, err = newChecker(y, settled(options)); return err })
	return c, err
}

// engines makes the checks of On.
func (c *checker) engines(ctx context.Context) []Verdict {
	var out []Verdict
	for _, e := range c.settings.on {
		out = append(out, guarded(e.name, func() Verdict { return c.compareOn(ctx, e) }))
	}
	return out
}

// guarded makes a panic, as an operation from outside may raise it, a failure.
func guarded(name string, f func() Verdict) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = failed(name, fmt.Errorf("panic: %v", p))
		}
	}()
	return f()
}

// checker holds a graph with a value for every leaf.
type checker struct {
	settings
	graph *graph.Graph
	y     *graph.Node
	env   trait.Env
	rng   *rand.Rand
	at    graph.Values // the point: every leaf's value

	wrt     []*graph.Node // what y is differentiated by
	loss    *graph.Node   // y as a scalar; nil where there is nothing to differentiate
	first   []*graph.Node // the derivatives of loss
	slope   *graph.Node   // of loss in a random direction
	further []*graph.Node // the derivatives of slope
	along   []*graph.Node // the direction, constants
	tangent *graph.Node   // of loss along it, by forward mode
	bend    []*graph.Node // of the derivatives of loss; nil where these are not symmetric
	grown   int           // the number of nodes with all derivatives

	values  []*graph.Node // what engines are compared on
	written []graph.Value // by the tape without rewriting
}

func newChecker(y *graph.Node, s settings) (*checker, error) {
	if y == nil {
		return nil, errors.New("want a result to check, got nil")
	}
	g := y.Graph()
	c := &checker{settings: s, graph: g, y: y, env: trait.Env{Seed: s.seed}, rng: rand.New(rand.NewPCG(s.seed, 1)), at: graph.Values{}}
	if err := g.Err(); err != nil {
		return nil, err
	}
	if !y.IsValid() {
		return nil, errors.New("the result is no node of a graph")
	}
	if err := c.place(); err != nil {
		return nil, err
	}
	if err := c.differentiate(); err != nil {
		return nil, err
	}
	c.values = append([]*graph.Node{y}, s.also...)
	for _, u := range s.steps {
		c.values = append(c.values, u.Value)
	}
	return c, nil
}

// differentiate adds the first and second derivatives.
func (c *checker) differentiate() error {
	if !c.y.DType().IsFloat() {
		return nil
	}
	for _, n := range graph.Reachable(c.y) {
		if _, given := c.at[n]; given && n.DType().IsFloat() {
			c.wrt = append(c.wrt, n)
		}
	}
	if len(c.wrt) == 0 {
		return nil
	}
	c.loss = c.y
	if c.y.Rank() > 0 {
		c.loss = ops.Sum(ops.Mul(c.y, c.weights(c.y)))
	}
	c.first = grad.OrZero(c.loss, c.wrt...)
	c.slope = c.graph.Constant(graph.F64, []float64{0})
	for i, x := range c.wrt {
		c.along = append(c.along, c.weights(x))
		c.slope = ops.Add(c.slope, ops.Cast(ops.Sum(ops.Mul(c.first[i], c.along[i])), graph.F64))
	}
	c.further = grad.OrZero(c.slope, c.wrt...)
	c.tangents()
	c.grown = c.graph.Len()
	return c.graph.Err()
}

// weights is a constant like x of normal numbers.
func (c *checker) weights(x *graph.Node) *graph.Node {
	w := make([]float64, x.Shape().Len())
	for i := range w {
		w[i] = x.DType().Round(c.rng.NormFloat64())
	}
	return c.graph.Constant(x.DType(), w, x.Shape().Axes()...)
}

func (c *checker) verify(context.Context) Verdict {
	if err := graph.Verify(c.graph); err != nil {
		return Verdict{Err: err}
	}
	text := c.graph.String()
	again, err := graph.Parse(strings.NewReader(text), append(ops.Vocabulary(), c.vocabulary...)...)
	if err == nil && again.String() != text {
		err = errors.New("the text form, read back, prints otherwise")
	}
	return Verdict{Err: err}
}
