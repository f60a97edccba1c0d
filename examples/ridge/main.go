// Ridge fits a linear model to few observations: with a penalty on large weights, with the same
// penalty in other clothes, and without one by descending not to the end.
package main

import (
	"context"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

const (
	λ = 8.0       // the strength of the penalty
	η = 1.0 / 400 // the learning rate
	t = 25        // steps: 1/(2ηλ), after which descent has shrunk about as much as the penalty does
)

// form is a way to write the objective of a linear model.
type form func(g *graph.Graph, x, w, y *graph.Node) builders.Regression

// forms are least squares and the three ways to ridge regression.
var forms = map[string]form{
	"least squares": func(_ *graph.Graph, x, w, y *graph.Node) builders.Regression {
		return builders.LeastSquares(x, w, y)
	},
	"penalty": func(g *graph.Graph, x, w, y *graph.Node) builders.Regression {
		return builders.Ridge(x, w, y, g.Scalar("λ", λ, graph.F64))
	},
	"fake observations": func(g *graph.Graph, x, w, y *graph.Node) builders.Regression {
		return builders.RidgeObservations(x, w, y, g.Scalar("λ", λ, graph.F64))
	},
	"extra features": func(g *graph.Graph, x, w, y *graph.Node) builders.Regression {
		ξ := g.Param("ξ", graph.F64, graph.Ax("d", x.Dim(0)))
		return builders.RidgeFeatures(x, w, ξ, y, g.Scalar("λ", λ, graph.F64))
	},
}

// net is a form as a model of any number of observations. All weights start at 0.
func (f form) net(rows int, _ train.Mode) *train.Net {
	g := graph.New("a linear model")
	i, d := graph.Ax("i", rows), graph.Ax("d", features)
	r := f(g, g.Input("x", graph.F64, i, d), g.Param("w", graph.F64, d), g.Input("y", graph.F64, i))
	return &train.Net{Loss: r.Loss, Output: r.Prediction}
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		few, held, unseen, err := wine()
		if err != nil {
			return err
		}
		// What is left of the least squares solution along each singular direction.
		shrunk, err := few.Shrink(ctx, λ, η, t)
		if err != nil {
			return err
		}
		fmt.Printf("ridge with λ = %g, descent with η = %g for %d steps\n%v\n", λ, η, t, shrunk)
		if err := l.AtMost("off the formulas by", off(shrunk), 1e-9); err != nil {
			return err
		}
		for _, step := range []func(context.Context, *lesson.Lesson, linear.LeastSquares) error{threeForms, leastNorm} {
			if err := step(ctx, l, few); err != nil {
				return err
			}
		}
		if err := stopEarly(ctx, l, few, held, unseen); err != nil {
			return err
		}
		return picture(ctx, l, few, unseen, shrunk)
	})
}

// off returns the largest difference between the predicted and the measured factors.
func off(s linear.Shrinkage) (most float64) {
	for _, d := range s {
		for _, f := range []linear.Factor{d.Ridge, d.Descent} {
			most = max(most, math.Abs(f.Predicted-f.Measured))
		}
	}
	return most
}

// descended returns the weights after gradient descent on a form.
func descended(ctx context.Context, l *lesson.Lesson, f form, p linear.LeastSquares, steps int) ([]float64, error) {
	set, err := observations(p)
	if err != nil {
		return nil, err
	}
	trainer := &train.Trainer{Build: f.net, Optimiser: train.SGD(η), Workers: l.Workers}
	defer trainer.Close()
	if err := trainer.Fit(ctx, train.Plan{Data: data.InOrder(set, 0), Steps: steps}); err != nil {
		return nil, err
	}
	w, err := trainer.Store().Get("w")
	if err != nil {
		return nil, err
	}
	return w.Float64s(), nil
}

// threeForms descends on each form of ridge regression to the same weights.
func threeForms(ctx context.Context, l *lesson.Lesson, few linear.LeastSquares) error {
	want, err := few.Solve(λ)
	if err != nil {
		return err
	}
	for _, name := range []string{"penalty", "fake observations", "extra features"} {
		w, err := descended(ctx, l, forms[name], few, 2000)
		if err != nil {
			return err
		}
		if err := l.AtMost("ridge by "+name+": off the solution by", apart(w, want), 1e-9); err != nil {
			return err
		}
	}
	return nil
}

// leastNorm descends where many weights fit: fewer observations than features.
func leastNorm(ctx context.Context, l *lesson.Lesson, few linear.LeastSquares) error {
	fewer := linear.LeastSquares{X: few.X[:8*few.D], Y: few.Y[:8], N: 8, D: few.D}
	want, err := fewer.Solve(0)
	if err != nil {
		return err
	}
	w, err := descended(ctx, l, forms["least squares"], fewer, l.Few(100_000, 20_000))
	if err != nil {
		return err
	}
	fmt.Printf("8 observations of %d features are fitted to %.1g by weights of norm %.4f\n", few.D, meanSquare(fewer, w), norm(w))
	return l.AtMost("from zero, descent is off the weights of least norm by", apart(w, want), 1e-6)
}

// stopEarly descends until wines that are held out are no longer predicted better.
func stopEarly(ctx context.Context, l *lesson.Lesson, few, held, unseen linear.LeastSquares) error {
	fit, err := observations(few)
	if err != nil {
		return err
	}
	waiting, err := observations(held)
	if err != nil {
		return err
	}
	trainer := &train.Trainer{Build: forms["least squares"].net, Optimiser: train.SGD(η), Workers: l.Workers}
	defer trainer.Close()
	err = trainer.Fit(ctx, train.Plan{
		Data: data.InOrder(fit, 0), Steps: 10_000, Every: 1, Patience: 20,
		Validate: func(ctx context.Context) (metric.Scores, error) {
			return trainer.Evaluate(ctx, data.InOrder(waiting, 0))
		},
	})
	if err != nil {
		return err
	}
	best, _ := trainer.Best()
	w, err := trainer.Store().Get("w")
	if err != nil {
		return err
	}
	end, err := few.Solve(0)
	if err != nil {
		return err
	}
	early, late := meanSquare(unseen, w.Float64s()), meanSquare(unseen, end)
	fmt.Printf("descent was best after %d steps, like λ = %.2g: error on unseen wines %.3f, at the end %.3f\n", best.Step, 1/(2*η*float64(best.Step)), early, late)
	return l.AtMost("error by stopping early over that at the end", early/late, 0.85)
}
