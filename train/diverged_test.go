package train_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// wild has a loss that is log of a negative number once w is there.
func wild(rows int, _ train.Mode) *train.Net {
	g := graph.New("wild")
	x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4))
	w := g.Param("w", graph.F32).Init(initial.Fill(1))
	return &train.Net{Loss: ops.Mean(ops.Add(ops.Log(ops.Neg(ops.Shift(w, -1.35))), ops.Scale(ops.Mean(x, "d"), 0)), "n").As("loss")}
}

// TestDiverged: the error has the reason, and nothing of the step was committed, so that a second
// Fit with another rate continues.
func TestDiverged(t *testing.T) {
	tr := &train.Trainer{Build: wild, Optimiser: train.SGD(0.1)}
	defer tr.Close()
	source := data.InOrder(iris(t), 64)
	before, at := "", data.Position{}
	watch := train.ObserverFunc(func(e train.Event) error {
		if e.Kind != train.Ended {
			before, at = bits(t, tr.Store()), e.Position
		}
		return nil
	})
	err := tr.Fit(context.Background(), train.Plan{Data: source, Steps: 100, Rate: train.Constant(0.2), Observers: []train.Observer{watch}})
	d := new(train.Diverged)
	if !errors.As(err, &d) || d.Finding == nil || d.Step != int(tr.Store().Step()) || d.Step == 0 || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%v, %+v", err, d)
	}
	if n := new(tape.NotFinite); !errors.As(err, &n) {
		t.Errorf("%v has no *tape.NotFinite", err)
	}
	if head, tail := fmt.Sprintf("step %d: log of a negative: log(−0.2", d.Step+1), "): loss[] is NaN: nothing was committed"; !strings.HasPrefix(err.Error(), head) || !strings.HasSuffix(err.Error(), tail) {
		t.Errorf("%v, want %s…%s", err, head, tail)
	}
	if bits(t, tr.Store()) != before || source.Position() != at {
		t.Errorf("the store is as it was: %v; the data stand at %v, want %v", bits(t, tr.Store()) == before, source.Position(), at)
	}
}

// TestCheckUpdates: a step that would make a parameter not finite fails before anything is committed,
// and says why; without the check it is the next that fails. Large numbers of f16, whose sum it has
// not, are finite.
func TestCheckUpdates(t *testing.T) {
	root := lossOf(func(m, w *graph.Node) *graph.Node { return ops.Sqrt(ops.Mul(m, ops.Square(w))) }, func(m *graph.Node) graph.Update {
		large := m.Graph().Constant(graph.F16, []float64{6e4, 6e4, 6e4, 6e4}, graph.Ax("a", 4))
		return m.Graph().Assign(m.Graph().State("s", graph.F16, graph.Ax("a", 4)), large)
	})
	for want, check := range map[string]bool{
		"step 3: division by zero: 0.02/0: x[n=30 d=0] = 0, row 130: the new w is NaN: nothing was committed":                                       true,
		"step 4: the parameter is not finite: an earlier step or the caller made it so: w = NaN after step 3: loss[] is NaN: nothing was committed": false,
	} {
		tr := &train.Trainer{Build: root, Optimiser: train.SGD(0.1), CheckUpdates: check}
		defer tr.Close()
		err := tr.Fit(t.Context(), train.Plan{Data: data.InOrder(rowsWith(t, 0, 130), 50), Steps: 9})
		if d := new(train.Diverged); !errors.As(err, &d) || err.Error() != want || int(tr.Store().Step()) != d.Step {
			t.Errorf("checked %v, after step %d:\n%v, want\n%s", check, tr.Store().Step(), err, want)
		}
	}
}
