//go:build mpi && linux && (amd64 || arm64)

package mpi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// programs are what the processes of a job do. An error is printed and makes the process fail.
var programs = map[string]func() error{
	"exchange": exchangeAll,
	"pieces":   func() error { return exchangeIn(1000) },
	"long":     exchangeLong,
	"forever":  exchangeForever,
	"silent":   beSilent,
	"sums":     addUp,
	"disagree": disagree,
	"train":    trainHere,
	"idle":     waitIdly,
	"ended":    endContext,
	"differ":   differ,
	"abort":    abortJob,
	"wrong":    misuse,
	"late":     closeLate,
	"open":     func() error { _, err := opened(0, 0); return err },
}

func opened(timeout time.Duration, piece int) (parallel.Transport, error) {
	return Open(context.Background(), Options{Timeout: timeout, piece: piece})
}

// fill writes what a rank sends to another in a round.
func fill(x []byte, from, to, round int) {
	for i := range x {
		x[i] = byte(i*31 + i>>8 + from*7 + to*13 + round)
	}
}

// exchangeAll exchanges arrays of many sizes between all pairs of ranks, both ways and one way, and
// allocates nothing for it.
func exchangeAll() error { return exchangeIn(0) }

func exchangeIn(piece int) error {
	t, err := opened(20*time.Second, piece)
	if err != nil {
		return err
	}
	ctx, me, ranks := context.Background(), t.Rank(), t.Ranks()
	sizes := []int{0, 1, 7, 999, 1000, 1001, 4096, 70_001, 300_000}
	send, recv, want := make([]byte, 300_000), make([]byte, 300_000), make([]byte, 300_000)
	all := func() error {
		for round, n := range sizes {
			for _, back := range []int{n, 0, 3 * n / 4} {
				// A tournament: in round s the ranks meet whose sum is s.
				for s := range 2*ranks - 2 {
					peer := s + 1 - me
					if peer < 0 || peer >= ranks || peer == me {
						continue
					}
					out, in := send[:n], recv[:back]
					if me > peer {
						out, in = send[:back], recv[:n]
					}
					fill(out, me, peer, round)
					fill(want[:len(in)], peer, me, round)
					if err := t.Exchange(ctx, peer, out, in); err != nil {
						return err
					}
					if string(in) != string(want[:len(in)]) {
						return fmt.Errorf("rank %d got other bytes of %d from rank %d", me, len(in), peer)
					}
				}
			}
		}
		return nil
	}
	if err := all(); err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := all(); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	exchanges := 3 * len(sizes) * (ranks - 1)
	if n := int(after.Mallocs - before.Mallocs); n > 10+exchanges/10 { // the runtime's own are few
		return fmt.Errorf("%d allocations in %d exchanges", n, exchanges)
	}
	if me == 0 {
		fmt.Println(t)
	}
	return t.Close()
}

// addUp adds up terms of 24 lanes on all ranks, with the same bits as on one, and gathers texts.
func addUp() error {
	t, err := opened(0, 0)
	if err != nil {
		return err
	}
	ctx, c := context.Background(), parallel.Config{Lanes: 24}
	ranks, err := parallel.Join(ctx, t, c)
	if err != nil {
		return err
	}
	alone, err := parallel.Alone(c)
	if err != nil {
		return err
	}
	var totals [2][]float32
	for i, r := range []*parallel.Ranks{ranks, alone} {
		b := r.NewBucket(50_021, 0)
		from, to := r.Own()
		for step := range 3 {
			for lane := from; lane < to; lane++ {
				draw := rand.New(rand.NewPCG(uint64(step), uint64(lane)))
				x := make([]float32, 50_021)
				for i := range x {
					x[i] = float32(draw.NormFloat64())
				}
				b.Put(lane, parallel.Part{Scale: 0.1, F32: x})
			}
			if err := b.Sum(ctx); err != nil {
				return err
			}
			total, _ := b.Total()
			totals[i] = append(totals[i], total...)
		}
	}
	for i, x := range totals[0] {
		if x != totals[1][i] {
			return fmt.Errorf("rank %d: sum %d is %v, on one rank %v", t.Rank(), i, x, totals[1][i])
		}
	}
	texts, err := ranks.Gather(ctx, []byte(strings.Repeat("x", t.Rank())))
	if err != nil {
		return err
	}
	for rank, text := range texts {
		if len(text) != rank || len(texts) != t.Ranks() {
			return fmt.Errorf("gathered %q", texts)
		}
	}
	return ranks.Close()
}

// disagree has ranks that were told different numbers of lanes.
func disagree() error {
	t, err := opened(0, 0)
	if err != nil {
		return err
	}
	_, err = parallel.Join(context.Background(), t, parallel.Config{Lanes: 8 << t.Rank()})
	if err == nil || !strings.Contains(err.Error(), "lanes") {
		return fmt.Errorf("the error is %v", err)
	}
	if t.Rank() == 0 {
		fmt.Println("told:", err)
	}
	return t.Close()
}

// exchangeLong sends more than 2^31 bytes one way.
func exchangeLong() error {
	t, err := opened(0, 0)
	if err != nil {
		return err
	}
	x := make([]byte, 1<<31+4097)
	if t.Rank() == 0 {
		fill(x, 0, 1, 0)
		err = t.Exchange(context.Background(), 1, x, nil)
	} else {
		err = t.Exchange(context.Background(), 0, nil, x)
		for i := range x {
			if x[i] != byte(i*31+i>>8+13) {
				return fmt.Errorf("byte %d is %d", i, x[i])
			}
		}
	}
	return errors.Join(err, t.Close())
}

