package viz_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// countdown is a context that is done after so many looks at it.
type countdown struct {
	context.Context
	left, looks int
}

func (c *countdown) Err() error {
	c.looks++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContext: whatever takes long looks at its context all the time, stops at once when it is
// done, and comes to the same with one as without.
func TestContext(t *testing.T) {
	g := graph.New("chain")
	x := g.Input("x", graph.F64, graph.Ax("i", 5))
	w := g.Param("w", graph.F64, graph.Ax("i", 5))
	y := w
	for range 100 {
		y = ops.Tanh(ops.Mul(y, x))
	}
	loss := ops.Mean(y)
	d := grad.Of(loss, w)[0]
	roots := []*graph.Node{loss, d}
	var plain bytes.Buffer
	if err := viz.SVG(&plain, roots, viz.At(viz.Ops)); err != nil {
		t.Fatal(err)
	}
	derived, err := viz.Derive(d)
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func(context.Context) error{
		"SVG": func(ctx context.Context) error {
			var b bytes.Buffer
			err := viz.SVGContext(ctx, &b, roots, viz.At(viz.Ops))
			if err == nil && !bytes.Equal(b.Bytes(), plain.Bytes()) || err != nil && b.Len() > 0 {
				t.Error("with a context another drawing is written")
			}
			return err
		},
		"Draw": func(ctx context.Context) error {
			_, err := viz.DrawContext(ctx, roots, viz.At(viz.Ops))
			return err
		},
		"Diff": func(ctx context.Context) error {
			diff, err := viz.DiffContext(ctx, roots, roots[:1], viz.At(viz.Ops))
			if err != nil {
				return err
			}
			if _, err := diff.FigureContext(ctx); err != nil {
				return err
			}
			text, err := diff.TextContext(ctx)
			if err == nil && text != diff.Text() {
				t.Error("with a context another difference is told")
			}
			return err
		},
		"Derive": func(ctx context.Context) error {
			got, err := viz.DeriveContext(ctx, d)
			if err == nil && got.String() != derived.String() {
				t.Error("with a context another derivation is written")
			}
			return err
		},
		"Equations": func(ctx context.Context) error {
			_, err := viz.EquationsContext(ctx, loss)
			return err
		},
	} {
		all := &countdown{Context: context.Background(), left: 1 << 30}
		if err := work(all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if all.looks < 20 {
			t.Errorf("%s looks at its context only %d times", name, all.looks)
		}
		for _, after := range []int{0, 1, all.looks / 2, all.looks - 1} {
			ctx := &countdown{Context: context.Background(), left: after}
			if err := work(ctx); !errors.Is(err, context.Canceled) || ctx.looks > after+3 {
				t.Errorf("%s: done after %d of %d looks: %v, and %d looks", name, after, all.looks, err, ctx.looks)
			}
		}
	}
}
