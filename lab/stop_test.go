package lab_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestCompileIsStopped: whatever compiles ends with the error of its context, while it compiles.
func TestCompileIsStopped(t *testing.T) {
	build := func() (*builders.Model, error) { return builders.Build("regression-ols", nil, graph.F64) }
	m, err := build()
	if err != nil {
		t.Fatal(err)
	}
	c := lab.Config{Table: data.Iris(), Steps: 2, Seeds: 1}
	for name, do := range map[string]func(ctx context.Context) error{
		"Assign": func(ctx context.Context) error {
			_, _, err := lab.Assign(ctx, []float64{1, 2, 3, 4}, []float64{1, 2}, 2)
			return err
		},
		"NewAssigner": func(ctx context.Context) error {
			_, err := lab.NewAssigner(ctx, []float64{1, 2, 3, 4}, 1, 2)
			return err
		},
		"Cluster": func(ctx context.Context) error { _, err := lab.Cluster(ctx, c); return err },
		"Compare": func(ctx context.Context) error {
			_, err := lab.Compare(ctx, lab.Config{Steps: 1, Seeds: 1}, lab.Objective("", build))
			return err
		},
		"Learn": func(ctx context.Context) error {
			_, err := lab.Learn(ctx, build, lab.Config{Steps: 1, Seeds: 1})
			return err
		},
		"Lloyd":       func(ctx context.Context) error { _, err := c.Lloyd(ctx); return err },
		"NewSettling": func(ctx context.Context) error { _, err := lab.NewSettling(ctx, m); return err },
	} {
		if err := do(tapetest.Uncompiled(t.Context())); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, true)
	asked := 0
	engine := func(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
		if asked++; ctx.Value(key{}) == nil {
			t.Error("an engine is not made under the context of the training")
		}
		return nil, context.Canceled
	}
	c.Engine = engine
	_, err1 := c.Train(ctx, "kmeans-softmax")
	_, err2 := lab.Learn(ctx, build, lab.Config{Steps: 1, Seeds: 1, Engine: engine})
	if !errors.Is(err1, context.Canceled) || !errors.Is(err2, context.Canceled) || asked != 2 {
		t.Errorf("%v, %v, %d engines", err1, err2, asked)
	}
}
