package nn_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// ctc is a loss of t times, b examples, c classes and s labels, with names of axes.
func ctc(dt graph.DType, t, b, c, s, blank int) (in []*graph.Node, loss *graph.Node) {
	g := graph.New("speech")
	batch := graph.Ax("b", b)
	p := g.Param("logProbs", dt, graph.Ax("t", t), batch, graph.Ax("c", c))
	labels := g.Input("labels", graph.I32, batch, graph.Ax("s", s))
	n, m := g.Input("n", graph.I32, batch), g.Input("m", graph.I64, batch)
	return []*graph.Node{p, labels, n, m}, nn.CTC(p, labels, n, m, blank)
}

func fed(in []*graph.Node, data ...[]float64) graph.Values {
	feed := graph.Values{}
	for i, x := range in {
		feed[x] = graph.Value{Type: x.Type(), Data: data[i]}
	}
	return feed
}

// spelt is what is left of an alignment without repetitions and blanks.
func spelt(alignment []int, blank int) (labels []int) {
	for i, k := range alignment {
		if k != blank && (i == 0 || k != alignment[i-1]) {
			labels = append(labels, k)
		}
	}
	return labels
}

// The loss is the sum over all alignments, for all lengths, with classes of probability 0 among them;
// where there is none, it is infinite and its derivative 0. What does not count may be anything.
func TestCTCSumsAlignments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const times, batch, classes, size = 4, 15, 3, 2
	infinite := 0
	for blank := range classes {
		in, loss := ctc(graph.F64, times, batch, classes, size, blank)
		dx := grad.Of(ops.Sum(loss), in[0])[0]
		if err := in[0].Graph().Err(); err != nil {
			t.Fatal(err)
		}
		p, labels := make([]float64, times*batch*classes), make([]float64, batch*size)
		for i := range p {
			if p[i] = -3 * r.Float64(); r.IntN(6) == 0 {
				p[i] = math.Inf(-1)
			}
		}
		n, m := make([]float64, batch), make([]float64, batch)
		for e := range batch { // every pair of lengths
			n[e], m[e] = float64(e/3), float64(e%3)
			for k := range size {
				labels[e*size+k] = float64((blank + 1 + r.IntN(classes-1)) % classes)
				if k >= e%3 {
					labels[e*size+k] = 99 // padding
				}
			}
		}
		got, err := reftest.Tape(0, fed(in, p, labels, n, m), []*graph.Node{loss, dx})
		if err != nil {
			t.Fatal(err)
		}
		for e := range batch {
			var want []int
			for _, k := range labels[e*size:][:e%3] {
				want = append(want, int(k))
			}
			length, total := e/3, 0.0
			share := make([]float64, times*classes)
			for code := range int(math.Pow(classes, float64(length))) {
				alignment, product := make([]int, length), 1.0
				for i := range alignment {
					alignment[i], code = code%classes, code/classes
					product *= math.Exp(p[(i*batch+e)*classes+alignment[i]])
				}
				if slices.Equal(spelt(alignment, blank), want) {
					total += product
					for i, k := range alignment {
						share[i*classes+k] += product
					}
				}
			}
			if total == 0 {
				infinite++
			}
			if v := got[0].Data[e]; !(math.Abs(v+math.Log(total)) < 1e-12 || math.IsInf(v, 1) && total == 0) {
				t.Errorf("blank %d, lengths %d and %v: loss %v, want %v", blank, length, want, v, -math.Log(total))
			}
			for i, s := range share {
				d := got[1].Data[(i/classes*batch+e)*classes+i%classes]
				if total > 0 {
					s /= -total
				}
				if !(math.Abs(d-s) < 1e-12) {
					t.Errorf("blank %d, lengths %d and %v: derivative %d is %v, want %v", blank, length, want, i, d, s)
				}
			}
		}
	}
	if infinite < 5 {
		t.Errorf("%d examples without an alignment: the test wants some", infinite)
	}
}

// A long example in f32 neither overflows nor loses the sum.
func TestCTCIsStable(t *testing.T) {
	const times = 2000
	in, loss := ctc(graph.F32, times, 1, 2, 1, 0)
	p := slices.Repeat([]float64{-10}, 2*times)
	got, err := reftest.Tape(0, fed(in, p, []float64{1}, []float64{times}, []float64{1}), []*graph.Node{loss, grad.Of(ops.Sum(loss), in[0])[0]})
	if err != nil {
		t.Fatal(err)
	}
	if want := 10*times - math.Log(times*(times+1)/2); math.Abs(got[0].Data[0]-want) > 1e-4*want { // a run of label 1 anywhere
		t.Errorf("loss %v, want %v", got[0].Data[0], want)
	}
	sum := 0.0
	for _, d := range got[1].Data {
		sum += d
	}
	if !(math.Abs(sum+times) < 0.01*times) { // one class at each time
		t.Errorf("derivatives sum up to %v, want %d", sum, -times)
	}
}

