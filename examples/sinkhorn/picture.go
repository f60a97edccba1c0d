package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// ring draws n points near a circle around the middle of the unit square.
func ring(rng *rand.Rand, n int) (v []float64) {
	for range n {
		φ, r := 2*math.Pi*rng.Float64(), 1+0.05*rng.NormFloat64()
		v = append(v, 0.5+r*math.Cos(φ), 0.5+r*math.Sin(φ))
	}
	return v
}

// film keeps the losses of a training, and where the points are after each step.
type film struct {
	t      *train.Trainer
	start  []float64
	losses []float64
	at     [][]float64
}

// Observe takes them.
func (f *film) Observe(e train.Event) error {
	if e.Kind != train.Stepped {
		return nil
	}
	moved, err := f.t.Store().View("moved")
	if err != nil {
		return err
	}
	f.losses = append(f.losses, e.Loss)
	now := moved.Float64s()
	x := make([]float64, len(now))
	for i := range x {
		x[i] = f.start[i] + now[i]
	}
	f.at = append(f.at, x)
	return nil
}

func pairs(v []float64) (points [][2]float64) {
	for i := 0; i < len(v); i += 2 {
		points = append(points, [2]float64{v[i], v[i+1]})
	}
	return points
}

// draw draws the cloud at the start, on the way, and at the end, over the other cloud.
func (f *film) draw(target []float64) func(w io.Writer) error {
	var charts []interface{ SVG(io.Writer) error }
	for k, step := range []int{0, 1, 4, len(f.at)} {
		x, title := f.start, "before"
		if step = min(step, len(f.at)); step > 0 {
			x, title = f.at[step-1], fmt.Sprint("after step ", step)
		}
		charts = append(charts, chart.Scatter{
			Frame: chart.Frame{ID: fmt.Sprint("flow", k), Title: title, Desc: "A square of points moves onto a ring."}, X: "x", Y: "y",
			Points: pairs(x), Backdrop: pairs(target), BackdropName: "where they are to go", EqualAspect: true,
		})
	}
	return func(w io.Writer) error { return chart.Panels(w, 2, charts...) }
}

// images draws plans[ε i j], the best assignment on the diagonal.
func images(plans []float64) func(w io.Writer) error {
	var r chart.ImageRow
	each := len(plans) / len(sizes)
	n := int(math.Sqrt(float64(each)))
	for k, ε := range sizes {
		r.Images = append(r.Images, chart.Image{Caption: fmt.Sprintf("ε = %g", ε), Columns: n, Values: plans[k*each : (k+1)*each], Full: 1 / float64(n)})
	}
	c := chart.Images{
		Frame: chart.Frame{ID: "plans", Title: "Plans between two clouds of 12 points", Desc: "The smaller ε, the closer is the plan to the best assignment, the diagonal.", Width: 640},
		Rows:  []chart.ImageRow{r}, Pixel: 8,
	}
	return func(w io.Writer) error { return chart.Panels(w, 1, c) }
}
