package kernel

import (
	"math/rand/v2"
	"testing"
)

// placements are positions inside of an axis of n: scattered, evenly spaced forwards and backwards,
// and in streaks of several lengths.
func placements(r *rand.Rand, n, count int) map[string][]int {
	all := map[string][]int{}
	for range count {
		all["scattered"] = append(all["scattered"], r.IntN(n))
		all["repeated"] = append(all["repeated"], n-1)
	}
	for i := 0; i < n; i += 2 {
		all["every other"] = append(all["every other"], i)
		all["backwards"] = append(all["backwards"], n-1-i)
	}
	for i := range n {
		all["permuted"] = append(all["permuted"], i)
		all["whole"] = append(all["whole"], i)
	}
	r.Shuffle(n, func(i, j int) { p := all["permuted"]; p[i], p[j] = p[j], p[i] })
	for len(all["streaks"]) < count {
		for i, end := r.IntN(n), r.IntN(n+1); i < end; i++ {
			all["streaks"] = append(all["streaks"], i)
		}
	}
	return all
}

// knownIntegers returns positions as an operand of two axes, and as what a kernel is told.
func knownIntegers(r *rand.Rand, at []int) (array, *Positions) {
	dims := []int{1, len(at)}
	if len(at)%3 == 0 {
		dims = []int{3, len(at) / 3}
	}
	ints := styled(r, styleDense, []DType{I32, I64}[r.IntN(2)], func(*rand.Rand) float64 { return 0 }, dims...)
	for i, p := range at {
		set(ints.DType, ints.mem, i, float64(p))
	}
	return ints, PositionsOf(ints.Layout, ints.mem)
}

// TestKnownPositions compares kernels that know their integers with what the definitions say.
func TestKnownPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, dims := range [][]int{{7}, {130}, {5, 3}, {3, 40}, {4, 70}, {9, 1100}, {2, 6, 3}, {2, 90, 1}, {2, 3, 80}, {1, 1}} {
		for axis := range dims {
			for name, at := range placements(r, dims[axis], 1+r.IntN(40)) {
				ints, known := knownIntegers(r, at)
				shape := picked(dims, axis, ints)
				for _, e := range everyType {
					table := random(r, e.DType, e.value, dims...)
					k := Gather{Axis: axis}.At(known)
					check(t, k, e.DType, shape, []array{table, ints}, 0, func(ix []int) float64 {
						from := append(append([]int{}, ix[:axis]...), int(ints.get(ix[axis:axis+2]...)))
						return table.get(append(from, ix[axis+2:]...)...)
					})
					if e.DType == Bool {
						continue
					}
					updates := random(r, e.DType, e.value, shape...)
					plain := ScatterAdd{Axis: axis}.Bind(Dense(e.DType, dims...), []Layout{ints.Layout, updates.Layout})
					c, want := dirty(NewCtx(), []array{ints, updates}), Dense(e.DType, dims...)
					c.Out = Alloc(want.Len() * e.DType.Size())
					plain.Run(c, 0, plain.Units)
					check(t, ScatterAdd{Axis: axis}.At(known), e.DType, dims, []array{ints, updates}, 0, array{want, c.Out}.getter())
				}
				if t.Failed() {
					t.Fatalf("%s, axis %d of %v", name, axis, dims)
				}
			}
		}
	}
}

// getter returns get for an index as check gives it.
func (a array) getter() func(ix []int) float64 { return func(ix []int) float64 { return a.get(ix...) } }

// TestKnownPositionsOfABlock binds kernels that know their integers to a part of these.
func TestKnownPositionsOfABlock(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	_, known := knownIntegers(r, []int{0, 1, 2, 3, 4, 5})
	block := styled(r, styleDense, I64, func(r *rand.Rand) float64 { return float64(r.IntN(6)) }, 1, 4)
	table := random(r, F64, special, 6, 3)
	check(t, Gather{}.At(known), F64, []int{1, 4, 3}, []array{table, block}, 0, func(ix []int) float64 {
		return table.get(int(block.get(0, ix[1])), ix[2])
	})
}
