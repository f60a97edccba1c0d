//go:build mpi && linux && (amd64 || arm64)

package mpi

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/ranktrain"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// training is a job that is shared out; trainingVariable tells it to the processes.
type training struct {
	ranktrain.Job
	Ranks  int
	Config parallel.Config
}

const trainingVariable = "JOB"

// on trains on a rank. Checkpoints hold the line of the program that built the net: the call of Run is
// the same line in all processes, and alone.
func (r training) on(ctx context.Context, t parallel.Transport) error {
	ranks, err := parallel.Join(ctx, t, r.Config)
	if err != nil {
		return err
	}
	if err := r.Run(ctx, ranks); err != nil {
		ranks.Abort(err)
		return err
	}
	return ranks.Close()
}

// trainHere is the program of the processes.
func trainHere() error {
	var r training
	if err := json.Unmarshal([]byte(os.Getenv(trainingVariable)), &r); err != nil {
		return err
	}
	t, err := opened(0, 0)
	if err != nil {
		return err
	}
	return r.on(context.Background(), t)
}

// trainAt has the ranks train under an MPI, and returns the hash of what they leave.
func (m implementation) trainAt(t *testing.T, r training) string {
	t.Helper()
	r.Folder = t.TempDir()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	m.start(t, r.Ranks, "train", trainingVariable+"="+string(text)).ok(10 * time.Minute)
	sum, err := ranktrain.Sum(r.Folder)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// alone returns the hash that one process leaves, on one worker and without sharing states out.
func alone(t *testing.T, r training) string {
	t.Helper()
	r.Folder, r.Workers, r.Config.Shard = t.TempDir(), 1, false
	if err := r.on(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	sum, err := ranktrain.Sum(r.Folder)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestOneHash: a training leaves the same bits under every MPI, on any number of ranks and workers,
// whether states are shared out or not, as in one process without MPI. With TAPESTRY_LONG it is 200
// steps of all combinations.
func TestOneHash(t *testing.T) {
	for _, net := range ranktrain.Nets() {
		t.Run(net, func(t *testing.T) {
			steps, all := 10, few(net)
			if os.Getenv("TAPESTRY_LONG") == "1" {
				steps, all = 200, every(net)
			}
			want := map[int]string{} // by the number of lanes
			each(t, func(t *testing.T, m implementation) {
				begin := time.Now()
				for _, r := range all {
					r.Steps = steps
					lanes := r.Config.Lanes
					if want[lanes] == "" {
						want[lanes] = alone(t, r)
					}
					if got := m.trainAt(t, r); got != want[lanes] {
						t.Errorf("%d ranks, %d lanes, %d workers, sharded %v: the hash is %.16s, of one process %.16s",
							r.Ranks, lanes, r.Workers, r.Config.Shard, got, want[lanes])
					}
				}
				t.Logf("%d trainings of %d steps in %v", len(all), steps, time.Since(begin).Round(time.Second))
			})
			for lanes, sum := range want {
				t.Logf("%d lanes: %.16s", lanes, sum)
			}
		})
	}
}

// few returns some ways to train a net, the most of that which compiles soonest.
func few(net string) []training {
	if net != "mlp" {
		return []training{shared(net, 2, 8, 1, true)}
	}
	return []training{shared(net, 1, 8, 2, true), shared(net, 4, 8, 2, false), shared(net, 8, 8, 1, true), shared(net, 3, 24, 1, true), shared(net, 6, 24, 2, false)}
}

// every returns all ways.
func every(net string) (all []training) {
	for _, lanes := range []int{8, 24} {
		for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
			for workers := range 2 {
				if lanes%ranks == 0 {
					all = append(all, shared(net, ranks, lanes, workers+1, false), shared(net, ranks, lanes, workers+1, true))
				}
			}
		}
	}
	return all
}

func shared(net string, ranks, lanes, workers int, shard bool) training {
	return training{ranktrain.Job{Net: net, Workers: workers}, ranks, parallel.Config{Lanes: lanes, Shard: shard}}
}
