package check_test

import (
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Also": check.Also, "Blame": check.Blame, "Cores": check.Cores, "Do": check.Do, "Engines": check.Engines,
			"Failed": check.Failed, "Feed": check.Feed, "From": check.From, "Graph": check.Graph,
			"Inapplicable": check.Inapplicable, "Kinds": check.Kinds, "Noise": check.Noise,
			"On": check.On, "Op": check.Op, "Ops": check.Ops, "Register": check.Register[func()],
			"Seed": check.Seed, "Vocabulary": check.Vocabulary,
		},
		Types: []any{
			check.BlameState(0), check.Blamed{}, check.Verdict{},
		},
		Samples: func() []any {
			g := graph.New("sample")
			y := ops.Sum(ops.Square(g.Param("w", graph.F32, graph.Ax("n", 2))))
			return []any{y, y.Op(), tape.NewStore(g), "x", 0.5}
		},
	})
}
