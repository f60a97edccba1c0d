package linear

import (
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Direction is a right singular direction of a linear model's data: the length of the least squares
// solution along it, and the part of that length that two regularisers leave.
type Direction struct {
	Sigma   float64 // singular value σ of X
	Length  float64 // of the least squares solution along the direction: uᵀy/σ
	Ridge   Factor  // predicted: σ²/(σ² + λ)
	Descent Factor  // predicted: 1 − (1 − 2ησ²)ᵗ
}

// Factor is the part of a length that a regulariser leaves, by theory and in its solution.
type Factor struct{ Predicted, Measured float64 }

// Shrinkage lists the directions of X with σ > 0, the largest σ first.
type Shrinkage []Direction

// Shrink compares ridge regression with gradient descent that is stopped early, direction by
// direction (the notes on regularisation in least squares): both keep the components along large
// singular values and shrink those along small ones. The ridge solution is measured on the data with
// fake observations ([LeastSquares.Augmented]). Gradient descent runs t steps in float64 from w = 0 at the
// rate η ([LeastSquares.Descend]); because its loss is ‖X·w − y‖² and not half of that, the rate counts
// twice. A negative λ, and data of other sizes than N and D say, are errors.
func (p LeastSquares) Shrink(ctx context.Context, λ, η float64, t int) (Shrinkage, error) {
	if err := checkPenalty(λ); err != nil {
		return nil, err
	}
	u, v, σ, err := p.svd()
	if err != nil {
		return nil, err
	}
	ridge, err := p.Augmented(λ).Solve(0)
	if err != nil {
		return nil, err
	}
	descended, err := p.Descend(ctx, η, t)
	if err != nil {
		return nil, err
	}
	var out Shrinkage
	for i, s := range σ {
		if p.vanishes(s, σ[0]) {
			break // the data do not determine the length
		}
		length := along(u, i, p.Y) / s
		out = append(out, Direction{s, length,
			Factor{s * s / (s*s + λ), along(v, i, ridge) / length},
			Factor{1 - math.Pow(1-2*η*s*s, float64(t)), along(v, i, descended) / length}})
	}
	return out, nil
}

// Descend takes t steps of gradient descent on ‖X·w − y‖² from w = 0 at the rate η, in float64 on
// the graph of [builders.LeastSquares], and returns w [d].
func (p LeastSquares) Descend(ctx context.Context, η float64, t int) ([]float64, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	trainer := &train.Trainer{Optimiser: train.SGD(η), Build: func(int, train.Mode) *train.Net {
		g := graph.New("least squares")
		i, d := graph.Ax("i", p.N), graph.Ax("d", p.D)
		return &train.Net{Loss: builders.LeastSquares(g.Constant(graph.F64, p.X, i, d), g.Param("w", graph.F64, d), g.Constant(graph.F64, p.Y, i)).Loss}
	}}
	defer trainer.Close()
	if _, err := trainer.Prepare(ctx, p.N); err != nil {
		return nil, err
	}
	if t > 0 {
		run := train.Run{Trainer: trainer, Data: data.Generated("", p.N, nil), Steps: t}
		if err := run.Do(ctx); err != nil {
			return nil, err
		}
	}
	w, err := trainer.Store().Get("w")
	if err != nil {
		return nil, err
	}
	return w.Float64s(), nil
}

// String returns a table with one line per direction.
func (s Shrinkage) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "σ\tlength\tridge\tpredicted\tdescent\tpredicted\t")
	for _, d := range s {
		fmt.Fprintf(t, "%.4g\t%.4g\t%.4f\t%.4f\t%.4f\t%.4f\t\n", d.Sigma, d.Length, d.Ridge.Measured, d.Ridge.Predicted, d.Descent.Measured, d.Descent.Predicted)
	}
	t.Flush()
	return b.String()
}
