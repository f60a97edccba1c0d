package inspect

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// String lists what the element is made of:
//
//	α[i=5 j=1] = 0.98957634
//	by γ, to first order: +0.047495744
//	by D, to first order: +0.047495747
//	  +0.049913699   D[i=5 j=2] = 8.6819067
//	  −0.0033071906  D[i=5 j=1] = 0.57007402
func (r Reason) String() string {
	b := &strings.Builder{}
	fmt.Fprintln(b, r.Entry)
	if len(r.Operands) == 0 {
		fmt.Fprintln(b, "is given, not computed")
	}
	for _, s := range r.Operands {
		fmt.Fprint(b, s)
	}
	return b.String()
}

// String lists the parts, as [Reason] does.
func (s Share) String() string {
	name := nameOf(s.Node)
	if s.None != "" {
		return "by " + name + ": " + s.None + "\n"
	}
	how := "to first order"
	if s.Exact {
		how = "exact"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "by %s, %s: %s\n", name, how, signed(s.Total))
	if s.Node.Shape().Len() == 1 {
		return b.String()
	}
	width := 0
	for _, p := range s.Parts {
		width = max(width, utf8.RuneCountInString(signed(p.Contribution)))
	}
	for _, p := range s.Parts {
		fmt.Fprintf(b, "  %-*s  %v\n", width, signed(p.Contribution), p.Entry)
	}
	if more := s.Count - len(s.Parts); more > 0 {
		fmt.Fprintf(b, "  and %s more\n", plural.Count(more, "element"))
	}
	return b.String()
}

func signed(v float64) string {
	if v > 0 {
		return "+" + trait.Number(v)
	}
	return trait.Number(v)
}
