package workload

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
)

// TestNets: the nets have the published numbers of parameters, but for the norms that resNet18 names.
func TestNets(t *testing.T) {
	for name, want := range map[string]int{"mlp": 535_818, "resnet18": 11_689_512 - 1_792, "gpt2-small": 124_439_808} {
		n, err := NetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		net := n.Build(1, train.Training)
		g := graph.Of(net.Loss)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, p := range g.Leaves(graph.RoleParam) {
			got += p.Shape().Len()
		}
		if got != want {
			t.Errorf("%s has %d parameters, want %d", name, got, want)
		}
	}
	if _, err := NetOf("gpt2-smal"); err == nil || err.Error() != `unknown net "gpt2-smal": did you mean "gpt2-small"?` {
		t.Errorf("error %v", err)
	}
}

// TestNetsTrain: the small nets learn the rows of their source.
func TestNetsTrain(t *testing.T) {
	for _, name := range []string{"mlp", "chars-gpt"} {
		n, err := NetOf(name)
		if err != nil {
			t.Fatal(err)
		}
		var first, last float64
		tr := &train.Trainer{Build: n.Build, Optimiser: train.Adam(1e-3), Seed: 1}
		defer tr.Close()
		see := train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				if last = e.Loss; e.Step == 1 {
					first = last
				}
			}
			return nil
		})
		if err := tr.Fit(context.Background(), train.Plan{Data: n.Source(4), Steps: 10, Observers: []train.Observer{see}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !(last < first) {
			t.Errorf("%s: loss %v after %v", name, last, first)
		}
	}
}
