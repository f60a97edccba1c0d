package ref_test

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// optimisers are those of package train with the settings of each case.
var optimisers = map[string]func(b *builder, rate float64) train.Optimiser{
	"optimiser_sgd": func(_ *builder, rate float64) train.Optimiser { return train.SGD(rate) },
	"optimiser_sgd_weight_decay": func(b *builder, rate float64) train.Optimiser {
		return train.SGD(rate, train.WeightDecay(b.number("weight_decay", 0)))
	},
	"optimiser_sgd_momentum": func(b *builder, rate float64) train.Optimiser {
		return train.Momentum(rate, b.number("momentum", 0))
	},
	"optimiser_sgd_nesterov": func(b *builder, rate float64) train.Optimiser {
		return train.Nesterov(rate, b.number("momentum", 0))
	},
	"optimiser_adam": func(_ *builder, rate float64) train.Optimiser { return train.Adam(rate) },
	"optimiser_adamw": func(b *builder, rate float64) train.Optimiser {
		return train.AdamW(rate, train.WeightDecay(b.number("weight_decay", 0.01)))
	},
	"optimiser_rmsprop": func(_ *builder, rate float64) train.Optimiser { return train.RMSProp(rate) },
	"optimiser_adagrad": func(_ *builder, rate float64) train.Optimiser { return train.Adagrad(rate) },
}

// checkTrajectory takes ten steps on Σ cosh w + sin(3w)/2, on the tape and by
// the definitions, and compares w after each.
func (b *builder) checkTrajectory(optimiser func(b *builder, rate float64) train.Optimiser, tol float64) {
	b.Helper()
	w := b.array("w0")
	cosh := ops.Scale(ops.Add(ops.Exp(w), ops.Exp(ops.Neg(w))), 0.5)
	loss := ops.Sum(ops.Add(cosh, ops.Scale(ops.Sin(ops.Scale(w, 3)), 0.5)))
	step := optimiser(b, b.number("lr", 0)).Minimize(loss, w)
	if err := b.g.Err(); err != nil {
		b.Fatal(err)
	}
	want := b.c.Outputs["trajectory"]
	steps, size := want.Shape[0], want.Shape[1]

	prog, err := tape.Compile(b.g, tape.Do(step))
	if err != nil {
		b.Fatal(err)
	}
	store := tape.NewStore(b.g)
	if err := store.Set(w.Path(), tape.Tensor(b.feed[w])); err != nil {
		b.Fatal(err)
	}
	vm := tapetest.VM(b, prog, store)
	defer vm.Close()

	leaves := graph.Values{}
	for _, s := range b.g.Leaves(graph.RoleState) {
		leaves[s] = graph.NewValue(s.Type())
	}
	leaves[w] = b.feed[w]
	values := make([]node, len(step))
	for i, u := range step {
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

		stepped, err := ref.Eval(trait.Env{}, leaves, values...)
		if err != nil {
			b.Fatal(err)
		}
		for i, u := range step {
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
