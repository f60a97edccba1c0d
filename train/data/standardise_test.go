package data

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"gorgonia.org/tensor"
)

// A set is standardised as the table that it was made of.
func TestStandardiser(t *testing.T) {
	ctx := context.Background()
	table := Wine()
	set, err := table.Set("x", "y", tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	z, err := FitStandardiser(ctx, set, "x")
	if err != nil {
		t.Fatal(err)
	}
	before := append([]float64(nil), set.Column("x").Float64s()...)
	mean, std := Standardise(table)
	if !reflect.DeepEqual(z.Mean, mean) || !reflect.DeepEqual(z.Std, std) {
		t.Errorf("set: %v, %v; table: %v, %v", z.Mean, z.Std, mean, std)
	}
	scaled, err := z.Apply(set)
	if err != nil || !reflect.DeepEqual(scaled.Column("x").Float64s(), table.X) {
		t.Errorf("the scaled set is not the scaled table: %v", err)
	}
	if !reflect.DeepEqual(set.Column("x").Float64s(), before) {
		t.Error("Apply changed the set")
	}
	// As JSON and back, on a source, and inverse.
	text, err := json.Marshal(z)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Standardiser)
	if err := json.Unmarshal(text, read); err != nil || !reflect.DeepEqual(read, z) {
		t.Errorf("%s: %v", text, err)
	}
	b, err := Map(InOrder(set, 0), 1, read.Change()).Next(ctx)
	if err != nil || !reflect.DeepEqual(b.Values["x"].Float64s(), table.X) {
		t.Errorf("the changed batch is not the scaled table: %v", err)
	}
	if err := z.Unscale(b.Values["x"]); err != nil {
		t.Fatal(err)
	}
	for i, v := range b.Values["x"].Float64s() {
		if !near(v, before[i], 1e-14) {
			t.Fatalf("element %d is %g after scaling and back, was %g", i, v, before[i])
		}
	}
}

// More rows than are read at a time, an offset, float32, values that are missing.
func TestStandardiserLarge(t *testing.T) {
	const n = 5000
	x := make([]float32, 2*n)
	for i := range n {
		x[2*i], x[2*i+1] = float32(1000+i%2), 7
	}
	nan := float32(math.NaN())
	x[2*1500+1] = nan
	set, err := NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(n, 2), tensor.WithBacking(x))})
	if err != nil {
		t.Fatal(err)
	}
	z, err := FitStandardiser(context.Background(), set, "x")
	if err != nil || !reflect.DeepEqual(*z, Standardiser{"x", []float64{1000.5, 7}, []float64{0.5, 1}}) {
		t.Errorf("%+v: %v", z, err)
	}
	b, err := Map(InOrder(set, 0), 1, z.Change(), ReplaceNaN("x", 0)).Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range b.Values["x"].Float32s() {
		if want := float32(i%4 - 1); i%2 == 0 && v != want || i%2 == 1 && v != 0 {
			t.Fatalf("element %d is %g", i, v)
		}
	}
}

func TestFitChannels(t *testing.T) {
	ctx := context.Background()
	x := []float64{1, 10, 3, 30, 1, 10, 3, 30, 1, 10, 3, 30, 1, 10, 3, 30} // two channels
	set := func(shape ...int) *Set {
		s, err := NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	z, err := FitChannels(ctx, set(2, 2, 2, 2), "x")
	if err != nil || !reflect.DeepEqual(*z, Standardiser{"x", []float64{2, 20}, []float64{1, 10}}) {
		t.Errorf("[n h w c]: %+v: %v", z, err)
	}
	scaled, err := z.Apply(set(4, 2, 1, 2))
	if err != nil || scaled.Column("x").Float64s()[3] != 1 {
		t.Errorf("%v: %v", scaled, err)
	}
	z, err = FitChannels(ctx, set(4, 2, 2), "x")
	if err != nil || len(z.Mean) != 1 || z.Mean[0] != 11 {
		t.Errorf("[n h w]: %+v: %v", z, err)
	}
	_, err = FitChannels(ctx, set(4, 4), "x")
	complains(t, err, `data: column "x": rows of [4] are no images: want x[n h w] or x[n h w c]`)
}

func TestStandardiserErrors(t *testing.T) {
	ctx := context.Background()
	set := numbered(t, 4)
	infinite, err := set.With("x", tensor.New(tensor.WithShape(4, 2), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6, 7, float32(math.Inf(1))})))
	if err != nil {
		t.Fatal(err)
	}
	fit := func(d Dataset, column string) error { _, err := FitStandardiser(ctx, d, column); return err }
	z := func(mean, std []float64) *Standardiser { return &Standardiser{"x", mean, std} }
	one := []float64{1}
	for _, c := range []struct {
		err  error
		want string
	}{
		{fit(nil, "x"), "data: a data set without rows has no batches"},
		{fit(set, "z"), `data: no column "z"`},
		{fit(set, "y"), `data: column "y" has elements of type int32: want float32 or float64`},
		{fit(infinite, "x"), `data: standardising "x": cannot scale quantity 1 by mean NaN and deviation NaN`},
		{second(z(one, nil).Apply(set)), `data: standardising "x" by 1 means and 0 deviations: want as many of each`},
		{second(z(nil, nil).Apply(set)), `data: standardising "x" by 0 means and 0 deviations: want as many of each`},
		{second(z(one, []float64{0}).Apply(set)), `data: standardising "x": cannot scale quantity 0 by mean 1 and deviation 0`},
		{second(z([]float64{1, 2}, []float64{1, 1}).Apply(set)), `data: standardising "x": rows of [3] are not made of 2 quantities`},
		{second((&Standardiser{"y", one, one}).Apply(set)), `data: column "y" has elements of type int32: want float32 or float64`},
		{second((&Standardiser{"w", one, one}).Apply(set)), `data: no column "w"; there are x, y`},
		{z(one, one).Scale(nil), `data: standardising "x": want an array of at least one axis`},
		{second(Map(InOrder(set, 2), 1, (&Standardiser{"w", one, one}).Change()).Next(ctx)), `data: epoch 0, batch 0: no column "w"`},
	} {
		complains(t, c.err, c.want)
	}
}
