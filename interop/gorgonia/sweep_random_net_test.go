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

// window is a drawn window over images.
type window struct{ size, kernel, pad, stride, dilation []int }

func (w window) String() string {
	return fmt.Sprintf("%d, window %d, padding %d, stride %d, dilation %d", w.size, w.kernel, w.pad, w.stride, w.dilation)
}

// windowOf draws one that fits, in padding and dilation up to those that are given.
func windowOf(r *rand.Rand, pad, dilation int) window {
	w := window{size: []int{among(r, 1, 2), among(r, 1, 2), among(r, 3, 6), among(r, 3, 6)}}
	for range 2 {
		k := among(r, 1, 3)
		w.kernel = append(w.kernel, k)
		w.pad = append(w.pad, among(r, 0, min(pad, k-1)))
		w.stride = append(w.stride, among(r, 1, 3))
		w.dilation = append(w.dilation, among(r, 1, dilation))
	}
	for i := range 2 {
		w.size[2+i] = max(w.size[2+i], w.dilation[i]*(w.kernel[i]-1)+1)
	}
	return w
}

// last puts the channels last, first before height and width.
func last(x *graph.Node) *graph.Node  { return ops.Transpose(x, 0, 2, 3, 1) }
func first(x *graph.Node) *graph.Node { return ops.Transpose(x, 0, 3, 1, 2) }

func (w window) convolved(r *rand.Rand, theirs func(x, k *G.Node) (*G.Node, error)) (string, own) {
	filters := []int{among(r, 1, 2), w.size[1], w.kernel[0], w.kernel[1]}
	return two(w.String(), func(x, k *graph.Node) *graph.Node {
		return first(ops.Conv2D(last(x), ops.Transpose(k, 2, 3, 1, 0), ops.Padding(w.pad...), ops.Stride(w.stride...), ops.Dilation(w.dilation...)))
	}, theirs, ops.Reals, w.size, filters)
}

// windowed are the functions that go over images by windows.
func windowed() []family {
	pooled := func(name string, pad int, average bool, theirs func(x *G.Node, kernel tensor.Shape, pad, stride []int) (*G.Node, error)) family {
		return family{name, func(r *rand.Rand) (string, own) {
			w := windowOf(r, pad, 1)
			return one(w.String(), func(x *graph.Node) *graph.Node {
				if average {
					return first(ops.AvgPool2D(last(x), ops.Size(w.kernel[0], w.kernel[1]), ops.Stride(w.stride...)))
				}
				for i, n := range w.pad {
					x = ops.Pad(x, 2+i, n, n, -1e9)
				}
				return first(ops.MaxPool2D(last(x), ops.Size(w.kernel[0], w.kernel[1]), ops.Stride(w.stride...)))
			}, func(x *G.Node) (*G.Node, error) { return theirs(x, w.kernel, w.pad, w.stride) }, ops.Apart, w.size)
		}}
	}
	return []family{
		{"Conv2d", func(r *rand.Rand) (string, own) {
			w := windowOf(r, 2, 2)
			return w.convolved(r, func(x, k *G.Node) (*G.Node, error) { return G.Conv2d(x, k, w.kernel, w.pad, w.stride, w.dilation) })
		}},
		{"Conv1d", func(r *rand.Rand) (string, own) {
			w := windowOf(r, 2, 2).flat()
			return w.convolved(r, func(x, k *G.Node) (*G.Node, error) {
				return G.Conv1d(x, k, w.kernel[1], w.pad[1], w.stride[1], w.dilation[1])
			})
		}},
		{"Im2Col", func(r *rand.Rand) (string, own) {
			w := windowOf(r, 2, 2)
			return one(w.String(), func(x *graph.Node) *graph.Node {
				for i, n := range w.pad {
					x = ops.Pad(x, 2+i, n, n, 0)
				}
				out := [2]int{}
				for i := range out {
					out[i] = (w.size[2+i]+2*w.pad[i]-w.dilation[i]*(w.kernel[i]-1)-1)/w.stride[i] + 1
				}
				var columns []*graph.Node // [batch height width] for each channel and place in the window
				for c := range w.size[1] {
					for i := range w.kernel[0] {
						for j := range w.kernel[1] {
							part := ops.Slice(x, 1, c, c+1)
							for axis, k := range []int{i, j} {
								from := k * w.dilation[axis]
								part = ops.SliceStep(part, 2+axis, from, from+(out[axis]-1)*w.stride[axis]+1, w.stride[axis])
							}
							columns = append(columns, ops.Reshape(part, w.size[0], out[0], out[1], 1))
						}
					}
				}
				return ops.Concat(3, columns...)
			}, func(x *G.Node) (*G.Node, error) { return G.Im2Col(x, w.kernel, w.pad, w.stride, w.dilation) }, ops.Reals, w.size)
		}},
		pooled("MaxPool2D", 0, false, G.MaxPool2D),
		pooled("MaxPool2D, padded", 2, false, G.MaxPool2D),
		pooled("AveragePool2D", 0, true, G.AveragePool2D),
		{"MaxPool1D", func(r *rand.Rand) (string, own) {
			w := windowOf(r, 0, 1).flat()
			return one(w.String(), func(x *graph.Node) *graph.Node {
				return first(ops.MaxPool2D(last(x), ops.Size(1, w.kernel[1]), ops.Stride(w.stride...)))
			},
				func(x *G.Node) (*G.Node, error) { return G.MaxPool1D(x, w.kernel[1], 0, w.stride[1]) }, ops.Apart, w.size)
		}},
		{"AveragePool1D", func(r *rand.Rand) (string, own) {
			w := windowOf(r, 0, 1).flat()
			return one(w.String(), func(x *graph.Node) *graph.Node {
				return first(ops.AvgPool2D(last(x), ops.Size(1, w.kernel[1]), ops.Stride(w.stride...)))
			},
				func(x *G.Node) (*G.Node, error) { return G.AveragePool1D(x, w.kernel[1], 0, w.stride[1]) }, ops.Apart, w.size)
		}},
		{"GlobalAveragePool2D", func(r *rand.Rand) (string, own) {
			size := capped(sizesOf(r, 4), 3)
			return one(fmt.Sprint(size), func(x *graph.Node) *graph.Node { return ops.Mean(x, 2, 3, ops.Keep) }, G.GlobalAveragePool2D, ops.Reals, size)
		}},
	}
}

