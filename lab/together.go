package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Together are models that were trained side by side.
type Together struct {
	Models []*Learned
	// Task[i] is the model whose examples model i was trained on: i itself, or one
	// that has all of its inputs, by path and type.
	Task []int
}

// LearnTogether trains models from the same seeds. Models whose inputs have the
// same names and types are given the same examples in every step; see
// [Together.Task]. Inputs alike in some but not all names are another task.
func LearnTogether(ctx context.Context, c LearnConfig, builds ...func() (*builders.Model, error)) (*Together, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	var models []*builders.Model
	for _, build := range builds {
		if build == nil {
			return nil, errNoModel
		}
		m, err := build()
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	out := &Together{Task: tasks(models)}
	for i, m := range models {
		own := c
		if from := models[out.Task[i]]; from != m {
			own.Examples = func(rng *rand.Rand) map[string]graph.Value {
				values := map[string]graph.Value{}
				for n, v := range from.Examples(rng) {
					values[n.Path()] = v
				}
				return values
			}
		}
		l, err := own.learn(ctx, m, func(done int) {
			if c.Progress != nil {
				c.Progress(i*c.Seeds+done, len(models)*c.Seeds, m.Builder.Name)
			}
		})
		if err != nil {
			return nil, err
		}
		out.Models = append(out.Models, l)
	}
	return out, nil
}

// tasks gives each model the examples of the one that serves most, the first among
// equals.
func tasks(models []*builders.Model) []int {
	serves := make([]int, len(models))
	for i, m := range models {
		for _, other := range models {
			if hasInputs(m, other) {
				serves[i]++
			}
		}
	}
	out := make([]int, len(models))
	for i, m := range models {
		out[i] = i
		for j, other := range models {
			if best := out[i]; hasInputs(other, m) && (serves[j] > serves[best] || serves[j] == serves[best] && j < best) {
				out[i] = j
			}
		}
	}
	return out
}

// hasInputs reports whether examples of m hold all inputs of other, by path and type.
func hasInputs(m, other *builders.Model) bool {
	if m.Examples == nil {
		return m == other
	}
	types := map[string]graph.Type{}
	for _, n := range ownInputs(m) {
		types[n.Path()] = n.Type()
	}
	for _, n := range ownInputs(other) {
		if t, ok := types[n.Path()]; !ok || t != n.Type() {
			return false
		}
	}
	return true
}

// SameTask reports whether two models were trained on the same examples.
func (t *Together) SameTask(i, j int) bool { return t.Task[i] == t.Task[j] }

// Paired is the difference of two models' losses at the end, b's minus a's, seed
// by seed, so that what a seed has in common for both cancels.
type Paired struct {
	Mean, Error float64 // over the seeds, and its standard error; NaN for a single seed
	Beyond      bool    // the difference exceeds the noise: 0 lies outside of the 95 % interval of Student's t
}

// Pair compares the runs of two models, which must have the same seeds.
func Pair(a, b *Learned) (Paired, error) {
	x, y := a.Ends(), b.Ends()
	d := make([]float64, len(x))
	for i := range d {
		if len(x) != len(y) || a.Runs[i].Seed != b.Runs[i].Seed {
			return Paired{}, fmt.Errorf("%s and %s were trained from different seeds", a.Model.Builder.Name, b.Model.Builder.Name)
		}
		d[i] = y[i] - x[i]
	}
	mean, std := stat.MeanStdDev(d, nil)
	p := Paired{Mean: mean, Error: std / math.Sqrt(float64(len(d)))}
	if len(d) > 1 {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(len(d) - 1)}.Quantile(0.975)
		p.Beyond = math.Abs(mean) > t*p.Error
	}
	return p, nil
}
