package parallel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/linkfault"
)

var testKey = []byte(strings.Repeat("k", keyBytes))

// freeAddress returns an address at which nobody listens.
func freeAddress(t testing.TB, network string) string {
	t.Helper()
	if network == "unix" {
		return "unix://" + filepath.Join(t.TempDir(), "s")
	}
	address, err := linkfault.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return "tcp://" + address
}

// dialAll connects so many ranks, each in a goroutine of its own.
func dialAll(address string, ranks int, options func(rank int) []DialOption) ([]Transport, []error) {
	all, errs := make([]Transport, ranks), make([]error, ranks)
	var wait sync.WaitGroup
	for rank := range ranks {
		wait.Go(func() {
			var o []DialOption
			if options != nil {
				o = options(rank)
			}
			all[rank], errs[rank] = Dial(context.Background(), address, rank, ranks, o...)
		})
	}
	wait.Wait()
	return all, errs
}

// connected is dialAll where nothing must go wrong.
func connected(t testing.TB, address string, ranks int, o ...DialOption) []Transport {
	t.Helper()
	all, errs := dialAll(address, ranks, func(int) []DialOption { return o })
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		t.Cleanup(func() { all[rank].Close() })
	}
	return all
}

// together runs a function as each rank, and returns their errors.
func together(all []Transport, do func(t Transport) error) []error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for rank, t := range all {
		wait.Go(func() { errs[rank] = do(t) })
	}
	wait.Wait()
	return errs
}

// content is what a rank sends to another in a round.
func content(from, to, round, length int) []byte {
	b := make([]byte, length)
	rand.NewChaCha8([32]byte{byte(from), byte(to), byte(round)}).Read(b)
	return b
}

// exchanges makes each rank exchange with each other, of many lengths both ways, and looks at every byte.
func exchanges(ctx context.Context, t Transport, lengths [][2]int) error {
	for round, n := range lengths {
		for d := 1; d < 2*t.Ranks(); d++ { // pairs in one order for all
			peer := d - t.Rank()
			if peer < 0 || peer >= t.Ranks() || peer == t.Rank() {
				continue
			}
			out, in := n[0], n[1]
			if t.Rank() > peer {
				out, in = in, out
			}
			got := make([]byte, in)
			if err := t.Exchange(ctx, peer, content(t.Rank(), peer, round, out), got); err != nil {
				return err
			}
			if !slices.Equal(got, content(peer, t.Rank(), round, in)) {
				return fmt.Errorf("round %d: wrong bytes from %d", round, peer)
			}
		}
	}
	return nil
}

var lengths = [][2]int{{0, 0}, {1, 1}, {0, 5}, {7, 0}, {inline, inline}, {inline + 1, inline + 1}, {3, pieceBytes + 1}, {3*pieceBytes + 17, 2 * pieceBytes},
	{1 << 20, 1<<20 + 3}, {4, 4}}

func TestSocketsExchange(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, ranks := range []int{1, 2, 5} {
			for _, keyed := range []bool{false, true} {
				if testing.Short() && ranks > 2 && keyed {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/key=%v", network, ranks, keyed), func(t *testing.T) {
					o := []DialOption{Timeout(20 * time.Second)}
					if keyed {
						o = append(o, Key(testKey))
					}
					all := connected(t, freeAddress(t, network), ranks, o...)
					for rank, err := range together(all, func(t Transport) error { return exchanges(context.Background(), t, lengths) }) {
						if err != nil {
							t.Errorf("rank %d: %v", rank, err)
						}
					}
					for rank, err := range together(all, Transport.Close) {
						if err != nil {
							t.Errorf("rank %d: %v", rank, err)
						}
					}
				})
			}
		}
	}
}

func TestSocketsAbort(t *testing.T) {
	all := connected(t, freeAddress(t, "tcp"), 4)
	cause := errors.New("reading train.csv: no such file")
	start := time.Now()
	for rank, err := range together(all, func(t Transport) error {
		if t.Rank() == 2 {
			time.Sleep(50 * time.Millisecond)
			t.Abort(cause)
		}
		return t.Exchange(context.Background(), (t.Rank()+1)%4, nil, make([]byte, 10))
	}) {
		if err == nil || err.Error() != "parallel: rank 2: "+cause.Error() {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Error(d)
	}
}

// TestSocketsTimeout: ranks wait as Dial was told, unless Join is told otherwise.
func TestSocketsTimeout(t *testing.T) {
	for _, c := range []struct{ dial, join, want time.Duration }{
		{0, 0, DefaultTimeout}, {7 * time.Second, 0, 7 * time.Second}, {7 * time.Second, 8 * time.Second, 8 * time.Second},
	} {
		var o []DialOption
		if c.dial > 0 {
			o = append(o, Timeout(c.dial))
		}
		all := connected(t, freeAddress(t, "unix"), 2, o...)
		for _, err := range together(all, func(t Transport) error {
			_, err := Join(context.Background(), t, Config{Timeout: c.join})
			if s := t.(*sockets); err == nil && (s.timeout != c.want || s.links[1-s.rank].data.timeout != c.want) {
				err = fmt.Errorf("it waits for %v", s.timeout)
			}
			return err
		}) {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}
