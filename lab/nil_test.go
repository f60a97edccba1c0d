package lab_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Annealing": lab.Annealing, "Assign": lab.Assign, "AttentionSettings": lab.AttentionSettings, "Centres": lab.Centres, "Cluster": lab.Cluster,
			"ClusteringSettings": lab.ClusteringSettings, "Coinciding": lab.Coinciding, "Compare": lab.Compare,
			"ConvergenceTest": lab.ConvergenceTest, "DefaultGamma": lab.DefaultGamma,
			"DefaultK": lab.DefaultK, "DefaultRate": lab.DefaultRate, "Divisible": lab.Divisible, "Examples": lab.Examples, "Falling": lab.Falling,
			"Holm": lab.Holm, "InRange": lab.InRange, "Judge": lab.Judge, "Learn": lab.Learn,
			"Letters": lab.Letters, "LossFunc": lab.LossFunc, "Match": lab.Match, "Median": lab.Median,
			"NewAssigner": lab.NewAssigner, "NewSettling": lab.NewSettling, "NewSoftness": lab.NewSoftness, "NewStore": lab.NewStore, "RowsOf": lab.RowsOf, "SteadyGamma": lab.SteadyGamma,
			"Objective": lab.Objective, "ParseStart": lab.ParseStart,
			"ProbeFunc": lab.ProbeFunc, "Quantile": lab.Quantile, "Reached": lab.Reached,
			"Registered": lab.Registered, "Scale": lab.Scale, "Silhouette": lab.Silhouette, "SizeNames": lab.SizeNames,
			"SpreadLabels": lab.SpreadLabels, "Summarise": lab.Summarise,
			"TakesRows": lab.TakesRows, "Trained": lab.Trained, "TrainingStep": lab.TrainingStep,
			"Wrt": lab.Wrt,
		},
		Types: []any{
			lab.Assigner{}, lab.Clustering{}, lab.Comparison{}, lab.Config{}, lab.Convergence{}, lab.History{},
			lab.Difference{}, lab.Initial{}, lab.Learned{},
			lab.Outcome{}, lab.ClusterRun{}, lab.Recorder{},
			lab.Settling{}, lab.HeldOut{}, lab.Start(0), lab.Test(0),
		},
		Samples: func() []any {
			return []any{data.Iris(), "x", 2, 0.5, []float64{1, 2}, &builders.Model{}}
		},
	})
}
