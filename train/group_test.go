package train_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// What is trained otherwise than the rest: parameters that do not decay, and those of
// another optimiser.

// TestWeightDecayOfSome: the named parameters move as they do if all decay, the others as if none
// does.
func TestWeightDecayOfSome(t *testing.T) {
	for _, make := range []func(float64, ...train.Option) train.Optimiser{train.SGD, train.AdamW} {
		ends := func(decay func(a *graph.Node) train.Option) []float64 {
			g := graph.New("apart")
			a, b := g.Param("a", graph.F64).Init(initial.Fill(1.5)), g.Param("b", graph.F64).Init(initial.Fill(0.25))
			loss := ops.Add(wave(a), ops.Scale(wave(b), 2))
			prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(make(0.1, decay(a)).Minimize(loss)))
			if err != nil {
				t.Fatal(err)
			}
			store := tape.NewStore(g)
			run(t, prog, store, 10, nil)
			return read(t, store, "a", "b")
		}
		all := ends(func(*graph.Node) train.Option { return train.WeightDecay(0.3) })
		none := ends(func(*graph.Node) train.Option { return train.WeightDecay(0) })
		some := ends(func(a *graph.Node) train.Option { return train.WeightDecay(0.3, a) })
		if some[0] != all[0] || some[1] != none[1] || all[0] == none[0] || all[1] == none[1] {
			t.Errorf("%v: all decay to %v, none to %v, the first to %v", make(0.1), all, none, some)
		}
	}
	g := graph.New("mistakes")
	a, b := g.Param("a", graph.F64), g.Param("b", graph.F64)
	o := train.SGD(0.1, train.WeightDecay(0.5, a))
	if s := o.String(); s != "sgd(0.1, weight decay 0.5 of 1)" {
		t.Error(s)
	}
	o.Minimize(wave(b))
	train.SGD(0.1, train.WeightDecay(0.5, nil)).Minimize(wave(b))
	err := g.Err()
	if err == nil || !strings.Contains(err.Error(), "Minimize: weight decay of a[], which is not among the parameters") || !strings.Contains(err.Error(), "weight decay of nil, which") {
		t.Errorf("got %v", err)
	}
}

// TestTwoOfOneName: two optimisers of one name are one mistake, and none if each has a scope.
func TestTwoOfOneName(t *testing.T) {
	for _, scoped := range []bool{false, true} {
		g := graph.New("two")
		var steps []graph.Step
		for _, name := range []string{"a", "b"} {
			p := g.Param(name, graph.F64).Init(initial.Fill(1))
			end := func() {}
			if scoped {
				end = g.Scope("of " + name)
			}
			steps = append(steps, train.AdamW(0.1, train.ClipNorm(1)).Minimize(wave(p), p))
			end()
		}
		prog, err := tape.Compile(g, tape.Do(steps...))
		if !scoped {
			var all graph.Errors
			if !errors.As(err, &all) || len(all) != 1 || !strings.HasSuffix(err.Error(), `input: "adamw/rate" is taken by an earlier input, in adamw (choose another name, or open a scope around it)`) {
				t.Errorf("got %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		store := tape.NewStore(g)
		run(t, prog, store, 3, tape.Feed{g.Lookup("of b/adamw/rate"): tape.Scalar(graph.F64, 0)})
		if w := read(t, store, "a", "b"); w[0] == 1 || w[1] != 1 {
			t.Errorf("they go to %v", w)
		}
	}
}
