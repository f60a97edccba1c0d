package ops_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// extremes are the integers at which arithmetic goes wrong.
var extremes = map[graph.DType][]int64{
	graph.I32: {math.MinInt32, math.MinInt32 + 1, -65536, -1, 0, 1, 2, 65536, math.MaxInt32 - 1, math.MaxInt32},
	graph.I64: {math.MinInt64, math.MinInt64 + 1, -1 << 32, -1<<53 - 1, -1, 0, 1, 2, 1 << 32, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64},
}

// wholes runs a graph of integers on the tape: every element exactly.
func wholes(t *testing.T, feed map[node][]int64, y node, options ...tape.Option) []int64 {
	t.Helper()
	g := y.Graph()
	prog, err := tape.Compile(g, append(options, tape.Fetch(y))...)
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, tape.NewStore(g))
	defer vm.Close()
	in := tape.Feed{}
	for x, v := range feed {
		in[x] = tape.Tensor(graph.NewValue(x.Type()))
		for i, w := range v {
			if x.DType() == graph.I32 {
				in[x].Int32s()[i] = int32(w)
			} else {
				in[x].Int64s()[i] = w
			}
		}
	}
	if err := vm.Run(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	d, err := vm.Value(y)
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	if y.DType() == graph.I64 {
		return append(out, d.Int64s()...)
	}
	for _, w := range d.Int32s() {
		out = append(out, int64(w))
	}
	return out
}

// TestIntegerArithmetic: on the tape, as written and rewritten, integers wrap around:
// the result is that of unbounded integers modulo 2³² or 2⁶⁴.
func TestIntegerArithmetic(t *testing.T) {
	type list = []*big.Int
	each := func(f func(a, b *big.Int) *big.Int) func(a, b list) list {
		return func(a, b list) (out list) {
			for i := range a {
				out = append(out, f(a[i], b[i]))
			}
			return out
		}
	}
	whole := func(f func(a, b list) *big.Int) func(a, b list) list {
		return func(a, b list) list { return list{f(a, b)} }
	}
	num := big.NewInt
	rows := []struct {
		name string
		make func(a, b node) node
		want func(a, b list) list
	}{
		{"Add", func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, each(func(a, b *big.Int) *big.Int { return num(0).Add(a, b) })},
		{"Sub", ops.Sub, each(func(a, b *big.Int) *big.Int { return num(0).Sub(a, b) })},
		{"Mul", func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, each(func(a, b *big.Int) *big.Int { return num(0).Mul(a, b) })},
		{"Neg", func(a, _ node) node { return ops.Neg(a) }, each(func(a, _ *big.Int) *big.Int { return num(0).Neg(a) })},
		{"Abs", func(a, _ node) node { return ops.Abs(a) }, each(func(a, _ *big.Int) *big.Int { return num(0).Abs(a) })},
		{"Scale", func(a, _ node) node { return ops.Scale(ops.Scale(a, 65536), 65536) },
			each(func(a, _ *big.Int) *big.Int { return num(0).Lsh(a, 32) })},
		{"Shift", func(a, _ node) node { return ops.Shift(ops.Shift(a, math.MaxInt32), math.MaxInt32) },
			each(func(a, _ *big.Int) *big.Int { return num(0).Add(a, num(2*math.MaxInt32)) })},
		{"OneMinus", func(a, _ node) node { return ops.OneMinus(a) }, each(func(a, _ *big.Int) *big.Int { return num(0).Sub(num(1), a) })},
		{"Sum of a repeated one", func(a, _ node) node { return ops.Sum(ops.Add(a, ops.Lit(a, math.MaxInt32))) },
			whole(func(a, _ list) *big.Int {
				s := num(int64(len(a)) * math.MaxInt32)
				for _, v := range a {
					s.Add(s, v)
				}
				return s
			})},
		{"Sum", func(a, _ node) node { return ops.Sum(a) }, whole(func(a, _ list) *big.Int {
			s := num(0)
			for _, v := range a {
				s.Add(s, v)
			}
			return s
		})},
		{"CumSum", func(a, _ node) node { return ops.CumSum(a, 0) }, func(a, _ list) (out list) {
			s := num(0)
			for _, v := range a {
				s = num(0).Add(s, v)
				out = append(out, s)
			}
			return out
		}},
		{"Prod", func(a, _ node) node { return ops.Prod(ops.Add(a, ops.Lit(a, 3))) }, whole(func(a, _ list) *big.Int {
			p := num(1)
			for _, v := range a {
				p.Mul(p, num(0).Add(v, num(3)))
			}
			return p
		})},
		{"Maximum", ops.Maximum, each(func(a, b *big.Int) *big.Int {
			if a.Cmp(b) > 0 {
				return a
			}
			return b
		})},
		{"Sign", func(a, _ node) node { return ops.Sign(a) }, each(func(a, _ *big.Int) *big.Int { return num(int64(a.Sign())) })},
	}
	for dt, v := range extremes {
		var a, b []int64
		var wideA, wideB list
		for _, x := range v {
			for _, y := range v {
				a, b = append(a, x), append(b, y)
				wideA, wideB = append(wideA, num(x)), append(wideB, num(y))
			}
		}
		for _, row := range rows {
			for _, options := range [][]tape.Option{nil, {tape.Passes()}} {
				g := graph.New("wrap")
				x, y := g.Input("x", dt, graph.Dims(len(a))...), g.Input("y", dt, graph.Dims(len(a))...)
				z := row.make(x, y)
				if err := g.Err(); err != nil {
					t.Fatal(err)
				}
				got := wholes(t, map[node][]int64{x: a, y: b}, z, options...)
				for i, w := range row.want(wideA, wideB) {
					want := int64(low(w))
					if dt == graph.I32 {
						want = int64(int32(want))
					}
					if got[i] != want {
						t.Errorf("%v %s of %d and %d: %d, want %d", dt, row.name, a[i], b[i], got[i], want)
					}
				}
			}
		}
	}
}

