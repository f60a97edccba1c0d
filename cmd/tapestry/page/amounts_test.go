package page

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestAmountsAddUp: in every model, at every level, the memory of the boxes and the rest
// add up to the arena of the listing, which counts every instruction's place at most once; and the
// times add up to the run's. An instruction of a drawn node counts in its box, not in the rest; so
// do loops, whose bodies the passes rewrite.
func TestAmountsAddUp(t *testing.T) {
	eachModel(t, func(t *testing.T, name string) {
		c := newClient(t, Options{})
		d, err := c.s.shelf.find(c.open(`{"model":` + text(name) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.program()
		if err != nil {
			t.Fatal(err)
		}
		own := holdings(p.rows)
		arena := float64(d.session.prog.Arena())
		for _, level := range levels {
			v, err := d.at(t.Context(), level)
			if err != nil {
				t.Fatal(err)
			}
			boxes, err := viz.Contents(v.drawn(true), viz.At(level))
			if err != nil {
				t.Fatal(err)
			}
			for what, f := range map[string]struct {
				whole float64
				of    func(row int) float64
			}{
				"memory": {arena, func(i int) float64 { return float64(own[i].counted) }},
				"time":   {0, nil},
			} {
				if what == "time" && (level != levels[0] || testing.Short()) {
					continue // a profile takes its time
				}
				l, err := overlays[what](context.Background(), d, v, 0, boxes)
				if err != nil {
					t.Fatal(err)
				}
				if what == "time" {
					profile, err := d.measured(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					f.whole = profile.Wall.Seconds()
					f.of = func(i int) float64 { return profile.Rows[i].Time.Seconds() }
				}
				sum, undrawn := l.rest, 0.0
				for _, x := range l.values {
					sum += x
				}
				if math.Abs(sum-f.whole) > 1e-9*f.whole || l.rest < -1e-9*f.whole {
					t.Errorf("%v: %s: the boxes and the rest %v are %v of %v", level, what, l.rest, sum, f.whole)
				}
				all, drawn := 0.0, graph.Reachable(slices.Concat(boxes...)...)
				for i := range p.rows {
					all += f.of(i)
					if n := p.ownedBy(v)[i]; !slices.Contains(drawn, n) { // as the updates of states are not where they have no name
						undrawn += f.of(i)
						if p.rows[i].Body != nil && !(level == viz.Notes && onlyIdle(d, v, n)) {
							t.Errorf("%v: %s: instruction %d, a loop, is in no box", level, what, i)
						}
					}
				}
				if gap := f.whole - all; math.Abs(l.rest-undrawn-gap) > 1e-9*f.whole {
					t.Errorf("%v: %s: the rest is %v, what nothing drawn stands for %v and %v", level, what, l.rest, undrawn, gap)
				}
			}
		}
	})
}

// TestOnlyWhatTheTapeHolds: Δ of the objectives is computed block by block, in scratch, and
// so is its derivative: no box may say that the tape holds them.
func TestOnlyWhatTheTapeHolds(t *testing.T) {
	c := newClient(t, Options{})
	d, err := c.s.shelf.find(c.open(`{"model":"kmeans-softmax","data":"iris"}`))
	if err != nil {
		t.Fatal(err)
	}
	v := d.asWritten
	boxes, err := viz.Contents(v.drawn(true))
	if err != nil {
		t.Fatal(err)
	}
	l, err := memory(context.Background(), d, v, 0, boxes)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, box := range boxes {
		if label(box[0]) != "Δ" && label(box[0]) != "∂loss/∂Δ" {
			continue
		}
		met++
		if m := l.marks[box[0]]; m.Badge != "not held" || l.values[box[0]] != 0 {
			t.Errorf("%s: %+v, %v", label(box[0]), m, l.values[box[0]])
		}
	}
	if met != 2 {
		t.Errorf("%d boxes of Δ", met)
	}
}

// TestLoopsAreMostOfTheTape: of a recurrent network the boxes of its loop, forward and
// backward, hold most of the arena, what has left the loops included; the rest is not much more than
// the product with the inputs, which stands before the loops.
func TestLoopsAreMostOfTheTape(t *testing.T) {
	c := newClient(t, Options{})
	d, err := c.s.shelf.find(c.open(`{"model":"rnn-lstm"}`))
	if err != nil {
		t.Fatal(err)
	}
	boxes, err := viz.Contents(d.asWritten.drawn(true))
	if err != nil {
		t.Fatal(err)
	}
	l, err := memory(context.Background(), d, d.asWritten, 0, boxes)
	if err != nil {
		t.Fatal(err)
	}
	loops, met, arena := 0.0, 0, float64(d.session.prog.Arena())
	for _, box := range boxes {
		if slices.ContainsFunc(box, func(n *graph.Node) bool { return n.Body() != nil }) {
			loops, met = loops+l.values[box[0]], met+1
		}
	}
	if met != 2 || loops < arena/2 || l.rest > arena/5 {
		t.Errorf("%d boxes of loops hold %v of %v, the rest is %v", met, loops, arena, l.rest)
	}
}

func TestSpans(t *testing.T) {
	var s spans
	for i, c := range []struct{ lo, hi, fresh int }{{10, 20, 10}, {0, 5, 5}, {5, 10, 5}, {3, 12, 0}, {18, 30, 10}, {40, 50, 10}, {25, 60, 20}, {0, 60, 0}} {
		if got := s.take(c.lo, c.hi); got != c.fresh {
			t.Errorf("%d: [%d,%d) has %d new bytes, want %d: %v", i, c.lo, c.hi, got, c.fresh, s)
		}
	}
	if len(s) != 1 || s[0] != [2]int{0, 60} {
		t.Errorf("the spans are %v", s)
	}
}

// onlyIdle reports whether a node serves nothing but the model's own updates, which drawings for
// notes leave out where nothing reads them.
func onlyIdle(d *document, v *variant, n *graph.Node) bool {
	roots := slices.DeleteFunc(slices.Clone(v.drawn(true)), func(r *graph.Node) bool {
		return slices.ContainsFunc(d.model.Step, func(u graph.Update) bool { return u.Value == r })
	})
	return !slices.Contains(graph.Reachable(roots...), n)
}
