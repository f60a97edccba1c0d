package tape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
)

// Option says what a program is for; see [Fetch], [Watch], [Do], [Passes], [FastMath], [Unfused],
// [Mixed], [Once], [Fine], [CheckFinite], [Budget], [TrustIndices], [Debug].
type Option func(*request)

// request collects what the options ask for.
type request struct {
	settings
	wanted  []*graph.Node // fetched and watched
	fetch   []*graph.Node
	steps   []graph.Update
	passes  []rewrite.Pass
	finite  []*graph.Node
	limited bool // to a budget of bytes
	budget  int
}

// settings say how a graph is compiled, and the bodies of its loops with it.
type settings struct {
	*compilation
	separate bool // nothing is fused
	trusting bool // indices are not checked
	mixed    bool // large products round their operands
	once     bool // what does not change from run to run is made once
	sizes    sizes
	tooLong  int // bytes that arena and scratch stay below
	debug    bool
	trace    io.Writer // of the forms; nil for none
}

// roots returns the nodes that the program computes: for its results and updates, or for what is
// watched besides.
func (r *request) roots(watched bool) []*graph.Node {
	if watched {
		fetched := map[*graph.Node]bool{}
		for _, n := range r.fetch {
			fetched[n] = true
		}
		return slices.DeleteFunc(slices.Clone(r.wanted), func(n *graph.Node) bool { return fetched[n] })
	}
	roots := slices.Clone(r.fetch)
	for _, u := range r.steps {
		roots = append(roots, u.Target, u.Value)
	}
	return roots
}

// Fetch names results: they can be read after each run.
func Fetch(nodes ...*graph.Node) Option {
	return func(r *request) {
		r.wanted = append(r.wanted, nodes...)
		r.fetch = append(r.fetch, nodes...)
	}
}

// Watch names intermediate values that can be read after each run, as Fetch does for results. Each
// is materialised as the graph has it, also where the passes compute around it; no bit of anything
// else changes. (Under a [Budget] bits may change: watched values take memory, so that other values
// are computed again.)
func Watch(nodes ...*graph.Node) Option {
	return func(r *request) { r.wanted = append(r.wanted, nodes...) }
}

// Do adds the updates of steps, which the commit of each run applies.
func Do(steps ...graph.Step) Option {
	return func(r *request) { r.steps = append(r.steps, slices.Concat(steps...)...) }
}

// Passes replaces the list of rewrite passes; without arguments the graph is compiled as written.
func Passes(passes ...rewrite.Pass) Option {
	return func(r *request) { r.passes = passes }
}

// FastMath gives digits away for speed; nothing else turns it on. Squared distances of all pairs of
// rows are computed as
//
//	‖x_i − r_j‖² = ‖x_i‖² + ‖r_j‖² − 2 x_i·r_j
//
// and what their derivatives are made of as products of matrices too, Σ_j w_ij (x_i − r_j) = x_i
// Σ_j w_ij − Σ_j w_ij r_j, wherever the arrays are large enough for that to be faster. What is
// given up:
//
//   - With ε the distance from 1 to the next number, a distance is off by a few ε·(‖x_i‖² +
//     ‖r_j‖²), where otherwise it is by a few ε·‖x_i − r_j‖². A row near another one, compared with
//     how far both are from the origin, keeps few right digits or none, and the distance of a row
//     to itself need not be 0; none is negative. Data whose mean is subtracted first loses the
//     least.
//   - A weighted sum of differences is off by a few ε·Σ_j |w_ij|·(|x_id| + |r_jd|), even where all
//     differences are small.
//   - Rows with an infinite element have NaN among their distances where otherwise they have +Inf;
//     and where a squared norm is more than a quarter of the largest number, distances may be NaN,
//     infinite or 0, whatever they should be. NaN stays NaN.
//
// The listing shows products (MatMul) in place of SqDist, WeightedDiff and DiffDot, and
// [Program.Log] the rules that put them there. Results are the same, bit by bit, for any number of
// workers. The option replaces the list of passes: of FastMath and [Passes], the later counts.
func FastMath() Option { return Passes(rewrite.FastMath()...) }

// Unfused makes every instruction run as a whole, one after the other: for comparison, and to see
// every intermediate value in the listing's arena.
func Unfused() Option {
	return func(r *request) { r.separate = true }
}

// Fine cuts the work into the smallest blocks and shares every one of them out, also those that are
// not worth it: a program of small arrays then runs as one of large arrays does, with several
// workers and partial sums. It is for checks, and slow. Results are the same, bit by bit, for any
// number of workers; sums may differ from those of the usual program in their last digits.
func Fine() Option {
	return func(r *request) {
		r.sizes = sizes{live: 1, product: 1, rows: 2, turn: 1, turned: 1, part: 1, parts: standard.parts, alone: 1}
	}
}

