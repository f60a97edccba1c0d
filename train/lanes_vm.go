package train

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// alias is an input of the net whose scalars are set, and the input of the same path in another graph.
type alias struct{ from, to *graph.Node }

// laneVM runs lanes of a kind.
type laneVM struct {
	vm    *tape.VM
	store *tape.Store // the trainer's, with the random draws of the lane under way
	terms []term
	parts []parallel.Part // of the bucket: those of the terms, then the flags
	reads [][]number      // by term: the scalars of its scale
	of    *graph.Node     // the sum that is the loss
	loss  number          // the term of the lane
}

// number is a scalar of a VM's memory, of one of the two element types.
type number struct {
	f32 []float32
	f64 []float64
}

func (x number) value() float64 {
	if len(x.f32) > 0 {
		return float64(x.f32[0])
	}
	return x.f64[0]
}

// open makes the VM.
func (v *laneVM) open(k *kind, store *tape.Store, options []tape.VMOption) (err error) {
	v.store, v.terms, v.of = store, k.cut.terms, k.compiledNet.loss
	v.vm, err = k.cut.lane.NewVM(store, options...)
	return err
}

// results finds where the results of the VM lie, which it says once it has run.
func (v *laneVM) results() error {
	v.parts = make([]parallel.Part, len(v.terms), len(v.terms)+1)
	v.reads = make([][]number, len(v.terms))
	for i, t := range v.terms {
		if t.sum == nil {
			v.parts[i] = zeros(t.typ)
			continue
		}
		array, err := v.number(t.array)
		if err != nil {
			return err
		}
		v.parts[i] = parallel.Part{F32: array.f32, F64: array.f64}
		if t.sum == v.of {
			v.loss = array
		}
		for _, n := range t.scales {
			x, err := v.number(n)
			if err != nil {
				return err
			}
			v.reads[i] = append(v.reads[i], x)
		}
	}
	v.parts = append(v.parts, parallel.Part{Scale: 1})
	return nil
}

// zeros returns the part of a term that is 0.
func zeros(t graph.Type) parallel.Part {
	if n := t.Shape.Len(); t.DType == graph.F64 {
		return parallel.Part{F64: make([]float64, n)}
	} else {
		return parallel.Part{F32: make([]float32, n)}
	}
}

// number returns the elements of a result.
func (v *laneVM) number(n *graph.Node) (x number, err error) {
	t, err := v.vm.Value(n)
	switch {
	case err != nil || n.Shape().Len() == 0:
	case n.DType() == graph.F64:
		x.f64 = t.Float64s()
	default:
		x.f32 = t.Float32s()
	}
	return x, err
}

// laneSeed returns the seed of a lane's random draws. Lane 0 has those of a step without lanes.
func laneSeed(seed uint64, lane int) uint64 {
	if lane == 0 {
		return seed
	}
	var r rand.PCG
	r.Seed(seed, uint64(lane))
	return r.Uint64()
}
