package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// glimpse says what is not finite in a lane.
type glimpse struct {
	Lost bool // the loss is not finite
	Term int  // the first of its terms that is not finite; −1 for none
	Site int  // the first sum inside of the loss or of its derivatives to which it brings what is not; −1 for none
}

// look looks at the terms.
func (g *glimpse) look(loss float64, terms []parallel.Part) {
	g.Lost, g.Term = !isFinite(loss), slices.IndexFunc(terms, wild)
}

// brings looks at what the lane brings to a sum.
func (g *glimpse) brings(site int, x tape.Array) {
	if g.Site < 0 && wild(parallel.Part{F32: x.F32, F64: x.F64}) {
		g.Site = site
	}
}

// isFinite reports whether x is neither NaN nor infinite.
func isFinite(x float64) bool { return !math.IsNaN(x - x) }

// wild reports whether some of the values, or their scale, are not finite.
func wild(p parallel.Part) bool {
	return !isFinite(p.Scale) || slices.ContainsFunc(p.F32, func(x float32) bool { return !isFinite(float64(x)) }) ||
		slices.ContainsFunc(p.F64, func(x float64) bool { return !isFinite(x) })
}

// lostLoss reports whether the loss of the run that failed is not finite. All ranks have the same.
func (l *laneEngine) lostLoss() bool {
	loss := l.kinds[0].cut.loss
	x, err := tape.ArrayOf(loss.Type(), l.sums[loss])
	return err != nil || !isFinite(x.At(0))
}

// again runs the own lanes of a step that failed once more, and says what of each is not finite: of
// what they bring to sums inside of the loss, only that on which the loss depends if that is lost.
func (l *laneEngine) again(lost bool) ([]glimpse, error) {
	l.seen, l.totals, l.sites = make([]glimpse, len(l.failed)), nil, nil
	if c := l.kinds[0].compiledNet; l.meeting != nil {
		of := graph.Reachable(c.roots(lost)...)
		for _, sum := range c.sums() {
			l.sites = append(l.sites, slices.Contains(of, sum))
		}
	}
	defer func() { l.seen = nil }()
	for i := range l.seen {
		l.seen[i] = glimpse{Term: -1, Site: -1}
	}
	failed := l.compute()
	l.bucket.Clear()
	if failed >= 0 {
		return nil, l.failed[failed]
	}
	return l.seen, nil
}

// lookIntoLanes finds where what is not finite in a step came from, and sets what is to be looked
// into there. All ranks call it, and come to the same.
func (t *Trainer) lookIntoLanes(ctx context.Context, d *Diverged) error {
	l := d.p.lanes
	lost := l.lostLoss()
	if !lost { // then states are not shared out, and all ranks have all sums
		if f32, f64 := l.bucket.Total(); !wild(parallel.Part{F32: f32, F64: f64}) {
			l.suspectUpdate(d)
			return nil
		}
	}
	mine, err := l.again(lost)
	all, err := exchanged(ctx, t, "what of the lanes is not finite", mine, err)
	if err != nil {
		return err
	}
	seen := slices.Concat(all...)
	lane := l.blame(d, seen, lost)
	if lane < 0 {
		return nil
	}
	var rows laneRows
	if first, end := l.ranks.Own(); lane >= first && lane < end {
		rows = l.rowsOf(d, lane)
	}
	some, err := exchanged(ctx, t, "the rows of a lane", rows, nil)
	if err != nil {
		return err
	}
	if err := l.suspect(d, lane, lost, some[l.rankOf(lane)]); err != nil {
		return err
	}
	d.meets = l.meeting != nil
	d.ran = func(ctx context.Context) (tape.Feed, []*graph.Node, error) {
		p, err := t.compileCut(ctx, size{rows: l.kind(lane).rows, sizes: d.batch.Sizes, mode: Training}, false, true)
		switch {
		case err != nil:
			return nil, nil, err
		case d.meets:
			return l.met(d, p, seen[lane].Site, lost)
		}
		return inspect.Feed(d.feed, p.cut.below), p.roots(lost), nil
	}
	return nil
}

