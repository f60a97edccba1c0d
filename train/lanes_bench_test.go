package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	for _, m := range exampleNets(b) {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", m.name, workers), func(b *testing.B) {
				with := m.steps(b, workers, alone(b, 8))
				without := m.steps(b, workers, nil)
				compareSteps(b, 1, with, without)
			})
		}
	}
}

// BenchmarkRanks compares steps on 2 ranks of one worker each, in one process, with steps on 2 workers
// without ranks. Each takes a few steps at a turn, as a training does, in which no rank is woken up.
func BenchmarkRanks(b *testing.B) {
	for _, m := range exampleNets(b) {
		b.Run(m.name, func(b *testing.B) {
			transports := parallel.Local(2)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				m.follow(b, transports[1])
			}()
			m.lead(b, transports[0])
			<-ended
		})
	}
}

// BenchmarkProcesses is BenchmarkRanks where the other rank is a process of its own, over a Unix socket.
func BenchmarkProcesses(b *testing.B) {
	for _, m := range exampleNets(b) {
		b.Run(m.name, func(b *testing.B) {
			if address := os.Getenv(child); address != "" {
				m.follow(b, dial(b, address, 1))
				return
			}
			address := "unix://" + filepath.Join(b.TempDir(), "ranks")
			other := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^"+b.Name()+"$", "-test.benchtime=1x")
			other.Env = append(os.Environ(), child+"="+address)
			if err := other.Start(); err != nil {
				b.Fatal(err)
			}
			defer other.Wait()
			m.lead(b, dial(b, address, 0))
		})
	}
}

func dial(b *testing.B, address string, rank int) parallel.Transport {
	t, err := parallel.Dial(b.Context(), address, rank, 2)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// lead measures steps as rank 0 of 2.
func (m exampleNet) lead(b *testing.B, t parallel.Transport) {
	defer t.Close()
	ranks, err := parallel.Join(b.Context(), t, parallel.Config{})
	if err != nil {
		b.Fatal(err)
	}
	compareSteps(b, 10, m.steps(b, 1, ranks), m.steps(b, 2, nil))
}

// follow takes the steps of rank 1 until rank 0 has ended.
func (m exampleNet) follow(b *testing.B, t parallel.Transport) {
	defer t.Close()
	ranks, err := parallel.Join(b.Context(), t, parallel.Config{})
	if err != nil {
		b.Error(err)
		return
	}
	for step := m.steps(b, 1, ranks); err == nil; {
		err = step()
	}
	if !errors.Is(err, parallel.ErrLost) {
		b.Error(err)
	}
}

// compareSteps reports how much longer so many steps of one kind take than of another.
func compareSteps(b *testing.B, turn int, with, without func() error) {
	time := func(step func() error) float64 {
		begin := time.Now()
		for range turn {
			if err := step(); err != nil {
				b.Fatal(err)
			}
		}
		return float64(time.Since(begin))
	}
	for range 3 {
		time(with)
		time(without)
	}
	var ratios []float64
	b.ResetTimer()
	for range b.N {
		ratios = append(ratios, time(with)/time(without))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}

// exampleNet is a net of the examples with the size of its batches.
type exampleNet struct {
	name string
	laned
	batch int
}

func exampleNets(b *testing.B) []exampleNet {
	gpt, cnn := exampleGPT(b), exampleCNN(b)
	return []exampleNet{{"gpt/batch=16", gpt, 16}, {"gpt/batch=64", gpt, 64}, {"cnn/batch=64", cnn, 64}, {"cnn/batch=256", cnn, 256}}
}

// steps returns a function that takes a step.
func (m exampleNet) steps(b *testing.B, workers int, ranks *parallel.Ranks) func() error {
	tr := &train.Trainer{Build: m.build, Optimiser: train.AdamW(1e-3), Seed: 3, Workers: workers, Ranks: ranks}
	b.Cleanup(tr.Close)
	r := &train.Run{Trainer: tr, Data: m.data(m.batch), Steps: 1 << 30}
	return func() error { return r.Step(context.Background()) }
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
