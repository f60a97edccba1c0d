package geometry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// plane finds the plane of a surface and the coordinates of its cells.
func (c SurfaceConfig) plane(all []*objective) (*Landscape, error) {
	o := all[0]
	if o.size < 2 {
		return nil, fmt.Errorf("surface: %s has one number to vary: want two or more", o.site.name())
	}
	if len(c.Paths) > len(all) {
		return nil, fmt.Errorf("surface: %d paths for %d objectives", len(c.Paths), len(all))
	}
	origin, err := o.here()
	if err != nil {
		return nil, err
	}
	l := &Landscape{Origin: origin, Share: [2]float64{math.NaN(), math.NaN()}}
	var points [][]float64
	for i, path := range c.Paths {
		first := len(points) == 0
		for t, p := range path {
			if len(p) != o.size {
				return nil, fmt.Errorf("surface: path %d, step %d has %d values, and the parameters of %s %d", i, t, len(p), o.site.name(), o.size)
			}
			if allWithin(p, math.MaxFloat64) {
				points = append(points, p)
			}
		}
		if first && len(points) > 0 {
			l.Origin = points[len(points)-1]
		}
	}
	reach := c.Reach
	if c.Random || len(points) == 0 {
		l.randomDirections(o.params, rand.New(rand.NewPCG(c.Seed, 0x73757266616365)))
		if reach == 0 {
			reach = 1
		}
	} else if err := l.principalDirections(points); err != nil {
		return nil, err
	}
	if u, v := l.Directions[0], l.Directions[1]; !(dot(u, u)*dot(v, v)-dot(u, v)*dot(u, v) > 1e-12*dot(u, u)*dot(v, v)) {
		return nil, errors.New("surface: the two directions are one, because all but one number of the parameters are zero: want other values, or paths")
	}
	projected := l.project(points)
	l.A, l.B = c.cells(reach, projected, 0), c.cells(reach, projected, 1)
	return l, nil
}

// cells returns the coordinates of the cells along a direction: from −reach to reach, or around the
// projected paths if reach is 0.
func (c SurfaceConfig) cells(reach float64, points [][2]float64, direction int) []float64 {
	lo, hi := -reach, reach
	if reach == 0 {
		other := [2]float64{}
		for _, p := range points {
			lo, hi = min(lo, p[direction]), max(hi, p[direction])
			other[0], other[1] = min(other[0], p[1-direction]), max(other[1], p[1-direction])
		}
		// A path that hardly turns would leave the plane without a second side.
		wide := max(hi-lo, (other[1]-other[0])/4)
		if wide == 0 {
			wide = 1
		}
		mid := lo + (hi-lo)/2
		lo, hi = mid-0.7*wide, mid+0.7*wide
	}
	out := make([]float64, c.Cells)
	for i := range out {
		out[i] = lo + (hi-lo)*float64(i)/float64(c.Cells-1)
	}
	return out
}

// principalDirections sets the directions along which the points vary most around the origin.
func (l *Landscape) principalDirections(points [][]float64) error {
	// Each point is joined by its mirror image, so that the origin is the mean.
	t := &data.Table{Columns: make([]string, len(l.Origin))}
	for _, p := range points {
		d := difference(p, l.Origin)
		t.X = append(t.X, d...)
		for _, v := range d {
			t.X = append(t.X, -v)
		}
	}
	pca, err := linear.NewPCA(t)
	if err != nil {
		return err
	}
	total := pca.Residual(0)
	if total == 0 {
		return errors.New("surface: the paths stay where they are, and have no directions: want random ones")
	}
	for k := range l.Directions {
		l.Directions[k], l.Share[k] = pca.Axes[k], pca.Variance[k]/total
	}
	return nil
}

// randomDirections draws two directions. Within each parameter of two elements or more they are
// orthogonal, and each is as long as the parameter.
func (l *Landscape) randomDirections(params []*graph.Node, rng *rand.Rand) {
	var groups [][]int
	var single []int
	at := 0
	for _, p := range params {
		var group []int
		for range p.Shape().Len() {
			group = append(group, at)
			at++
		}
		if len(group) == 1 {
			single = append(single, group...)
		} else {
			groups = append(groups, group)
		}
	}
	if len(single) > 0 {
		groups = append(groups, single)
	}
	atZero := dot(l.Origin, l.Origin) == 0 // no parameter has a length to go by
	l.Directions = [2][]float64{make([]float64, at), make([]float64, at)}
	for _, group := range groups {
		var parts [2][]float64
		length := 0.0
		for range group {
			parts[0], parts[1] = append(parts[0], rng.NormFloat64()), append(parts[1], rng.NormFloat64())
		}
		for _, i := range group {
			length += l.Origin[i] * l.Origin[i]
		}
		if length = math.Sqrt(length); atZero {
			length = 1
		}
		normalise(parts[0])
		if len(group) > 1 {
			axpy(parts[1], -dot(parts[0], parts[1]), parts[0])
		}
		normalise(parts[1])
		for k, part := range parts {
			for j, i := range group {
				l.Directions[k][i] = length * part[j]
			}
		}
	}
}
