package inspect

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// lossCause names why a node loses digits by itself.
func (s *shadow) lossCause(l Loss) string {
	n, op := l.Node, l.Node.Op().Name()
	p := ravel(n.Shape(), l.Worst.Index)
	if l.Flips > 0 {
		return fmt.Sprintf("%d of %s decided otherwise", l.Flips, plural(n.Shape().Len(), "element"))
	}
	switch got := l.Worst.Value; {
	case math.IsInf(got, 0) && finite(l.True):
		return fmt.Sprintf("overflow: %s is beyond float32's 3.4e38", number(l.True))
	case math.IsNaN(got) && finite(l.True):
		return "not a number in float32, where the shadow is finite (the autopsy says why)"
	case l.True != 0 && math.Abs(l.True) < 1.2e-38:
		return fmt.Sprintf("underflow: %s is below float32's smallest normal 1.2e−38", number(l.True))
	}
	entries := func(i int) []float64 {
		var out []float64
		x := n.In(i)
		s.windowOf(n, p, i).each(x.Shape(), func(q int) { out = append(out, s.exact[x].Data[q]) })
		return out
	}
	first := entries(0)
	switch op {
	case "Add", "Sub":
		second := entries(1)
		if len(first) == 1 && len(second) == 1 {
			if large := max(math.Abs(first[0]), math.Abs(second[0])); large > 3*math.Abs(l.True) {
				sign, b := "−", second[0]
				if (op == "Add") == (b >= 0) {
					sign = "+"
				}
				return fmt.Sprintf("cancellation: %s %s %s = %s keeps the error of numbers %s times its size", number(first[0]), sign, number(math.Abs(b)), number(l.True), rough(large/math.Abs(l.True)))
			}
		}
	case "Exp":
		if len(first) == 1 && math.Abs(first[0]) > 3 {
			return fmt.Sprintf("large argument: exp(%s) magnifies a relative error %s times", number(first[0]), rough(math.Abs(first[0])))
		}
	case "Sin", "Cos":
		if len(first) == 1 && math.Abs(first[0]) > 3 {
			return fmt.Sprintf("large argument: %s(%s) keeps the absolute error of its argument", lower(op), number(first[0]))
		}
	case "Log":
		if len(first) == 1 && math.Abs(first[0]-1) < 0.3 {
			return fmt.Sprintf("cancellation inside: log(%s) near 1 keeps the error of the 1", number(first[0]))
		}
	case "Sum", "Mean", "CumSum":
		return s.sumCause(l, op, first)
	case "MatMul":
		a, b := entries(0), entries(1)
		if len(a) == len(b) {
			for i := range a {
				a[i] *= b[i]
			}
			return s.sumCause(l, "the products of MatMul", a)
		}
	}
	if l.Local < l.Total/10 {
		size := 0.0
		for i := range n.NumIn() {
			for _, v := range entries(i) {
				size = max(size, math.Abs(v))
			}
		}
		kind := "it magnifies the error of its operands"
		switch {
		case size > 3 && slices.Contains([]string{"Expm1", "LogSigmoid", "Sigmoid", "Softmax", "Softplus", "Tanh"}, op):
			kind = "large argument: " + op + " of numbers up to " + number(size) + " magnifies their error"
		case size > 10*math.Abs(l.True) && slices.Contains([]string{"LogSumExp", "LogSoftmax", "Standardise", "SqDist", "Rstd", "Conv", "WeightedDiff", "DiffDot"}, op):
			kind = "cancellation inside: of numbers up to " + number(size)
		}
		return fmt.Sprintf("%s %s times", kind, rough(l.Amplification()))
	}
	return "rounding within " + op
}

// sumCause tells cancellation of terms from the rounding of many.
func (s *shadow) sumCause(l Loss, what string, terms []float64) string {
	all, sum := 0.0, 0.0
	for _, v := range terms {
		all += math.Abs(v)
		sum += v
	}
	if all > 10*math.Abs(sum) {
		return fmt.Sprintf("cancellation in %s: %s of size %s leave %s", what, plural(len(terms), "term"), number(all), number(sum))
	}
	if l.Local >= l.Total/10 {
		return fmt.Sprintf("long sum: %s are rounded one after the other", plural(len(terms), "term"))
	}
	return fmt.Sprintf("%s magnifies the error of its operands %s times", what, rough(l.Amplification()))
}

// rough is a number of which the size matters alone.
func rough(v float64) string {
	if !finite(v) {
		return number(v)
	}
	text := fmt.Sprintf("%.2g", v)
	if strings.Contains(text, "e+") && math.Abs(v) < 1e4 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.Replace(text, "+0", "", 1)
}

// String is a table of the nodes that lose the most digits by themselves, and what
// is left of those that only inherit the loss.
func (p *Precision) String() string { return p.Table(20) }

// Table is String with another number of lines at most.
func (p *Precision) Table(top int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digits lost at step %d, of float32's 7.2, against the same run in float64\n", p.Step)
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
		fmt.Fprintf(&b, "%6.1f %6.1f %9s  %s = %s  (%s)\n", l.Here(), l.Lost(), rough(l.Amplification()), l.Node.Label(), call(l.Node), line(l.Node))
		fmt.Fprintf(&b, "%24s %s\n", "", l.Cause)
		fmt.Fprintf(&b, "%24s %s; in float64 %s\n", "", l.Worst, number(l.True))
		if !l.Reaches {
			fmt.Fprintf(&b, "%24s it reaches no result\n", "")
		}
	}
	if shown == 0 {
		b.WriteString("no node loses half a digit by itself\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "by themselves, not shown: %s\n", plural(more, "node"))
	}
	if rest > 0 {
		fmt.Fprintf(&b, "inherited from operands: %s\n", plural(rest, "node"))
	}
	return b.String()
}
