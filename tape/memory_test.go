package tape_test

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestPeakOfTrainingStep: written with the n×k×d differences, the step holds a
// few n×k arrays. The differences alone would be 64 MiB.
func TestPeakOfTrainingStep(t *testing.T) {
	for name, goofy := range map[string]bool{"soft k-means": false, "goofy": true} {
		c := newClusters(4096, 64, 64, goofy)
		p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step))
		t.Logf("%s: arena of %.2f MB in %d instructions", name, float64(p.Arena())/1e6, len(p.Rows()))
		if p.Arena() >= 8e6 {
			t.Errorf("%s: the arena has %d bytes: want under 8 MB\n%v", name, p.Arena(), p)
		}
		written := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step), tape.Passes(), tape.Unfused())
		if written.Arena() < 4096*64*64*4 {
			t.Errorf("%s: as written the arena has %d bytes: the test shows nothing", name, written.Arena())
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	for name, goofy := range map[string]bool{"soft k-means": false, "goofy": true} {
		c := newClusters(256, 8, 16, goofy)
		vm := tapetest.VM(t, compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step), tape.CheckFinite(c.loss)), tape.NewStore(c.g))
		feed := tape.Feed{c.x: points(256, 16)}
		ctx := context.Background()
		n := testing.AllocsPerRun(20, func() {
			if err := vm.Run(ctx, feed); err != nil {
				t.Fatal(err)
			}
			tapetest.Float(t, vm, c.loss)
		})
		if n != 0 {
			t.Errorf("%s: a step allocates %v times", name, n)
		}
	}
}
