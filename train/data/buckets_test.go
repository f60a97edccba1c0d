package data_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestBuckets: every row is once in an epoch, in the smallest bucket that holds it, beside rows of
// the same bucket, and cut to it; where a source is put it goes on.
func TestBuckets(t *testing.T) {
	const n, longest = 23, 7
	x, y, lengths := make([]int32, n*longest), make([]int32, n), make([]int, n)
	for i := range n {
		lengths[i], y[i] = i%(longest+1), int32(i)
		for k := range longest {
			x[i*longest+k] = int32(100*i + k)
		}
	}
	set, err := data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(n, longest), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n), tensor.WithBacking(y)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := data.Buckets{Lengths: lengths, Sizes: []int{2, 5, 7}, Columns: []string{"x"}}
	shuffled, err := b.Shuffled(set, 4, 9)
	if err != nil {
		t.Fatal(err)
	}
	inOrder, err := b.InOrder(set, 4)
	if err != nil {
		t.Fatal(err)
	}
	epoch := func(s data.Source) (text []string) {
		seen := make([]int, n)
		for range s.Batches() {
			batch, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			places, line := batch.Sizes.At(0), fmt.Sprint(batch.Sizes)
			for i, row := range batch.Values["y"].Int32s() {
				seen[row]++
				line += fmt.Sprint(" ", row)
				if known, ok := batch.Row(i); !ok || known != int(row) {
					t.Errorf("row %d is called %d", row, known)
				}
				if want := b.Sizes[slices.IndexFunc(b.Sizes, func(k int) bool { return k >= lengths[row] })]; places != want {
					t.Errorf("a row of length %d is in bucket %d", lengths[row], places)
				}
				for k := range places {
					if batch.Values["x"].Int32s()[i*places+k] != 100*row+int32(k) {
						t.Errorf("other values at row %d", row)
					}
				}
			}
			text = append(text, line)
		}
		if slices.ContainsFunc(seen, func(k int) bool { return k != 1 }) {
			t.Errorf("rows are visited %v times", seen)
		}
		return text
	}
	first, second := epoch(shuffled), epoch(shuffled)
	if slices.Equal(first, second) {
		t.Error("two epochs are the same")
	}
	if err := shuffled.Seek(data.Position{}); err != nil || !slices.Equal(epoch(shuffled), first) {
		t.Errorf("another first epoch: %v", err)
	}
	want := []string{"[2] 0 1 2 8", "[2] 9 10 16 17", "[2] 18", "[5] 3 4 5 11", "[5] 12 13 19 20", "[5] 21", "[7] 6 7 14 15", "[7] 22"}
	if got := epoch(inOrder); !slices.Equal(got, want) || !slices.Equal(epoch(inOrder), want) {
		t.Errorf("in order: %q", got)
	}
	if got, want := data.Describe(shuffled), "shuffled(23 rows in buckets [2 5 7], batches of 4, seed 9)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct {
		b    data.Buckets
		size int
		want string
	}{
		{b, 0, "data: buckets in batches of 0 rows: want at least 1"},
		{data.Buckets{Lengths: lengths[1:], Sizes: b.Sizes}, 4, "data: buckets: 22 lengths of 23 rows"},
		{data.Buckets{Lengths: lengths, Sizes: []int{5, 2}}, 4, "data: buckets of sizes [5 2]: want rising numbers from 1"},
		{data.Buckets{Lengths: lengths, Sizes: []int{2, 5}}, 4, "data: buckets: row 6 has length 6: want 0 to 5, the size of the largest bucket"},
		{data.Buckets{Lengths: lengths, Sizes: b.Sizes, Columns: []string{"z"}}, 4, "data: buckets: the data set has no column \"z\""},
		{data.Buckets{Lengths: lengths, Sizes: []int{9}, Columns: []string{"x"}}, 4, "data: buckets: column \"x\" has rows of shape [7]: want at least 9 places, the size of the largest bucket"},
		{data.Buckets{Lengths: lengths, Sizes: b.Sizes, Columns: []string{"y"}}, 4, "data: buckets: column \"y\" has rows of shape []: want at least 7 places, the size of the largest bucket"},
	} {
		if _, err := c.b.InOrder(set, c.size); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
