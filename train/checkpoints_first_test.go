package train

import (
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/data"
)

// placed is a source in the middle of an epoch.
type placed struct{ data.Source }

func (placed) Position() data.Position { return data.Position{Batch: 3} }

// TestFirstCheckpointIsSoon: the first checkpoint is due after a tenth of the interval, the others
// after a whole one.
func TestFirstCheckpointIsSoon(t *testing.T) {
	const interval = 1000 * time.Hour
	for _, c := range []struct {
		saved int
		since time.Duration
		due   bool
	}{
		{-1, interval/10 - time.Hour, false},
		{-1, interval/10 + time.Hour, true},
		{7, interval/10 + time.Hour, false},
		{7, interval - time.Hour, false},
		{7, interval + time.Hour, true},
	} {
		f := &fitting{Trainer: &Trainer{}, plan: Plan{Data: placed{}, Checkpoints: Checkpoints{Interval: interval}}, saved: c.saved, savedAt: time.Now().Add(-c.since)}
		if f.saveDue() != c.due {
			t.Errorf("%v after step %d was saved: due is %v", c.since, c.saved, !c.due)
		}
	}
}
