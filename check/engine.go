package check

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Engine computes nodes of a graph in another way, from inputs in the feed and parameters and
// states in the store. It returns the values of all given nodes, in their order.
type Engine func(ctx context.Context, g *graph.Graph, feed tape.Feed, store *tape.Store, nodes []*graph.Node) ([]*tensor.Dense, error)

type engine struct {
	name string
	run  Engine
}

// On adds a check with the given name: it compares an engine's values of the results and of the
// first derivatives with the definition. An error that is [Inapplicable] does not fail the check.
func On(name string, e Engine) Option {
	return func(s *settings) { s.on = append(s.on, engine{name, e}) }
}

// Inapplicable marks an engine's error as one about an operation or type that it lacks.
func Inapplicable(err error) error { return inapplicable{err} }

type inapplicable struct{ error }

func (i inapplicable) Unwrap() error { return i.error }

// What engines may be apart: float32 rounds at 6e-8, and a model is a hundred
// operations.
var (
	nearTape   = within(1e-4, 1e-10)
	nearEngine = within(1e-3, 1e-9)
)

// reference is the values of the nodes by definition.
func (c *checker) reference(nodes []*graph.Node) ([]graph.Value, error) {
	return ref.Eval(c.env, c.at, nodes...)
}

// all lists the values on which the tape is compared: results, updates, and derivatives.
func (c *checker) all() []*graph.Node {
	out := append([]*graph.Node{}, c.values...)
	return append(append(out, c.first...), c.further...)
}

// compile makes a program for the nodes.
func (c *checker) compile(ctx context.Context, nodes []*graph.Node, options ...tape.Option) (*tape.Program, error) {
	return tape.CompileContext(ctx, c.graph, append(options, tape.Fetch(nodes...))...)
}

// run gives the nodes' values from a program.
func (c *checker) run(ctx context.Context, p *tape.Program, nodes []*graph.Node, options ...tape.VMOption) ([]graph.Value, error) {
	feed, store, err := c.fed()
	if err != nil {
		return nil, err
	}
	vm, err := p.NewVM(store, options...)
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	if err := vm.Run(ctx, feed); err != nil {
		return nil, err
	}
	out := make([]graph.Value, len(nodes))
	for i, n := range nodes {
		t, err := vm.Value(n)
		if err != nil {
			return nil, err
		}
		out[i] = reftest.Value(n.Type(), t)
	}
	return out, nil
}

// computed compiles and runs.
func (c *checker) computed(ctx context.Context, nodes []*graph.Node, options ...tape.Option) ([]graph.Value, error) {
	p, err := c.compile(ctx, nodes, options...)
	if err != nil {
		return nil, err
	}
	return c.run(ctx, p, nodes, tape.Workers(1))
}

// asWritten is the tape's values without rewriting, which two checks want.
func (c *checker) asWritten(ctx context.Context) ([]graph.Value, error) {
	if c.written == nil {
		v, err := c.computed(ctx, c.all(), tape.Passes())
		if err != nil {
			return nil, err
		}
		c.written = v
	}
	return c.written, nil
}

func (c *checker) tape(ctx context.Context) Verdict {
	want, err1 := c.reference(c.all())
	got, err2 := c.asWritten(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return Verdict{Err: err}
	}
	return compared("", c.all(), got, want, nearTape)
}

func (c *checker) rewrite(ctx context.Context) Verdict {
	want, err1 := c.asWritten(ctx)
	got, err2 := c.computed(ctx, c.all())
	if err := errors.Join(err1, err2); err != nil {
		return Verdict{Err: err}
	}
	return compared("", c.all(), got, want, nearEngine)
}

func (c *checker) fused(ctx context.Context) Verdict {
	exact := c.elementwise()
	nodes := append(c.all(), exact...)
	want, err1 := c.computed(ctx, nodes, tape.Unfused())
	got, err2 := c.computed(ctx, nodes)
	if err := errors.Join(err1, err2); err != nil {
		return Verdict{Err: err}
	}
	n := len(nodes) - len(exact)
	v := compared("", nodes[:n], got[:n], want[:n], nearTape)
	if err := identical(exact, got[n:], want[n:]); err != nil && v.Err == nil {
		v.Err = fmt.Errorf("elementwise, but not the same bits: %w", err)
	}
	return v
}

// elementwise lists the nodes that depend on leaves through elementwise
// operations and changes of layout alone, and are used by something else.
func (c *checker) elementwise() []*graph.Node {
	all := graph.Reachable(c.all()...)
	is := map[*graph.Node]bool{}
	var out []*graph.Node
	listed := map[*graph.Node]bool{}
	for _, n := range all {
		if n.NumIn() == 0 {
			continue
		}
		_, scalar := n.Op().(trait.Elementwise)
		_, viewed := n.Op().(tape.Viewed)
		is[n] = scalar || viewed
		for i := range n.NumIn() {
			is[n] = is[n] && (n.In(i).NumIn() == 0 || is[n.In(i)])
		}
		for i := range n.NumIn() {
			if x := n.In(i); !is[n] && is[x] && !listed[x] {
				listed[x] = true
				out = append(out, x)
			}
		}
	}
	return out
}

// Cores raises GOMAXPROCS to the number of workers that are checked, 8, until end is called.
// [Graph] and [Op] do so while they need it. A program that checks much calls it once, since every
// change stops the world.
func Cores() (end func()) {
	before := runtime.GOMAXPROCS(0)
	if before >= 8 {
		return func() {}
	}
	runtime.GOMAXPROCS(8)
	return func() { runtime.GOMAXPROCS(before) }
}

// workers runs the usual program and one that is cut finely, each with 1, 2 and 8
// workers.
func (c *checker) workers(ctx context.Context) Verdict {
	defer Cores()()
	usual, err := c.compile(ctx, c.all())
	if err != nil {
		return Verdict{Err: err}
	}
	fine, err := c.compile(ctx, c.all(), tape.Fine())
	if err != nil {
		return Verdict{Err: err}
	}
	var one [2][]graph.Value
	for i, p := range []*tape.Program{usual, fine} {
		for _, n := range []int{1, 2, 8} {
			got, err := c.run(ctx, p, c.all(), tape.Workers(n))
			if err != nil {
				return Verdict{Err: err}
			}
			if n == 1 {
				one[i] = got
			} else if err := identical(c.all(), got, one[i]); err != nil {
				return Verdict{Err: fmt.Errorf("%d workers: %w", n, err)}
			}
		}
	}
	v := compared("", c.all(), one[1], one[0], nearTape)
	if v.Err != nil {
		v.Err = fmt.Errorf("cut finely: %w", v.Err)
	}
	v.Limit = 0 // of the workers themselves
	return v
}

// compareOn compares an engine.
func (c *checker) compareOn(ctx context.Context, e engine) Verdict {
	nodes := append(append([]*graph.Node{}, c.values...), c.first...)
	want, err := c.reference(nodes)
	if err != nil {
		return failed(e.name, err)
	}
	feed, store, err := c.fed()
	if err != nil {
		return failed(e.name, err)
	}
	tensors, err := e.run(ctx, c.graph, feed, store, nodes)
	if err != nil {
		return Verdict{Check: e.name, Err: err, Skipped: errors.As(err, new(inapplicable))}
	}
	got := make([]graph.Value, len(nodes))
	for i, n := range nodes {
		got[i] = reftest.Value(n.Type(), tensors[i])
	}
	return compared(e.name, nodes, got, want, nearEngine)
}
