package gorgonia

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// among draws from lo to hi.
func among(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// sizesOf draws a shape of so many axes.
func sizesOf(r *rand.Rand, rank int) []int {
	out := make([]int, rank)
	for i := range out {
		out[i] = among(r, 1, 4)
	}
	return out
}

// axesOf draws n axes in ascending order.
func axesOf(r *rand.Rand, rank, n int) []int {
	axes := r.Perm(rank)[:n]
	slices.Sort(axes)
	return axes
}

func anys(v []int) []any {
	out := make([]any, len(v))
	for i, x := range v {
		out[i] = x
	}
	return out
}

// one is a call with one operand.
func one(how string, ours func(x *graph.Node) *graph.Node, theirs func(x *G.Node) (*G.Node, error), d ops.Domain, size []int) (string, own) {
	o := own1(how, ours, theirs, d)
	o.sizes = [][]int{size}
	return how, o
}

func two(how string, ours func(a, b *graph.Node) *graph.Node, theirs func(a, b *G.Node) (*G.Node, error), d ops.Domain, a, b []int) (string, own) {
	o := own2(how, ours, theirs, d)
	o.sizes = [][]int{a, b}
	return how, o
}

func families() []family {
	return slices.Concat(reductions(), rearrangements(), pairings(), comparisons(), windowed(), networks())
}

// reductions go along drawn axes.
func reductions() []family {
	var all []family
	for _, c := range []struct {
		name   string
		ours   func(x *graph.Node, axes ...any) *graph.Node
		theirs func(x *G.Node, along ...int) (*G.Node, error)
	}{{"Sum", ops.Sum, G.Sum}, {"Mean", ops.Mean, G.Mean}, {"Max", ops.Max, G.Max}} {
		along := func(which string, draw func(r *rand.Rand) (size, axes []int)) {
			all = append(all, family{c.name + " along " + which, func(r *rand.Rand) (string, own) {
				size, axes := draw(r)
				return one(fmt.Sprintf("axes %d of %d", axes, size), func(x *graph.Node) *graph.Node { return c.ours(x, anys(axes)...) },
					func(x *G.Node) (*G.Node, error) { return c.theirs(x, axes...) }, ops.Apart, size)
			}})
		}
		along("an axis, of up to three", func(r *rand.Rand) (size, axes []int) {
			size = sizesOf(r, among(r, 2, 3))
			return size, []int{r.IntN(len(size))}
		})
		along("the third axis of four", func(r *rand.Rand) (size, axes []int) { return sizesOf(r, 4), []int{2} })
		along("another axis of four", func(r *rand.Rand) (size, axes []int) { return sizesOf(r, 4), []int{[]int{0, 1, 3}[r.IntN(3)]} })
		along("two axes, of up to three", func(r *rand.Rand) (size, axes []int) {
			size = sizesOf(r, among(r, 2, 3))
			return size, axesOf(r, len(size), 2)
		})
		along("two axes of four", func(r *rand.Rand) (size, axes []int) { return sizesOf(r, 4), axesOf(r, 4, 2) })
	}
	for p := 1; p <= 3; p++ {
		all = append(all, family{fmt.Sprintf("Norm, p = %d, of positive numbers", p), func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 2, 3))
			axis := r.IntN(len(size))
			return one(fmt.Sprintf("axis %d of %d", axis, size), func(x *graph.Node) *graph.Node {
				return ops.Pow(ops.Sum(ops.Pow(x, ops.Lit(x, float64(p))), axis), ops.Lit(x, 1/float64(p)))
			}, func(x *G.Node) (*G.Node, error) { return G.Norm(x, axis, p) }, ops.Positive, size)
		}})
	}
	for _, c := range []struct {
		name   string
		ours   func(x *graph.Node, axis any) *graph.Node
		theirs func(x *G.Node, axes ...int) (*G.Node, error)
	}{{"SoftMax", ops.Softmax, G.SoftMax}, {"LogSoftMax", ops.LogSoftmax, G.LogSoftMax}} {
		all = append(all, family{c.name + " along an axis", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 1, 4))
			axis := r.IntN(len(size))
			return one(fmt.Sprintf("axis %d of %d", axis, size), func(x *graph.Node) *graph.Node { return c.ours(x, axis) },
				func(x *G.Node) (*G.Node, error) { return c.theirs(x, axis) }, ops.Reals, size)
		}}, family{c.name + " of rows a thousand apart", func(r *rand.Rand) (string, own) {
			size := []int{among(r, 2, 4), among(r, 2, 4)}
			far := make([]float64, size[0])
			for i := range far {
				far[i] = float64(1000 * among(r, -1, 1))
			}
			return one(fmt.Sprintf("%d moved by %g", size, far), func(x *graph.Node) *graph.Node {
				return c.ours(ops.Add(x, x.Graph().Constant(graph.F64, far, graph.Dims(size[0], 1)...)), 1)
			}, func(x *G.Node) (*G.Node, error) {
				var moves []float64
				for _, v := range far {
					moves = append(moves, slices.Repeat([]float64{v}, size[1])...)
				}
				y, err := G.Add(x, fixed(x.Graph(), "moves", moves, size))
				if err != nil {
					return nil, err
				}
				return c.theirs(y, 1)
			}, ops.Reals, size)
		}})
	}
	return all
}

