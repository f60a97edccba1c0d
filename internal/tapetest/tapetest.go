// Package tapetest joins programs and stores in tests: what tape reports as an error ends the test.
package tapetest

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// VM is [tape.Program.NewVM], which must not fail.
func VM(t testing.TB, p *tape.Program, s *tape.Store, options ...tape.VMOption) *tape.VM {
	t.Helper()
	vm, err := p.NewVM(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// Float is [tape.VM.Float], which must not fail.
func Float(t testing.TB, vm *tape.VM, n *graph.Node) float64 {
	t.Helper()
	v, err := vm.Float(n)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
