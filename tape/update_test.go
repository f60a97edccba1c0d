package tape_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// tied is a net that reads a table by rows and multiplies by it, as language models do, and by a
// matrix between: both gradients are products of more than apartLimit bytes, of 390 terms in two
// sections. The indices repeat, and pick the first row and the last.
func tied(dt graph.DType, tokens int) (loss, table, w *graph.Node, feed tape.Feed) {
	g := graph.New("tied")
	normal := initial.Normal(0, 0.04)
	table = g.Param("table", dt, graph.Ax("v", 431), graph.Ax("m", 400)).Init(normal)
	w = g.Param("w", dt, graph.Ax("m", 400), graph.Ax("o", 420)).Init(normal)
	u := g.Param("u", dt, graph.Ax("o", 420), graph.Ax("m", 400)).Init(normal)
	x := g.Input("x", graph.I32, graph.Ax("t", tokens))
	at := make([]float64, tokens)
	for t := range at {
		at[t] = float64([]int{430, 0, 3, t * 7 % 431, 29, 28}[t%6])
	}
	h := ops.Add(ops.Gather(table, x, 0), ops.MatMul(ops.Tanh(ops.MatMul(ops.Gather(table, x, 0), w)), u))
	loss = ops.Mean(ops.Square(ops.Tanh(ops.MatMul(h, ops.Transpose(table, 1, 0)))))
	return loss, table, w, tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: at})}
}

// updated runs some steps and returns the bits of all that is stored.
func updated(t *testing.T, p *tape.Program, feed tape.Feed, options ...tape.VMOption) (bits []uint64) {
	t.Helper()
	store := tape.NewStore(p.Graph(), tape.Seed(1))
	vm := tapetest.VM(t, p, store, options...)
	defer vm.Close()
	for range 2 {
		run(t, vm, feed)
	}
	for _, path := range store.Paths() {
		bits = append(bits, patterns(stored(t, store, path))...)
	}
	return bits
}

// gradientOf returns the row that makes the gradient by a parameter of some shape: a product, or
// the scatter onto one.
func gradientOf(t *testing.T, p *tape.Program, op, shape string) tape.Row {
	t.Helper()
	for _, r := range p.Rows() {
		if r.Op == op && strings.HasSuffix(r.Result, shape) {
			return r
		}
	}
	t.Fatalf("no %s makes %s:\n%v", op, shape, p)
	return tape.Row{}
}

// TestUpdateHasItsGradient: a large gradient that only an update reads is made in its blocks, in
// the scratch, whoever updates; steps have the bits that they have instruction by instruction, with
// any number of workers.
func TestUpdateHasItsGradient(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for _, o := range []train.Optimiser{train.SGD(0.05), train.Momentum(0.05, 0.9), train.Adam(0.01), train.SGD(0.05, train.ClipValue(1e-4))} {
			if dt == graph.F64 && o.String() != train.SGD(0.05).String() {
				continue
			}
			t.Run(fmt.Sprint(dt, " ", o), func(t *testing.T) {
				loss, _, _, feed := tied(dt, 390)
				step := o.Minimize(loss)
				g := loss.Graph()
				p := compile(t, g, tape.Fetch(loss), tape.Do(step), tape.Debug(io.Discard))
				for _, of := range [][2]string{{"MatMul", "[m=400 o=420]"}, {"Scatter", "[v=431 m=400]"}} {
					r := gradientOf(t, p, of[0], of[1])
					if !r.Scratch || p.Stages()[r.Stage].Block >= 100 {
						t.Errorf("%s is not made in blocks:\n%v", r.Result, p)
					}
				}
				want := updated(t, compile(t, g, tape.Fetch(loss), tape.Do(step), tape.Unfused()), feed)
				for _, workers := range []int{1, 3} {
					if n := differ(want, updated(t, p, feed, tape.Workers(workers))); n > 0 {
						t.Errorf("with %d workers %d of %d stored values have other bits than instruction by instruction", workers, n, len(want))
					}
				}
			})
		}
	}
}

// TestUpdateSharesItsGradient: a gradient that is fetched, or checked, is an array that is made
// before the checks; one that is watched is an array as well. None of this changes a bit.
func TestUpdateSharesItsGradient(t *testing.T) {
	loss, table, w, feed := tied(graph.F32, 390)
	g, d := loss.Graph(), grad.Of(loss, table, w)
	step := graph.Step{}
	for i, p := range []*graph.Node{table, w} {
		step = append(step, graph.Update{Target: p, Value: ops.Sub(p, ops.Scale(d[i], 0.05))})
	}
	alone := compile(t, g, tape.Fetch(loss), tape.Do(step))
	if !gradientOf(t, alone, "MatMul", "[m=400 o=420]").Scratch {
		t.Errorf("nothing else reads the gradient, but it is an array:\n%v", alone)
	}
	want := updated(t, alone, feed)
	grads := outcome(t, compile(t, g, tape.Fetch(d...)), feed, tape.NewStore(g, tape.Seed(1)), d)
	for name, option := range map[string]tape.Option{"fetched": tape.Fetch(d...), "watched": tape.Watch(d...)} {
		p := compile(t, g, tape.Fetch(loss), option, tape.Do(step), tape.Debug(io.Discard))
		if gradientOf(t, p, "MatMul", "[m=400 o=420]").Scratch {
			t.Errorf("the gradient is %s, but no array:\n%v", name, p)
		}
		if n := differ(want, updated(t, p, feed)); n > 0 {
			t.Errorf("%d of %d stored values have other bits where the gradients are %s", n, len(want), name)
		}
		vm := tapetest.VM(t, p, tape.NewStore(g, tape.Seed(1)))
		run(t, vm, feed)
		var got []uint64
		for _, n := range d {
			got = append(got, patterns(value(t, vm, n))...)
		}
		vm.Close()
		if n := differ(grads[:len(got)], got); n > 0 {
			t.Errorf("%d of %d elements of gradients that are %s have other bits", n, len(got), name)
		}
	}
}

// TestUpdateOfManyTerms: operands that would have to stay, and are larger than the gradient, keep
// the product out of the update's blocks.
func TestUpdateOfManyTerms(t *testing.T) {
	loss, _, _, _ := tied(graph.F32, 3900)
	p := compile(t, loss.Graph(), tape.Fetch(loss), tape.Do(train.SGD(0.05).Minimize(loss)))
	if r := gradientOf(t, p, "MatMul", "[m=400 o=420]"); r.Scratch {
		t.Errorf("%s is made in the blocks of its update:\n%v", r.Result, p)
	}
}

// TestUpdateAllocatesNothing: steps whose products have parameters fetched allocate nothing.
func TestUpdateAllocatesNothing(t *testing.T) {
	loss, _, _, feed := tied(graph.F32, 390)
	p := compile(t, loss.Graph(), tape.Fetch(loss), tape.Do(train.Adam(0.01).Minimize(loss)))
	vm := tapetest.VM(t, p, tape.NewStore(loss.Graph()), tape.Workers(1))
	defer vm.Close()
	if n := testing.AllocsPerRun(5, func() { run(t, vm, feed) }); n != 0 {
		t.Errorf("a step allocates %g times", n)
	}
}
