package main

import (
	"context"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
)

// Only the skips differ: not the parameters, nor what they start from.
func TestSameParameters(t *testing.T) {
	paths := func(plain bool) (all []string) {
		n, _ := kind{2, plain}.net(8, train.Training)
		for _, p := range n.Loss.Graph().Leaves(graph.RoleParam, graph.RoleState) {
			all = append(all, p.Path())
		}
		return all
	}
	if plain, residual := paths(true), paths(false); !slices.Equal(plain, residual) {
		t.Errorf("plain %v, residual %v", plain, residual)
	}
}

// The gradients of a plain net grow from block to block on the way back, those of a
// residual net hardly.
func TestGradients(t *testing.T) {
	fit, _, err := digits.Split()
	if err != nil {
		t.Fatal(err)
	}
	growth := func(plain bool) float64 {
		lengths, err := gradients(context.Background(), kind{16, plain}, fit, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(lengths) != 32 {
			t.Fatalf("%d gradients of 32 convolutions", len(lengths))
		}
		return lengths[0] / lengths[31]
	}
	if plain, residual := growth(true), growth(false); plain < 3*residual {
		t.Errorf("gradients grow %.3g times in the plain net, %.3g times in the residual one", plain, residual)
	}
}
