package main

import (
	"context"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
)

// TestForms: each form of ridge regression ends at the ridge solution, plain least squares does
// not, and from zero it ends at the weights of least norm.
func TestForms(t *testing.T) {
	ctx, l := context.Background(), &lesson.Lesson{}
	few, held, unseen, err := wine()
	if err != nil {
		t.Fatal(err)
	}
	if few.N+held.N+unseen.N != 178 {
		t.Errorf("%d, %d and %d of 178 wines", few.N, held.N, unseen.N)
	}
	want, err := few.Solve(λ)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range forms {
		w, err := descended(ctx, l, f, few, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if off := apart(w, want); (off < 1e-6) != (name != "least squares") {
			t.Errorf("%s ends %g off the ridge solution", name, off)
		}
	}
	if err := leastNorm(ctx, l, few); err != nil {
		t.Error(err)
	}
}
