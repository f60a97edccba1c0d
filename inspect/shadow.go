package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/tape"
)

// Precision compares a run with its shadow, the same graph in float64.
type Precision struct {
	// Losses has the nodes computed in float32, and nodes of other types that decide differently,
	// in order of the digits that each loses by itself, most first.
	Losses []Loss
	// Results has the roots computed in float32, and the gradients of the parameters, each as a whole.
	Results []Result
	Step    uint64 // of the store
	Mixed   bool   // the run was of a program under tape.Mixed
	// Rules says, under tape.Mixed, how many nodes each rule of its table decides about.
	Rules []RuleCount
}

// RuleCount is a rule by which [tape.Mixed] chooses, and how many nodes of a run it decides about.
type RuleCount struct {
	tape.MixedRule
	Nodes int
}

// Loss says how far a node computed in float32 is from its shadow.
type Loss struct {
	Node *graph.Node
	// Total is the largest error of an element against the shadow. Local is the largest error
	// against the node computed in float64 from its own float32 operands. Both are relative to the
	// element, or to a thousandth of the node's largest element where that is more.
	Total, Local float64
	// Inherited is the total error of the worst operand.
	Inherited float64
	// Worst is the element with the largest error, True is its value in the shadow, and Witness has
	// the elements that it is computed from.
	Worst   Entry
	True    float64
	Witness []Operand
	// Flips counts the elements of an integer or boolean node that differ.
	Flips int
	Cause string // why the node itself lost digits; "" if it did not
	// Reaches reports whether the loss can affect a root: the node is a root, or a node computed
	// directly from it loses half a digit or more and reaches a root in turn. A loss that reaches
	// no root does no harm.
	Reaches bool
}

// Result says how far an array as a whole is from its shadow.
type Result struct {
	Node *graph.Node
	Name string // of the node, "new W" of the value that an update gives W
	// Error is the norm of the difference, relative to the norm of the shadow.
	Error float64
}

// Kept returns how many of float32's 7.2 decimal digits are right.
func (r Result) Kept() float64 { return -math.Log10(unit) - Digits(r.Error) }

// unit is the largest relative rounding error of float32.
const unit = 1.0 / (1 << 24)

// Digits returns how many of float32's 7.2 decimal digits a relative error makes wrong.
func Digits(relative float64) float64 {
	if !(relative > unit) {
		return 0
	}
	return min(math.Log10(relative/unit), -math.Log10(unit))
}

// Lost returns the digits lost in total, against the shadow.
func (l Loss) Lost() float64 { return Digits(l.Total) }

// Here returns the digits that the node itself lost: those lost in total less those that its
// operands had lost. It loses them by rounding, or by magnifying earlier rounding errors.
func (l Loss) Here() float64 { return max(0, l.Lost()-Digits(l.Inherited)) }

// Amplification returns the factor by which the node magnifies the error of its operands. Each
// operand is taken to have at least the error of rounding.
func (l Loss) Amplification() float64 { return l.Total / max(l.Inherited, unit) }

var errNoFloat32 = errors.New("inspect: no value is computed in float32: there is nothing to compare with float64")

// MeasurePrecision runs the roots as written and, beside them, in float64 from the same inputs,
// parameters, states, constants and random draws. Float32 leaves count as exact: what they lost
// before is not known. The digits of f16 and bf16 are counted among float32's, so that rounding to
// bf16 loses five of the seven. [Take] describes the arguments. It is an error if nothing in the
// graph is of these types.
func MeasurePrecision(ctx context.Context, feed tape.Feed, store *tape.Store, roots ...*graph.Node) (*Precision, error) {
	return measurePrecision(ctx, feed, store, roots, false)
}

// MeasureMixedPrecision is MeasurePrecision of a run under [tape.Mixed]: it shows what that costs in
// digits before it is used.
func MeasureMixedPrecision(ctx context.Context, feed tape.Feed, store *tape.Store, roots ...*graph.Node) (*Precision, error) {
	return measurePrecision(ctx, feed, store, roots, true)
}

func measurePrecision(ctx context.Context, feed tape.Feed, store *tape.Store, roots []*graph.Node, mixed bool) (*Precision, error) {
	var options []tape.Option
	if mixed {
		options = append(options, tape.Mixed())
	}
	r, err := takeAs(ctx, feed, store, roots, options...)
	if err != nil {
		return nil, err
	}
	return r.precision(ctx, roots, mixed)
}

// Precision is what [MeasurePrecision] finds of the run that r is a record of. Of an iteration of a
// loop ([Record.Enter]) it is what is lost there, from what the iteration is given.
func (r *Record) Precision(ctx context.Context) (*Precision, error) {
	if r == nil || r.store == nil {
		return nil, errors.New("inspect: there is no record")
	}
	read := map[*graph.Node]bool{}
	for _, n := range r.nodes {
		for _, x := range n.Inputs() {
			read[x] = true
		}
	}
	return r.precision(ctx, slices.DeleteFunc(slices.Clone(r.nodes), func(n *graph.Node) bool { return read[n] }), false)
}