// flat is the window over images of one row.
func (w window) flat() window {
	w.size = slices.Clone(w.size)
	w.size[2], w.kernel[0], w.pad[0], w.stride[0], w.dilation[0] = 1, 1, 0, 1, 1
	return w
}

// networks are the layers that are more than a window.
func networks() []family {
	const eps = 0.1
	scaled := func(x []*graph.Node, axes ...any) *graph.Node {
		centred := ops.Sub(x[0], ops.Mean(x[0], append(axes, ops.Keep)...))
		variance := ops.Mean(ops.Square(centred), append(axes, ops.Keep)...)
		return ops.Add(ops.Mul(x[1], ops.Div(centred, ops.Sqrt(ops.Add(variance, ops.Lit(variance, eps))))), x[2])
	}
	batch := func(name string, training bool, rank int) family {
		return family{name, func(r *rand.Rand) (string, own) {
			size := sizesOf(r, rank)
			size[0] = max(2, size[0])
			of := slices.Repeat([]int{1}, rank)
			of[1] = size[1]
			mean, variance := make([]float64, size[1]), make([]float64, size[1])
			for i := range mean {
				mean[i], variance[i] = r.Float64(), 0.5+r.Float64()
			}
			axes := append([]any{0}, []any{2, 3}[:rank-2]...)
			o := own{op: name, sizes: [][]int{size, of, of}, domain: ops.Reals}
			o.ours = func(x []*graph.Node) *graph.Node {
				if training {
					return scaled(x, axes...)
				}
				constant := func(v []float64) *graph.Node {
					return x[0].Graph().Constant(graph.F64, v, graph.Dims(of...)...)
				}
				v := constant(variance)
				return ops.Add(ops.Mul(x[1], ops.Div(ops.Sub(x[0], constant(mean)), ops.Sqrt(ops.Add(v, ops.Lit(v, eps))))), x[2])
			}
			o.theirs = func(x []*G.Node) (*G.Node, error) {
				y, _, _, op, err := G.BatchNorm(x[0], x[1], x[2], 0.9, eps)
				if err != nil || training {
					return y, err
				}
				op.SetTraining(false)
				dense := func(v []float64) *tensor.Dense {
					return tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(slices.Clone(v)))
				}
				return y, op.SetStats(dense(mean), dense(variance))
			}
			return fmt.Sprint(size), o
		}}
	}
	return []family{
		{"LeakyRelu", func(r *rand.Rand) (string, own) {
			size, alpha := sizesOf(r, among(r, 1, 4)), float64(among(r, 0, 9))/10
			return one(fmt.Sprintf("slope %g, %d", alpha, size), func(x *graph.Node) *graph.Node { return ops.LeakyReLU(x, alpha) },
				func(x *G.Node) (*G.Node, error) { return G.LeakyRelu(x, alpha) }, ops.Apart, size)
		}},
		batch("BatchNorm of images, training", true, 4),
		batch("BatchNorm of rows, training", true, 2),
		batch("BatchNorm of images, in use", false, 4),
		batch("BatchNorm of rows, in use", false, 2),
		{"GroupNorm", func(r *rand.Rand) (string, own) {
			groups, each := among(r, 1, 3), among(r, 1, 2)
			size := []int{among(r, 1, 2), groups * each, among(r, 2, 3), among(r, 2, 3)}
			of := []int{1, groups * each, 1, 1}
			how := fmt.Sprintf("%d groups of %d", groups, size)
			o := own{op: how, sizes: [][]int{size, of, of}, domain: ops.Reals}
			o.ours = func(x []*graph.Node) *graph.Node {
				split := ops.Reshape(x[0], size[0], groups, -1)
				one := ops.Reshape(scaled([]*graph.Node{split, ops.Lit(split, 1), ops.Lit(split, 0)}, 2), size...)
				return ops.Add(ops.Mul(x[1], one), x[2])
			}
			o.theirs = func(x []*G.Node) (*G.Node, error) { return G.GroupNorm(x[0], x[1], x[2], groups, groups*each, eps) }
			return how, o
		}},
		{"BinaryXent", func(r *rand.Rand) (string, own) {
			size := sizesOf(r, among(r, 1, 2))
			return two(fmt.Sprint(size), func(p, y *graph.Node) *graph.Node {
				p, y = ops.Sigmoid(p), ops.Sigmoid(y)
				return ops.Neg(ops.Add(ops.Mul(y, ops.Log(p)), ops.Mul(ops.OneMinus(y), ops.Log(ops.OneMinus(p)))))
			}, func(p, y *G.Node) (*G.Node, error) {
				p, err := G.Sigmoid(p)
				if err != nil {
					return nil, err
				}
				if y, err = G.Sigmoid(y); err != nil {
					return nil, err
				}
				return G.BinaryXent(p, y)
			}, ops.Reals, size, size)
		}},
	}
}
