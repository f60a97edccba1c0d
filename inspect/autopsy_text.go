package inspect

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// String returns a report of about fifteen lines: what is not finite, where and why, what it was
// computed from, where that came from, what it affects, and what helps.
func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at step %d: %s\n", trait.Number(f.At.Value), f.Step, f.Cause)
	f.write(&b)
	if f.Inside != nil {
		fmt.Fprintf(&b, " in step %d of the loop, counted from 0\n", f.Time)
		f.Inside.write(&b)
	}
	f.writeCure(&b)
	return b.String()
}

// row writes a line of the report.
func row(b *strings.Builder, title, text string) { fmt.Fprintf(b, "  %-9s %s\n", title, text) }

func (f *Finding) write(b *strings.Builder) {
	n := f.At.Node
	row(b, "first", f.At.String())
	row(b, "node", fmt.Sprintf("%s = %s : %v", n.Label(), call(n), n.Type()))
	row(b, "line", line(n))
	if o := n.First().Origin; o.Rule != "" {
		was := ""
		if o.Was != nil {
			was = " in place of " + call(o.Was)
		}
		row(b, "rewritten", fmt.Sprintf("by the rule %q%s", o.Rule, was))
	}
	for _, o := range f.Witness {
		row(b, "operand", operandText(n, o))
	}
	for i, e := range f.Path {
		if i == 0 {
			continue
		}
		title := "from"
		if i == len(f.Path)-1 {
			title = "suspect"
		}
		what := call(e.Node)
		if title == "suspect" && e.Node.Role() == graph.RoleParam && f.Step > 0 {
			what = "a parameter, as earlier steps left it"
		}
		row(b, title, fmt.Sprintf("%s  (%s, %s)", e, what, line(e.Node)))
	}
	for _, o := range f.Made {
		row(b, "  of", operandText(f.Path[len(f.Path)-1].Node, o))
	}
	if t := f.Twin; t != nil {
		s := nameOf(t.Node)
		if t.Index != nil {
			s = t.String()
		}
		row(b, "forward", fmt.Sprintf("it is part of the derivative of %s  (%s, %s)", s, call(t.Node), line(t.Node)))
	}
	row(b, "spoils", f.spoils())
}

func (f *Finding) writeCure(b *strings.Builder) {
	if c := f.Cure; c != nil {
		for _, s := range c.Rules {
			row(b, "rewrite", fmt.Sprintf("%s: %s  →  %s", s.Rule, call(s.Before), call(s.After)))
		}
		outcome := "tried, and it is not enough"
		if c.Works {
			outcome = "tried: every result is finite with it (tape.Compile does so by itself)"
		}
		row(b, "", fmt.Sprintf("%s; %s becomes %s", outcome, c.Result.Place(), trait.Number(c.After)))
		if l := c.Left; l != nil {
			row(b, "left", fmt.Sprintf("%s: %s  (%s, %s)", l.At, l.Cause, call(l.At.Node), line(l.At.Node)))
		}
	} else if !f.Harmless() {
		row(b, "rewrite", "none of the stabilising rules applies")
	}
}

// operandText shows an operand, by its largest element if many are needed.
func operandText(of *graph.Node, o Operand) string {
	x := laidOut(of.In(o.Number))
	switch {
	case len(o.Entries) == 0:
		return nameOf(x) + " is not used for it"
	case o.Of == 1:
		return o.Entries[0].String()
	}
	parts := make([]string, len(o.Entries))
	for i, e := range o.Entries {
		parts[i] = e.String()
	}
	return fmt.Sprintf("%s of %d elements, the largest: %s", nameOf(x), o.Of, strings.Join(parts, ", "))
}

// spoils describes which values and results are affected.
func (f *Finding) spoils() string {
	nodes := plural.Count(len(f.NotFinite), "node")
	if f.Harmless() {
		return nodes + ", but no result: it is discarded on the way, and does no harm"
	}
	if len(f.Carried) == 0 {
		return fmt.Sprintf("%s; it is a result itself", nodes)
	}
	const shown = 4
	names := []string{}
	for i, e := range f.Carried {
		if len(f.Carried) > shown+1 && i >= shown/2 && i < len(f.Carried)-shown/2 {
			if i == shown/2 {
				names = append(names, "…")
			}
			continue
		}
		v := ""
		if i == 0 || i == len(f.Carried)-1 || math.IsNaN(e.Value) != math.IsNaN(f.Carried[i-1].Value) {
			v = " = " + trait.Number(e.Value)
		}
		names = append(names, nameOf(e.Node)+v)
	}
	return nodes + ", by way of " + strings.Join(names, " → ")
}
