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
			"Angles": lab.Angles, "Assign": lab.Assign, "Centres": lab.Centres, "Cluster": lab.Cluster,
			"ClusterSite": lab.ClusterSite, "Compare": lab.Compare,
			"ConvergenceTest": lab.ConvergenceTest, "DefaultGamma": lab.DefaultGamma,
			"DefaultRate": lab.DefaultRate, "Examples": lab.Examples, "Falling": lab.Falling,
			"Field": lab.Field, "Holm": lab.Holm, "InRange": lab.InRange, "Judge": lab.Judge, "Learn": lab.Learn,
			"Letters": lab.Letters, "LossFunc": lab.LossFunc, "Match": lab.Match, "Median": lab.Median,
			"NewPCA": lab.NewPCA, "NewPlane": lab.NewPlane, "NewSettling": lab.NewSettling,
			"NewSite": lab.NewSite, "Objective": lab.Objective, "ParseStart": lab.ParseStart,
			"ProbeFunc": lab.ProbeFunc, "Quantile": lab.Quantile, "Reached": lab.Reached,
			"Registered": lab.Registered, "Scale": lab.Scale, "Silhouette": lab.Silhouette, "SizeNames": lab.SizeNames,
			"SpreadLabels": lab.SpreadLabels, "Summarise": lab.Summarise, "Surface": lab.Surface,
			"TakesRows": lab.TakesRows, "Trained": lab.Trained, "TrainingStep": lab.TrainingStep,
			"Wrt": lab.Wrt,
		},
		Types: []any{
			lab.Clustering{}, lab.Collapse{}, lab.Comparison{}, lab.Config{}, lab.Convergence{},
			lab.History{}, lab.Curvature{}, lab.Difference{}, lab.GradientAngles{}, lab.GradientField{},
			lab.Initial{}, lab.Invariances{}, lab.Landscape{}, lab.LearnConfig{}, lab.Learned{},
			lab.Linear{}, lab.Motion(0), lab.Outcome{}, lab.PCA{}, lab.Plane{}, lab.Plan{},
			lab.Response{}, lab.Run{}, lab.Settler{}, lab.Settling{}, lab.Shrinkage(nil), lab.Site{},
			lab.Start(0), lab.Test(0), lab.Track{}, lab.Transformation{},
		},
		Samples: func() []any {
			return []any{data.Iris(), "x", 2, 0.5, []float64{1, 2}, &builders.Model{}}
		},
	})
}
