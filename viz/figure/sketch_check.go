package figure

import (
	"context"
	"errors"
	"fmt"
)

// CheckLayout lays s out and returns an error if two signs overlap, a sign is outside of the
// drawing, or an arrow that leads neither back nor around crosses a sign that is not one of its
// ends. It is for tests.
func (s *Sketch) CheckLayout() error {
	if err := s.Validate(); err != nil {
		return err
	}
	b, err := s.layout(context.Background())
	if err != nil {
		return err
	}
	return b.check()
}

func (b *board) check() error {
	var errs []error
	boxes := make([]Rect, len(b.places))
	for i := range b.places {
		p := &b.places[i]
		boxes[i] = Rect{p.at.X - p.w/2, p.at.Y - p.h/2, p.w, p.h}
		if p.inner != nil {
			errs = append(errs, p.inner.check())
		}
		if boxes[i].X < -0.1 || boxes[i].Y < -0.1 || boxes[i].X+p.w > b.width+0.1 || boxes[i].Y+p.h > b.height+0.1 {
			errs = append(errs, fmt.Errorf("figure: sign %q is outside", b.sketch.Signs[i].ID))
		}
		for j := range i {
			if boxes[i].Overlaps(boxes[j]) {
				errs = append(errs, fmt.Errorf("figure: signs %q and %q overlap", b.sketch.Signs[j].ID, b.sketch.Signs[i].ID))
			}
		}
	}
	for e, a := range b.sketch.Arrows {
		if a.Hidden || a.Fold && b.from[e] == b.to[e] {
			continue
		}
		c := b.path(e, 0)
		for k := 3; k < len(c); k += 3 {
			for step := range 17 {
				at := bezier(c[k-3:k+1], float64(step)/16)
				for i := range boxes {
					if i != b.from[e] && i != b.to[e] && grow(boxes[i], -1).Overlaps(Rect{at.X, at.Y, 0.01, 0.01}) {
						errs = append(errs, fmt.Errorf("figure: the arrow from %q to %q crosses %q", a.From, a.To, b.sketch.Signs[i].ID))
					}
				}
			}
		}
	}
	return errors.Join(errs...)
}

// bezier returns a point of a cubic curve.
func bezier(p []Point, t float64) Point {
	u := 1 - t
	mix := func(a, b, c, d float64) float64 {
		return float64(u*u*u*a) + float64(3*u*u*t*b) + float64(3*u*t*t*c) + float64(t*t*t*d)
	}
	return Point{mix(p[0].X, p[1].X, p[2].X, p[3].X), mix(p[0].Y, p[1].Y, p[2].Y, p[3].Y)}
}