// exchangeForever exchanges in a ring of pairs until the job is ended from outside.
func exchangeForever() error {
	t, err := opened(20*time.Second, 0)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d is process %d\n", t.Rank(), os.Getpid())
	send, recv := make([]byte, 100_000), make([]byte, 100_000)
	for ctx := context.Background(); ; {
		for _, peer := range []int{t.Rank() ^ 1, t.Ranks() - 1 - t.Rank()} {
			if err := t.Exchange(ctx, peer, send, recv); err != nil {
				return err
			}
		}
	}
}

// beSilent has a rank that never exchanges, and whose peer is told so.
func beSilent() error {
	t, err := opened(2*time.Second, 0)
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		time.Sleep(time.Minute)
		return nil
	}
	begin := time.Now()
	err = t.Exchange(context.Background(), 1, make([]byte, 100), make([]byte, 100))
	took := time.Since(begin)
	if !errors.Is(err, parallel.ErrLost) || !strings.Contains(err.Error(), "rank 1") || took < 2*time.Second || took > 5*time.Second {
		return fmt.Errorf("after %v: %v", took, err)
	}
	if again := t.Exchange(context.Background(), 1, nil, nil); again != err {
		return fmt.Errorf("a second exchange: %v", again)
	}
	fmt.Println("after the exchange:", err)
	if err := t.Close(); err != nil {
		return err
	}
	runtime.GC() // what is pinned for the lost exchange stays so
	runtime.GC()
	return err
}

// waitIdly has a rank that waits for another, and looks at the time of processors that it takes.
func waitIdly() error {
	t, err := opened(20*time.Second, 0)
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		time.Sleep(2 * time.Second)
	}
	before := processorTime()
	if err := t.Exchange(context.Background(), 1-t.Rank(), nil, make([]byte, 0)); err != nil {
		return err
	}
	if took := processorTime() - before; t.Rank() == 0 && took > 400*time.Millisecond {
		return fmt.Errorf("a wait of 2 s takes %v of a processor", took)
	}
	return t.Close()
}

// processorTime returns what this process has taken.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// endContext ends an exchange by its context.
func endContext() error {
	t, err := opened(20*time.Second, 0)
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		time.Sleep(time.Minute)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	err = t.Exchange(ctx, 1, nil, make([]byte, 10))
	if err == nil || err.Error() != "mpi: exchange with rank 1: enough" {
		return fmt.Errorf("the error is %v", err)
	}
	return err
}

// differ has two ranks that disagree about the lengths.
func differ() error {
	t, err := opened(5*time.Second, 0)
	if err != nil {
		return err
	}
	err = t.Exchange(context.Background(), 1-t.Rank(), make([]byte, 10+t.Rank()), make([]byte, 10))
	want := "mpi: exchange with rank 1: it sends 11 bytes and wants 10, but this rank wants 10 and sends 10"
	if t.Rank() == 1 {
		want = "mpi: exchange with rank 0: it sends 10 bytes and wants 10, but this rank wants 10 and sends 11"
	}
	if err == nil || err.Error() != want {
		return fmt.Errorf("the error is %v", err)
	}
	fmt.Println("both know")
	time.Sleep(500 * time.Millisecond) // the end of one ends the other
	return err
}

// abortJob has a rank that ends the job while others wait.
func abortJob() error {
	t, err := opened(20*time.Second, 0)
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		time.Sleep(200 * time.Millisecond)
		t.Abort(errors.New("the disk is full"))
		fmt.Println("after Abort")
		return nil
	}
	go func() {
		if t.Rank() == 2 { // while an exchange goes on
			time.Sleep(10 * time.Second)
			t.Abort(errors.New("too late"))
		}
	}()
	err = t.Exchange(context.Background(), 1, nil, make([]byte, 10))
	fmt.Println("after the exchange:", err)
	return err
}

// misuse calls what there is in wrong order, with wrong ranks, and more than once.
func misuse() error {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(canceled, Options{}); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("an ended context: %v", err)
	}
	t, err := opened(0, 0)
	if err != nil {
		return err
	}
	if err := panics(); err == nil {
		return errors.New("no panic")
	}
	ctx := context.Background()
	refused := func(what, want string, err error) {
		if err == nil || !strings.Contains(err.Error(), want) {
			fmt.Printf("error: %s: %v\n", what, err)
		}
	}
	_, err = opened(0, 0)
	refused("a second Open", "open already: it starts once", err)
	refused("itself", "with itself", t.Exchange(ctx, t.Rank(), nil, nil))
	refused("a rank too many", "no rank 2 among 2", t.Exchange(ctx, 2, nil, nil))
	refused("a rank below 0", "no rank -1 among 2", t.Exchange(ctx, -1, nil, nil))
	if err := t.Exchange(ctx, 1-t.Rank(), []byte{1}, make([]byte, 1)); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	refused("after Close", "is closed", t.Exchange(ctx, 1-t.Rank(), nil, nil))
	_, err = opened(0, 0)
	refused("Open after Close", "was closed: it starts once", err)
	t.Abort(errors.New("after Close"))
	return t.Close()
}

// panics makes a signal that Go is to turn into a panic.
func panics() (err error) {
	defer func() { err, _ = recover().(error) }()
	var p *int
	*p = 1
	return nil
}

// closeLate has a rank that closes long after the other.
func closeLate() error {
	t, err := opened(2*time.Second, 0)
	if err != nil {
		return err
	}
	if t.Rank() == 1 {
		time.Sleep(2500 * time.Millisecond) // longer than a peer may be silent
	}
	before := processorTime()
	err = t.Close()
	if took := processorTime() - before; took > 500*time.Millisecond {
		return fmt.Errorf("Close takes %v of a processor", took)
	}
	return err
}
