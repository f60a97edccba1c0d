package geometry_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Angles": geometry.Angles, "ClusterSite": geometry.ClusterSite, "Decompose": geometry.Decompose, "Field": geometry.Field,
			"NewSite": geometry.NewSite, "Surface": geometry.Surface,
		},
		Types: []any{
			geometry.Bends(0), geometry.Collapse{}, geometry.Curvature{}, geometry.Decomposition{}, geometry.GradientAngles{}, geometry.GradientField{},
			geometry.Invariances{}, geometry.Landscape{}, geometry.Motion(0), geometry.Parts{}, geometry.Response{},
			geometry.Site{}, geometry.StationaryPoint{}, geometry.StationaryPoints{}, geometry.Trajectory{}, geometry.Transformation{},
		},
		Samples: func() []any {
			return []any{data.Iris(), "x", 2, 0.5, []float64{1, 2}, &builders.Model{}}
		},
	})
}
