package rewrite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// looks is a context that is cancelled when it has been asked so often.
type looks struct {
	context.Context
	asked, most int
}

func (l *looks) Err() error {
	if l.asked++; l.asked > l.most {
		return context.Canceled
	}
	return nil
}

// TestStopped: what rewrites, and what checks a rewriting, ends at the first look at a context that
// is done, with its error, and looks at every node of every pass.
func TestStopped(t *testing.T) {
	g := graph.New("chained")
	x, w := g.Input("x", graph.F32, graph.Ax("d", 4)), g.Param("w", graph.F32, graph.Ax("d", 4))
	y := x
	for i := range 200 {
		y = ops.Tanh(ops.Add(ops.Mul(y, w), ops.Lit(w, float64(i%3))))
	}
	loss := ops.Sum(y)
	wanted := append(grad.Of(loss, w), loss)
	h, err := Trace(g, wanted, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	passes := 0 // that run
	for _, p := range Passes() {
		if p.about == nil || p.about(g) {
			passes++
		}
	}
	values := graph.Values{x: graph.NewValue(x.Type()), w: graph.NewValue(w.Type())}
	for name, c := range map[string]struct {
		run   func(ctx context.Context) (any, error)
		least int
	}{
		"RunContext":   {func(ctx context.Context) (any, error) { return RunContext(ctx, g, wanted, Passes()...) }, passes * g.Len() / 2},
		"TraceContext": {func(ctx context.Context) (any, error) { return TraceContext(ctx, g, wanted, Passes()...) }, passes * g.Len() / 2},
		"RunBeside":    {func(ctx context.Context) (any, error) { return RunBeside(ctx, g, wanted[:1], wanted[1:], Passes()...) }, passes * g.Len()},
		"Check":        {func(ctx context.Context) (any, error) { return h.Check(ctx, values) }, len(h.Firings)},
	} {
		whole := &looks{context.Background(), 0, 1 << 30}
		if _, err := c.run(whole); err != nil || whole.asked < c.least {
			t.Errorf("%s: %v, after %d looks, want %d", name, err, whole.asked, c.least)
		}
		for _, at := range []int{0, 1, whole.asked / 2, whole.asked - 1} {
			l := &looks{context.Background(), 0, at}
			if v, err := c.run(l); !errors.Is(err, context.Canceled) || l.asked != at+1 || fmt.Sprint(v) != "<nil>" && fmt.Sprint(v) != "[]" {
				t.Errorf("%s, at look %d of %d: %v, error %v, after %d looks", name, at, whole.asked, v, err, l.asked)
			}
		}
	}
}
