package ref_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn/rnn"
)

type axis = graph.Axis

// TestLoopsOracle: the recurrent cases as loops, unrolled loops, loops with checkpoints,
// whose remainder is a loop of its own where k does not divide the number of steps,
// and loops whose steps do all of the work.
func TestLoopsOracle(t *testing.T) {
	ways := map[string]rnn.Recur{
		"scan": {}, "unroll": {Unroll: true}, "checkpoint 2": {Checkpoint: 2}, "checkpoint 3": {Checkpoint: 3},
	}
	check := func(c oracleCase, way string, model func(b *builder) outputs) {
		for dt, tol := range map[graph.DType]float64{graph.F64: 1e-9, graph.F32: 2e-4} {
			t.Run(c.Name+"/"+way+"/"+dt.String(), func(t *testing.T) { newBuilder(t, c, dt).checkModel(model, tol) })
		}
	}
	found := 0
	for _, c := range readCases(t, "testdata/torch.json") {
		name, both := strings.CutSuffix(c.Name, "_bidirectional")
		if recurrentCells[name] == nil {
			continue
		}
		found++
		for way, run := range ways {
			if both {
				check(c, way, func(b *builder) outputs { return b.bidirectional(name, run) })
				check(c, way+" turned", func(b *builder) outputs { return b.sideBySide(name, run) })
				continue
			}
			check(c, way, func(b *builder) outputs { return b.recurrent(name, run) })
			check(c, way+" stepwise", func(b *builder) outputs {
				l := b.layer(name, "", run)
				l.Cell = stepwise{l.Cell}
				return b.weighted(l.Of(b.array("x")))
			})
		}
	}
	if found != 6 {
		t.Errorf("%d cases, want 6", found)
	}
}
