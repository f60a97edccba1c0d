package tape

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"gorgonia.org/tensor"
)

// Feed gives inputs their values for one run: dense row-major tensors of the
// inputs' types, which the run reads where they lie. [Of] makes them of numbers, [Tensors] a whole
// feed of a model's examples. For an input of integers a tensor of any of Go's integer types is
// taken and converted in each run, a number out of range being an error; floats are taken in the
// input's own type alone, and float32 for f16 and bf16 if each is a number of that type, as what is read
// of a file of such numbers is, so that no digits are lost unseen. Inputs with a default may
// be left out. Reusing a Feed from step to step allocates nothing. A result of the
// same VM may be fed as it is: it is copied first.
type Feed map[*graph.Node]*tensor.Dense

// RunRows is [VM.Run] on a part of the rows of what is fed: to each input with axes, rows from, from
// + 1, … of its tensor, whose first axis may be longer than that of the input. They are read where
// they lie.
func (vm *VM) RunRows(ctx context.Context, feed Feed, from int) error {
	if from < 0 {
		return fmt.Errorf("run: rows from %d on: want 0 or more", from)
	}
	return vm.run(ctx, feed, from)
}

// part returns the memory of those rows of a tensor, from the given one on, that input i takes.
func (vm *VM) part(i int, t *tensor.Dense, from int) (kernel.Mem, error) {
	want := vm.prog.inputs[i].typ
	if want.Shape.Rank() == 0 || t == nil || t.Dims() == 0 {
		return memOfDense(want, t)
	}
	rows, n := want.Shape.Dim(0), t.Shape()[0]
	if from+rows > n {
		return kernel.Mem{}, fmt.Errorf("want %d rows from row %d on, got shape %v", rows, from, t.Shape())
	}
	if vm.whole == nil {
		vm.whole = make([]graph.Type, len(vm.prog.inputs))
	}
	whole := &vm.whole[i]
	if whole.Shape.Rank() == 0 || whole.Shape.Dim(0) != n {
		axes := want.Shape.Axes()
		axes[0].Size = n
		shape, err := graph.NewShape(axes...)
		if err != nil {
			return kernel.Mem{}, err
		}
		*whole = graph.Type{DType: want.DType, Shape: shape}
	}
	m, err := memOfDense(*whole, t)
	if err != nil || m.Len() == 0 {
		return m, err
	}
	bytes := m.Len() / n
	return m.Slice(from*bytes, rows*bytes), nil
}

// feed points the operands that are inputs at what is fed, or at the default: at rows of arrays from
// the given one on, or with −1 at whole arrays.
func (vm *VM) feed(feed Feed, from int) error {
	if err := vm.strangers(feed); err != nil {
		return err
	}
	for i, in := range vm.prog.inputs {
		t, fed := feed[vm.inputs[i]]
		if fed {
			var m kernel.Mem
			var err error
			if from < 0 {
				m, err = memOfDense(in.typ, t)
			} else {
				m, err = vm.part(i, t, from)
			}
			if err != nil {
				return fmt.Errorf("input %s: %w", in.path, err)
			}
			if m.Overlaps(vm.arena) { // a result of the last run: this run writes over it
				own := kernel.Alloc(m.Len())
				own.Copy(m)
				m = own
			}
			vm.supply(i, m)
		} else if !in.hasDefault {
			return fmt.Errorf("input %s of type %v is not fed", in.path, in.typ)
		} else {
			vm.supply(i, in.value)
		}
	}
	return nil
}

// strangers returns an error if nodes are fed that are no inputs of the graph. An input that
// nothing wanted depends on may be fed.
func (vm *VM) strangers(feed Feed) error {
	var found []string
	var other *graph.Graph
	for n := range feed {
		if n != nil && n.Graph() != vm.prog.source {
			other = n.Graph()
		}
		if n == nil || n.Graph() != vm.prog.source || n.Role() != graph.RoleInput {
			found = append(found, n.String())
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	err := fmt.Errorf("feed: %s is no input of graph %q", strings.Join(found, ", "), vm.prog.source.Name())
	if other != nil {
		return fmt.Errorf("%w: it belongs to another graph, %q (feed the inputs of the graph that was compiled)", err, other.Name())
	}
	return err
}
