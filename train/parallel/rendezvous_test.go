package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// meet runs one function for each of a rank's own lanes at once.
func meet(r *parallel.Ranks, run func(lane int) error) error {
	from, to := r.Own()
	errs := make([]error, to-from)
	var wait sync.WaitGroup
	for lane := from; lane < to; lane++ {
		wait.Go(func() { errs[lane-from] = run(lane) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// TestRendezvous: every lane gets the sums over all lanes, in the bits of their definition.
func TestRendezvous(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {1, 8}, {2, 8}, {8, 8}, {3, 24}, {8, 24}, {1, 5}} {
		sites := [][]term{terms(c[1], 7, 0), terms(c[1], 0, 3), terms(c[1], 100, 100)}
		for _, site := range sites {
			for i := range site {
				site[i].scale = 1
			}
		}
		must(t, job(c[0], parallel.Config{Lanes: c[1]}, func(r *parallel.Ranks) error {
			v := r.NewRendezvous()
			return meet(r, func(lane int) error {
				for range 10 {
					for site, list := range sites {
						x, y := append([]float32{}, list[lane].f32...), append([]float64{}, list[lane].f64...)
						if err := v.Sum(context.Background(), lane, site, x, y); err != nil {
							return err
						}
						if wantX, wantY := reference(list); !same(x, wantX) || !same(y, wantY) {
							return fmt.Errorf("lane %d gets other bits at %d", lane, site)
						}
					}
				}
				return nil
			})
		}))
	}
}

// TestRendezvousFails: if one lane fails, the others do not wait.
func TestRendezvousFails(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("lane 2 is broken")
	for want, last := range map[string]func(v *parallel.Rendezvous) error{
		"lane 2 is broken":                  func(v *parallel.Rendezvous) error { v.Fail(broken); return nil },
		"lane 2 comes to sum 1 while lane":  func(v *parallel.Rendezvous) error { return v.Sum(ctx, 2, 1, make([]float32, 1), nil) },
		"lane 2 brings 2 values of float32": func(v *parallel.Rendezvous) error { return v.Sum(ctx, 2, 0, make([]float32, 2), nil) },
		"lane 4 comes to rank 0":            func(v *parallel.Rendezvous) error { return v.Sum(ctx, 4, 0, make([]float32, 1), nil) },
		"lane 0 comes twice":                func(v *parallel.Rendezvous) error { return v.Sum(ctx, 0, 0, make([]float32, 1), nil) },
		"context canceled": func(v *parallel.Rendezvous) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Millisecond, cancel)
			// Lane 3 has not come either.
			return v.Sum(ctx, 2, 0, make([]float32, 1), nil)
		},
	} {
		r := alone(t, 4)
		v := r.NewRendezvous()
		x := make([]float32, 4)
		err := meet(r, func(lane int) error {
			switch lane {
			case 2:
				for deadline := time.Now().Add(time.Second); v.Here() < 2 && time.Now().Before(deadline); {
					time.Sleep(100 * time.Microsecond)
				}
				return last(v)
			case 3:
				return nil
			}
			err := v.Sum(ctx, lane, 0, x[lane:lane+1], nil)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("lane %d gets %v, want %q", lane, err, want)
			}
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err := v.Sum(ctx, 3, 0, x[3:], nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a later sum gets %v, want %q", err, want)
		}
	}
}