// TestIntegersInOrder: sorts, places and running extremes of integers are exact at the ends of their
// range, where float64 has gaps.
func TestIntegersInOrder(t *testing.T) {
	for dt, v := range extremes {
		v := append(slices.Clone(v[3:]), v...) // with ties
		g := graph.New("order")
		x := g.Input("x", dt, graph.Dims(len(v))...)
		sorted := slices.Sorted(slices.Values(v))
		down := slices.Clone(sorted)
		slices.Reverse(down)
		most, least := slices.Clone(v), slices.Clone(v)
		var places []int64
		for i := range v {
			most[i], least[i] = slices.Max(v[:i+1]), slices.Min(v[:i+1])
			at, _ := slices.BinarySearch(sorted, v[i])
			places = append(places, int64(at))
		}
		best, _ := ops.TopK(x, 4, 0)
		for _, c := range []struct {
			y    node
			want []int64
		}{
			{ops.Sort(x, 0), sorted}, {ops.Sort(x, 0, ops.Descending), down}, {best, down[:4]},
			{ops.CumMax(x, 0), most}, {ops.CumMin(x, 0), least}, {ops.SearchSorted(ops.Sort(x, 0), x, 0), places},
			{ops.TakeAlong(x, ops.ArgSort(x, 0), 0), sorted},
		} {
			if got := wholes(t, map[node][]int64{x: v}, c.y); !slices.Equal(got, c.want) {
				t.Errorf("%v: %v, want %v", c.y, got, c.want)
			}
		}
	}
}

