package ranktrain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/linkfault"
	"github.com/tapestry-ml/tapestry/internal/ranktrain"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// connect returns the transport of a rank, whose job the folder tells from others.
type connect func(ctx context.Context, rank, ranks int) (parallel.Transport, error)

// transports are the ways to connect so many ranks, for one job each.
var transports = map[string]func(t testing.TB, ranks int) connect{
	"local": func(_ testing.TB, ranks int) connect {
		all := parallel.Local(ranks)
		return func(_ context.Context, rank, _ int) (parallel.Transport, error) { return all[rank], nil }
	},
	"tcp": func(t testing.TB, _ int) connect {
		address, err := linkfault.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		return dial("tcp://" + address)
	},
	"unix": func(t testing.TB, _ int) connect {
		dir, err := os.MkdirTemp("", "ranks") // the path of a socket is short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dial("unix://" + filepath.Join(dir, "job"))
	},
}

func dial(address string) connect {
	return func(ctx context.Context, rank, ranks int) (parallel.Transport, error) {
		return parallel.Dial(ctx, address, rank, ranks)
	}
}

// run is how a job is shared out.
type run struct {
	ranks, lanes int
	transport    string
	workers      int
	shard        bool
}

func (r run) String() string {
	return fmt.Sprintf("%d ranks by %s, %d lanes, %d workers, sharded %v", r.ranks, r.transport, r.lanes, r.workers, r.shard)
}

// train does a job on all ranks.
func (r run) train(t testing.TB, j ranktrain.Job) {
	t.Helper()
	j.Workers = r.workers
	to := transports[r.transport](t, r.ranks)
	errs := make([]error, r.ranks)
	var all sync.WaitGroup
	for rank := range errs {
		all.Go(func() {
			errs[rank] = func() error {
				transport, err := to(t.Context(), rank, r.ranks)
				if err != nil {
					return err
				}
				defer transport.Close()
				return over(t.Context(), transport, parallel.Config{Lanes: r.lanes, Shard: r.shard}, j)
			}()
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("%s: %v: %v", j.Net, r, err)
	}
}

// over does a job on one rank. All tests do it here, because checkpoints tell where the graph was
// built.
func over(ctx context.Context, transport parallel.Transport, c parallel.Config, j ranktrain.Job) error {
	ranks, err := parallel.Join(ctx, transport, c)
	if err != nil {
		return err
	}
	return j.Run(ctx, ranks)
}

// sum returns the hash of what is in a folder.
func sum(t testing.TB, folder string) string {
	t.Helper()
	s, err := ranktrain.Sum(folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// few returns some runs of a net, among which each number of ranks, transport, number of workers
// and kind of state occurs with others. Where a net takes long to compile, they have few ranks.
func few(net string) []run {
	switch net {
	case "mlp":
		return []run{{2, 8, "unix", 2, true}, {4, 8, "local", 1, false}, {8, 8, "tcp", 1, true}, {1, 24, "local", 2, true}, {6, 24, "local", 2, false}}
	case "cnn":
		return []run{{8, 24, "unix", 2, false}}
	case "gpt":
		return []run{{2, 8, "tcp", 1, true}}
	}
	return []run{{3, 24, "tcp", 2, false}, {4, 24, "local", 1, true}}
}

// every returns the runs of all combinations, those by sockets half over TCP.
func every() (all []run) {
	for _, lanes := range []int{8, 24} {
		for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
			for workers := range 2 {
				for _, transport := range []string{"local", [...]string{"tcp", "unix"}[workers]} {
					for _, shard := range []bool{false, true} {
						if lanes%ranks == 0 {
							all = append(all, run{ranks, lanes, transport, workers + 1, shard})
						}
					}
				}
			}
		}
	}
	return all
}

// TestOneHash: what is trained, measured and kept has the same bits for any number of ranks, by any
// transport, on any number of workers, whether states are shared out or not; for each number of
// lanes its own. With TAPESTRY_LONG it is 200 steps of all combinations.
func TestOneHash(t *testing.T) {
	for _, name := range ranktrain.Nets() {
		t.Run(name, func(t *testing.T) {
			runs, steps := few(name), 12
			if long() {
				runs, steps = every(), 200
			}
			want := map[int]string{} // by the number of lanes
			for _, r := range runs {
				job := ranktrain.Job{Net: name, Steps: steps}
				if want[r.lanes] == "" {
					job.Folder = t.TempDir()
					run{1, r.lanes, "local", 1, false}.train(t, job)
					want[r.lanes] = sum(t, job.Folder)
				}
				job.Folder = t.TempDir()
				r.train(t, job)
				if got := sum(t, job.Folder); got != want[r.lanes] {
					t.Errorf("%v: the hash is %.16s, on one rank %.16s", r, got, want[r.lanes])
				}
			}
			for lanes, sum := range want {
				t.Logf("%d steps in %d lanes, %d runs: %.16s", steps, lanes, len(runs), sum)
			}
		})
	}
}

// TestOneHashAcrossRestarts: nor do the bits depend on where a training stops and goes on with
// other ranks, another transport and states that are shared out or not.
func TestOneHashAcrossRestarts(t *testing.T) {
	for _, name := range ranktrain.Nets() {
		t.Run(name, func(t *testing.T) {
			steps := 10
			switch {
			case long():
				steps = 200
			case name != "mlp":
				t.Skip("one net is enough for a short test")
			}
			job := ranktrain.Job{Net: name, Steps: steps, Measure: steps / 10, Folder: t.TempDir()}
			run{1, 24, "local", 1, false}.train(t, job)
			want := sum(t, job.Folder)
			job.Folder = t.TempDir()
			for i, r := range []run{{1, 24, "local", 2, true}, {4, 24, "unix", 1, false}, {3, 24, "local", 1, true}, {8, 24, "tcp", 2, true}, {2, 24, "local", 1, false}} {
				job.Steps = steps * (i + 1) / 5
				r.train(t, job)
			}
			if got := sum(t, job.Folder); got != want {
				t.Errorf("the hash is %.16s, without restarts %.16s", got, want)
			}
		})
	}
}

// long reports whether the tests may take an hour.
func long() bool { return os.Getenv("TAPESTRY_LONG") == "1" }
