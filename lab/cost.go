package lab

import (
	"context"
	"errors"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
)

// Cost is the cost of one training step on the tape.
type Cost struct {
	Nodes        int     // of the compiled graph
	Instructions int     // of the tape, those of the bodies of loops among them, each once
	FLOPs        int64   // of a step
	Peak         int     // bytes of the arena
	Params       int     // number of scalars that the optimiser changes
	Seconds      float64 // median time of a step on this machine
}

// costTime is the least time for which a program is run to time it.
const costTime = 50 * time.Millisecond

// instructions counts those of a program and of the bodies of its loops.
func instructions(p *tape.Program) int {
	rows := p.Rows()
	n := len(rows)
	for _, r := range rows {
		if r.Body != nil {
			n += instructions(r.Body)
		}
	}
	return n
}

// costOf measures a program, all but Params. The time is the median of the runs after a warm-up.
// There may be more timed runs than training has steps, and they may diverge. That is no error,
// because a step takes as long on numbers that are not finite.
func costOf(ctx context.Context, prog *tape.Program, store *tape.Store, feed tape.Feed) (Cost, error) {
	c := Cost{Nodes: prog.Graph().Len(), Instructions: instructions(prog), FLOPs: prog.FLOPs(), Peak: prog.Arena()}
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
