package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

func newCheck(o *options) *cobra.Command {
	var m modelOptions
	var all bool
	cmd := &cobra.Command{
		Use:   "check MODEL | --all",
		Short: "Check derivatives, tape and rewrites against the definitions",
		Long: `Checks a model in float64 on random data:

  verify     every invariant of the graph
  gradient   against central differences of the definition, in a random direction
  second     the derivative of the derivative, likewise
  tape       the compiled tape against the definition
  rewrite    the rewritten tape against the tape as written
  gorgonia   the same graph on gorgonia's TapeMachine, where it has the operations`,
		Example: "  tapestry check kmeans-softmax\n  tapestry check --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			names := args
			if all {
				names = builders.Names()
			}
			if len(args) > 1 || all == (len(args) == 1) {
				return usagef("check: want a model, or --all (tapestry list shows the models)")
			}
			m.dtype = "f64"
			failed := 0
			for _, name := range names {
				model, err := m.build(name)
				if err != nil {
					return err
				}
				for _, r := range checkModel(cmd.Context(), model, o.seed) {
					if r.err != nil && !r.skipped {
						failed++
					}
					if err := r.print(cmd.OutOrStdout(), name, o.json); err != nil {
						return err
					}
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d checks failed", failed)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&m.set, "set", nil, "sizes of the model: n=150,k=3")
	cmd.Flags().BoolVar(&all, "all", false, "check every model")
	return cmd
}

// verdict is the outcome of one check: the largest relative difference, or why
// it failed or does not apply.
type verdict struct {
	check   string
	diff    float64
	limit   float64
	err     error
	skipped bool
}

func (v verdict) print(w interface{ Write([]byte) (int, error) }, model string, asJSON bool) error {
	status, detail := "ok", fmt.Sprintf("difference %.1e, allowed %.0e", v.diff, v.limit)
	switch {
	case v.skipped:
		status, detail = "n/a", firstLine(v.err)
	case v.err != nil:
		status, detail = "FAILED", v.err.Error()
	case v.limit == 0:
		detail = ""
	}
	if asJSON {
		return printJSON(w, map[string]any{"model": model, "check": v.check, "status": status, "difference": jsonNumber(v.diff), "allowed": v.limit, "detail": detail})
	}
	_, err := fmt.Fprintf(w, "%-16s %-9s %-6s %s\n", model, v.check, status, detail)
	return err
}

// checker holds one model with data for every leaf.
type checker struct {
	m     *builders.Model
	feed  ref.Feed
	grads []*graph.Node // of the loss by the centres: one node
	slope *graph.Node   // ⟨gradient, v⟩
	curve *graph.Node   // its derivative by the centres
	v     []float64
}

func checkModel(ctx context.Context, m *builders.Model, seed uint64) []verdict {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := &checker{m: m, feed: ref.Feed{}}
	for _, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		if _, has := n.Default(); has {
			continue
		}
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = rng.NormFloat64()
		}
		c.feed[n] = v
	}
	c.v = make([]float64, m.Centres.Shape().Len())
	for i := range c.v {
		c.v[i] = rng.NormFloat64()
	}
	dir := m.Graph.Constant(m.Centres.DType(), c.v, m.Centres.Shape().Axes()...)
	c.grads = grad.OrZero(m.Loss, m.Centres)
	c.slope = ops.Sum(ops.Mul(c.grads[0], dir))
	c.curve = grad.OrZero(c.slope, m.Centres)[0]
	out := []verdict{{check: "verify", err: errors.Join(m.Graph.Err(), graph.Verify(m.Graph))}}
	if out[0].err != nil {
		return out
	}
	return append(out,
		c.difference("gradient", m.Loss, c.grads[0], 1e-7),
		c.difference("second", c.slope, c.curve, 1e-6),
		c.tapes(ctx, "tape", 1e-12, nil),
		c.tapes(ctx, "rewrite", 1e-9, []tape.Option{tape.Passes()}),
		c.gorgonia(ctx))
}

// difference compares ⟨derivative, v⟩ with a central difference of f along v.
func (c *checker) difference(name string, f, derivative *graph.Node, limit float64) verdict {
	at := func(h float64, n *graph.Node) (graph.Value, error) {
		feed := ref.Feed{}
		for k, v := range c.feed {
			feed[k] = v
		}
		moved := graph.NewValue(c.m.Centres.Type())
		for i, x := range c.feed[c.m.Centres].Data {
			moved.Data[i] = x + h*c.v[i]
		}
		feed[c.m.Centres] = moved
		out, err := ref.Eval(graph.Env{}, feed, n)
		if err != nil {
			return graph.Value{}, err
		}
		return out[0], nil
	}
	const h = 1e-5
	hi, err1 := at(h, f)
	lo, err2 := at(-h, f)
	d, err3 := at(0, derivative)
	if err := errors.Join(err1, err2, err3); err != nil {
		return verdict{check: name, err: err}
	}
	slope := 0.0
	for i, x := range d.Data {
		slope += x * c.v[i]
	}
	return judge(name, []float64{slope}, []float64{(hi.Data[0] - lo.Data[0]) / (2 * h)}, limit)
}

// wanted are the values that engines are compared on: the loss, its gradient,
// and what the model updates by itself.
func (c *checker) wanted() []*graph.Node {
	out := []*graph.Node{c.m.Loss, c.grads[0]}
	for _, u := range c.m.Step {
		out = append(out, u.Value)
	}
	return out
}

func (c *checker) reference() ([]float64, error) {
	values, err := ref.Eval(graph.Env{}, c.feed, c.wanted()...)
	var out []float64
	for _, v := range values {
		out = append(out, v.Data...)
	}
	return out, err
}

func (c *checker) fed() (tape.Feed, *tape.Store, error) {
	feed, store := tape.Feed{}, tape.NewStore(c.m.Graph)
	for n, v := range c.feed {
		if n.Role() == graph.RoleInput {
			feed[n] = tape.Tensor(v)
		} else if err := store.Set(n.Path(), tape.Tensor(v)); err != nil {
			return nil, nil, err
		}
	}
	return feed, store, nil
}

// tapes compares a compiled tape with the definition; with other options, the
// tape that these make with the default one.
func (c *checker) tapes(ctx context.Context, name string, limit float64, other []tape.Option) verdict {
	want, err := c.reference()
	if err != nil {
		return verdict{check: name, err: err}
	}
	run := func(options ...tape.Option) ([]float64, error) {
		feed, store, err := c.fed()
		if err != nil {
			return nil, err
		}
		prog, err := tape.Compile(c.m.Graph, append(options, tape.Fetch(c.wanted()...))...)
		if err != nil {
			return nil, err
		}
		vm := prog.NewVM(store)
		defer vm.Close()
		if err := vm.Run(ctx, feed); err != nil {
			return nil, err
		}
		return c.collect(vm.Value)
	}
	got, err := run()
	if err == nil && other != nil {
		want = got
		got, err = run(other...)
	}
	if err != nil {
		return verdict{check: name, err: err}
	}
	return judge(name, got, want, limit)
}

func (c *checker) collect(value func(*graph.Node) (*tensor.Dense, error)) ([]float64, error) {
	var out []float64
	for _, n := range c.wanted() {
		t, err := value(n)
		if err != nil {
			return nil, err
		}
		out = append(out, t.Float64s()...)
	}
	return out, nil
}

// gorgonia compares the engine of package gorgonia with the definition.
func (c *checker) gorgonia(ctx context.Context) verdict {
	want, err := c.reference()
	if err != nil {
		return verdict{check: "gorgonia", err: err}
	}
	m, err := gorgonia.Compile(c.m.Graph, gorgonia.Fetch(c.wanted()...))
	var unsupported *gorgonia.Unsupported
	if errors.As(err, &unsupported) {
		return verdict{check: "gorgonia", err: err, skipped: true}
	}
	if err != nil {
		return verdict{check: "gorgonia", err: err}
	}
	defer m.Close()
	feed, store, err := c.fed()
	if err == nil {
		err = m.Run(ctx, feed, store)
	}
	var got []float64
	if err == nil {
		got, err = c.collect(m.Value)
	}
	if err != nil {
		return verdict{check: "gorgonia", err: err}
	}
	return judge("gorgonia", got, want, 1e-9)
}

// judge compares relative to the largest entry.
func judge(name string, got, want []float64, limit float64) verdict {
	v := verdict{check: name, limit: limit}
	largest := 0.0
	for _, w := range want {
		largest = math.Max(largest, math.Abs(w))
	}
	for i := range want {
		if d := math.Abs(got[i]-want[i]) / math.Max(largest, 1e-300); !(d <= v.diff) {
			v.diff = d
		}
	}
	if !(v.diff <= limit) {
		v.err = fmt.Errorf("difference %.1e, allowed %.0e", v.diff, limit)
	}
	return v
}
