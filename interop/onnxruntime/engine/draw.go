package engine

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/tape"
)

// draw is an input of random numbers, as the model's metadata say: its law, and how many axes in front
// count the steps of loops, each of which draws anew.
type draw struct {
	Law   string
	Lo    float64
	Hi    float64
	Key   string
	Times int

	elements onnxruntime.ElementType
	sizes    []int
}

// take notes type and sizes of the input.
func (d *draw) take(v onnxruntime.ValueInfo) {
	d.elements = v.Type
	for _, dim := range v.Dims {
		d.sizes = append(d.sizes, dim.Size)
	}
}

// numbers returns what the tape draws in a run on the store, with updates or without.
func (d *draw) numbers(store *tape.Store, updates bool) onnxruntime.Array {
	dt := d.elements.DType()
	seed := store.Seed()
	if !updates {
		seed = kernel.Stream(seed, store.Runs())
	}
	times, each := 1, 1
	for i, n := range d.sizes {
		if i < d.Times {
			times *= n
		} else {
			each *= n
		}
	}
	k := kernel.Random{Law: kernel.Law(d.Law), Lo: d.Lo, Hi: d.Hi}
	numbers := make([]float64, 0, times*each)
	for t := range times {
		k.Key = kernel.KeyOf(d.Key + " " + dt.String())
		for at, i := t, d.Times-1; i >= 0; i-- { // the innermost first
			k.Key = kernel.At(k.Key, int64(at%d.sizes[i]))
			at /= d.sizes[i]
		}
		for i := range each {
			numbers = append(numbers, k.Draw(kernel.DType(dt), seed, store.Step(), uint64(i)))
		}
	}
	switch dt {
	case graph.F32:
		return onnxruntime.Of(converted[float32](numbers), d.sizes...)
	case graph.I32:
		return onnxruntime.Of(converted[int32](numbers), d.sizes...)
	case graph.I64:
		return onnxruntime.Of(converted[int64](numbers), d.sizes...)
	}
	return onnxruntime.Of(numbers, d.sizes...)
}

func converted[T float32 | int32 | int64](numbers []float64) []T {
	out := make([]T, len(numbers))
	for i, x := range numbers {
		out[i] = T(x)
	}
	return out
}
