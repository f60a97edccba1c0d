package data

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/vacant"
	"gorgonia.org/tensor"
)

// firsts are the rows of numbered that are in a set.
func firsts(s *Set) []int {
	rows := make([]int, s.Rows())
	for k := range rows {
		rows[k] = int(s.Column("x").Float32s()[3*k]) / 3
	}
	return rows
}

// counts are how many rows of each class a set has.
func counts(s *Set) (n [4]int) {
	for _, c := range s.Column("y").Int32s() {
		n[c]++
	}
	return n
}

func TestSplits(t *testing.T) {
	set := numbered(t, 103)
	for _, c := range []struct {
		name   string
		split  func(seed uint64, shares ...float64) ([]*Set, error)
		shares []float64
		sizes  []int
	}{
		{"random", set.RandomSplit, []float64{0.8, 0.1, 0.1}, []int{83, 10, 10}},
		{"random", set.RandomSplit, []float64{1}, []int{103}},
		{"random", set.RandomSplit, []float64{0.5, 0.5}, []int{52, 51}},
		{"stratified", func(seed uint64, shares ...float64) ([]*Set, error) { return set.StratifiedSplit("y", seed, shares...) },
			[]float64{0.75, 0.25}, []int{77, 26}},
	} {
		parts, err := c.split(1, c.shares...)
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for p, part := range parts {
			rows := firsts(part)
			if part.Rows() != c.sizes[p] || !slices.IsSorted(rows) {
				t.Errorf("%s %v: part %d has %d rows, want %d; in order: %t", c.name, c.shares, p, part.Rows(), c.sizes[p], slices.IsSorted(rows))
			}
			all = append(all, rows...)
			if c.name == "stratified" {
				for class, n := range counts(part) {
					if due := c.shares[p] * 103 / 4; math.Abs(float64(n)-due) > 1.5 {
						t.Errorf("part %d has %d rows of class %d: want about %.1f", p, n, class, due)
					}
				}
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, identity(103)) {
			t.Errorf("%s %v: not every row is in one part", c.name, c.shares)
		}
		again, _ := c.split(1, c.shares...)
		other, _ := c.split(2, c.shares...)
		if !slices.Equal(firsts(again[0]), firsts(parts[0])) || len(parts) > 1 && slices.Equal(firsts(other[0]), firsts(parts[0])) {
			t.Errorf("%s %v: the seed does not decide", c.name, c.shares)
		}
	}
}

func TestFolds(t *testing.T) {
	set := numbered(t, 22)
	for _, stratified := range []bool{false, true} {
		folds, err := set.Folds(5, 1)
		if stratified {
			folds, err = set.StratifiedFolds("y", 5, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		k := 0
		for fit, held := range folds {
			rows := firsts(held)
			if n := held.Rows(); n != 4 && n != 5 || fit.Rows() != 22-n {
				t.Errorf("fold %d: %d rows and %d", k, fit.Rows(), n)
			}
			both := append(firsts(fit), rows...)
			slices.Sort(both)
			if !slices.Equal(both, identity(22)) {
				t.Errorf("fold %d: the two do not make up the set", k)
			}
			if stratified {
				for _, n := range counts(held) {
					if n < 1 || n > 2 { // 5 or 6 of each class
						t.Errorf("fold %d has %v rows of the classes", k, counts(held))
					}
				}
			}
			all = append(all, rows...)
			k++
		}
		slices.Sort(all)
		if k != 5 || !slices.Equal(all, identity(22)) {
			t.Errorf("%d folds hold out %v", k, all)
		}
		for range folds {
			break // must not be called again
		}
	}
}

func TestSplitErrors(t *testing.T) {
	set := numbered(t, 10)
	var none *Set
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() error { _, err := set.RandomSplit(1); return err }, "data: a split into shares []: they add up to 0, not 1"},
		{func() error { _, err := set.RandomSplit(1, 0.5, 0.6); return err }, "data: a split into shares [0.5 0.6]: they add up to 1.1, not 1"},
		{func() error { _, err := set.RandomSplit(1, 1.5, -0.5); return err }, "data: a split into shares [1.5 -0.5]: want positive numbers"},
		{func() error { _, err := set.RandomSplit(1, math.NaN()); return err }, "data: a split into shares [NaN]: want positive numbers"},
		{func() error { _, err := set.RandomSplit(1, math.Inf(1)); return err }, "data: a split into shares [+Inf]: they add up to +Inf, not 1"},
		{func() error { _, err := set.RandomSplit(1, 0.99, 0.01); return err }, "data: a split of 10 rows into [10 0]: want some in each"},
		{func() error { _, err := none.RandomSplit(1, 1); return err }, "data: a split of 0 rows into [0]: want some in each"},
		{func() error { _, err := set.StratifiedSplit("x", 1, 1); return err }, `data: column "x"[10 3] of float32 holds no classes: want one int32, int64, int8 or uint8 a row`},
		{func() error { _, err := set.StratifiedSplit("z", 1, 1); return err }, `data: no column "z"; there are x, y`},
		{func() error { _, err := set.Folds(1, 1); return err }, "data: 1 folds of 10 rows: want at least 2, and a row in each"},
		{func() error { _, err := set.Folds(11, 1); return err }, "data: 11 folds of 10 rows: want at least 2, and a row in each"},
		{func() error { _, err := set.StratifiedFolds("y", -1, 1); return err }, "data: -1 folds of 10 rows: want at least 2, and a row in each"},
		{func() error { _, _, err := set.Split(func(int) bool { return true }); return err }, "data: a split of 10 rows into [0 10]: want some in each"},
	} {
		complains(t, c.do(), c.want)
	}
}

func TestSet(t *testing.T) {
	set := numbered(t, 4)
	if got := set.String(); got != "x[4 3] float32, y[4] int32" {
		t.Error(got)
	}
	sub, err := set.Subset([]int{3, 0, 3})
	if err != nil || !slices.Equal(firsts(sub), []int{3, 0, 3}) || !slices.Equal(sub.Column("y").Int32s(), []int32{3, 0, 3}) {
		t.Errorf("%v: %v", sub, err)
	}
	weights := tensor.New(tensor.WithShape(4), tensor.WithBacking([]float64{1, 2, 3, 4}))
	more, err := set.With("w", weights)
	if err != nil || more.String() != "w[4] float64, x[4 3] float32, y[4] int32" || set.Column("w") != nil || !slices.Equal(more.Names(), []string{"w", "x", "y"}) {
		t.Errorf("%v: %v", more, err)
	}
	images, err := more.Reshape("x", 3, 1)
	if err != nil || images.String() != "w[4] float64, x[4 3 1] float32, y[4] int32" {
		t.Errorf("%v: %v", images, err)
	}
	both, err := Concat(set, sub)
	if err != nil || !slices.Equal(firsts(both), []int{0, 1, 2, 3, 3, 0, 3}) || both.Column("y").Int32s()[6] != 3 {
		t.Errorf("%v: %v", both, err)
	}
	one := tensor.New(tensor.WithShape(1), tensor.WithBacking([]bool{true}))
	if s, err := NewSet(map[string]*tensor.Dense{"b": one}); err != nil || s.Rows() != 1 {
		t.Errorf("%v: %v", s, err)
	}
}

func TestSetErrors(t *testing.T) {
	set := numbered(t, 4)
	column := func(d *tensor.Dense) error { _, err := NewSet(map[string]*tensor.Dense{"x": d}); return err }
	view, err := tensor.New(tensor.WithShape(4, 3), tensor.Of(tensor.Float32)).Slice(nil, tensor.S(0, 2))
	if err != nil {
		t.Fatal(err)
	}
	with, err := set.With("w", tensor.New(tensor.WithShape(4), tensor.Of(tensor.Bool)))
	if err != nil {
		t.Fatal(err)
	}
	table := Iris()
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(NewSet(nil)), "data: a set without columns"},
		{column(nil), `data: column "x": want an array of at least one axis`},
		{column(vacant.Dense(tensor.Float32, []int{0, 3})), `data: column "x": it has no rows`},
		{column(vacant.Dense(tensor.Float32, []int{2, 0})), `data: column "x": rows of shape [0] have no elements`},
		{column(new(tensor.Dense)), `data: column "x": want an array of at least one axis`},
		{column(tensor.New(tensor.FromScalar(1.0))), `data: column "x": want an array of at least one axis`},
		{column(tensor.New(tensor.WithShape(2), tensor.Of(tensor.Uint16))), `data: column "x": elements of type uint16: want float32, float64, int32, int64, int8, uint8 or bool`},
		{column(view.(*tensor.Dense)), `data: column "x": a view: want a row-major array without gaps`},
		{second(set.With("w", tensor.New(tensor.WithShape(5), tensor.Of(tensor.Bool)))), `data: column "x" has 4 rows, "w" has 5`},
		{second(set.Subset(nil)), "data: a subset of no rows"},
		{second(set.Subset([]int{0, 4})), "data: row 4 is outside [0, 4)"},
		{second(set.Subset([]int{-1})), "data: row -1 is outside [0, 4)"},
		{second((*Set)(nil).Subset([]int{0})), "data: row 0 is outside [0, 0)"},
		{second(set.Reshape("xx", 3)), `data: no column "xx" (did you mean "x"?); there are x, y`},
		{second(set.Reshape("x", 2)), `data: column "x": rows of [3] cannot be laid out as [2]`},
		{second(set.Reshape("x", 0, 3)), `data: column "x": rows of [3] cannot be laid out as [0 3]`},
		{second(set.Reshape("x", math.MaxInt, math.MaxInt)), fmt.Sprintf(`data: column "x": rows of [3] cannot be laid out as [%d %[1]d]`, math.MaxInt)},
		{second(Concat()), "data: no sets to put together"},
		{second(Concat(set, nil)), "data: set 1 has no rows"},
		{second(Concat(set, with)), "data: set 1 has rows of w[] bool, x[3] float32, y[] int32, the first of x[3] float32, y[] int32"},
		{second(table.Set("x", "x", tensor.Float32)), `data: features and labels are both to be column "x"`},
	} {
		complains(t, c.err, c.want)
	}
}

