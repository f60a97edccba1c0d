package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// numbered is a set of n rows: x[n 3], of which row i is 3i, 3i+1, 3i+2, and y[n] of i%4.
func numbered(t testing.TB, n int) *Set {
	t.Helper()
	x, y := make([]float32, 3*n), make([]int32, n)
	for i := range x {
		x[i] = float32(i)
	}
	for i := range y {
		y[i] = int32(i % 4)
	}
	s, err := NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(n, 3), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n), tensor.WithBacking(y)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// complains checks the text of an error.
func complains(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// bits is a copy of what a batch holds.
func bits(b Batch) string {
	s := fmt.Sprint(b.Rows)
	for _, name := range slices.Sorted(maps.Keys(b.Values)) {
		t := b.Values[name]
		s += fmt.Sprintf(" %s%v%v %x", name, []int(t.Shape()), t.Dtype(), tensors.Bytes(t))
	}
	return s
}

// follow gives the bits of the next n batches, each with its position.
func follow(t testing.TB, s Source, n int) []string {
	t.Helper()
	var all []string
	for range n {
		at := s.Position()
		b, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(at, ": ", bits(b)))
	}
	return all
}

// testSource checks what every Source promises; each call of fresh gives a new one.
func testSource(t *testing.T, fresh func() Source, epochsDiffer bool) {
	t.Helper()
	s := fresh()
	n := s.Batches()
	if n < 2 {
		t.Fatalf("%d batches: want some more to test with", n)
	}
	all := follow(t, s, 2*n+2)
	if want := (Position{2, 1}).after(n); s.Position() != want {
		t.Errorf("after two epochs of %d and 2 batches: %v", n, s.Position())
	}
	for i, b := range all {
		at := Position{i / n, i % n}
		if want := fmt.Sprint(at, ": "); b[:len(want)] != want {
			t.Fatalf("batch %d is at %.40s…, want %v", i, b, at)
		}
		// Another source that goes there at once gives the same.
		other := fresh()
		if err := other.Seek(at); err != nil {
			t.Fatal(err)
		}
		if got := follow(t, other, 1)[0]; got != b {
			t.Fatalf("after Seek(%v): %.200s, want %.200s", at, got, b)
		}
	}
	// So does this one, which has been elsewhere, in any order.
	for _, i := range []int{2*n + 1, 0, n - 1, n, 1, 1} {
		if err := s.Seek(Position{i / n, i % n}); err != nil {
			t.Fatal(err)
		}
		if got := follow(t, s, 1)[0]; got != all[i] {
			t.Fatalf("back at %v: %.200s, want %.200s", Position{i / n, i % n}, got, all[i])
		}
	}
	strip := func(i int) string { _, b, _ := bytes.Cut([]byte(all[i]), []byte(": ")); return string(b) }
	if same := strip(0) == strip(n); same == epochsDiffer {
		t.Errorf("first batches of two epochs: the same is %t", same)
	}
	// What fails changes nothing.
	at := Position{Epoch: 1, Batch: 1}
	if err := s.Seek(at); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Position{{-1, 0}, {0, -1}, {0, n}, {0, math.MaxInt}, {math.MinInt, 0}} {
		complains(t, s.Seek(bad), fmt.Sprintf("data: no %v: there are %d batches in an epoch", bad, n))
		if s.Position() != at {
			t.Fatalf("a refused Seek moved to %v", s.Position())
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Next(ended); !errors.Is(err, context.Canceled) || s.Position() != at {
		t.Errorf("with an ended context: %v at %v", err, s.Position())
	}
	if got := follow(t, s, 1)[0]; got != all[n+1] {
		t.Errorf("after a failed Next: %.200s, want %.200s", got, all[n+1])
	}
}

func TestSources(t *testing.T) {
	set := numbered(t, 50)
	big := numbered(t, 3000)
	table, records := onDisk(t, big)
	tokens := make([]int32, 400)
	for i := range tokens {
		tokens[i] = int32(i)
	}
	change := []Change{Noise("x", 1), func(rng *rand.Rand, b Batch) error { return nil }, nil}
	for _, c := range []struct {
		name   string
		differ bool
		fresh  func() Source
	}{
		{"shuffled", true, func() Source { return Shuffled(set, 8, 3) }},
		{"shuffled, drop last", true, func() Source { return Shuffled(set, 8, 3, DropLast(), nil) }},
		{"in order", false, func() Source { return InOrder(set, 8) }},
		{"in order, drop last", false, func() Source { return InOrder(set, 8, DropLast()) }},
		{"window", true, func() Source { return Shuffled(big, 301, 3, Window(1000)) }},
		{"window, drop last", true, func() Source { return Shuffled(big, 301, 3, Window(999), DropLast()) }},
		{"windows smaller than batches", true, func() Source { return Shuffled(big, 700, 3, Window(100)) }},
		{"csv in order", false, func() Source { return InOrder(table, 301) }},
		{"csv shuffled", true, func() Source { return Shuffled(table, 1000, 3) }},
		{"csv window", true, func() Source { return Shuffled(table, 301, 3, Window(2000)) }},
		{"records in order", false, func() Source { return InOrder(records, 301) }},
		{"records shuffled", true, func() Source { return Shuffled(records, 301, 3) }},
		{"records window", true, func() Source { return Shuffled(records, 301, 3, Window(2000)) }},
		{"drawn", true, func() Source {
			b := Batch{Rows: 2, Values: map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(2, 2), tensor.Of(tensor.Float64))}}
			return Drawn(b, 5, 3, func(rng *rand.Rand, b Batch) error {
				for i := range b.Values["x"].Float64s() {
					b.Values["x"].Float64s()[i] = rng.NormFloat64()
				}
				return nil
			})
		}},
		{"windows of tokens", true, func() Source {
			s, err := Windows(tokens, 10, 4, 3)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
		{"mapped", true, func() Source { return Map(InOrder(set, 8), 5, change...) }},
	} {
		t.Run(c.name, func(t *testing.T) { testSource(t, c.fresh, c.differ) })
		t.Run(c.name+", prefetched", func(t *testing.T) {
			var opened []*Prefetched
			testSource(t, func() Source { p := Prefetch(c.fresh(), 3); opened = append(opened, p); return p }, c.differ)
			for _, p := range opened {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// An epoch has every row once, in another order each time, and with DropLast all but the
// odd ones.
func TestEpochs(t *testing.T) {
	set := numbered(t, 5003)
	for _, c := range []struct {
		name string
		s    Source
		rows int
	}{
		{"all", Shuffled(set, 64, 1), 5003},
		{"window", Shuffled(set, 64, 1, Window(700)), 5003},
		{"large window", Shuffled(set, 64, 1, Window(5002)), 5003},
		{"drop last", Shuffled(set, 64, 1, DropLast()), 5003 / 64 * 64},
		{"window, drop last", Shuffled(set, 64, 1, Window(700), DropLast()), 5003 / 64 * 64},
	} {
		var before []float32
		for epoch := range 3 {
			var firsts []float32
			for c.s.Position().Epoch == epoch {
				b, err := c.s.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				x, y := b.Values["x"].Float32s(), b.Values["y"].Int32s()
				for k := range b.Rows {
					if i := int(x[3*k]) / 3; x[3*k] != float32(3*i) || x[3*k+2] != float32(3*i+2) || y[k] != int32(i%4) {
						t.Fatalf("%s: no row is %v, %d", c.name, x[3*k:3*k+3], y[k])
					}
					firsts = append(firsts, x[3*k])
				}
			}
			if slices.Equal(firsts, before) {
				t.Errorf("%s: epoch %d is like the one before", c.name, epoch)
			}
			before = slices.Clone(firsts)
			slices.Sort(firsts)
			if len(slices.Compact(firsts)) != c.rows {
				t.Errorf("%s: %d different rows, want %d", c.name, len(slices.Compact(firsts)), c.rows)
			}
		}
	}
}

func TestSourceArguments(t *testing.T) {
	set := numbered(t, 10)
	for _, c := range []struct {
		size, batches, first int
		how                  []Batching
	}{
		{0, 1, 10, nil}, {-5, 1, 10, nil}, {math.MinInt, 1, 10, nil}, {math.MaxInt, 1, 10, nil},
		{10, 1, 10, nil}, {9, 2, 9, nil}, {1, 10, 1, nil},
		{9, 1, 9, []Batching{DropLast()}}, {11, 1, 10, []Batching{DropLast()}},
	} {
		for _, s := range []Source{Shuffled(set, c.size, 1, c.how...), InOrder(set, c.size, c.how...)} {
			b, err := s.Next(context.Background())
			if err != nil || s.Batches() != c.batches || b.Rows != c.first {
				t.Errorf("size %d: %d batches, the first of %d rows: %v", c.size, s.Batches(), b.Rows, err)
			}
		}
	}
	var none *Set
	for _, d := range []Dataset{nil, none, (*CSVFile)(nil), (*Records)(nil)} {
		for _, s := range []Source{Shuffled(d, 3, 1), InOrder(d, 0), Shuffled(d, 1, 1, Window(5), DropLast()), Prefetch(InOrder(d, 1), 1)} {
			_, err := s.Next(context.Background())
			complains(t, err, "data: a data set without rows has no batches")
			if s.Batches() != 0 || s.Position() != (Position{}) || s.Seek(Position{}) != nil {
				t.Errorf("%d batches at %v", s.Batches(), s.Position())
			}
			if p, ok := s.(*Prefetched); ok {
				p.Close()
			}
		}
	}
	for what, s := range map[string]Source{"Map": Map(nil, 1), "Prefetch": Prefetch(nil, -1)} {
		_, err := s.Next(context.Background())
		complains(t, err, "data: "+what+" has no source")
		if s.Batches() != 0 || s.Position() != (Position{}) {
			t.Errorf("%s of nothing: %d batches at %v", what, s.Batches(), s.Position())
		}
	}
	_, err := Drawn(Batch{}, -3, 1, nil).Next(context.Background())
	complains(t, err, "data: Drawn has no function to draw with")
}

// An error of what draws or changes comes out with its position, and leaves it.
func TestFailingChange(t *testing.T) {
	wrong := errors.New("wrong")
	fails := true
	draw := func(rng *rand.Rand, b Batch) error {
		if fails {
			return wrong
		}
		return nil
	}
	for _, s := range []Source{Drawn(Batch{Rows: 1}, 3, 1, draw), Map(InOrder(numbered(t, 3), 1), 1, draw)} {
		if err := s.Seek(Position{2, 1}); err != nil {
			t.Fatal(err)
		}
		fails = true
		_, err := s.Next(context.Background())
		complains(t, err, "data: epoch 2, batch 1: wrong")
		if !errors.Is(err, wrong) || s.Position() != (Position{2, 1}) {
			t.Errorf("%v at %v", err, s.Position())
		}
		fails = false
		if _, err := s.Next(context.Background()); err != nil || s.Position() != (Position{2, 2}) {
			t.Errorf("%v at %v", err, s.Position())
		}
	}
}

// Steady state allocates nothing: over several epochs, ragged batches included.
func TestNextAllocates(t *testing.T) {
	set := numbered(t, 1000)
	_, records := onDisk(t, set)
	tokens, err := Windows(make([]int32, 1000), 10, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	z, err := FitStandardiser(context.Background(), set, "x")
	if err != nil {
		t.Fatal(err)
	}
	prefetched := Prefetch(Shuffled(set, 64, 1), 3)
	defer prefetched.Close()
	for name, s := range map[string]Source{
		"shuffled": Shuffled(set, 64, 1), "in order": InOrder(set, 64), "window": Shuffled(set, 64, 1, Window(300)),
		"records": Shuffled(records, 64, 1), "part": Shuffled(Where(set, func(i int) bool { return i%5 == 4 }), 64, 1), "windows": tokens, "prefetched": prefetched,
		"mapped": Map(Shuffled(set, 64, 1), 1, z.Change(), Noise("x", 1)),
	} {
		ctx := context.Background()
		next := func() {
			if _, err := s.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range 40 {
			next()
		}
		if n := testing.AllocsPerRun(100, next); n > 0 {
			t.Errorf("%s: %v allocations for a batch", name, n)
		}
	}
}
