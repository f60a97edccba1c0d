package kernel

import "testing"

// TestScratchIsGivenOnce: a worker that is ended twice gives its scratch to one that comes later,
// not to two.
func TestScratchIsGivenOnce(t *testing.T) {
	w := NewWorker()
	w.End()
	w.End()
	a, b := NewWorker(), NewWorker()
	defer a.End()
	defer b.End()
	if a.scratch.Len() != WorkerBytes || b.scratch.Len() != WorkerBytes {
		t.Fatalf("the scratches have %d and %d bytes, want %d", a.scratch.Len(), b.scratch.Len(), WorkerBytes)
	}
	if a.scratch.p == b.scratch.p {
		t.Error("two workers have one scratch")
	}
}
