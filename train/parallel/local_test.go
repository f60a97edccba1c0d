package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// mallocs counts what all goroutines allocate while f runs.
func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestLocalLost: a peer that ends, or does not come, is lost; one that aborts says why.
func TestLocalLost(t *testing.T) {
	pair := func(wait time.Duration) (a, b parallel.Transport) {
		all := parallel.Local(2)
		for _, l := range all {
			l.(interface{ SetTimeout(time.Duration) }).SetTimeout(wait)
		}
		return all[0], all[1]
	}
	exchange := func(l parallel.Transport) error {
		return l.Exchange(context.Background(), 1-l.Rank(), []byte{1, 2}, make([]byte, 2))
	}
	t.Run("silent", func(t *testing.T) {
		a, b := pair(20 * time.Millisecond)
		err := exchange(a)
		if !errors.Is(err, parallel.ErrLost) || !strings.Contains(err.Error(), "rank 1 is silent for 20ms") {
			t.Error(err)
		}
		if err := exchange(b); !errors.Is(err, parallel.ErrLost) { // a's offer is gone
			t.Error(err)
		}
	})
	t.Run("ended", func(t *testing.T) {
		a, b := pair(time.Minute)
		time.AfterFunc(5*time.Millisecond, func() { b.Close() })
		if err := exchange(a); !errors.Is(err, parallel.ErrLost) || !strings.Contains(err.Error(), "rank 1 has ended") {
			t.Error(err)
		}
		if err := exchange(b); err == nil || errors.Is(err, parallel.ErrLost) {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("aborted", func(t *testing.T) {
		a, b := pair(time.Minute)
		cause := errors.New("the disk is full")
		time.AfterFunc(5*time.Millisecond, func() { b.Abort(cause) })
		if err := exchange(a); !errors.Is(err, cause) {
			t.Error(err)
		}
		if err := exchange(b); !errors.Is(err, cause) {
			t.Error(err)
		}
		a.Abort(nil)
	})
	t.Run("stopped", func(t *testing.T) {
		a, _ := pair(time.Minute)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		if err := a.Exchange(ctx, 1, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("other length", func(t *testing.T) {
		a, b := pair(time.Second) // b waits for so long
		var wait sync.WaitGroup
		wait.Go(func() {
			if err := a.Exchange(context.Background(), 1, make([]byte, 3), make([]byte, 5)); err == nil || !strings.Contains(err.Error(), "rank 1 sends 4 bytes, rank 0 expects 5") {
				t.Error(err)
			}
		})
		if err := b.Exchange(context.Background(), 0, make([]byte, 4), make([]byte, 3)); err != nil && !errors.Is(err, parallel.ErrLost) {
			t.Error(err)
		}
		wait.Wait()
	})
	t.Run("itself", func(t *testing.T) {
		a, _ := pair(time.Minute)
		if a.Exchange(context.Background(), 0, nil, nil) == nil || a.Exchange(context.Background(), 2, nil, nil) == nil || a.Exchange(context.Background(), -1, nil, nil) == nil {
			t.Error("an exchange with no peer")
		}
	})
}
