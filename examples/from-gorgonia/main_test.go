package main

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
)

// TestLossesAgree: gorgonia's programs and their imports have the same losses, and train: no loss
// stays what it was.
func TestLossesAgree(t *testing.T) {
	for _, build := range builders() {
		p, err := build(rand.New(rand.NewPCG(1, 18)), true)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(p.name, func(t *testing.T) {
			c, err := compare(context.Background(), p, &lesson.Lesson{Quick: true})
			if err != nil {
				t.Fatal(err)
			}
			if d := c.apart(); !(d <= p.within) {
				t.Errorf("the losses are apart by %v: %v and %v", d, c.theirs, c.ours)
			}
			if c.ours[0] == c.ours[len(c.ours)-1] {
				t.Errorf("the loss stays at %v", c.ours[0])
			}
		})
	}
}
