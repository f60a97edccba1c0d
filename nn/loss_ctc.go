package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// CTC returns the connectionist temporal classification loss of each example (Graves et al., 2006),
// in the shape [b]: −log of the probability that the outputs spell the labels, summed over all
// alignments. An alignment names a class at each time, and spells what is left of it when repeated
// classes are merged and then blanks removed.
//
// logProbs[t b c] are logarithms of probabilities of c classes, such as ops.LogSoftmax(z, -1),
// floats. The whole numbers labels[b s] are classes; inputLengths[b] from 0 to t and labelLengths[b]
// from 0 to s say how many times and labels of an example count, and the others may be anything.
// blank is the class that stands for no label; it must not be among the labels. The derivatives are
// those by logProbs.
//
// Where no alignment exists, because there are fewer times than labels and pairs of equal
// neighbours among them or because all alignments have probability 0, the loss is +∞ and its
// derivative 0; where both lengths are 0 the loss is 0. PyTorch's ctc_loss gives the same values
// with reduction="none". A label that counts and is no class, or a length that is too large, is a
// [trait.IndexError] when the program runs.
func CTC(logProbs, labels, inputLengths, labelLengths *graph.Node, blank int) *graph.Node {
	in := []*graph.Node{logProbs, labels, inputLengths, labelLengths}
	g := graph.Of(in...)
	for _, x := range in {
		if !x.IsValid() {
			return g.Fail("CTC", build.ErrNoOperand, in...)
		}
	}
	if err := latticeOf(in, blank); err != nil {
		return g.Fail("CTC", err, in...)
	}
	defer g.Calling("CTC", in...)()
	defer g.Scope("ctc")()
	dt, times, size, classes := logProbs.DType(), logProbs.Shape().Axis(0), labels.Dim(1), logProbs.Dim(2)
	batch := logProbs.Shape().Axis(1)
	if batch.Name == "" {
		batch.Name = labels.Shape().Axis(0).Name
	}
	whole := func(n int, f func(i int) int, axes ...graph.Axis) *graph.Node {
		data := make([]float64, n)
		for i := range data {
			data[i] = float64(f(i))
		}
		return g.Constant(graph.I64, data, axes...)
	}
	// checked returns the whole numbers as they are; the look-up refuses those that are not below n.
	checked := func(x *graph.Node, n int) *graph.Node {
		each := make([]float64, n)
		for i := range each {
			each[i] = float64(i)
		}
		return ops.Cast(ops.Gather(g.Constant(graph.F64, each, graph.Axis{Size: n}), x, 0), graph.I64)
	}
	row, one := graph.Axis{Size: size}, graph.Axis{Size: 1}
	inputLength := ops.Expand(ops.Expand(checked(inputLengths, times.Size+1), 0, ""), -1, "")
	labelLength := ops.Expand(checked(labelLengths, size+1), -1, "")

	// The lattice has a blank before, between and after the labels: place 2k+1 is label k.
	counts := ops.Less(whole(size, func(i int) int { return i }, one, row), labelLength)
	label := ops.Rename(labels, 1, "")
	label = checked(ops.Select(counts, label, ops.Lit(label, 0)), classes)
	blanks := ops.BroadcastTo(ops.Lit(label, float64(blank)), label.Shape())
	lattice := ops.Reshape(ops.Stack(-1, "", blanks, label), label.Dim(0), 2*size)
	lattice = ops.Pad(lattice, -1, 0, 1, float64(blank)).As("lattice")
	places := graph.Axis{Size: 2*size + 1}
	place := whole(places.Size, func(i int) int { return i }, one, places)

	first := whole(batch.Size, func(i int) int { return i * classes }, batch, one)
	flat := ops.Reshape(logProbs, times.Size, batch.Size*classes)
	// Nothing is −∞, whose differences would be NaN: never is the logarithm of probability 0.
	zero := ops.Lit(logProbs, never)
	emitted := ops.Maximum(ops.Gather(flat, ops.Add(first, lattice), 1), zero).As("emitted")

	// A path may pass over the blank between two different labels.
	before := ops.Pad(ops.Slice(lattice, -1, 0, places.Size-2), -1, 2, 0, float64(blank))
	passes := ops.And(ops.NotEqual(lattice, before), ops.NotEqual(lattice, ops.Lit(lattice, float64(blank))))

	α := g.Constant(dt, append([]float64{0}, slices.Repeat([]float64{never}, 2*size)...), places)
	start, err := graph.NewShape(batch, places)
	if err != nil {
		return g.Fail("CTC", err, in...)
	}
	time := whole(times.Size, func(i int) int { return i }, graph.Axis{Size: times.Size}, one, one)
	r := ops.Scan(ops.Loop{
		Carry: []*graph.Node{ops.BroadcastTo(α, start)},
		Over:  []*graph.Node{emitted, ops.Less(time, inputLength)},
		Axis:  0,
		With:  []*graph.Node{passes},
	}, func(carry, x, with []*graph.Node) (next, out []*graph.Node) {
		α := carry[0]
		from := func(k int) *graph.Node { return ops.Pad(ops.Slice(α, -1, 0, places.Size-k), -1, k, 0, never) }
		over := ops.Select(with[0], from(2), ops.Lit(α, never))
		moved := ops.Add(ops.LogSumExp(ops.Stack(-1, "", α, from(1), over), -1), x[0])
		return []*graph.Node{ops.Select(x[1], moved, α).As("α")}, nil
	})
	last := ops.Scale(labelLength, 2)
	ends := ops.Or(ops.Equal(place, last), ops.Equal(place, ops.Shift(last, -1)))
	total := ops.LogSumExp(ops.Select(ends, r.Final[0], zero), -1)
	possible := ops.Greater(total, ops.Lit(total, never/2))
	return ops.Select(possible, ops.Neg(total), ops.Lit(total, math.Inf(1))).As("ℓ")
}

// never stands for −∞ in sums of logarithms. Exponentials of it are 0, and it may be added up
// millions of times in f32.
const never = -1e30

// latticeOf says what is wrong with the operands of [CTC].
func latticeOf(in []*graph.Node, blank int) error {
	logProbs, labels := in[0], in[1]
	switch {
	case logProbs.Rank() != 3 || labels.Rank() != 2 || in[2].Rank() != 1 || in[3].Rank() != 1:
		return fmt.Errorf("shapes %v, %v, %v and %v: want [t b c], [b s], [b] and [b]", logProbs.Shape(), labels.Shape(), in[2].Shape(), in[3].Shape())
	case !logProbs.DType().IsFloat() || logProbs.DType().IsHalf():
		return &graph.Mistake{Problem: fmt.Sprintf("log-probabilities of type %v: want f32 or f64", logProbs.DType()), Fix: "convert with ops.Cast"}
	case blank < 0 || blank >= logProbs.Dim(2):
		return fmt.Errorf("blank %d: want a class from 0 to %d", blank, logProbs.Dim(2)-1)
	}
	for _, x := range in[1:] {
		if !x.DType().IsInt() {
			return fmt.Errorf("labels or lengths of type %v: want i32 or i64", x.DType())
		}
		if x.Dim(0) != logProbs.Dim(1) {
			return fmt.Errorf("labels or lengths of %d examples for log-probabilities of %d", x.Dim(0), logProbs.Dim(1))
		}
	}
	return nil
}
