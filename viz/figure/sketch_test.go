package figure

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/awalterschulze/gographviz"
)

// clustering is a sketch with parts apart, a tall sign, a sign above another, derivatives and an
// arrow above all.
func clustering() *Sketch {
	s := &Sketch{Title: "clustering", Subtitle: "loss = ‖Σⱼ αⱼ·rⱼ − x‖²"}
	sign := func(n Sign) { s.Signs = append(s.Signs, n) }
	arrow := func(from, to string, straight bool) {
		s.Arrows = append(s.Arrows, Arrow{From: from, To: to, Straight: straight, Grad: from != "x"})
	}
	sign(Sign{ID: "x", Lines: []string{"x"}, Role: Input})
	sign(Sign{ID: "g", Lines: []string{"γ = 1"}, Role: Hyper, Above: true})
	for i, k := range []string{"1", "2", "3"} {
		sign(Sign{ID: "r" + k, Lines: []string{"r" + k}, Role: Param, Part: i + 1, Grad: "∂r" + k})
		sign(Sign{ID: "d" + k, Lines: []string{"−"}, Form: Disc, Role: Op, Sub: "Δ" + k, Part: i + 1})
		sign(Sign{ID: "a" + k, Lines: []string{"α" + k}, Form: Bare, Role: Op, Part: i + 1})
		sign(Sign{ID: "p" + k, Lines: []string{"×"}, Form: Disc, Role: Op, Part: i + 1})
		arrow("x", "d"+k, false)
		arrow("r"+k, "d"+k, true)
		arrow("d"+k, "s", false)
		arrow("s", "a"+k, false)
		arrow("a"+k, "p"+k, true)
		arrow("r"+k, "p"+k, true)
		arrow("p"+k, "sum", false)
	}
	sign(Sign{ID: "s", Lines: []string{"softmax"}, Role: Op, Ports: 3})
	sign(Sign{ID: "sum", Lines: []string{"Σ"}, Form: Disc, Role: Op, Sub: "r̂"})
	sign(Sign{ID: "e", Lines: []string{"−"}, Form: Disc, Role: Op})
	sign(Sign{ID: "l", Lines: []string{"‖·‖²"}, Role: Loss, Sub: "loss"})
	arrow("g", "s", false)
	arrow("x", "e", false)
	arrow("sum", "e", false)
	arrow("e", "l", false)
	return s
}

// recurrence is a sketch with a loop, and an update that leads back.
func recurrence() *Sketch {
	inner := &Sketch{Signs: []Sign{
		{ID: "h0", Lines: []string{"h₋₁"}, Role: Input, Side: -1}, {ID: "x0", Lines: []string{"x"}, Role: Input, Side: -1},
		{ID: "plus", Lines: []string{"+"}, Form: Disc, Role: Op}, {ID: "tanh", Lines: []string{"tanh"}, Role: Op},
		{ID: "h1", Lines: []string{"h"}, Form: Bare, Role: Op, Side: 1},
	}, Arrows: []Arrow{{From: "h0", To: "plus"}, {From: "x0", To: "plus"}, {From: "plus", To: "tanh"}, {From: "tanh", To: "h1"}}}
	return &Sketch{Title: "recurrence", Signs: []Sign{
		{ID: "x", Lines: []string{"x"}, Role: Input}, {ID: "m", Lines: []string{"m"}, Role: State},
		{ID: "loop", Sub: "recurrent", Role: Op, Inner: inner}, {ID: "u", Lines: []string{"m ←", "+"}, Role: Update},
	}, Arrows: []Arrow{
		{From: "x", To: "loop", ToPin: "x0"}, {From: "loop", To: "loop", FromPin: "h1", ToPin: "h0", Fold: true, Label: "t → t+1"},
		{From: "loop", To: "u", FromPin: "h1"}, {From: "m", To: "u"}, {From: "u", To: "m", Fold: true},
	}}
}

// valley is a sketch with levels.
func valley() *Sketch {
	s := &Sketch{Title: "valley", Levels: []string{"8×8", "4×4", "2×2"}}
	for i, l := range []int{0, 0, 1, 2, 1, 1, 0, 0} {
		s.Signs = append(s.Signs, Sign{ID: string(rune('a' + i)), Lines: []string{"conv", "relu"}, Role: Op, Level: l})
		if i > 0 {
			s.Arrows = append(s.Arrows, Arrow{From: string(rune('a' + i - 1)), To: string(rune('a' + i))})
		}
	}
	s.Arrows = append(s.Arrows, Arrow{From: "b", To: "g"}, Arrow{From: "c", To: "f"})
	return s
}

var sketches = map[string]func() *Sketch{"clustering": clustering, "recurrence": recurrence, "valley": valley}

