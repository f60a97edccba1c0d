package main

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/chars"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
)

// TestLearns: a few steps are better than guessing by the number of characters.
func TestLearns(t *testing.T) {
	text, err := chars.NewText()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range studies {
		trained, err := s.Train(t.Context(), &lesson.Lesson{Seed: 1}, text, 10)
		if err != nil {
			t.Fatal(err)
		}
		defer trained.Trainer.Close()
		if most := math.Log(float64(text.Vocabulary.Len())); !(trained.Loss < 0.85*most) {
			t.Errorf("%s: %v nats after 10 steps, and ln %d = %v before", s.Name, trained.Loss, text.Vocabulary.Len(), most)
		}
	}
}
