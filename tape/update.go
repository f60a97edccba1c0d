package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// The gradient by a large parameter is often a product that only the parameter's update reads:
// SGD's w − rate·g, or Adam's moments. Its rows are then made in the group of the update, which
// waits for the checks as a whole (see commit.go): a block of the gradient is read while it is in
// the cache, and never is an array. For example
//
//	fused "step"
//	  group 4: 768 rows
//	    %41[m=768 f=3072] = MatMul Transpose(x)[m=768 256], %40[256 f=3072]
//	    %42[m=768 f=3072] = Mul Broadcast(rate)[m=768 f=3072], %41[m=768 f=3072]
//	    %43[m=768 f=3072] = Sub w[m=768 f=3072], %42[m=768 f=3072]
//
// Every block reads all of the right operand, so that is to stay in a cache that is larger than a
// core's own, and the operands, which now stay until the end of the run, are to be no larger than
// the gradient that goes.

// panelLimit is the most bytes of a right operand that every block of an update reads.
const panelLimit = 4 << 20

// findUpdates finds the instructions that belong to updates alone: elementwise ones whose results
// only updates read or commits take, and products that only such instructions read.
func (f *fused) findUpdates() {
	f.updates, f.gradient = make([]bool, len(f.instrs)), make([]int, len(f.instrs))
	for i := range f.gradient {
		f.gradient[i] = -1
	}
	if f.how.separate || len(f.commits) == 0 {
		return
	}
	committed, kept := make([]bool, len(f.buffers)), make([]bool, len(f.buffers))
	for _, c := range f.commits {
		committed[c.from.buf] = true
	}
	for _, v := range f.result {
		kept[v.buf] = kept[v.buf] || !f.watched[v.buf]
	}
	for _, c := range f.finite {
		kept[c.v.buf] = true
	}
	read := make([]bool, len(f.buffers)) // by an update; kept says that others read it as well
	for i := len(f.instrs) - 1; i >= 0; i-- {
		ins := &f.instrs[i]
		if ins.extra {
			continue
		}
		b := ins.out.buf
		f.updates[i] = !kept[b] && (committed[b] || read[b]) && ins.again == nil && !ins.checks &&
			(kernel.Elementwise(ins.kernel) || !committed[b] && (f.makesGradient(i) || f.addsToGradient(i)))
		scatter, scatters := ins.kernel.(kernel.Scatter)
		if scatters && f.updates[i] {
			k := kernel.ScatterByRows{Scatter: scatter}
			ins.kernel, f.divs[i] = k, k.Divide(ins.out.layout, nil)
		}
		for k, v := range ins.in {
			if f.updates[i] && (kernel.Elementwise(ins.kernel) || scatters && k == 0) {
				read[v.buf] = true
			} else {
				kept[v.buf] = true
			}
		}
	}
}

// findGradients finds the product that each update reads, through others. What is made of a leaf
// alone, as a moment times its decay, has that of the update that reads it.
func (f *fused) findGradients() {
	for i := range f.instrs {
		if !f.updates[i] {
			continue
		}
		if isProduct(f.instrs[i].kernel) {
			f.gradient[i] = i
		}
		for _, v := range f.instrs[i].in {
			if from := f.from[v.buf]; from >= 0 && f.updates[from] {
				f.gradient[i] = max(f.gradient[i], f.gradient[from])
			}
		}
	}
	for i := len(f.instrs) - 1; i >= 0; i-- {
		for _, v := range f.instrs[i].in {
			if from := f.from[v.buf]; from >= 0 && f.updates[from] && f.updates[i] && f.gradient[from] < 0 {
				f.gradient[from] = f.gradient[i]
			}
		}
	}
}

// makesGradient reports whether instruction i is a product whose blocks are worth making where they
// are read.
func (f *fused) makesGradient(i int) bool {
	ins := &f.instrs[i]
	if k, ok := ins.kernel.(kernel.MatMul); !ok || k.Accumulate || ins.out.layout.Rank != 2 || !f.large(i) {
		return false
	}
	right := touched(ins.in[1].layout)
	return right <= panelLimit && touched(ins.in[0].layout)+right <= 2*touched(ins.out.layout)
}

// addsToGradient reports whether instruction i scatters rows onto such a product, as a table's
// gradient has it where a net also multiplies by the table. Every block goes through all the
// integers, which are to be few beside the terms of the product's sums.
func (f *fused) addsToGradient(i int) bool {
	ins := &f.instrs[i]
	k, ok := ins.kernel.(kernel.Scatter)
	if l := ins.out.layout; !ok || k.Axis != 0 && k.Axis != -l.Rank || !ins.in[0].layout.IsDense() {
		return false
	}
	from := f.from[ins.in[0].buf]
	return from >= 0 && f.makesGradient(from) && ins.in[1].layout.Len() <= 2*f.instrs[from].in[0].layout.Dims[1]
}

// updating reports whether a group makes the gradient by a parameter in blocks.
func (f *fused) updating(g *group) bool {
	return g.rows > 0 && slices.ContainsFunc(g.members, func(m member) bool { return f.updates[m.ins] && isProduct(f.instrs[m.ins].kernel) })
}