func (r *Record) precision(ctx context.Context, roots []*graph.Node, mixed bool) (*Precision, error) {
	s := &shadow{Record: r, mixed: mixed, exact: graph.Values{}, total: map[*graph.Node][]float64{}}
	out := &Precision{Step: r.store.Step(), Mixed: mixed}
	if mixed {
		out.Rules = ruleCounts(r.nodes)
	}
	narrow := false
	for _, n := range r.nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		narrow = narrow || n.DType().Wide() == graph.F32 && n.NumIn() > 0
		l, err := s.look(n)
		if err != nil {
			return nil, fmt.Errorf("inspect: %w", err)
		}
		if n.NumIn() > 0 && n.Shape().Len() > 0 && (n.DType().Wide() == graph.F32 || l.Flips > 0) {
			out.Losses = append(out.Losses, l)
		}
	}
	if !narrow {
		return nil, errNoFloat32
	}
	out.reach(r.nodes, roots)
	out.Results = s.results(roots)
	slices.SortStableFunc(out.Losses, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(b.Here(), a.Here()), cmp.Compare(b.Flips, a.Flips), cmp.Compare(b.Total, a.Total))
	})
	return out, nil
}

// ruleCounts returns the table of tape.Mixed with the nodes that each rule decides about.
func ruleCounts(nodes []*graph.Node) (counts []RuleCount) {
	for _, r := range tape.MixedRules() {
		counts = append(counts, RuleCount{MixedRule: r})
	}
	for _, n := range nodes {
		if i := slices.IndexFunc(counts, func(c RuleCount) bool { return c.Applies(n) }); i >= 0 {
			counts[i].Nodes++
		}
	}
	return counts
}

// noticed is the number of digits that a node must lose for its loss to count.
const noticed = 0.5

// reach marks the losses that reach a root. Operands come before the nodes computed from them.
func (p *Precision) reach(nodes, roots []*graph.Node) {
	of := map[*graph.Node]*Loss{}
	for i := range p.Losses {
		of[p.Losses[i].Node] = &p.Losses[i]
	}
	goal := map[*graph.Node]bool{}
	for _, n := range roots {
		goal[n] = true
	}
	for _, n := range slices.Backward(nodes) {
		l := of[n]
		if l == nil || l.Lost() < noticed && l.Flips == 0 || !goal[n] {
			continue
		}
		l.Reaches = true
		for _, x := range n.Inputs() {
			goal[x] = true
		}
	}
}

// shadow is a record with the float64 values of its nodes.
type shadow struct {
	*Record
	mixed bool // the record is of a run under tape.Mixed
	exact graph.Values
	total map[*graph.Node][]float64 // relative errors
}

// look computes a node in float64 and compares it with its recorded value.
func (s *shadow) look(n *graph.Node) (Loss, error) {
	l := Loss{Node: n}
	got := s.wide(n)
	if n.NumIn() == 0 || len(got.Data) == 0 {
		s.exact[n], s.total[n] = got, make([]float64, len(got.Data))
		return l, nil
	}
	truth, own := make([]graph.Value, n.NumIn()), make([]graph.Value, n.NumIn())
	for i, x := range n.Inputs() {
		truth[i], own[i] = s.exact[x], s.wide(x)
	}
	want, err := ref.Apply(s.env(), n, truth)
	if err != nil {
		return l, err
	}
	local, err := ref.Apply(s.env(), n, own)
	if err != nil {
		return l, err
	}
	s.exact[n] = want
	errs := relative(got.Data, want.Data)
	s.total[n] = errs
	worst := 0
	for p, e := range errs {
		if e > errs[worst] {
			worst = p
		}
		if !n.DType().IsFloat() && e > 0 {
			l.Flips++
		}
	}
	l.Total, l.Worst, l.True = errs[worst], s.entry(n, worst), want.Data[worst]
	l.Local = slices.Max(relative(got.Data, local.Data))
	l.Inherited = s.inherited(n, worst)
	if n.DType().IsFloat() && l.Here() >= noticed || l.Flips > 0 {
		l.Witness = s.operands(l.Worst)
		l.Cause = s.lossCause(l)
	}
	return l, nil
}

// relative returns the errors of got, relative to the wanted value, or to a thousandth of the
// largest of them where that is more.
func relative(got, want []float64) []float64 {
	most := 0.0
	for _, w := range want {
		if finite(w) {
			most = max(most, math.Abs(w))
		}
	}
	out := make([]float64, len(got))
	for p, w := range want {
		switch g := got[p]; {
		case g == w || math.IsNaN(g) && math.IsNaN(w):
		case !finite(g) || !finite(w):
			out[p] = math.Inf(1)
		default:
			out[p] = math.Abs(g-w) / max(math.Abs(w), most/1000)
		}
	}
	return out
}

// inherited returns the largest error among the operands of element p. For an elementwise
// operation, it is that of the same element, relative to that element alone.
func (s *shadow) inherited(n *graph.Node, p int) float64 {
	each := trait.IsElementwise(n.Op())
	worst := 0.0
	for _, x := range n.Inputs() {
		if !each {
			if t := s.total[x]; len(t) > 0 {
				worst = max(worst, slices.Max(t))
			}
			continue
		}
		worst = max(worst, relative([]float64{s.values[x].At(p)}, []float64{s.exact[x].Data[p]})[0])
	}
	return worst
}
