package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// head describes a loop in the listing, a line each: how many steps there are or what ends them,
// what is carried from which value on, which sequences a step reads an element of, what it reads
// whole, what the steps' results are stacked or added up to.
//
//	at most 100 steps, as long as going is not 0
//	carries going[] from %7[], x[4] from x0[4]
//	reads whole a[4] from a[4]
//	stacks y[4]
func (l *loop) head(b *graph.Body, operands []string) []string {
	in, out := b.In(), b.Out()
	lines := []string{l.stepsText(in)}
	list := func(what string, n int, text func(k int) string) {
		if n == 0 {
			return
		}
		texts := make([]string, n)
		for k := range texts {
			texts[k] = text(k)
		}
		lines = append(lines, what+" "+strings.Join(texts, ", "))
	}
	of := func(n *graph.Node) string { return n.Label() + n.Shape().String() }
	ends := l.Carries + l.Sequences
	list("carries", l.Carries, func(k int) string { return of(in[k]) + " from " + operands[k] })
	list("reads in each step", l.Sequences, func(k int) string { return of(in[l.Carries+k]) + " of " + operands[l.Carries+k] })
	list("reads whole", l.Constants, func(k int) string { return of(in[ends+k]) + " from " + operands[ends+k] })
	list("stacks", l.Outs, func(k int) string { return of(out[l.Carries+k]) })
	list("adds up", l.Sums, func(k int) string { return of(out[l.Carries+l.Outs+k]) })
	return lines
}

// stepsText says how many steps there are, or what ends them.
func (l *loop) stepsText(in []*graph.Node) string {
	s := plural.Count(l.Steps, "step")
	if l.Reverse && l.Steps > 1 {
		s += ", from the last"
	}
	gate, ok := l.Gated()
	switch {
	case !ok:
		return s
	case gate < l.Carries:
		return fmt.Sprintf("at most %s, as long as %s is not 0", s, in[gate].Label())
	case gate < l.Carries+l.Sequences:
		return fmt.Sprintf("%s, but for those whose %s is 0", s, in[gate].Label())
	}
	return fmt.Sprintf("%s, none if %s is 0", s, in[gate].Label())
}
