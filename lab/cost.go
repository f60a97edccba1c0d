package lab

import (
	"context"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
)

// costTime is how long a tape is timed.
const costTime = 50 * time.Millisecond

// cost measures the training step of the trainer's program: the median of its
// runs after a warm-up. The time is this machine's; the rest is exact.
func (t *trainer) cost(ctx context.Context) (Cost, error) {
	c := Cost{Nodes: t.prog.Graph().Len(), Instructions: len(t.prog.Rows()), FLOPs: t.prog.FLOPs(), Peak: t.prog.Arena()}
	vm := t.prog.NewVM(tape.NewStore(t.model.Graph, tape.Seed(t.c.Seed)))
	defer vm.Close()
	feed := tape.Feed{t.model.Input: t.x}
	if b := t.model.Settings.Int("n"); b < t.c.Table.Rows() {
		feed[t.model.Input] = newBatches(t.c.Table.Rows(), len(t.c.Table.Columns), b, 0).next(t.x)
	}
	var times []float64
	for begin := time.Now(); time.Since(begin) < costTime || len(times) < 5; {
		start := time.Now()
		if err := vm.Run(ctx, feed); err != nil {
			return c, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	c.Seconds = Median(times[len(times)/5:])
	return c, nil
}
