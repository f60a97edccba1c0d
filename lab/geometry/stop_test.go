package geometry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train"
)

// TestCompileIsStopped: whatever compiles ends with the error of its context, while it compiles.
func TestCompileIsStopped(t *testing.T) {
	site, clusters := net(t, graph.F64), square(t, 3, 1)
	for name, do := range map[string]func(ctx context.Context) error{
		"Angles":    func(ctx context.Context) error { _, err := geometry.Angles(ctx, nil, site, site); return err },
		"Collapse":  func(ctx context.Context) error { _, err := clusters.Collapse(ctx, nil); return err },
		"Curvature": func(ctx context.Context) error { _, err := site.Curvature(ctx, geometry.CurvatureConfig{}); return err },
		"Field": func(ctx context.Context) error {
			_, err := geometry.Field(ctx, geometry.FieldConfig{}, clusters)
			return err
		},
		"Invariance": func(ctx context.Context) error {
			_, err := clusters.Invariance(ctx, geometry.InvarianceConfig{})
			return err
		},
		"Surface": func(ctx context.Context) error {
			_, err := geometry.Surface(ctx, geometry.SurfaceConfig{}, site)
			return err
		},
		"Train": func(ctx context.Context) error { _, err := site.Train(ctx, train.SGD(0.1), 1); return err },
	} {
		if err := do(tapetest.Uncompiled(t.Context())); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
