package train_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// BenchmarkLanes compares a step in 8 lanes on one rank with one without lanes, for the models of the
// examples chars-gpt and digits-cnn, with their batches and with larger ones. The two take turns:
// "ratio" is the median of that of their times, ns/op the time of one of each.
func BenchmarkLanes(b *testing.B) {
	for _, m := range []struct {
		name  string
		model laned
		batch int
	}{
		{"gpt", exampleGPT(b), 16}, {"gpt", exampleGPT(b), 64}, {"cnn", exampleCNN(b), 64}, {"cnn", exampleCNN(b), 256},
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/batch=%d/workers=%d", m.name, m.batch, workers), func(b *testing.B) {
				with := m.model.steps(b, m.batch, workers, alone(b, 8))
				without := m.model.steps(b, m.batch, workers, nil)
				compareSteps(b, with, without)
			})
		}
	}
}

// BenchmarkRanks compares a step on 2 ranks of one worker each, in one process, with one on 2 workers
// without ranks.
func BenchmarkRanks(b *testing.B) {
	for _, m := range []struct {
		name  string
		model laned
		batch int
	}{
		{"gpt", exampleGPT(b), 16}, {"gpt", exampleGPT(b), 64}, {"cnn", exampleCNN(b), 64}, {"cnn", exampleCNN(b), 256},
	} {
		b.Run(fmt.Sprintf("%s/batch=%d", m.name, m.batch), func(b *testing.B) {
			begin, ended := make(chan struct{}), make(chan struct{})
			defer close(begin)
			var first func()
			transports := parallel.Local(2)
			ready := make(chan *parallel.Ranks)
			go func() {
				r, err := parallel.Join(context.Background(), transports[1], parallel.Config{})
				if err != nil {
					b.Error(err)
				}
				step := m.model.steps(b, m.batch, 1, r)
				for range begin {
					step()
					ended <- struct{}{}
				}
			}()
			go func() {
				r, err := parallel.Join(context.Background(), transports[0], parallel.Config{})
				if err != nil {
					b.Error(err)
				}
				ready <- r
			}()
			first = m.model.steps(b, m.batch, 1, <-ready)
			with := func() {
				begin <- struct{}{}
				first()
				<-ended
			}
			compareSteps(b, with, m.model.steps(b, m.batch, 2, nil))
		})
	}
}

// compareSteps reports how much longer one step is than another.
func compareSteps(b *testing.B, with, without func()) {
	for range 3 {
		with()
		without()
	}
	var ratios []float64
	b.ResetTimer()
	for range b.N {
		begin := time.Now()
		with()
		mid := time.Now()
		without()
		ratios = append(ratios, float64(mid.Sub(begin))/float64(time.Since(mid)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}

// steps returns a function that takes a step.
func (m laned) steps(b *testing.B, batch, workers int, ranks *parallel.Ranks) func() {
	tr := &train.Trainer{Build: m.build, Optimiser: train.AdamW(1e-3), Seed: 3, Workers: workers, Ranks: ranks}
	b.Cleanup(tr.Close)
	r := &train.Run{Trainer: tr, Data: m.data(batch), Steps: 1 << 30}
	return func() {
		if err := r.Step(context.Background()); err != nil {
			b.Error(err)
		}
	}
}

// exampleGPT is the character GPT of the examples.
func exampleGPT(b *testing.B) laned {
	tokens := make([]int32, 40000)
	for i := range tokens {
		tokens[i] = int32((i*i + i/7) % 80)
	}
	return laned{
		build: func(rows int, _ train.Mode) *train.Net {
			g := graph.New("gpt")
			n, t := graph.Ax("n", rows), graph.Ax("t", 64)
			z := builders.CharacterGPT(g, graph.F32, graph.Ax("w", 80), t).Of(g.Input("x", graph.I32, n, t))
			return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n, t)), Output: z}
		},
		data: func(batch int) data.Source {
			s, err := data.Windows(tokens, 64, batch, 5)
			if err != nil {
				b.Error(err)
			}
			return s
		},
	}
}

// exampleCNN is the convolutional net for digits of the examples.
func exampleCNN(b *testing.B) laned {
	set := points(b, graph.F32, 1536)
	return laned{
		build: func(rows int, _ train.Mode) *train.Net {
			g := graph.New("cnn")
			n, c, d, e := graph.Ax("n", rows), graph.Ax("c", 1), graph.Ax("d", 16), graph.Ax("e", 32)
			x := ops.Split(g.Input("x", graph.F32, n, graph.Ax("p", 64)), 1, graph.Ax("h", 8), graph.Ax("w", 8), c)
			u := ops.ReLU(nn.NewConv2D(g, "conv1", graph.F32, c, d, ops.Size(3), ops.Same()).Of(x))
			v := ops.ReLU(nn.NewConv2D(g, "conv2", graph.F32, d, e, ops.Size(3), ops.Same()).Of(ops.MaxPool2D(u, ops.Size(2))))
			flat := ops.Merge(ops.MaxPool2D(v, ops.Size(2)), "f", "h", "w", "e")
			z := nn.NewLinear(g, "fc", graph.F32, graph.Ax("f", 128), graph.Ax("k", 10)).Of(flat)
			return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z}
		},
		data: func(batch int) data.Source { return data.Shuffled(set, batch, 7) },
	}
}
