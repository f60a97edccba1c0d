package lab

import (
	"context"
	"errors"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
)

// costTime is how long a tape is timed.
const costTime = 50 * time.Millisecond

// cost measures the training step of the trainer's program.
func (t *trainer) cost(ctx context.Context) (Cost, error) {
	feed := tape.Feed{t.model.KMeans.Points: t.x}
	if b := t.model.KMeans.Points.Dim(0); b < t.c.Table.Rows() {
		feed[t.model.KMeans.Points] = newBatches(t.c.Table.Rows(), len(t.c.Table.Columns), b, 0).at(0, t.x)
	}
	return costOf(ctx, t.prog, tape.NewStore(t.model.Graph, tape.Seed(t.c.Seed)), feed)
}

// costOf measures a program: the median of its runs after a warm-up. The time is
// this machine's; the rest is exact. These are many steps, of which an optimiser may diverge
// whose trainings end before: a step whose numbers are not finite takes as long as another.
func costOf(ctx context.Context, prog *tape.Program, store *tape.Store, feed tape.Feed) (Cost, error) {
	c := Cost{Nodes: prog.Graph().Len(), Instructions: len(prog.Rows()), FLOPs: prog.FLOPs(), Peak: prog.Arena()}
	vm, err := prog.NewVM(store)
	if err != nil {
		return c, err
	}
	defer vm.Close()
	var times []float64
	for begin := time.Now(); time.Since(begin) < costTime || len(times) < 5; {
		start := time.Now()
		var bad *tape.NotFinite
		if err := vm.Run(ctx, feed); err != nil && !errors.As(err, &bad) {
			return c, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	c.Seconds = Median(times[len(times)/5:])
	return c, nil
}
