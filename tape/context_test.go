package tape_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// looks is a context that is cancelled when it has been asked so often, and keeps the longest time
// between two questions.
type looks struct {
	context.Context
	asked, most int
	last        time.Time
	gap         time.Duration
}

func newLooks(most int) *looks {
	return &looks{Context: context.Background(), most: most, last: time.Now()}
}

func (l *looks) Err() error {
	now := time.Now()
	l.gap, l.last = max(l.gap, now.Sub(l.last)), now
	if l.asked++; l.asked > l.most {
		return context.Canceled
	}
	return nil
}

// chained is a graph of about 11 nodes a link, with a derivative and a loop.
func chained(links int) (g *graph.Graph, wanted []*graph.Node) {
	g = graph.New("chained")
	x, w := g.Input("x", graph.F32, graph.Ax("n", 4), graph.Ax("d", 64)), g.Param("w", graph.F32, graph.Ax("d", 64))
	y := x
	for i := range links {
		y = ops.Tanh(ops.Add(ops.Mul(y, w), ops.Lit(w, float64(i))))
	}
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{w}, Over: []*graph.Node{y}, Axis: "n"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Tanh(ops.Add(c[0], x[0]))}, nil
	})
	loss := ops.Sum(r.Final[0])
	return g, append(grad.Of(loss, w), loss)
}

// TestCompileIsStopped: a compilation ends at the first look at a context that is done, whatever it
// is at, with the error of the context; and it looks all the time.
func TestCompileIsStopped(t *testing.T) {
	for _, c := range []struct {
		name    string
		links   int
		options []tape.Option
	}{
		{"usual", 2000, nil},
		{"unfused", 2000, []tape.Option{tape.Unfused()}},
		{"as written", 2000, []tape.Option{tape.Passes()}},
		{"within a budget", 60, []tape.Option{tape.Budget(70 << 10), tape.Unfused()}},
	} {
		g, wanted := chained(c.links)
		options := append(c.options, tape.Fetch(wanted...))
		nodes, whole := g.Len(), newLooks(1<<30)
		if _, err := tape.CompileContext(whole, g, options...); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if whole.asked < nodes {
			t.Errorf("%s: %d looks for %d nodes", c.name, whole.asked, nodes)
		}
		t.Logf("%s: %d nodes, %d looks, the longest time between two %v", c.name, nodes, whole.asked, whole.gap)
		for _, at := range []int{0, 1, whole.asked / 5, whole.asked / 2, whole.asked - 1} {
			l := newLooks(at)
			p, err := tape.CompileContext(l, g, options...)
			if !errors.Is(err, context.Canceled) || p != nil || l.asked != at+1 {
				t.Errorf("%s, at look %d of %d: program %v, error %v, after %d looks", c.name, at, whole.asked, p != nil, err, l.asked)
			}
		}
		if g.Len() != nodes {
			t.Errorf("%s: the graph has %d nodes, had %d", c.name, g.Len(), nodes)
		}
	}
}

// TestProgramOutlivesItsContext: what was compiled under a context knows nothing of it.
func TestProgramOutlivesItsContext(t *testing.T) {
	g, wanted := chained(3)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := tape.CompileContext(ctx, g, tape.Fetch(wanted...))
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}
