package inspect

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Finding says where a run stopped being finite, and why.
type Finding struct {
	// At is the element at fault: NaN or infinite, while nothing that it is computed from is. It is
	// the first such element in the order of the run among those that lead to a result.
	At Entry
	// Cause names what happened: "log of a negative".
	Cause string
	// Witness has the elements that At is computed from, an Operand for each operand. Where At
	// needs many elements of an operand, they are the ones that matter most.
	Witness []Operand
	// Path leads from At back to the first suspicious value, which is the last.
	Path []Entry
	// Made has the elements that the last entry of Path is computed from, as Witness does for At.
	Made []Operand
	// Carried leads from At to the result, its last entry. It is nil if the results are finite
	// after all, because a choice or a division removed the bad element.
	Carried []Entry
	// Twin is the forward value to whose derivative the node at fault belongs, at the same index
	// where the shapes agree; nil if the fault is in the forward part.
	Twin *Entry
	// Inside is the finding in the body of a loop, at iteration Time; nil if At is not the result
	// of a loop.
	Inside *Finding
	Time   int
	// NotFinite lists all nodes with NaN or infinite elements in the order of the run, without
	// infinities that come from constants, as in masks.
	NotFinite []*graph.Node
	Step      uint64 // of the store
	// Cure is the rewrite that was tried; nil if none applies.
	Cure *Cure
}

// Operand has the elements of one operand that an element of a result is computed from.
type Operand struct {
	Number  int
	Entries []Entry // one, or those that matter most
	Of      int     // number of elements needed
}

// Harmless reports whether every result is finite in spite of the finding.
func (f *Finding) Harmless() bool { return f.Carried == nil }

// Autopsy runs the roots as written and finds the first value that is not finite; it returns nil
// if there is none. Infinities that come from constants and lead to no NaN are taken to be
// intended. [Take] describes the arguments; none is changed. Nodes of a rewritten graph
// ([tape.Program.Graph]) keep the user's names and lines.
func Autopsy(ctx context.Context, feed tape.Feed, store *tape.Store, roots ...*graph.Node) (*Finding, error) {
	r, err := Take(ctx, feed, store, roots...)
	if err != nil {
		return nil, err
	}
	f, err := r.firstBad(ctx, roots)
	if f == nil {
		return nil, err
	}
	f.Step = r.store.Step()
	if f.Cure, err = r.cure(ctx, f, roots); err != nil {
		return nil, err
	}
	return f, nil
}

// traced limits how many elements of a result are traced back.
const traced = 8

// firstBad finds the origin of what is not finite in the roots or, if they are finite, anywhere.
func (r *Record) firstBad(ctx context.Context, roots []*graph.Node) (f *Finding, err error) {
	var all []*graph.Node
	for _, n := range r.nodes {
		if r.count(n) > 0 {
			all = append(all, n)
		}
	}
	var best []Entry
	try := func(n *graph.Node, p int) {
		t := r.trace(n, p)
		if t == nil {
			return
		}
		if best == nil || t[0].Node.ID() < best[0].Node.ID() {
			best = t
		}
	}
	for _, root := range roots {
		for _, p := range r.bad(root, traced) {
			try(root, p)
		}
	}
	harmless := best == nil
	if harmless {
		for _, n := range all {
			if n.Role() == graph.RoleConstant {
				continue
			}
			for _, p := range r.bad(n, 1) {
				if try(n, p); best != nil {
					best = best[:1]
				}
			}
			if best != nil {
				break
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	f = &Finding{At: best[0], Carried: best[1:]}
	if harmless {
		f.Carried = nil
	} else if f.Carried == nil {
		f.Carried = []Entry{}
	}
	for _, n := range all {
		if !r.intended(n) {
			f.NotFinite = append(f.NotFinite, n)
		}
	}
	r.explain(f)
	f.Twin = r.twin(f.At)
	if f.Inside, f.Time, err = r.inLoop(ctx, f.At.Node); f.Inside != nil {
		f.Cause = fmt.Sprintf("%s, in step %d of the loop", f.Inside.Cause, f.Time)
	}
	return f, err
}

// count returns the number of elements of n that are not finite.
func (r *Record) count(n *graph.Node) int {
	if !n.DType().IsFloat() {
		return 0
	}
	a, k := r.values[n], 0
	for p := range n.Shape().Len() {
		if !finite(a.At(p)) {
			k++
		}
	}
	return k
}

// bad lists the places of at most most elements that are not finite, NaN first.
func (r *Record) bad(n *graph.Node, most int) []int {
	if !n.DType().IsFloat() {
		return nil
	}
	var nan, inf []int
	a := r.values[n]
	for p := range n.Shape().Len() {
		switch v := a.At(p); {
		case math.IsNaN(v):
			nan = append(nan, p)
		case math.IsInf(v, 0):
			inf = append(inf, p)
		}
	}
	all := append(nan, inf...)
	return all[:min(most, len(all))]
}

// trace follows an element that is not finite back to its origin and returns the path from there.
// Infinite constants are taken to be intended: the origin is then the element that made a NaN of
// them, and there is none if no element did.
func (r *Record) trace(n *graph.Node, p int) []Entry {
	way := []Entry{r.entry(n, p)}
	for {
		x, q, ok := r.source(n, p)
		if !ok {
			break
		}
		way = append(way, r.entry(x, q))
		n, p = x, q
	}
	if n.Role() == graph.RoleConstant {
		for len(way) > 0 && !math.IsNaN(way[len(way)-1].Value) {
			way = way[:len(way)-1]
		}
	}
	slices.Reverse(way)
	if len(way) == 0 {
		return nil
	}
	return way
}

// source finds an element that is not finite among those that element p of n is computed from. It
// prefers NaN to infinity, then computed values to constants, then the earliest.
func (r *Record) source(n *graph.Node, p int) (x *graph.Node, at int, ok bool) {
	rank := func(x *graph.Node, v float64) int {
		k := 0
		if !math.IsNaN(v) {
			k++
		}
		if x.Role() == graph.RoleConstant {
			k += 2
		}
		return k
	}
	best := 0
	for i := range n.NumIn() {
		in := n.In(i)
		if r.count(in) == 0 {
			continue
		}
		r.windowOf(n, p, i).each(in.Shape(), func(q int) {
			v := r.values[in].At(q)
			if finite(v) {
				return
			}
			if k := rank(in, v); !ok || k < best || k == best && in.ID() < x.ID() {
				x, at, best, ok = in, q, k, true
			}
		})
	}
	return x, at, ok
}

// intended reports whether a value has no NaN, and no infinity but from constants.
func (r *Record) intended(n *graph.Node) bool {
	return len(r.bad(n, 1)) == 0 || r.trace(n, r.bad(n, 1)[0]) == nil
}

// twin returns the forward value to whose derivative rule e belongs; nil in the forward part.
func (r *Record) twin(e Entry) *Entry {
	var of *graph.Node
	for _, o := range e.Node.Occurrences() { // a rule's before the whole derivative's
		if of == nil && o.Origin.Kind.IsBackward() {
			of = o.Origin.Of
		}
	}
	if of == nil || r.values[of].Type.DType == graph.InvalidDType {
		return nil
	}
	t := Entry{Node: of, Value: math.NaN()}
	if of.Shape().SameSizes(e.Node.Shape()) {
		t.Index = e.Index
		t.Value = r.values[of].At(ravel(of.Shape(), e.Index))
	}
	return &t
}
