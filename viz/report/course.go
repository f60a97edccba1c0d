package report

import "slices"

// A curve of the data is divided into this many parts, and the extremes of each are kept. A chart
// has about as many columns of pixels between two of its ticks.
const parts = 60

// kept returns the indices to keep of n points: all if there are at most two for each part;
// otherwise the first, the last, the named ones and, in each part, the first place where each
// curve is smallest, where it is largest, and where it has a gap.
func kept(n int, named []int, curves ...func(i int) float64) []int {
	var out []int
	if n <= 2*parts {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	out = append(out, 0, n-1)
	for _, i := range named {
		if i < n {
			out = append(out, i)
		}
	}
	for part := range parts {
		from, to := part*n/parts, (part+1)*n/parts
		for _, at := range curves {
			least, greatest, gap := -1, -1, -1
			for i := from; i < to; i++ {
				switch v := at(i); {
				case !finite(v):
					if gap < 0 {
						gap = i
					}
				case least < 0:
					least, greatest = i, i
				case v < at(least):
					least = i
				case v > at(greatest):
					greatest = i
				}
			}
			for _, i := range [...]int{least, greatest, gap} {
				if i >= 0 {
					out = append(out, i)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// course has the points of a curve that the data keeps, each with its step.
type course struct {
	Step  []int
	Value []any
}

// courseOf returns the course of a curve whose entry i belongs to step at[i], or to step i if at
// is nil. It includes the named steps.
func courseOf(v []float64, at, named []int) course {
	return newCourse(kept(len(v), named, func(i int) float64 { return v[i] }), at, func(i int) any { return digits(v[i]) })
}

// wayOf returns the course of a point in the plane.
func wayOf(v [][2]float64, at []int) course {
	indices := kept(len(v), nil, func(i int) float64 { return v[i][0] }, func(i int) float64 { return v[i][1] })
	return newCourse(indices, at, func(i int) any { return []any{digits(v[i][0]), digits(v[i][1])} })
}

func newCourse(indices, at []int, value func(i int) any) course {
	c := course{Step: []int{}, Value: []any{}}
	for _, i := range indices {
		c.Value = append(c.Value, value(i))
		if at != nil {
			i = at[i]
		}
		c.Step = append(c.Step, i)
	}
	return c
}

// thinned reports whether the data leaves out steps of the page's curves.
func (p Page) thinned() bool {
	if len(p.Setup.Gamma) > 2*parts {
		return true
	}
	for _, m := range p.methods() {
		for _, r := range m.Runs {
			if len(r.Loss) > 2*parts || len(r.Inertia) > 2*parts {
				return true
			}
		}
	}
	return false
}
