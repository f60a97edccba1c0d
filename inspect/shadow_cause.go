package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
)

// lossCause explains why a node itself loses digits.
func (s *shadow) lossCause(l Loss) string {
	n := l.Node
	p := ravel(n.Shape(), l.Worst.Index)
	if l.Flips > 0 {
		return fmt.Sprintf("%d of %s decided otherwise", l.Flips, plural.Count(n.Shape().Len(), "element"))
	}
	switch got := l.Worst.Value; {
	case math.IsInf(got, 0) && finite(l.True):
		return fmt.Sprintf("overflow: %s is beyond %s", trait.Number(l.True), trait.Limit(n.DType()))
	case math.IsNaN(got) && finite(l.True):
		return "not a number in float32, where the shadow is finite (the autopsy says why)"
	case n.DType() == graph.F16 && l.True != 0 && math.Abs(l.True) < 0x1p-14:
		return fmt.Sprintf("underflow: %s is below float16's smallest normal 6.1e−5", trait.Number(l.True))
	case l.True != 0 && math.Abs(l.True) < 1.2e-38:
		return fmt.Sprintf("underflow: %s is below float32's smallest normal 1.2e−38", trait.Number(l.True))
	case n.DType() == graph.F16 && l.Local <= 0x1p-11 && l.Local >= l.Total/10:
		return "rounding to f16, which has 11 bits"
	case n.DType() == graph.BF16 && l.Local <= 0x1p-8 && l.Local >= l.Total/10:
		return "rounding to bf16, which has 8 bits"
	case s.mixed && l.Local >= l.Total/10 && slices.ContainsFunc(tape.MixedRules(), func(r tape.MixedRule) bool { return r.Rounds() && r.Applies(n) }):
		return "its operands are rounded to bfloat16, which has 8 bits"
	}
	in := make([][]float64, n.NumIn())
	for i, x := range n.Inputs() {
		s.windowOf(n, p, i).each(x.Shape(), func(q int) { in[i] = append(in[i], s.exact[x].Data[q]) })
	}
	if op, ok := n.Op().(trait.Lossy); ok {
		if cause := op.Loses(in, l.True); cause != "" {
			return cause
		}
	}
	if op, ok := n.Op().(trait.Summing); ok {
		if terms, what, ok := op.Terms(in); ok {
			return s.sumCause(l, what, terms)
		}
	}
	if l.Local < l.Total/10 {
		return fmt.Sprintf("%s %s times", magnifies(n, in, l.True), trait.Rough(l.Amplification()))
	}
	return "rounding within " + n.Op().Name()
}

// magnifies explains in words how a node magnifies the error of its operands.
func magnifies(n *graph.Node, in [][]float64, y float64) string {
	size := 0.0
	for _, x := range in {
		for _, v := range x {
			size = max(size, math.Abs(v))
		}
	}
	if op, ok := n.Op().(trait.Magnifying); ok {
		switch kind := op.Magnifies(); {
		case kind == trait.LargeArguments && size > 3:
			return "large argument: " + n.Op().Name() + " of numbers up to " + trait.Number(size) + " magnifies their error"
		case kind == trait.Cancellation && size > 10*math.Abs(y):
			return "cancellation inside: of numbers up to " + trait.Number(size)
		}
	}
	return "it magnifies the error of its operands"
}

// sumCause tells cancellation of terms from the rounding of many terms.
func (s *shadow) sumCause(l Loss, what string, terms []float64) string {
	all, sum := 0.0, 0.0
	for _, v := range terms {
		all += math.Abs(v)
		sum += v
	}
	if all > 10*math.Abs(sum) {
		return fmt.Sprintf("cancellation in %s: %s of size %s leave %s", what, plural.Count(len(terms), "term"), trait.Number(all), trait.Number(sum))
	}
	if l.Local >= l.Total/10 {
		return fmt.Sprintf("long sum: %s are rounded one after the other", plural.Count(len(terms), "term"))
	}
	return fmt.Sprintf("%s magnifies the error of its operands %s times", what, trait.Rough(l.Amplification()))
}

// String returns [Precision.Table] of 20 lines.
func (p *Precision) String() string { return p.Table(20) }

// Table returns a table of at most top nodes that themselves lose the most digits, followed by a
// summary of those that only inherit their loss.
func (p *Precision) Table(top int) string {
	var b strings.Builder
	under := ""
	if p.Mixed {
		under = " under tape.Mixed"
	}
	fmt.Fprintf(&b, "digits lost at step %d%s, of float32's 7.2, against the same run in float64\n", p.Step, under)
	fmt.Fprintf(&b, "%6s  %s\n", "kept", "result, as a whole")
	for _, r := range p.Results {
		fmt.Fprintf(&b, "%6.1f  %s\n", r.Kept(), r.Name)
	}
	for _, r := range p.Rules {
		if r.Nodes > 0 {
			fmt.Fprintf(&b, "%d × %s: operands %s, sums %s (%s): %s\n", r.Nodes, r.Operation, r.Operands, r.Sums, r.When, r.Why)
		}
	}
	fmt.Fprintf(&b, "%6s %6s %9s  %s\n", "here", "in all", "×error", "node")
	shown, more, rest := 0, 0, 0
	for _, l := range p.Losses {
		switch own := l.Cause != ""; {
		case own && shown == top:
			more++
			continue
		case !own && l.Lost() >= 1:
			rest++
			fallthrough
		case !own:
			continue
		}
		shown++
		fmt.Fprintf(&b, "%6.1f %6.1f %9s  %s = %s  (%s)\n", l.Here(), l.Lost(), trait.Rough(l.Amplification()), l.Node.Label(), call(l.Node), line(l.Node))
		fmt.Fprintf(&b, "%24s %s\n", "", l.Cause)
		fmt.Fprintf(&b, "%24s %s; in float64 %s\n", "", l.Worst, trait.Number(l.True))
		if !l.Reaches {
			fmt.Fprintf(&b, "%24s it reaches no result\n", "")
		}
	}
	if shown == 0 {
		b.WriteString("no node loses half a digit by itself\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "by themselves, not shown: %s\n", plural.Count(more, "node"))
	}
	if rest > 0 {
		fmt.Fprintf(&b, "inherited from operands: %s\n", plural.Count(rest, "node"))
	}
	return b.String()
}
