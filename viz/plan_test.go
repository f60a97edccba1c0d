package viz

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
)

// TestMarkDifference: a comparison that is marked again and again draws what one with those marks
// does.
func TestMarkDifference(t *testing.T) {
	var sides [2][]*graph.Node
	for i, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	}
	kept, err := Diff(sides[0], sides[1])
	if err != nil {
		t.Fatal(err)
	}
	layout, err := kept.Figure().Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []int{1, 3, 0, 2} {
		var marks map[*graph.Node]Mark
		if every > 0 {
			marks = map[*graph.Node]Mark{}
			for i, n := range append(graph.Reachable(sides[0]...), graph.Reachable(sides[1]...)...) {
				if i%every == 0 {
					marks[n] = Mark{Heat: 1 + i%7, Badge: strconv.Itoa(i), Alarm: Alarm(i % 5)}
				}
			}
		}
		fresh, err := Diff(sides[0], sides[1], Overlay(marks), HeatScale("numbers"))
		if err != nil {
			t.Fatal(err)
		}
		kept.Mark(marks, "numbers")
		want := fresh.Figure()
		if !reflect.DeepEqual(kept.Figure(), want) {
			t.Errorf("with a mark on every %d the comparison draws something else", every)
		}
		if at, err := want.Layout(t.Context()); err != nil || !reflect.DeepEqual(at, layout) {
			t.Errorf("with a mark on every %d things are at other places (%v)", every, err)
		}
	}
}

// TestPlan: a plan that is marked again and again draws what a drawing with those marks is,
// whatever was marked before, at the same places.
func TestPlan(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "rnn-lstm", "transformer-gpt"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots := append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
		for _, options := range [][]Option{{At(Notes)}, {At(Ops), CollapseAbove(20)}} {
			p, err := NewPlan(t.Context(), roots, options...)
			if err != nil {
				t.Fatal(err)
			}
			layout, err := p.Figure(nil, "").Layout(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			contents, err := Contents(roots, options...)
			if err != nil {
				t.Fatal(err)
			}
			for _, every := range []int{1, 3, 0, 2} {
				var marks map[*graph.Node]Mark
				for i, n := range graph.Reachable(roots...) {
					if every > 0 && i%every == 0 {
						if marks == nil {
							marks = map[*graph.Node]Mark{}
						}
						marks[n] = Mark{Heat: 1 + i%7, Badge: strconv.Itoa(i), Alarm: Alarm(i % 5), Note: "number " + strconv.Itoa(i)}
					}
				}
				want, err := Draw(roots, append(options, Overlay(marks), HeatScale("numbers"))...)
				if err != nil {
					t.Fatal(err)
				}
				got := p.Figure(marks, "numbers")
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: with a mark on every %d the plan draws something else", name, every)
				}
				if at, err := want.Layout(t.Context()); err != nil || !reflect.DeepEqual(at, layout) {
					t.Errorf("%s: with a mark on every %d things are at other places (%v)", name, every, err)
				}
				if !reflect.DeepEqual(p.Contents(), contents) {
					t.Errorf("%s: the boxes have other contents after a mark on every %d", name, every)
				}
			}
		}
	}
}