// CheckFinite makes a run fail, before anything is committed, when one of the float scalars is NaN
// or infinite. They can be read after each run too.
func CheckFinite(scalars ...*graph.Node) Option {
	return func(r *request) {
		r.finite = append(r.finite, scalars...)
		r.wanted = append(r.wanted, scalars...)
		r.fetch = append(r.fetch, scalars...)
	}
}

// Debug checks the program after each phase of the compiler, and writes its text form to w, unless
// w is nil. It is for those who change the compiler: Compile panics where a form is wrong, and
// names the phase.
func Debug(w io.Writer) Option {
	return func(r *request) { r.debug, r.trace = true, w }
}

// Compile makes the program that computes what the options ask for. Every mistake made while
// building the graph is returned, whether the wanted nodes depend on it or not. Asking for nothing
// is a mistake too.
func Compile(g *graph.Graph, options ...Option) (*Program, error) {
	return CompileContext(context.Background(), g, options...)
}

// CompileContext is [Compile], stopped with the error of ctx once ctx is done.
func CompileContext(ctx context.Context, g *graph.Graph, options ...Option) (p *Program, err error) {
	c := &compilation{ctx: ctx}
	defer c.end(&err)
	return c.compile(g, options)
}

// compile rewrites the graph, lowers it and applies the phases.
func (c *compilation) compile(g *graph.Graph, options []Option) (*Program, error) {
	l, r, err := c.front(g, options)
	if err != nil {
		return nil, err
	}
	return l.within(r)
}

// front rewrites the graph and lowers it.
func (c *compilation) front(g *graph.Graph, options []Option) (*lowered, *request, error) {
	if g == nil {
		return nil, nil, errors.New("compile: the graph is nil")
	}
	r := &request{passes: rewrite.Passes(), settings: settings{compilation: c, sizes: standard, tooLong: tooLong}}
	for _, o := range options {
		if o != nil {
			o(r)
		}
	}
	if err := g.Err(); err != nil {
		return nil, nil, err
	}
	if err := r.check(g); err != nil {
		return nil, nil, err
	}
	// What is there only to be watched comes last and stays apart, so that it changes no bit of the
	// rest.
	res, err := rewrite.RunBeside(c.ctx, g, r.roots(false), r.roots(true), r.passes...)
	if err != nil {
		return nil, nil, err
	}
	l, err := lower(g, res, r)
	return l, r, err
}

// check refuses nodes that cannot be wanted, and two updates of one leaf.
func (r *request) check(g *graph.Graph) error {
	var errs []error
	if len(r.wanted)+len(r.steps) == 0 {
		errs = append(errs, errors.New("compile: nothing to compute: name results with tape.Fetch or updates with tape.Do"))
	}
	for _, n := range r.wanted {
		if n != nil && !n.IsValid() && n.Graph().Err() != nil { // n is of another graph
			errs = append(errs, n.Graph().Err())
		} else if n == nil || n.Graph() != g || !n.IsValid() {
			errs = append(errs, fmt.Errorf("fetch: %v is no node of graph %q", n, g.Name()))
		}
	}
	for _, n := range r.finite {
		if n.IsValid() && (n.Rank() != 0 || !n.DType().IsFloat()) {
			errs = append(errs, located(n, "check finite: %v is no float scalar", n))
		}
	}
	if r.budget < 0 {
		errs = append(errs, fmt.Errorf("tape: budget of %d B: want 0 or more", r.budget))
	}
	seen := map[*graph.Node]bool{}
	for _, u := range r.steps {
		switch {
		case u.Target == nil || u.Value == nil || u.Target.Graph() != g || u.Value.Graph() != g ||
			!u.Target.IsValid() || !u.Value.IsValid():
			errs = append(errs, fmt.Errorf("do: an update of graph %q has no target or value there", g.Name()))
		case u.Err() != nil:
			errs = append(errs, located(u.Value, "do: %w", u.Err()))
		case seen[u.Target]:
			errs = append(errs, located(u.Value, "do: %s is updated twice in one program: compile one for each step", u.Target.Path()))
		}
		seen[u.Target] = true
	}
	return errors.Join(errs...)
}

// located returns an error at the line where a node was made.
func located(n *graph.Node, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at := n.First().Pos; at != (graph.Pos{}) {
		return fmt.Errorf("%v: %w", at, err)
	}
	return err
}
