package figure

import (
	"errors"
	"fmt"
	"slices"
)

// A Sketch is a drawing as a lecture has it on the board: signs joined by arrows, read from left to
// right. Unlike a [Figure] it has no columns and no modules, but signs may hold sketches of their
// own, arrows may lead back, and signs may have levels, drawn as a U. The zero value is an empty
// drawing.
type Sketch struct {
	Title    string
	Subtitle string
	Desc     string   // one sentence for readers who cannot see the drawing
	Signs    []Sign   // their order breaks ties of the layout
	Arrows   []Arrow  // those that do not lead back have no cycle
	Levels   []string // names of the levels from the top, such as 8×8; none if signs have no levels
	Footer   []string // lines of text under the drawing
}

// A Sign stands for a quantity or an operation.
type Sign struct {
	ID    string   // unique, of a–z, 0–9, '_' and '-'
	Lines []string // what is written in it, from the top
	Sub   string   // the name of what it computes, in small letters
	Grad  string   // the derivative by it, under it
	Title string   // the whole text, for tooltips and screen readers
	Role  Role
	Form  Form
	Ports int     // the number of arrows beside each other that a box is tall enough for; 0 is 1
	Above bool    // drawn above the one sign that it feeds, where that has room
	Side  int     // −1: in the first column; 1: in the last one
	Part  int     // from 1: the place of a part among the parts of one quantity, which keep their order
	Level int     // from the top, if the sketch has levels
	Inner *Sketch // what is inside, or nil
}

// A Form is the form of a sign. Leaves, losses and results have the shapes of their roles.
type Form uint8

// The forms.
const (
	Boxed Form = iota // a box, or the shape of the role
	Disc              // a circle around an operator
	Bare              // text alone: the name of a value
	forms = iota
)

// An Arrow joins two signs by ID.
type Arrow struct {
	From, To       string
	FromPin, ToPin string // IDs of signs in the sketches inside From and To, or ""
	Label          string // of an arrow that leads back
	Title          string // more for the tooltip, or ""
	Fold           bool   // leads back, from right to left
	Straight       bool   // joins the same parts of two quantities, and should be straight
	Grad           bool   // a derivative flows back along it
	Hidden         bool   // keeps its ends beside each other, and is not drawn
}

// Validate returns an error that lists the mistakes in s: ids that are wrong or repeated, arrows
// without ends, arrows in a cycle of which none is a Fold.
func (s *Sketch) Validate() error {
	if s == nil {
		return errNoFigure
	}
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("figure: "+format, args...)) }
	s.validate(complain, map[string]bool{})
	return errors.Join(errs...)
}

func (s *Sketch) validate(complain func(string, ...any), met map[string]bool) {
	index := s.index()
	for i := range s.Signs {
		n := &s.Signs[i]
		where := fmt.Sprintf("sign %d %q", i, n.ID)
		switch {
		case !safeID(n.ID):
			complain("%s: an id is one or more of a-z, 0-9, '_' and '-'", where)
		case met[n.ID]:
			complain("%s: duplicate id", where)
		}
		met[n.ID] = true
		if n.Role >= roles {
			complain("%s: unknown role %d", where, n.Role)
		}
		if n.Form >= forms {
			complain("%s: unknown form %d", where, n.Form)
		}
		if n.Level < 0 || n.Level >= max(1, len(s.Levels)) {
			complain("%s: level %d of %d", where, n.Level, len(s.Levels))
		}
		if n.Inner != nil {
			n.Inner.validate(complain, met)
		}
	}
	var forward []arc
	for i, a := range s.Arrows {
		where := fmt.Sprintf("arrow %d %q → %q", i, a.From, a.To)
		from, okFrom := index[a.From]
		to, okTo := index[a.To]
		switch {
		case !okFrom:
			complain("%s: from unknown sign", where)
			continue
		case !okTo:
			complain("%s: to unknown sign", where)
			continue
		case from == to && !a.Fold:
			complain("%s: joins a sign with itself", where)
		}
		for _, end := range []struct {
			sign int
			pin  string
		}{{from, a.FromPin}, {to, a.ToPin}} {
			inner := s.Signs[end.sign].Inner
			if end.pin != "" && (inner == nil || !slices.ContainsFunc(inner.Signs, func(n Sign) bool { return n.ID == end.pin })) {
				complain("%s: no sign %q inside %q", where, end.pin, s.Signs[end.sign].ID)
			}
		}
		if !a.Fold {
			forward = append(forward, arc{from, to})
		}
	}
	if c := findCycle(len(s.Signs), forward); c != nil {
		complain("arrows form a cycle through %q, and none of them leads back", s.Signs[c[0]].ID)
	}
}

// index returns the position of each sign; of signs with equal ids, the first.
func (s *Sketch) index() map[string]int {
	index := make(map[string]int, len(s.Signs))
	for i := range s.Signs {
		if _, ok := index[s.Signs[i].ID]; !ok {
			index[s.Signs[i].ID] = i
		}
	}
	return index
}