// rearrangements move elements and compute nothing.
func rearrangements() []family {
	return []family{
		{"Slice", func(r *rand.Rand) (string, own) { return sliced(r, 1) }},
		{"Slice with steps", func(r *rand.Rand) (string, own) { return sliced(r, 2) }},
		{"Transpose", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 2, 4))
			order := r.Perm(len(size))
			return one(fmt.Sprintf("order %d of %d", order, size), func(x *graph.Node) *graph.Node { return ops.Transpose(x, anys(order)...) },
				func(x *G.Node) (*G.Node, error) { return G.Transpose(x, order...) }, ops.Reals, size)
		}},
		{"Reshape of a transpose", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, 3)
			order, to := r.Perm(3), []int{size[1], size[0] * size[2]}
			return one(fmt.Sprintf("order %d of %d to %d", order, size, to), func(x *graph.Node) *graph.Node { return ops.Reshape(ops.Transpose(x, anys(order)...), to...) },
				func(x *G.Node) (*G.Node, error) {
					y, err := G.Transpose(x, order...)
					if err != nil {
						return nil, err
					}
					return G.Reshape(y, to)
				}, ops.Reals, size)
		}},
		{"Concat", func(r *rand.Rand) (string, own) {
			a := sizesOf(r, among(r, 1, 4))
			axis, b := r.IntN(len(a)), slices.Clone(a)
			b[axis] = among(r, 1, 4)
			return two(fmt.Sprintf("axis %d of %d and %d", axis, a, b), func(x, y *graph.Node) *graph.Node { return ops.Concat(axis, x, y) },
				func(x, y *G.Node) (*G.Node, error) { return G.Concat(axis, x, y) }, ops.Reals, a, b)
		}},
		{"At", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 1, 3))
			at := make([]int, len(size))
			for i := range at {
				at[i] = r.IntN(size[i])
			}
			return one(fmt.Sprintf("element %d of %d", at, size), func(x *graph.Node) *graph.Node {
				for i, k := range at {
					x = ops.Slice(x, i, k, k+1)
				}
				return ops.Reshape(x)
			}, func(x *G.Node) (*G.Node, error) { return G.At(x, at...) }, ops.Reals, size)
		}},
		{"Upsample2D", func(r *rand.Rand) (string, own) {
			size, scale := capped(sizesOf(r, 4), 2), among(r, 1, 3)
			return one(fmt.Sprintf("%d times %d", scale, size), func(x *graph.Node) *graph.Node {
				var across []*graph.Node
				for i := range size[3] {
					for range scale {
						across = append(across, ops.Slice(x, 3, i, i+1))
					}
				}
				x = ops.Concat(3, across...)
				var down []*graph.Node
				for i := range size[2] {
					for range scale {
						down = append(down, ops.Slice(x, 2, i, i+1))
					}
				}
				return ops.Concat(2, down...)
			}, func(x *G.Node) (*G.Node, error) { return G.Upsample2D(x, scale) }, ops.Reals, size)
		}},
	}
}

