package lab

import (
	"context"
	"errors"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
)

// costTime is the least time for which a program is timed.
const costTime = 50 * time.Millisecond

// costOf measures a program. The time is the median of its runs on this machine after a warm-up;
// the rest is exact. The timed runs may be more steps than a training takes, and diverge on the
// way. That is no error: a step whose numbers are not finite takes as long as another.
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