func second[T any](_ T, err error) error { return err }

// TestFloats: columns of any type as floats, and those that do not fit.
func TestFloats(t *testing.T) {
	column := func(v any, shape ...int) *tensor.Dense {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
	}
	set, err := NewSet(map[string]*tensor.Dense{
		"i": column([]int32{0, 128, 255, -1}, 2, 2), "l": column([]int64{7, 1 << 40}, 2), "b": column([]bool{true, false}, 2),
		"d": column([]float64{0.5, math.Inf(1)}, 2), "big": column([]float64{1, 2, 3, 1e39}, 2, 2), "f": column([]float32{1.5, 2}, 2),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Floats(tensor.Float32, "i", "l", "b", "d", "f")
	if err != nil {
		t.Fatal(err)
	}
	if want := "b[2] float32, big[2 2] float64, d[2] float32, f[2] float32, i[2 2] float32, l[2] float32"; got.String() != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string][]float32{"i": {0, 128, 255, -1}, "l": {7, 1 << 40}, "b": {1, 0}, "d": {0.5, float32(math.Inf(1))}, "f": {1.5, 2}} {
		if x := got.Column(name).Float32s(); !slices.Equal(x, want) {
			t.Errorf("%s: %v, want %v", name, x, want)
		}
	}
	if wide, err := set.Floats(tensor.Float64, "l", "b", "f"); err != nil || wide.Column("l").Float64s()[1] != 1<<40 || wide.Column("f").Float64s()[0] != 1.5 {
		t.Errorf("%v, %v", wide, err)
	}
	if set.Column("i").Int32s()[1] != 128 {
		t.Error("the set itself has changed")
	}
	for _, c := range []struct {
		dtype tensor.Dtype
		name  string
		want  string
	}{
		{tensor.Float32, "big", `data: column "big", row 1: 1e+39 does not fit float32`},
		{tensor.Float32, "bigg", `data: no column "bigg" (did you mean "big"?); there are b, big, d, f, i, l`},
		{tensor.Int32, "f", `data: column "f" as int32: want float32 or float64`},
	} {
		if _, err := set.Floats(c.dtype, c.name); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