// capped is a shape with no axis longer than most but the last two.
func capped(size []int, most int) []int {
	for i := range len(size) - 2 {
		size[i] = min(size[i], most)
	}
	return size
}

// sliced draws a slice of every axis, with a step up to most.
func sliced(r *rand.Rand, most int) (string, own) {
	size := sizesOf(r, among(r, 1, 3))
	for i := range size {
		size[i] += 2
	}
	how, parts := "", []tensor.Slice{}
	var cuts [][3]int
	for _, n := range size {
		from := r.IntN(n - 1)
		to, step := among(r, from+1, n), among(r, 1, most)
		if most == 1 && r.IntN(3) == 0 {
			cuts, parts = append(cuts, [3]int{0, n, 1}), append(parts, nil)
			how += "[:]"
			continue
		}
		cuts = append(cuts, [3]int{from, to, step})
		if how += fmt.Sprintf("[%d:%d", from, to); step > 1 {
			how += fmt.Sprintf(":%d", step)
			parts = append(parts, G.S(from, to, step))
		} else {
			parts = append(parts, G.S(from, to))
		}
		how += "]"
	}
	return one(fmt.Sprintf("%s of %d", how, size), func(x *graph.Node) *graph.Node {
		for i, c := range cuts {
			x = ops.SliceStep(x, i, c[0], c[1], c[2])
		}
		return x
	}, func(x *G.Node) (*G.Node, error) { return G.Slice(x, parts...) }, ops.Reals, size)
}

