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
