package builders_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// BenchmarkIndexChecks runs training steps of models that look rows up, with their indices checked
// and trusted in turn, on one core, and tells how much longer the checked ones take, in percent:
// the median step against the median step.
func BenchmarkIndexChecks(b *testing.B) {
	for title, settings := range map[string]builders.Settings{
		"transformer-gpt":               nil,
		"transformer-gpt of characters": {"t": 64, "m": 64, "heads": 4, "f": 256, "w": 65, "layers": 2},
		"word2vec-negative":             nil,
	} {
		name, _, _ := strings.Cut(title, " ")
		b.Run(title, func(b *testing.B) {
			var vms []*tape.VM
			var feeds []tape.Feed
			for _, options := range [][]tape.Option{nil, {tape.TrustIndices()}} {
				m, err := builders.Build(name, settings, graph.F32)
				if err != nil {
					b.Fatal(err)
				}
				step := train.Adam(1e-3).Minimize(m.Loss, m.Params()...)
				prog, err := tape.Compile(m.Graph, append(options, tape.Fetch(m.Loss), tape.Do(step, m.Step))...)
				if err != nil {
					b.Fatal(err)
				}
				vm := tapetest.VM(b, prog, tape.NewStore(m.Graph), tape.Workers(1))
				defer vm.Close()
				feed := tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 2))))
				vms, feeds = append(vms, vm), append(feeds, feed)
			}
			var took [2][]time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range vms {
					i := (i + n) % 2
					start := time.Now()
					if err := vms[i].Run(context.Background(), feeds[i]); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			checked, trusted := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(100*(float64(checked)/float64(trusted)-1), "%")
			b.ReportMetric(float64(trusted.Microseconds()), "µs-trusted")
		})
	}
}