// low is the lower 64 bits of an integer.
func low(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// TestIntegerExtremes: every operation that takes integers computes at the ends of their range
// what it is defined to be; a definition refuses what float64 does not hold, and that
// happens for i64 alone.
func TestIntegerExtremes(t *testing.T) {
	taken := map[string]bool{}
	for _, op := range ops.List() {
		for _, c := range op.Cases() {
			for dt, values := range extremes {
				g, feed, r := graph.New("extremes"), graph.Values{}, rand.New(rand.NewPCG(1, 2))
				var in []node
				for i, o := range c.Operands {
					typ := operandType(t, o.Type, dt, nil)
					x := g.Input(fmt.Sprint("x", i), typ.DType, typ.Shape.Axes()...)
					v := graph.NewValue(typ)
					for p := range v.Data {
						switch {
						case typ.DType == graph.Bool:
							v.Data[p] = float64(r.IntN(2))
						case strings.HasPrefix(o.Type, "float["):
							v.Data[p] = float64(values[r.IntN(len(values))])
						default: // an index, or a float
							v.Data[p] = typ.DType.Round(o.Domain.Lo + (o.Domain.Hi-o.Domain.Lo)*r.Float64())
						}
					}
					in, feed[x] = append(in, x), v
				}
				y := c.Make(in)
				if !y.IsValid() || !slices.ContainsFunc(c.Operands, func(o ops.Operand) bool { return strings.HasPrefix(o.Type, "float[") }) {
					continue // for floats alone
				}
				taken[op.Name()] = true
				want, err := ref.Eval(trait.Env{}, feed, y)
				if err != nil {
					if dt == graph.I32 || !strings.Contains(err.Error(), "does not hold exactly") {
						t.Errorf("%s of %v: %v", op.Name(), dt, err)
					}
					continue
				}
				for _, options := range [][]tape.Option{nil, {tape.Passes()}} {
					got, err := reftest.Tape(0, feed, []node{y}, options...)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got[0].Data, want[0].Data) {
						t.Errorf("%s of %v: %v, want %v", op.Name(), y.Type(), got[0], want[0])
					}
				}
			}
		}
	}
	for _, name := range []string{"Abs", "Add", "ArgMax", "Broadcast", "Cast", "Concat", "Equal", "Less", "Max", "Maximum", "Mul", "Neg",
		"Place", "Reshape", "Select", "Sign", "Slice", "Sub", "Sum", "Transpose"} {
		if !taken[name] {
			t.Errorf("%s takes no integers", name)
		}
	}
}

// TestCasts: how a number becomes an integer, at the ends of the range and beyond, is one and
// the same on the tape, in a definition and in a constant that is folded.
func TestCasts(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		from, to   graph.DType
		in         []float64
		want       []int64
		wholesOnly []int64 // the operand, where it is of integers
	}{
		{graph.F64, graph.I32, []float64{1.9, -1.9, nan, inf, -inf, 1e300, -1e300, 2147483648, -2147483649},
			[]int64{1, -1, 0, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32}, nil},
		{graph.F32, graph.I32, []float64{1.9, -1.9, nan, inf, -inf, 1e30, -1e30, 2147483648, -2147483648},
			[]int64{1, -1, 0, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32}, nil},
		{graph.F64, graph.I64, []float64{1.9, -1.9, nan, inf, -inf, 1e300, -1e300, 0x1p63, -0x1p63},
			[]int64{1, -1, 0, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64}, nil},
		{graph.F32, graph.I64, []float64{1.9, -1.9, nan, inf, -inf, 1e30, -1e30, 0x1p63, -0x1p63},
			[]int64{1, -1, 0, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64}, nil},
		{graph.I64, graph.I32, nil, []int64{-1, 0, 1, 0, math.MinInt32, math.MaxInt32}, []int64{math.MaxInt64, math.MinInt64, 1, 1 << 32, 1 << 31, -1<<31 - 1}},
	} {
		g := graph.New("casts")
		n := len(c.want)
		x := g.Input("x", c.from, graph.Dims(n)...)
		y := ops.Cast(x, c.to)
		if c.wholesOnly != nil {
			if got := wholes(t, map[node][]int64{x: c.wholesOnly}, y); !slices.Equal(got, c.want) {
				t.Errorf("%v to %v: %v, want %v", c.from, c.to, got, c.want)
			}
			c.in = make([]float64, n)
			for i, w := range c.wholesOnly {
				c.in[i] = float64(w)
			}
		} else {
			for i := range c.in {
				c.in[i] = c.from.Round(c.in[i])
			}
			agree(t, graph.Values{x: {Type: x.Type(), Data: c.in}}, y)
		}
		folded := ops.Cast(g.Constant(c.from, c.in, graph.Dims(n)...), c.to)
		for _, options := range [][]tape.Option{nil, {tape.Passes()}} {
			if got := wholes(t, nil, folded, options...); !slices.Equal(got, c.want) {
				t.Errorf("constants, %v to %v: %v, want %v", c.from, c.to, got, c.want)
			}
		}
	}
}
