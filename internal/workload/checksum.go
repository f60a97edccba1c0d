package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Float is the loss of the last run of vm, or the checksum of an evaluation.
func (w *Workload) Float(vm *tape.VM) (float64, error) {
	if w.Loss != nil {
		return vm.Float(w.Loss)
	}
	return w.Checksum(vm)
}

// Checksum tells other values and derivatives from the right ones: the sum over an evaluation's
// arrays, or over what the steps have added to each parameter, times numbers in [−1, 1) whose seed is
// 1000 for the first array, 1001 for the second and so on.
func (w *Workload) Checksum(vm *tape.VM) (float64, error) {
	sum := 0.0
	for i, out := range w.outputs {
		data, err := vm.Floats(out)
		if err != nil {
			return 0, err
		}
		sum += checksum(i, data)
	}
	for i, p := range w.starts {
		t, err := vm.Store().Get(p.node.Path())
		if err != nil {
			return 0, err
		}
		a, err := tape.ArrayOf(p.node.Type(), t)
		if err != nil {
			return 0, err
		}
		data := a.Value().Data
		for k, start := range rounded(p.node.DType(), p.values()) {
			data[k] -= start
		}
		sum += checksum(i, data)
	}
	return sum, nil
}

// checksum is the part of array number i.
func checksum(i int, data []float64) float64 {
	sum := 0.0
	for k, v := range values(1000+uint64(i), len(data), 1) {
		sum += v * data[k]
	}
	return sum
}

// rounded are numbers as an element type holds them.
func rounded(dt graph.DType, of []float64) []float64 {
	if dt == graph.F32 {
		for i, x := range of {
			of[i] = float64(float32(x))
		}
	}
	return of
}
