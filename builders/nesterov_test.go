package builders_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/train"
)

// TestNesterovOfModels: the two forms of Nesterov's momentum go the same way through models with
// loops, running statistics, draws and parameters that are used many times: in every step the
// parameters of PyTorch's form are where the other form takes its gradients.
func TestNesterovOfModels(t *testing.T) {
	const η, β = 0.01, 0.9
	for _, name := range []string{"rnn-lstm", "resnet", "dropout", "transformer-encoder", "graph-message-passing", "regression-ridge-features"} {
		m, other := layertest.Build(t, name, nil), layertest.Build(t, name, nil)
		torch, peek := layertest.NewTrainer(t, m, train.Nesterov(η, β), 3), layertest.NewTrainer(t, other, train.NesterovPeek(η, β), 3)
		torch.Learn(5)
		peek.Learn(5)
		for _, p := range m.Params() {
			ahead, v := peek.Read(p.Path()), peek.Read("nesterov-peek/v/"+p.Path())
			for i := range ahead {
				ahead[i] -= η * β * v[i]
			}
			if err := reftest.Near(torch.Read(p.Path()), ahead, 1e-11); err != nil {
				t.Errorf("%s, %s: %v", name, p.Path(), err)
			}
		}
	}
}
