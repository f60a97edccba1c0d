package train_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestMixed: steps under Mixed are others, and near, with lanes and without; what is measured with
// the trainer is rounded too.
func TestMixed(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	fit := func(mixed bool, ranks *parallel.Ranks) (*tape.Store, float64) {
		tr := &train.Trainer{Build: m.build, Optimiser: train.SGD(0.1), Seed: 3, Ranks: ranks, Mixed: mixed}
		defer tr.Close()
		if err := takes(tr, m.data(160), 10); err != nil {
			t.Fatal(err)
		}
		scores, err := tr.Evaluate(context.Background(), m.data(160))
		if err != nil {
			t.Fatal(err)
		}
		loss, _ := scores.Get("loss")
		return tr.Store(), loss
	}
	for name, ranks := range map[string]*parallel.Ranks{"without lanes": nil, "in lanes": alone(t, 8)} {
		usual, loss := fit(false, ranks)
		mixed, mixedLoss := fit(true, ranks)
		if hash(t, usual) == hash(t, mixed) || loss == mixedLoss {
			t.Errorf("%s: Mixed changes nothing", name)
		}
		nearStore(t, name, mixed, usual, 0.02)
	}
}

// TestMixedRefused: by engines other than the tape, and by a search along a line.
func TestMixedRefused(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	engine := func(context.Context, *graph.Graph, *graph.Node, graph.Step, *tape.Store) (train.Engine, error) {
		t.Error("an engine is made")
		return nil, nil
	}
	for want, tr := range map[string]*train.Trainer{
		"Mixed is for the tape":  {Build: m.build, Optimiser: train.SGD(0.1), Mixed: true, Engine: engine},
		"takes all their digits": {Build: m.build, Optimiser: train.LBFGS(), Mixed: true},
	} {
		if err := takes(tr, m.data(160), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		tr.Close()
	}
}