// pairings are functions of two arrays of different shapes.
func pairings() []family {
	var all []family
	for _, c := range []struct {
		name   string
		ours   func(a, b *graph.Node) *graph.Node
		theirs func(a, b *G.Node, left, right []byte) (*G.Node, error)
	}{{"BroadcastAdd", func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, G.BroadcastAdd}, {"BroadcastSub", ops.Sub, G.BroadcastSub}, {"BroadcastHadamardProd", func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, G.BroadcastHadamardProd},
		{"BroadcastHadamardDiv", ops.Div, G.BroadcastHadamardDiv}, {"BroadcastPow", ops.Pow, G.BroadcastPow}} {
		for _, side := range []string{"left", "right", "both sides"} {
			all = append(all, family{c.name + ", " + side, func(r *rand.Rand) (string, own) {
				whole := sizesOf(r, among(r, 2, 3))
				for i := range whole {
					whole[i] = max(2, whole[i])
				}
				a, b := slices.Clone(whole), slices.Clone(whole)
				var left, right []byte
				axes := r.Perm(len(whole))[:among(r, 1, len(whole)-1)]
				if side == "both sides" {
					axes = r.Perm(len(whole))[:2]
				}
				slices.Sort(axes)
				for i, axis := range axes {
					if side == "left" || side == "both sides" && i == 0 {
						a[axis], left = 1, append(left, byte(axis))
					} else {
						b[axis], right = 1, append(right, byte(axis))
					}
				}
				return two(fmt.Sprintf("%d and %d", a, b), c.ours, func(x, y *G.Node) (*G.Node, error) { return c.theirs(x, y, left, right) }, ops.Positive, a, b)
			}})
		}
	}
	return append(all,
		family{"Mul, of vectors and matrices", func(r *rand.Rand) (string, own) {
			n := among(r, 2, 4)
			shapes := [][2][]int{{{n}, {n}}, {{among(r, 2, 4), n}, {n}}, {{n}, {n, among(r, 2, 4)}}, {{among(r, 1, 4), n}, {n, among(r, 1, 4)}}}
			s := shapes[r.IntN(len(shapes))]
			return two(fmt.Sprintf("%d and %d", s[0], s[1]), func(a, b *graph.Node) *graph.Node {
				y := ops.MatMul(ops.Reshape(a, -1, n), ops.Reshape(b, n, -1))
				return ops.Reshape(y, append(slices.Clone(s[0][:len(s[0])-1]), s[1][1:]...)...)
			}, G.Mul, ops.Reals, s[0], s[1])
		}},
		family{"BatchedMatMul, transposed or not", func(r *rand.Rand) (string, own) {
			batch, m, n, k := among(r, 1, 3), among(r, 1, 4), among(r, 1, 4), among(r, 1, 4)
			a, b, ta, tb := []int{batch, m, k}, []int{batch, k, n}, r.IntN(2) == 1, r.IntN(2) == 1
			if ta {
				a = []int{batch, k, m}
			}
			if tb {
				b = []int{batch, n, k}
			}
			return two(fmt.Sprintf("%d (transposed %v) and %d (%v)", a, ta, b, tb), func(x, y *graph.Node) *graph.Node {
				if ta {
					x = ops.Transpose(x, 0, 2, 1)
				}
				if tb {
					y = ops.Transpose(y, 0, 2, 1)
				}
				return ops.MatMul(x, y)
			}, func(x, y *G.Node) (*G.Node, error) { return G.BatchedMatMul(x, y, ta, tb) }, ops.Reals, a, b)
		}},
		family{"Tensordot", func(r *rand.Rand) (string, own) {
			k, m, n := among(r, 2, 4), among(r, 2, 4), among(r, 2, 4)
			at, bt := r.IntN(2), r.IntN(2)
			a, b := []int{m, m}, []int{n, n}
			a[at], b[bt] = k, k
			return two(fmt.Sprintf("axis %d of %d with axis %d of %d", at, a, bt, b), func(x, y *graph.Node) *graph.Node {
				if at == 0 {
					x = ops.Transpose(x)
				}
				if bt == 1 {
					y = ops.Transpose(y)
				}
				return ops.MatMul(x, y)
			}, func(x, y *G.Node) (*G.Node, error) { return G.Tensordot([]int{at}, []int{bt}, x, y) }, ops.Reals, a, b)
		}})
}

// comparisons give 1 for what holds and 0 for what does not.
func comparisons() []family {
	var all []family
	for _, c := range []struct {
		name   string
		ours   func(a, b *graph.Node) *graph.Node
		theirs func(a, b *G.Node, same bool) (*G.Node, error)
	}{{"Lt", ops.Less, G.Lt}, {"Lte", ops.LessEqual, G.Lte}, {"Gt", ops.Greater, G.Gt}, {"Gte", ops.GreaterEqual, G.Gte}, {"Eq", ops.Equal, G.Eq}, {"Ne", ops.NotEqual, G.Ne}} {
		all = append(all, family{c.name + " of signs, as a factor", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 1, 3))
			return two(fmt.Sprint(size), func(a, b *graph.Node) *graph.Node {
				return ops.Mul(ops.Mul(a, b), ops.Cast(c.ours(ops.Sign(a), ops.Sign(b)), graph.F64))
			}, func(a, b *G.Node) (*G.Node, error) {
				var signs [2]*G.Node
				for i, x := range []*G.Node{a, b} {
					var err error
					if signs[i], err = G.Sign(x); err != nil {
						return nil, err
					}
				}
				m, err := c.theirs(signs[0], signs[1], true)
				if err != nil {
					return nil, err
				}
				product, err := G.HadamardProd(a, b)
				if err != nil {
					return nil, err
				}
				return G.HadamardProd(product, m)
			}, ops.Apart, size, size)
		}})
	}
	return all
}