// exchanged is Trainer.exchange for values of any kind. Without other ranks it has that of this one.
func exchanged[T any](ctx context.Context, t *Trainer, place string, mine T, err error) ([]T, error) {
	var b []byte
	if err == nil {
		b, err = json.Marshal(mine)
	}
	all, err := t.exchange(ctx, place, b, err)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(all))
	for rank, b := range all {
		if err := json.Unmarshal(b, &out[rank]); err != nil {
			return nil, fmt.Errorf("rank %d sent %d bytes as %s: %w", rank, len(b), place, err)
		}
	}
	return out, nil
}

// rankOf returns the rank that has a lane; without other ranks, 0.
func (l *laneEngine) rankOf(lane int) int { return lane / (l.ranks.Lanes() / l.ranks.Count()) }

// blame says in which lane something was not finite first, and returns the lane; −1 if in none.
func (l *laneEngine) blame(d *Diverged, seen []glimpse, lost bool) (lane int) {
	c := l.kinds[0].cut
	var bad []int
	for i, g := range seen {
		if lost && g.Lost || !lost && g.Term >= 0 {
			bad = append(bad, i)
		}
	}
	lane = -1
	for i, g := range seen {
		if g.Site >= 0 && (lane < 0 || g.Site < seen[lane].Site) {
			lane = i
		}
	}
	switch {
	case len(bad) == 0:
		d.Lane = "what each lane adds to the sums over lanes is finite, and a sum is not"
		return -1
	case lane >= 0:
		d.Lane = fmt.Sprintf("%s, from where sums over lanes inside of the loss carry it to %s", l.laneText(lane), plural.List("lane", bad))
		return lane
	}
	if lane = bad[0]; !lost {
		d.Lane = c.terms[seen[lane].Term].String() + " in "
	}
	if d.Lane += l.laneText(lane); len(bad) > 1 {
		d.Lane += ", and " + plural.List("lane", bad[1:])
	}
	if c.meets {
		d.Lane += ", after sums over lanes inside of the loss that are finite"
	}
	return lane
}

// String says what the sum is of.
func (t *term) String() string {
	if t.param != nil {
		return "the gradient of " + t.param.Path()
	}
	return t.sum.In(0).String()
}

// laneText names a lane, its rank and its rows.
func (l *laneEngine) laneText(lane int) string {
	text := fmt.Sprintf("lane %d", lane)
	if l.ranks.Count() > 1 {
		text += fmt.Sprintf(" on rank %d", l.rankOf(lane))
	}
	from, to := l.ranks.Rows(lane, l.rows)
	if to == from+1 {
		return fmt.Sprintf("%s, row %d of the batch", text, from)
	}
	return fmt.Sprintf("%s, rows %d–%d of the batch", text, from, to-1)
}

// laneRows are the rows of a lane, as ranks send them.
type laneRows struct {
	Columns map[string][]byte
	Names   []string // of the rows
}

// kind returns which kind a lane is of.
func (l *laneEngine) kind(lane int) *kind {
	from, to := l.ranks.Rows(lane, l.rows)
	return &l.kinds[slices.IndexFunc(l.kinds, func(k kind) bool { return k.rows == to-from })]
}

// rowsOf returns the rows of an own lane.
func (l *laneEngine) rowsOf(d *Diverged, lane int) laneRows {
	first, _ := l.ranks.Own()
	from, to := l.span(lane - first)
	r := laneRows{Columns: map[string][]byte{}}
	for _, in := range l.kind(lane).inputs {
		if t := d.batch.Values[in.Path()]; t != nil && isColumn(in) {
			r.Columns[in.Path()] = rowsOf(in, t, from, to).Raw
		}
	}
	for i := from; i < to; i++ {
		r.Names = append(r.Names, rowText(d.batch, i))
	}
	return r
}

