package graph

import (
	"fmt"
	"slices"
)

// Align returns the shape that the operands of an elementwise operation share, by the broadcasting
// of NumPy with two restrictions on names and on all pairs. Axes meet by position, counted from the
// last one; an operand is repeated along its axes of size 1 and along leading axes that it lacks.
//
//   - Sizes that meet must be equal or 1.
//   - Two different names that meet are a mistake. An axis without a name takes that of its partner.
//   - Two operands of different rank that would repeat each other are a mistake, unless names tell
//     the axes apart: [n=3 1] and [3] may be a column and a list of one value for each n, from which
//     NumPy makes all pairs. [n=3 1] and [j=3], [n=3 d=1] and [d=3], or [n=3 1] and [1 3] say that all
//     pairs are meant.
//
// The last rule asks whether sizes are 1, never whether two happen to be equal, so that a model
// does not become wrong with another size.
func Align(shapes ...Shape) (Shape, error) {
	if equal := len(shapes) > 0 && !slices.ContainsFunc(shapes, func(s Shape) bool { return s != shapes[0] }); equal {
		return shapes[0], nil
	}
	to, err := align(shapes...)
	if err != nil {
		if column := columnOfList(shapes); column != nil {
			err = column
		}
		return Shape{}, err
	}
	for _, s := range shapes {
		l := s.get()
		for k := range l.rank {
			if l.axes[k].Size > 1 {
				continue
			}
			if err := crossing(s, k, shapes, to); err != nil {
				return Shape{}, err
			}
		}
	}
	return to, nil
}

// RepeatsTo returns an error if an array of shape s cannot be repeated to the given shape, along
// new leading axes and its axes of size 1. An axis without a name may take one.
func (s Shape) RepeatsTo(to Shape) error {
	shared, err := align(s, to)
	if err == nil && shared != to {
		err = fmt.Errorf("%v cannot be repeated to %v", s, to)
	}
	return err
}

// align is Align without the last rule.
func align(shapes ...Shape) (Shape, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, s.Rank())
	}
	var all [MaxRank]Axis
	axes := all[:rank]
	for k := range axes {
		axes[k].Size = 1
		for _, s := range shapes {
			i := s.Rank() - rank + k
			if i < 0 {
				continue
			}
			a := s.Axis(i)
			switch {
			case axes[k].Name == "":
				axes[k].Name = a.Name
			case a.Name != "" && a.Name != axes[k].Name:
				return Shape{}, &Mistake{fmt.Sprintf("axis %q meets axis %q", axes[k].Name, a.Name), "lay the operands out with ops.Over, or rename one axis"}
			}
			switch {
			case axes[k].Size == 1:
				axes[k].Size = a.Size
			case a.Size != 1 && a.Size != axes[k].Size:
				return Shape{}, fmt.Errorf("sizes differ: %v and %v (%d ≠ %d)", axes[k], a, axes[k].Size, a.Size)
			}
		}
	}
	return NewShape(axes...)
}

// crossing refuses the repetition of s along its axis k, of size 1, if every operand that asks for
// it lacks an axis of s that it may have meant.
func crossing(s Shape, k int, shapes []Shape, to Shape) error {
	l, fromEnd := s.get(), s.Rank()-k
	var other Shape
	for _, t := range shapes {
		b := t.Axis(t.Rank() - fromEnd)
		switch {
		case b.Size == 1:
		case !couldMean(b, l.axes[k], l.axes[:max(0, l.rank-t.Rank())]):
			return nil
		case t.Rank() > other.Rank():
			other = t
		}
	}
	if other == (Shape{}) {
		return nil
	}
	return &Mistake{
		fmt.Sprintf("%v and %v would repeat each other, to all pairs of %v", s, other, to),
		`want element by element: ops.Expand(x, -1, "") makes a list a column; want all pairs: ops.Expand(x, 0, "") makes it a row, or name its axis`,
	}
}

// columnOfList returns a mistake if an array has an axis of size 1 behind the axis that another
// array has in its place, as [n=3 1] and [n=3] do: by position they make all pairs of n with two
// axes of one name.
func columnOfList(shapes []Shape) error {
	for _, s := range shapes {
		for _, t := range shapes {
			for k, a := range s.Axes() {
				i := t.Rank() - s.Rank() + k
				if a.Size > 1 || a.Name != "" || t.Axis(i).Name == "" {
					continue
				}
				if at := s.Index(t.Axis(i).Name); at >= 0 && at < k {
					return &Mistake{
						fmt.Sprintf("%v and %v would repeat each other, to all pairs of two axes that are both called %q", s, t, t.Axis(i).Name),
						fmt.Sprintf("want element by element: ops.Squeeze takes the axis of size 1 of %v away; want all pairs: ops.Rename gives one axis %s another name", s, t.Axis(i).Name),
					}
				}
			}
		}
	}
	return nil
}

// couldMean reports whether axis b, which meets axis a of size 1, could be one of the axes that its
// array lacks, as far as their names tell.
func couldMean(b, a Axis, lacks []Axis) bool {
	return slices.ContainsFunc(lacks, func(l Axis) bool {
		return l.Size > 1 && (b.Name == "" || a.Name == "" && l.Name == "")
	})
}
