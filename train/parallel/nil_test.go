package parallel_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed jobs.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Alone": parallel.Alone, "Dial": parallel.Dial, "Join": parallel.Join, "Key": parallel.Key, "Local": parallel.Local, "Timeout": parallel.Timeout,
		},
		Types: []any{parallel.Ranks{}, parallel.Bucket{}, parallel.Rendezvous{}},
		Samples: func() []any {
			r, closed := alone(t, 8), alone(t, 8)
			closed.Close()
			return []any{r, closed, r.NewBucket(2, 3), alone(t, 1).NewRendezvous(), parallel.Local(1)[0], []parallel.Range{{}}, []byte{1}, 1, "tcp://127.0.0.1:1"}
		},
	})
}
