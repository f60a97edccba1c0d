package lab_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestCostOfWhatDiverges: timing takes many more steps than a training, of which a large rate may
// diverge; the trainings stand, as they came to an end.
func TestCostOfWhatDiverges(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Objectives: []string{"kmeans-softmax"}, Alone: true,
		Optimisers: []train.Optimiser{train.SGD(30)}, Rate: train.Constant(30), Steps: 3, Seeds: 2, SweepGamma: []float64{}, SweepK: []int{}})
	if err != nil {
		t.Fatal(err)
	}
	if v := res.Variants[0]; v.Diverged() > 0 || v.Cost.Seconds <= 0 {
		t.Errorf("%d of 2 runs diverged, %v s a step", v.Diverged(), v.Cost.Seconds)
	}
}

// TestClusterGoesOn: a run that diverges is noted as worse than all others, and the others stand.
func TestClusterGoesOn(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Objectives: []string{"kmeans-softmax"},
		Optimisers: []train.Optimiser{train.SGD(1e150)}, Rate: train.Constant(1e150), Steps: 20, Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	v := res.Variants[0]
	if v.Diverged() != 2 || v.Moving() != 2 || len(v.Optima()) != 0 {
		t.Errorf("%d diverged, %d move, optima %v", v.Diverged(), v.Moving(), v.Optima())
	}
	for _, r := range v.Runs {
		if r.Diverged != 3 || !math.IsInf(r.Inertia(), 1) || r.Rest.String() != "has not converged: it diverged" {
			t.Errorf("seed %d: step %d, inertia %v, %v", r.Seed, r.Diverged, r.Inertia(), r.Rest)
		}
	}
	if lloyd := res.Baselines[0]; lloyd.Diverged() > 0 || lloyd.Moving() > 0 {
		t.Errorf("Lloyd's algorithm: %d diverged, %d move", lloyd.Diverged(), lloyd.Moving())
	}
	for _, p := range res.Gamma {
		if !math.IsInf(p.Inertia, 1) || !math.IsInf(p.Loss, 1) {
			t.Errorf("γ = %v: %+v", p.Value, p)
		}
	}
}
