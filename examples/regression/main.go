// Regression fits the 27 data sets that statistical programs are held to: their parameters are known
// to eleven digits, and so are the standard deviations of these, which need the Jacobian.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// fitted is a data set with the best fit that is found from its second start.
type fitted struct {
	dataset
	*problem
	b, own []float64 // parameters, and their standard deviations
	sum    float64
}

func newFitted(ctx context.Context, name string) (f fitted, err error) {
	if f.dataset, err = read(name); err != nil {
		return f, err
	}
	if f.problem, err = newProblem(f.dataset); err != nil {
		return f, err
	}
	f.b, f.own, f.sum, err = f.fit(ctx, f.starts[1], 1000)
	return f, err
}

// digits returns the number of decimal digits that all numbers have in common with certified ones.
func digits(got, certified []float64) float64 {
	least := 11. // as many as are certified
	for k, c := range certified {
		least = min(least, -math.Log10(math.Abs(got[k]-c)/math.Abs(c)))
	}
	return least
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		names := slices.Sorted(maps.Keys(formulas))
		if l.Quick {
			names = shown
		}
		worst, all := math.Inf(1), map[string]fitted{}
		fmt.Printf("%-10s%5s%4s%12s%12s\n", "", "n", "p", "parameters", "deviations")
		for _, name := range names {
			f, err := newFitted(ctx, name)
			if err != nil {
				return err
			}
			defer f.vm.Close()
			all[name] = f
			right := digits(f.b, f.certified)
			fmt.Printf("%-10s%5d%4d%12.1f%12.1f\n", name, f.n, f.p, right, digits(f.own, f.deviations))
			worst = min(worst, right)
		}
		fmt.Printf("\n%s\n", viz.Formula(all["Gauss2"].prediction))
		return errors.Join(
			l.AtLeast("digits of the parameters, at worst", worst, 6),
			l.Picture("fits.svg", func(w io.Writer) error {
				var panels []interface{ SVG(io.Writer) error }
				for _, name := range shown {
					panels = append(panels, all[name].chart())
				}
				return chart.Panels(w, 2, panels...)
			}),
			l.Draw("formula.svg", all["Gauss2"].residual),
		)
	})
}

// shown are the data sets that are drawn.
var shown = []string{"Gauss2", "MGH17", "Chwirut2", "ENSO"}

// chart draws the observations and the curve through them.
func (f fitted) chart() chart.Lines {
	type point struct{ x, y, curve float64 }
	fitted, err := f.vm.Floats(f.prediction)
	if err != nil {
		return chart.Lines{Frame: chart.Frame{ID: f.name, Title: f.name, Desc: err.Error()}}
	}
	points := make([]point, f.n)
	for i, c := range fitted {
		points[i] = point{f.x[0][i], f.y[i], c}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	seen, curve := chart.Series{Name: "observed", Points: true}, chart.Series{Name: "fitted", Group: 1}
	for _, p := range points {
		seen.X, seen.Y = append(seen.X, p.x), append(seen.Y, p.y)
		curve.X, curve.Y = append(curve.X, p.x), append(curve.Y, p.curve)
	}
	return chart.Lines{
		Frame: chart.Frame{ID: f.name, Title: f.name, Desc: fmt.Sprintf("%d observations and the curve of least squares.", f.n)},
		X:     "x", Y: "y", Series: []chart.Series{seen, curve},
	}
}
