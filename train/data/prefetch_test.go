package data

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// counting is a source of batches x[1], the running number, that fails before some and
// can be made to wait.
type counting struct {
	at    Position
	fails map[int]error // once each
	wait  chan struct{} // nil: not at all
	asked chan struct{} // told of each Next, if there is room
}

func (c *counting) Position() Position    { return c.at }
func (c *counting) Batches() int          { return 10 }
func (c *counting) Seek(p Position) error { c.at = p; return p.check(10) }

func (c *counting) Next(ctx context.Context) (Batch, error) {
	n := c.at.Epoch*10 + c.at.Batch
	select {
	case c.asked <- struct{}{}:
	default:
	}
	if c.wait != nil {
		select {
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		case <-c.wait:
		}
	}
	if err := c.fails[n]; err != nil {
		delete(c.fails, n)
		return Batch{}, err
	}
	c.at = c.at.after(10)
	x := tensor.New(tensor.WithShape(1), tensor.WithBacking([]float64{float64(n)}))
	return Batch{Rows: 1, Values: map[string]*tensor.Dense{"x": x}}, nil
}

// numbers are what the next n calls give: a number, or what went wrong.
func numbers(s Source, n int) (all []string) {
	for range n {
		b, err := s.Next(context.Background())
		if err != nil {
			all = append(all, err.Error())
		} else {
			all = append(all, fmt.Sprint(b.Values["x"].Float64s()[0]))
		}
	}
	return all
}

// Errors come in their place, and the next call tries again, as without.
func TestPrefetchErrors(t *testing.T) {
	fails := func() map[int]error { return map[int]error{2: errors.New("two"), 5: errors.New("five")} }
	want := numbers(&counting{fails: fails()}, 9)
	if fmt.Sprint(want) != "[0 1 two 2 3 4 five 5 6]" {
		t.Fatal(want)
	}
	for _, n := range []int{-1, 1, 2, 50} {
		p := Prefetch(&counting{fails: fails()}, n)
		if got := numbers(p, 9); !slices.Equal(got, want) {
			t.Errorf("%d ahead: %v, want %v", n, got, want)
		}
		p.Close()
	}
}

// What has been read ahead is not lost when a caller does not want to wait for it, and
// is forgotten by Seek.
func TestPrefetchWaits(t *testing.T) {
	source := &counting{wait: make(chan struct{})}
	p := Prefetch(source, 2)
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || p.Position() != (Position{}) {
		t.Errorf("%v at %v", err, p.Position())
	}
	close(source.wait)
	if got := numbers(p, 3); !slices.Equal(got, []string{"0", "1", "2"}) || p.Position() != (Position{0, 3}) {
		t.Errorf("%v, then %v", got, p.Position())
	}
	if err := p.Seek(Position{4, 2}); err != nil {
		t.Fatal(err)
	}
	if got := numbers(p, 2); !slices.Equal(got, []string{"42", "43"}) {
		t.Errorf("%v", got)
	}
	// Close puts the source where the caller is, and Next begins again.
	if err := p.Close(); err != nil || source.at != (Position{4, 4}) {
		t.Errorf("%v: the source is at %v", err, source.at)
	}
	if got := numbers(p, 1); !slices.Equal(got, []string{"44"}) {
		t.Errorf("%v", got)
	}
}

// A batch stays what it is until the next one, however far the reader has got, which is
// no further than it may.
func TestPrefetchHolds(t *testing.T) {
	source := &counting{asked: make(chan struct{}, 100)}
	p := Prefetch(source, 3)
	defer p.Close()
	b, err := p.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // the one that is held and three more
		<-source.asked
	}
	time.Sleep(5 * time.Millisecond)
	if n := len(source.asked); n > 0 {
		t.Errorf("%d batches read ahead of 3", 3+n)
	}
	if v := b.Values["x"].Float64s()[0]; v != 0 {
		t.Errorf("the held batch has become %v", v)
	}
}

// shapes gives batches of other shapes, columns and types each time.
type shapes struct{ counting }

func (s *shapes) Next(ctx context.Context) (Batch, error) {
	n := s.at.Epoch*10 + s.at.Batch
	if _, err := s.counting.Next(ctx); err != nil {
		return Batch{}, err
	}
	b := Batch{Rows: 2, Values: map[string]*tensor.Dense{}}
	b.Values[fmt.Sprint("c", n%3)] = tensor.New(tensor.WithShape(2, 1+n%4), tensor.Of(tensors.ColumnTypes[n%5]))
	tensors.Bytes(b.Values[fmt.Sprint("c", n%3)])[0] = byte(n % 2)
	return b, nil
}

func TestPrefetchShapes(t *testing.T) {
	want := follow(t, new(shapes), 70)
	p := Prefetch(new(shapes), 2)
	defer p.Close()
	if got := follow(t, p, 70); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// turned gives two batches as they lie in memory and two that are transposed.
type turned struct{ counting }

func (s *turned) Next(ctx context.Context) (Batch, error) {
	n := s.at.Batch
	if _, err := s.counting.Next(ctx); err != nil {
		return Batch{}, err
	}
	x := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1, 2, 3, 4}))
	if n%4 > 1 {
		if err := x.T(); err != nil {
			return Batch{}, err
		}
	}
	return Batch{Rows: 2, Values: map[string]*tensor.Dense{"x": x}}, nil
}

func TestPrefetchViews(t *testing.T) {
	p := Prefetch(new(turned), 1)
	defer p.Close()
	for n := range 10 {
		b, err := p.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		want := 2.0
		if n%4 > 1 {
			want = 3
		}
		if got, err := b.Values["x"].At(0, 1); err != nil || got != want {
			t.Errorf("batch %d has %v, want %v: %v", n, got, want, err)
		}
	}
}

func TestPrefetchLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 50 {
		p := Prefetch(InOrder(numbered(t, 10), 3), 2)
		numbers := follow(t, p, 2)
		if err := p.Seek(Position{1, 1}); err != nil || len(numbers) != 2 {
			t.Fatal(err)
		}
		follow(t, p, 1)
		p.Close()
		p.Close()
	}
	for wait := 0; runtime.NumGoroutine() > before && wait < 100; wait++ {
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// BenchmarkPrefetch trains for as long as making a batch takes, with and without.
func BenchmarkPrefetch(b *testing.B) {
	set := numbered(b, 4096)
	for _, c := range []struct {
		name    string
		changes []Change
	}{
		{"memory", nil},
		{"noise", []Change{Noise("x", 1), Noise("x", 1), Noise("x", 1), Noise("x", 1)}},
	} {
		made := Map(Shuffled(set, 1024, 1), 1, c.changes...)
		ahead := Prefetch(Map(Shuffled(set, 1024, 1), 1, c.changes...), 2)
		work := Map(InOrder(set, 1024), 1, Noise("x", 1), Noise("x", 1), Noise("x", 1), Noise("x", 1)) // the step of training
		for name, s := range map[string]Source{"without": made, "with": ahead} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					for _, s := range []Source{s, work} {
						if _, err := s.Next(context.Background()); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
		ahead.Close()
	}
}
