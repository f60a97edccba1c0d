package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
)

// Within a window rows from all over the data set come together.
func TestWindowMixes(t *testing.T) {
	const n, window = 6400, 640
	s := Shuffled(numbered(t, n), window, 1, Window(window))
	b, err := s.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var tenth [10]int
	for k := range window {
		tenth[int(b.Values["x"].Float32s()[3*k])/3*10/n]++
	}
	for k, count := range tenth {
		if count < 10 || count > 200 { // 64 blocks of 10 rows: 64 ± 24 expected
			t.Errorf("%d of %d rows are from tenth %d: %v", count, window, k, tenth)
		}
	}
}

// Windows are shuffled each in its own way: what place in its block a row has changes.
func TestWindowOrders(t *testing.T) {
	const n, window, block = 6400, 640, 10
	s := Shuffled(numbered(t, n), window, 1, Window(window))
	seen := map[string]bool{}
	for range 2 * n / window {
		b, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var places []int
		for k := range window {
			places = append(places, int(b.Values["x"].Float32s()[3*k])/3%block)
		}
		seen[fmt.Sprint(places)] = true
	}
	if len(seen) != 2*n/window {
		t.Errorf("%d orders of %d windows", len(seen), 2*n/window)
	}
}

// flaky spoils the batch when it fails.
type flaky struct {
	*Set
	fails bool
}

func (f *flaky) Gather(ctx context.Context, b Batch, rows []int) error {
	if f.fails {
		clear(tensors.Bytes(b.Values["x"]))
		return errors.New("flaky")
	}
	return f.Set.Gather(ctx, b, rows)
}

// A window that could not be read is not taken for the one that was there.
func TestWindowFails(t *testing.T) {
	d := &flaky{Set: numbered(t, 200)}
	s := Shuffled(d, 10, 1, Window(100))
	want := follow(t, s, 2)
	d.fails = true
	if err := s.Seek(Position{0, 15}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Next(context.Background())
	complains(t, err, "flaky")
	d.fails = false
	if err := s.Seek(Position{}); err != nil {
		t.Fatal(err)
	}
	if got := follow(t, s, 2); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTokenWindows(t *testing.T) {
	tokens := []int32{10, 11, 12, 13, 14}
	s, err := Windows(tokens, 4, 2, 1) // one window only
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Next(context.Background())
	if err != nil || !slices.Equal(b.Values["x"].Int32s(), []int32{10, 11, 12, 13, 10, 11, 12, 13}) ||
		!slices.Equal(b.Values["y"].Int32s(), []int32{11, 12, 13, 14, 11, 12, 13, 14}) || s.Batches() != 1 {
		t.Errorf("%v, %v, %d batches: %v", b.Values["x"], b.Values["y"], s.Batches(), err)
	}
	set, err := Consecutive(tokens, 2)
	if err != nil || fmt.Sprint(set) != "x[2 2] int32, y[2 2] int32" || !slices.Equal(set.Column("y").Int32s(), tokens[1:]) {
		t.Errorf("%v: %v", set, err)
	}
	for _, c := range []struct {
		n, length, size int
		want            string
	}{
		{5, 5, 1, "data: 1 windows of 5 from 5 tokens: want at least one of each, and a token after the last"},
		{5, 0, 1, "data: 1 windows of 0 from 5 tokens: want at least one of each, and a token after the last"},
		{5, 2, -1, "data: -1 windows of 2 from 5 tokens: want at least one of each, and a token after the last"},
		{0, math.MaxInt, 1, fmt.Sprintf("data: 1 windows of %d from 0 tokens: want at least one of each, and a token after the last", math.MaxInt)},
		{5, 2, math.MaxInt, fmt.Sprintf("data: %d windows of 2 tokens are too many for a batch: want at most 2147483647 tokens", math.MaxInt)},
	} {
		_, err := Windows(tokens[:c.n], c.length, c.size, 1)
		complains(t, err, c.want)
	}
	for _, length := range []int{0, -1, 5, math.MaxInt, math.MinInt} {
		_, err := Consecutive(tokens, length)
		complains(t, err, fmt.Sprintf("data: windows of %d from 5 tokens: want at least one, and a token after it", length))
	}
}
