package ref_test

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// optimisers give a parameter's next value from its gradient, by name of case;
// states of their own are updated on the way.
var optimisers = map[string]func(b *builder, w, g node) node{
	"optimiser_sgd": func(b *builder, w, g node) node { return b.descend(w, g) },
	"optimiser_sgd_weight_decay": func(b *builder, w, g node) node {
		return b.descend(w, ops.Add(g, ops.Scale(w, b.number("weight_decay", 0))))
	},
	"optimiser_sgd_momentum": func(b *builder, w, g node) node { return b.descend(w, b.momentum(w, g)) },
	"optimiser_sgd_nesterov": func(b *builder, w, g node) node {
		return b.descend(w, ops.Add(g, ops.Scale(b.momentum(w, g), b.number("momentum", 0))))
	},
	"optimiser_adam": func(b *builder, w, g node) node { return b.descend(w, b.adam(w, g)) },
	"optimiser_adamw": func(b *builder, w, g node) node {
		decayed := ops.Scale(w, 1-b.number("lr", 0)*b.number("weight_decay", 0))
		return b.descend(decayed, b.adam(w, g))
	},
	"optimiser_rmsprop": func(b *builder, w, g node) node {
		v := b.average("v", w, ops.Square(g), 0.99)
		return b.descend(w, ops.Div(g, ops.Shift(ops.Sqrt(v), 1e-8)))
	},
	"optimiser_adagrad": func(b *builder, w, g node) node {
		sum := b.g.State("sum", b.dt, w.Shape().Axes()...)
		next := ops.Add(sum, ops.Square(g))
		b.g.Assign(sum, next)
		return b.descend(w, ops.Div(g, ops.Shift(ops.Sqrt(next), 1e-10)))
	},
}

// descend is w − η·step.
func (b *builder) descend(w, step node) node { return ops.Sub(w, ops.Scale(step, b.number("lr", 0))) }

func (b *builder) momentum(w, g node) node {
	v := b.g.State("v", b.dt, w.Shape().Axes()...)
	next := ops.Add(ops.Scale(v, b.number("momentum", 0)), g)
	b.g.Assign(v, next)
	return next
}

// average is β·old + (1−β)·x, kept from step to step.
func (b *builder) average(name string, w, x node, β float64) node {
	old := b.g.State(name, b.dt, w.Shape().Axes()...)
	next := ops.Add(ops.Scale(old, β), ops.Scale(x, 1-β))
	b.g.Assign(old, next)
	return next
}

func (b *builder) adam(w, g node) node {
	const β1, β2 = 0.9, 0.999
	t := b.g.State("t", b.dt)
	now := ops.Shift(t, 1)
	b.g.Assign(t, now)
	m, v := b.average("m", w, g, β1), b.average("v", w, ops.Square(g), β2)
	unbias := func(x node, β float64) node { return ops.Div(x, ops.OneMinus(ops.Pow(ops.Lit(x, β), now))) }
	return ops.Div(unbias(m, β1), ops.Shift(ops.Sqrt(unbias(v, β2)), 1e-8))
}

// checkTrajectory takes ten steps on Σ cosh w + sin(3w)/2, on the tape and by
// the definitions, and compares w after each.
func (b *builder) checkTrajectory(next func(b *builder, w, g node) node, tol float64) {
	b.Helper()
	w := b.array("w0")
	cosh := ops.Scale(ops.Add(ops.Exp(w), ops.Exp(ops.Neg(w))), 0.5)
	loss := ops.Sum(ops.Add(cosh, ops.Scale(ops.Sin(ops.Scale(w, 3)), 0.5)))
	b.g.Assign(w, next(b, w, grad.Of(loss, w)[0]))
	if err := b.g.Err(); err != nil {
		b.Fatal(err)
	}
	want := b.c.Outputs["trajectory"]
	steps, size := want.Shape[0], want.Shape[1]

	prog, err := tape.Compile(b.g, tape.Do(b.g.Updates()))
	if err != nil {
		b.Fatal(err)
	}
	store := tape.NewStore(b.g)
	if err := store.Set(w.Path(), tape.Tensor(b.feed[w])); err != nil {
		b.Fatal(err)
	}
	vm := prog.NewVM(store)
	defer vm.Close()

	leaves := ref.Feed{}
	for _, s := range b.g.Leaves(graph.RoleState) {
		leaves[s] = graph.NewValue(s.Type())
	}
	leaves[w] = b.feed[w]
	values := make([]node, len(b.g.Updates()))
	for i, u := range b.g.Updates() {
		values[i] = u.Value
	}

	var onTape, byDefinition []float64
	for range steps {
		if err := vm.Run(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
		t, err := store.Get(w.Path())
		if err != nil {
			b.Fatal(err)
		}
		onTape = slices.Concat(onTape, reftest.Value(w.Type(), t).Data)

		stepped, err := ref.Eval(graph.Env{}, leaves, values...)
		if err != nil {
			b.Fatal(err)
		}
		for i, u := range b.g.Updates() {
			leaves[u.Target] = stepped[i]
		}
		byDefinition = slices.Concat(byDefinition, leaves[w].Data)
	}
	if len(onTape) != steps*size {
		b.Fatalf("%d values, want %d", len(onTape), steps*size)
	}
	tol *= reftest.Largest(want.Data)
	b.near("ref", byDefinition, want.Data, tol)
	b.near("tape", onTape, want.Data, tol)
}
