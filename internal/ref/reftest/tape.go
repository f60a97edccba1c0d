package reftest

import (
	"context"
	"math"

	"gorgonia.org/tensor"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Tape computes what [ref.Eval] computes, at step 0, on a tape compiled with the
// options. The feed may hold leaves only.
func Tape(seed uint64, feed graph.Values, nodes []*graph.Node, options ...tape.Option) ([]graph.Value, error) {
	out, err := Runs(1, seed, feed, nodes, options...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Runs computes on a tape, in n runs of one VM, what [ref.Eval] computes at step 0 with the
// runs 0 to n−1.
func Runs(n int, seed uint64, feed graph.Values, nodes []*graph.Node, options ...tape.Option) ([][]graph.Value, error) {
	g := graph.Of(nodes...)
	prog, err := tape.Compile(g, append(options, tape.Fetch(nodes...))...)
	if err != nil {
		return nil, err
	}
	store := tape.NewStore(g, tape.Seed(seed))
	inputs := tape.Feed{}
	for n, v := range feed {
		v.Type = n.Type()
		if n.Role() == graph.RoleInput {
			inputs[n] = tape.Tensor(v)
		} else if err := store.Set(n.Path(), tape.Tensor(v)); err != nil {
			return nil, err
		}
	}
	vm, err := prog.NewVM(store)
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	out := make([][]graph.Value, n)
	for k := range out {
		if err := vm.Run(context.Background(), inputs); err != nil {
			return nil, err
		}
		for _, n := range nodes {
			t, err := vm.Value(n)
			if err != nil {
				return nil, err
			}
			out[k] = append(out[k], Value(n.Type(), t))
		}
	}
	return out, nil
}

// Value copies a dense row-major tensor of the given type.
func Value(typ graph.Type, t *tensor.Dense) graph.Value {
	v := graph.NewValue(typ)
	if len(v.Data) == 0 {
		return v
	}
	switch typ.DType {
	case graph.F32:
		widen(v.Data, t.Float32s())
	case graph.F64:
		widen(v.Data, t.Float64s())
	case graph.I32:
		widen(v.Data, t.Int32s())
	case graph.I64:
		widen(v.Data, t.Int64s())
	default:
		a, err := tape.ArrayOf(typ, t)
		for i := range v.Data {
			if v.Data[i] = math.NaN(); err == nil {
				v.Data[i] = a.At(i)
			}
		}
	}
	return v
}

func widen[T float32 | float64 | int32 | int64](to []float64, from []T) {
	for i, x := range from {
		to[i] = float64(x)
	}
}
