package data

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"
)

// A part of a file is the same part in memory, in whatever order it is read.
func TestWhere(t *testing.T) {
	ctx := context.Background()
	set := numbered(t, 3000)
	held := func(i int) bool { return i%5 == 4 || i > 2900 }
	rest, out, err := set.Split(held)
	if err != nil {
		t.Fatal(err)
	}
	table, records := onDisk(t, set)
	for _, d := range []Dataset{set, table, records} {
		for want, part := range map[*Set]Dataset{
			rest: Where(d, func(i int) bool { return !held(i) }),
			out:  Where(Where(d, nil), held),
		} {
			if part.Rows() != want.Rows() {
				t.Fatalf("%T: %d rows, want %d", d, part.Rows(), want.Rows())
			}
			for _, fresh := range []func(Dataset) Source{
				func(d Dataset) Source { return InOrder(d, 301) },
				func(d Dataset) Source { return Shuffled(d, 301, 3) },
				func(d Dataset) Source { return Shuffled(d, 301, 3, Window(200)) },
			} {
				a, b := fresh(part), fresh(want)
				for range a.Batches() + 1 {
					x, err := a.Next(ctx)
					if err != nil {
						t.Fatal(err)
					}
					y, err := b.Next(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(x.Values["x"].Float32s(), y.Values["x"].Float32s()) || !slices.Equal(x.Values["y"].Int32s(), y.Values["y"].Int32s()) {
						t.Fatalf("%T, %s: other rows", d, Describe(a))
					}
				}
			}
			z, err := FitStandardiser(ctx, part, "x")
			if err != nil {
				t.Fatal(err)
			}
			same, err := FitStandardiser(ctx, want, "x")
			if err != nil || math.Abs(z.Mean[0]-same.Mean[0]) > 1e-12*math.Abs(same.Mean[0]) {
				t.Errorf("mean %v, want %v (%v)", z.Mean, same.Mean, err)
			}
		}
	}
}

// Parts without rows, and rows that are not there.
func TestWhereNothing(t *testing.T) {
	set := numbered(t, 10)
	part := Where(set, func(i int) bool { return i > 6 })
	b := part.NewBatch(1)
	for _, i := range []int{-1, 3} {
		complains(t, part.Gather(context.Background(), b, []int{i}), map[int]string{-1: "data: row -1 is outside [0, 3)", 3: "data: row 3 is outside [0, 3)"}[i])
	}
	for _, d := range []Dataset{Where(nil, nil), Where(set, func(int) bool { return false })} {
		_, err := Shuffled(d, 4, 1).Next(context.Background())
		_, want := Shuffled(nil, 4, 1).Next(context.Background())
		if d.Rows() != 0 || err == nil || err.Error() != want.Error() {
			t.Errorf("%d rows, %v; want %v", d.Rows(), err, want)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, records := onDisk(t, set)
	whole := Where(records, nil)
	if err := whole.Gather(stopped, whole.NewBatch(2), []int{0, 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := whole.NewBatch(2).Values["x"]; n.Dtype() != tensor.Float32 || n.Shape()[0] != 2 {
		t.Errorf("%v %v", n.Dtype(), n.Shape())
	}
}