// Labels that count and are no classes, and lengths beyond the arrays, are errors of the run.
func TestCTCRefusesIndices(t *testing.T) {
	for _, c := range []struct {
		label, n, m float64
		want        string
	}{
		{3, 4, 1, "want an index from 0 to 2"},
		{-1, 4, 1, "want an index from 0 to 2"},
		{1, 5, 1, "want an index from 0 to 4"},
		{1, 4, 3, "want an index from 0 to 2"},
	} {
		in, loss := ctc(graph.F32, 4, 1, 3, 2, 0)
		_, err := reftest.Tape(0, fed(in, make([]float64, 12), []float64{c.label, 1}, []float64{c.n}, []float64{c.m}), []*graph.Node{loss})
		outside := new(trait.IndexError)
		if !errors.As(err, &outside) {
			t.Errorf("label %v, lengths %v and %v: %v", c.label, c.n, c.m, err)
		} else if got := outside.Place().Error(); len(got) < len(c.want) || got[len(got)-len(c.want):] != c.want {
			t.Errorf("label %v, lengths %v and %v: %s, want …%s", c.label, c.n, c.m, got, c.want)
		}
	}
}

// Operands that do not fit are mistakes.
func TestCTCRefuses(t *testing.T) {
	g := graph.New("speech")
	b := graph.Ax("b", 2)
	p, labels, n := g.Input("p", graph.F32, graph.Ax("t", 4), b, graph.Ax("c", 3)), g.Input("labels", graph.I64, b, graph.Ax("s", 2)), g.Input("n", graph.I64, b)
	three := g.Input("three", graph.I64, graph.Ax("b", 3))
	whole, real := g.Input("whole", graph.I64, graph.Ax("t", 4), b, graph.Ax("c", 3)), g.Input("real", graph.F32, b)
	nn.CTC(p, labels, labels, n, 0)
	nn.CTC(whole, labels, n, n, 0)
	nn.CTC(p, labels, n, n, 3)
	nn.CTC(p, labels, real, n, 0)
	nn.CTC(p, labels, n, three, 0)
	want := []string{
		"CTC: shapes [t=4 b=2 c=3], [b=2 s=2], [b=2 s=2] and [b=2]: want [t b c], [b s], [b] and [b]: p[t=4 b=2 c=3], labels[b=2 s=2], labels[b=2 s=2], n[b=2]",
		"CTC: log-probabilities of type i64: want f32 or f64: whole[t=4 b=2 c=3], labels[b=2 s=2], n[b=2], n[b=2] (convert with ops.Cast)",
		"CTC: blank 3: want a class from 0 to 2: p[t=4 b=2 c=3], labels[b=2 s=2], n[b=2], n[b=2]",
		"CTC: labels or lengths of type f32: want i32 or i64: p[t=4 b=2 c=3], labels[b=2 s=2], real[b=2], n[b=2]",
		"CTC: labels or lengths of 3 examples for log-probabilities of 2: p[t=4 b=2 c=3], labels[b=2 s=2], n[b=2], three[b=3]",
	}
	errs, _ := g.Err().(graph.Errors)
	if len(errs) != len(want) {
		t.Fatalf("%v", g.Err())
	}
	for i, e := range errs {
		e.Pos = graph.Pos{}
		if e.Error() != want[i] {
			t.Errorf("%s, want %s", e.Error(), want[i])
		}
	}
}

// Of the alignments of "12" with three times, 12 with a blank or a repetition somewhere, the first
// example has five, of probability 1/27 each; the second has too few times.
func ExampleCTC() {
	g := graph.New("speech")
	b := graph.Ax("b", 2)
	z := g.Constant(graph.F32, make([]float64, 18), graph.Ax("t", 3), b, graph.Ax("c", 3))
	labels := g.Constant(graph.I64, []float64{1, 2, 1, 2}, b, graph.Ax("s", 2))
	loss := nn.CTC(ops.LogSoftmax(z, "c"), labels, g.Constant(graph.I64, []float64{3, 1}, b), g.Constant(graph.I64, []float64{2, 2}, b), 0)
	show(ops.Exp(ops.Neg(loss)))
	// Output: [b=2] [0.185 0]
}