// suspect sets that a lane is to be looked into, as written: its loss or, where that is finite, its
// terms.
func (l *laneEngine) suspect(d *Diverged, lane int, lost bool, r laneRows) error {
	k := l.kind(lane)
	d.Roots = []*graph.Node{k.net.Loss}
	for _, t := range k.cut.terms {
		if !lost && t.sum != nil {
			d.Roots = append(d.Roots, t.sum.In(0))
		}
	}
	d.store = l.store.Share()
	d.store.Resume(laneSeed(l.store.Seed(), lane), l.store.Step(), 0)
	d.row = func(i int) string { return r.Names[i] }
	weight := k.net.graph().Lookup(lanes.WeightPath)
	d.feed = tape.Feed{weight: tape.Scalar(weight.DType(), 0)}
	setScalar(weight.Type(), d.feed[weight], float64(k.rows)/float64(l.rows))
	for _, in := range k.inputs {
		raw, ok := r.Columns[in.Path()]
		if !ok {
			continue
		}
		v := tape.Tensor(graph.NewValue(in.Type()))
		if d.feed[in] = v; copy(v.Raw, raw) != len(raw) || len(v.Raw) != len(raw) {
			return fmt.Errorf("%v is of %d bytes, and %d were sent", in, len(v.Raw), len(raw))
		}
	}
	for _, a := range aliases(l.kinds[0].inputs, k.net.graph()) {
		if v := d.p.feed[a.from]; v != nil && !isColumn(a.to) {
			d.feed[a.to] = v
		}
	}
	return nil
}

// roots returns the loss of the rewritten graph of a lane, or its terms.
func (p *compiledNet) roots(lost bool) (out []*graph.Node) {
	for _, t := range p.cut.terms {
		if t.sum != nil && (!lost || t.sum == p.loss) {
			out = append(append(out, t.array), t.scales...)
		}
	}
	return out
}

// sums returns the sums over lanes in the rewritten graph of a lane, by site.
func (p *compiledNet) sums() []*graph.Node {
	return slices.DeleteFunc(graph.Reachable(p.roots(false)...), func(n *graph.Node) bool { return !isSum(n) })
}

// met returns a part of the rewritten graph of a lane that meets others, with inputs for the sums that
// all had: what the lane brought to the sum of a site or, for −1, its loss or its terms.
func (l *laneEngine) met(d *Diverged, p *compiledNet, site int, lost bool) (tape.Feed, []*graph.Node, error) {
	sums := p.sums()
	if len(sums) != len(l.totals) {
		return nil, nil, fmt.Errorf("%d sums over lanes are in the graph, and %d in the run", len(sums), len(l.totals))
	}
	roots := p.roots(lost)
	if site >= 0 {
		roots = sums[site].Inputs()
	}
	g := graph.New(p.net.graph().Name())
	number := func(sum *graph.Node) int { return slices.Index(sums, sum) }
	copies := copyAbove(g, graph.ReachableUntil(isSum, roots...), func(sum *graph.Node) string { return fmt.Sprintf("sum over lanes %d", number(sum)) })
	feed := inspect.Feed(d.feed, g)
	for _, sum := range sums {
		in := copies[sum]
		if in == nil {
			continue
		}
		v := tape.Tensor(graph.NewValue(in.Type()))
		a, err := tape.ArrayOf(in.Type(), v)
		if err != nil {
			return nil, nil, err
		}
		for i, x := range l.totals[number(sum)] {
			a.Set(i, x)
		}
		feed[in] = v
	}
	for i, n := range roots {
		roots[i] = copies[n]
	}
	return feed, roots, g.Err()
}

// suspectUpdate sets that the update is to be looked into, whose sums are finite.
func (l *laneEngine) suspectUpdate(d *Diverged) {
	c := l.kinds[0].cut
	d.Lane = "in the update, after the sums over lanes"
	d.feed, d.store, d.Roots = tape.Feed{}, l.store, []*graph.Node{c.loss}
	for in, v := range l.sums {
		d.feed[in] = v
	}
	for _, u := range c.step {
		d.Roots = append(d.Roots, u.Value)
	}
	d.ran = func(context.Context) (tape.Feed, []*graph.Node, error) { return d.updates(c.update) }
}