func TestSketches(t *testing.T) {
	for name, sketch := range sketches {
		if err := sketch().CheckLayout(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var first, second, dot bytes.Buffer
		if err := errors.Join(sketch().SVG(&first), sketch().SVG(&second), sketch().DOT(&dot)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s is drawn in two ways", name)
		}
		root := parse(t, first.Bytes())
		count := 0
		var look func(s *Sketch)
		look = func(s *Sketch) {
			for _, n := range s.Signs {
				count++
				if n.Inner != nil {
					look(n.Inner)
				}
			}
		}
		look(sketch())
		if n := len(root.all("sign")); n != count {
			t.Errorf("%s: %d signs drawn, want %d", name, n, count)
		}
		if _, err := gographviz.Read(dot.Bytes()); err != nil {
			t.Errorf("%s: DOT: %v", name, err)
		}
	}
}

// Arrows of values lead to the right, those that fold and those of derivatives to the left.
func TestSketchArrows(t *testing.T) {
	for name, sketch := range sketches {
		s := sketch()
		b, err := s.layout(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for e, a := range s.Arrows {
			c := b.path(e, 0)
			switch first, last := c[0], c.last(); {
			case b.places[b.from[e]].carrier >= 0:
				if first.X != last.X || first.Y >= last.Y {
					t.Errorf("%s: the arrow of %s does not lead down", name, a.From)
				}
			case a.Fold != (last.X < first.X):
				t.Errorf("%s: the arrow from %s to %s leads from %v to %v", name, a.From, a.To, first, last)
			}
		}
	}
}

// Levels are below each other, and what is on the longest way is straight on its level.
func TestSketchLevels(t *testing.T) {
	s := valley()
	b, err := s.layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := make([]float64, 3)
	for i := range s.Signs {
		at[s.Signs[i].Level] = b.places[i].at.Y
	}
	for i := range s.Signs {
		if d := b.places[i].at.Y - at[s.Signs[i].Level]; d < -2 || d > 2 {
			t.Errorf("%s is %g off its level", s.Signs[i].ID, d)
		}
	}
	if !slices.IsSorted(at) {
		t.Errorf("levels at %v", at)
	}
}

// The longest way is straight, and arrows that leave it and come back go above what is between.
func TestSketchTrunk(t *testing.T) {
	s := &Sketch{Signs: []Sign{{ID: "x", Lines: []string{"x"}, Role: Input}}}
	last := "x"
	for k := range 3 {
		conv, sum := string(rune('a'+k)), string(rune('p'+k))
		s.Signs = append(s.Signs, Sign{ID: conv, Lines: []string{"conv", "relu", "conv"}[:k+1], Role: Op}, Sign{ID: sum, Lines: []string{"+"}, Form: Disc, Role: Op, Sub: "y"})
		s.Arrows = append(s.Arrows, Arrow{From: last, To: conv}, Arrow{From: conv, To: sum}, Arrow{From: last, To: sum})
		last = sum
	}
	b, err := s.layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Signs {
		if d := b.places[i].at.Y - b.places[0].at.Y; d < -0.5 || d > 0.5 {
			t.Errorf("%s is %g off the trunk", s.Signs[i].ID, d)
		}
	}
	for e := 2; e < len(s.Arrows); e += 3 {
		if above := b.places[b.to[e]-1]; b.arc[e].side >= 0 || b.arc[e].y >= above.at.Y-above.h/2 {
			t.Errorf("the arrow from %s to %s does not go above", s.Arrows[e].From, s.Arrows[e].To)
		}
	}
}

// Leaves and parts keep their order from the top.
func TestSketchOrder(t *testing.T) {
	s := clustering()
	b, err := s.layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	index := s.index()
	for _, ids := range [][]string{{"x", "r1", "r2", "r3"}, {"d1", "d2", "d3"}, {"a1", "a2", "a3"}, {"p1", "p2", "p3"}} {
		for k := range ids[1:] {
			if b.places[index[ids[k]]].at.Y >= b.places[index[ids[k+1]]].at.Y {
				t.Errorf("%s is not above %s", ids[k], ids[k+1])
			}
		}
	}
}

func TestSketchMistakes(t *testing.T) {
	s := &Sketch{Signs: []Sign{{ID: "A"}, {ID: "b", Role: 99}, {ID: "b", Form: 9, Level: 1}, {ID: "c"}},
		Arrows: []Arrow{{From: "b", To: "z"}, {From: "b", To: "b"}, {From: "b", To: "c", ToPin: "p"}, {From: "c", To: "b"}}}
	want := `figure: sign 0 "A": an id is one or more of a-z, 0-9, '_' and '-'
figure: sign 1 "b": unknown role 99
figure: sign 2 "b": duplicate id
figure: sign 2 "b": unknown form 9
figure: sign 2 "b": level 1 of 0
figure: arrow 0 "b" → "z": to unknown sign
figure: arrow 1 "b" → "b": joins a sign with itself
figure: arrow 2 "b" → "c": no sign "p" inside "c"
figure: arrows form a cycle through "b", and none of them leads back`
	if err := s.SVG(&bytes.Buffer{}); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if err := s.DOT(&bytes.Buffer{}); err == nil || err.Error() != want {
		t.Errorf("DOT: %v", err)
	}
	if err := (*Sketch)(nil).SVG(&bytes.Buffer{}); err != errNoFigure {
		t.Error(err)
	}
	if err := clustering().SVG(nil); err != errNoWriter {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := clustering().SVGContext(ctx, &bytes.Buffer{}); err != context.Canceled {
		t.Error(err)
	}
	var empty bytes.Buffer
	if err := (&Sketch{}).SVG(&empty); err != nil || !strings.Contains(empty.String(), "</svg>") {
		t.Error(err)
	}
}
