package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// overSockets connects so many ranks at an address.
func overSockets(address string, ranks int, o ...parallel.DialOption) ([]parallel.Transport, error) {
	all, errs := make([]parallel.Transport, ranks), make([]error, ranks)
	var wait sync.WaitGroup
	for rank := range ranks {
		wait.Go(func() { all[rank], errs[rank] = parallel.Dial(context.Background(), address, rank, ranks, o...) })
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

// TestSocketsSum: sums over sockets are those of one process, bit for bit.
func TestSocketsSum(t *testing.T) {
	key := parallel.Key([]byte(strings.Repeat("k", 32)))
	sizes := [][2]int{{1, 0}, {7, 3}, {20001, 3001}}
	for _, ranks := range []int{2, 3, 4, 5, 6, 7, 8} {
		if testing.Short() && ranks != 3 && ranks != 8 {
			continue
		}
		lanes := map[int]int{5: 35, 7: 35}[ranks]
		if lanes == 0 {
			lanes = 24
		}
		lists := make([][]term, len(sizes))
		for i, n := range sizes {
			lists[i] = terms(lanes, n[0], n[1])
		}
		secret := []parallel.DialOption{parallel.Timeout(20 * time.Second), key}
		for address, o := range map[string][]parallel.DialOption{
			fmt.Sprintf("tcp://127.0.0.1:%d", 14000+ranks):    secret[:1+ranks%2],
			"unix://" + filepath.Join(t.TempDir(), "meeting"): {parallel.Timeout(20 * time.Second)},
		} {
			all, err := overSockets(address, ranks, o...)
			if err != nil {
				t.Fatal(err)
			}
			must(t, over(all, parallel.Config{Lanes: lanes}, func(r *parallel.Ranks) error {
				for i, n := range sizes {
					list := lists[i]
					x, y := reference(list)
					b := r.NewBucket(n[0], n[1])
					for range 3 {
						put(b, r, list)
						if err := b.Sum(context.Background()); err != nil {
							return err
						}
						if x2, y2 := b.Total(); !same(x, x2) || !same(y, y2) {
							return fmt.Errorf("%v values: other bits", n)
						}
					}
				}
				every, err := r.Gather(context.Background(), []byte(strings.Repeat("x", r.Rank())))
				for rank, b := range every {
					if len(b) != rank {
						return fmt.Errorf("rank %d gave %q", rank, b)
					}
				}
				return err
			}))
		}
	}
}

// TestSocketsAgree: what ranks were told differently is named on all of them.
func TestSocketsAgree(t *testing.T) {
	all, err := overSockets("unix://"+filepath.Join(t.TempDir(), "meeting"), 3)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for rank, transport := range all {
		wait.Go(func() {
			defer transport.Close()
			_, err := parallel.Join(context.Background(), transport, parallel.Config{Lanes: 6 + 6*(rank/2)})
			if err == nil || !strings.Contains(err.Error(), "lanes") {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	wait.Wait()
}
