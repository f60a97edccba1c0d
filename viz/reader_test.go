package viz

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// reader evaluates an expression as someone reads it: quantities by name, their
// elements by subscript in the order of their axes.
type reader struct {
	quantity map[string]quantity
	size     map[string]int // of indices
	index    map[string]int
}

type quantity struct {
	node  *graph.Node
	value graph.Value
	first int  // the place of index 0 along the first axis: a trace begins before it
	trace bool // one row more than steps
}

func (r *reader) with(index string, v int, f func()) {
	old, had := r.index[index]
	r.index[index] = v
	f()
	if delete(r.index, index); had {
		r.index[index] = old
	}
}

// sizeOf is the range of an index, told by the quantities that have it: the shortest,
// because an index may run over a part of an axis.
func (r *reader) sizeOf(index string, e expr.Expr) int {
	if n, ok := r.size[index]; ok {
		return n
	}
	if q, ok := r.quantity[e.Text]; ok && e.Kind == expr.KindSymbol {
		if k := slices.Index(e.Subs, index); k >= 0 {
			if q.trace && k == 0 {
				return longAxes(q.node)[k].Size - 1
			}
			return longAxes(q.node)[k].Size
		}
	}
	shortest := 0
	for _, a := range e.Args {
		if n := r.sizeOf(index, a); n > 0 && (shortest == 0 || n < shortest) {
			shortest = n
		}
	}
	return shortest
}

func longAxes(n *graph.Node) (out []graph.Axis) {
	for _, a := range n.Shape().Axes() {
		if a.Size > 1 {
			out = append(out, a)
		}
	}
	return out
}

// What the reader knows, of functions and of signs with an index.
var (
	calls = []string{"tanh", "√", "log", "max", "relu", "σ", "sin", "cos", "erf", "|", "¬", "trunc", "softmax", "log softmax", "standardise",
		"gelu", "gelu′", "gelu tanh", "elu", "elu′", "silu", "silu′", "mish", "mish′", "leaky relu", "leaky relu′", "concat"}
	signs = []string{"Σ", "mean", "max", "var", expr.LaneSum}
)

func (r *reader) eval(e expr.Expr) float64 {
	if v, ok := valueOf(e); ok {
		return v
	}
	if e.Kind == expr.KindCall && (!slices.Contains(calls, e.Text) || e.Text == "concat" && len(e.Args) > 1) || e.Kind == expr.KindBig && !slices.Contains(signs, e.Text) {
		panic("cannot read " + Unicode(e))
	}
	var a []float64
	if e.Kind != expr.KindBig && e.Kind != expr.KindNorm && e.Kind != expr.KindCases && !along(e) {
		for _, x := range e.Args {
			a = append(a, r.eval(x))
		}
	}
	switch e.Kind {
	case expr.KindSymbol:
		return r.symbol(e)
	case expr.KindAdd:
		s := 0.0
		for _, v := range a {
			s += v
		}
		return s
	case expr.KindMul:
		s := 1.0
		for _, v := range a {
			s *= v
		}
		return s
	case expr.KindDiv:
		return a[0] / a[1]
	case expr.KindNeg:
		return -a[0]
	case expr.KindPower:
		return math.Pow(a[0], a[1])
	case expr.KindNorm:
		v := r.lastIndex(e.Args[0])
		return r.eval(expr.Big("Σ", []string{"last"}, expr.Expr{Kind: expr.KindMul, Args: []expr.Expr{v, v}}))
	case expr.KindCall:
		switch e.Text {
		case "tanh":
			return math.Tanh(a[0])
		case "√":
			return math.Sqrt(a[0])
		case "log":
			return math.Log(a[0])
		case "max":
			return max(a[0], a[1])
		case "trunc":
			return math.Trunc(a[0])
		case "relu":
			return max(a[0], 0)
		case "σ":
			return 1 / (1 + math.Exp(-a[0]))
		case "sin":
			return math.Sin(a[0])
		case "cos":
			return math.Cos(a[0])
		case "gelu":
			return a[0] * normal(a[0])
		case "gelu′":
			return normal(a[0]) + a[0]*math.Exp(-a[0]*a[0]/2)/math.Sqrt(2*math.Pi)
		case "gelu tanh":
			return a[0] / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(a[0]+0.044715*a[0]*a[0]*a[0])))
		case "elu":
			return max(a[0], 0) + math.Expm1(min(a[0], 0))
		case "elu′":
			return math.Exp(min(a[0], 0))
		case "silu":
			return a[0] / (1 + math.Exp(-a[0]))
		case "silu′":
			s := 1 / (1 + math.Exp(-a[0]))
			return s + a[0]*s*(1-s)
		case "mish":
			return a[0] * math.Tanh(math.Log1p(math.Exp(a[0])))
		case "mish′":
			s, t := 1/(1+math.Exp(-a[0])), math.Tanh(math.Log1p(math.Exp(a[0])))
			return t + a[0]*s*(1-t*t)
		case "leaky relu":
			return max(a[0], 0) + a[1]*min(a[0], 0)
		case "leaky relu′":
			if a[0] > 0 {
				return 1
			}
			return a[1]
		case "concat":
			return a[0]
		case "erf":
			return math.Erf(a[0])
		case "|":
			return math.Abs(a[0])
		case "¬":
			return 1 - a[0]
		case "softmax", "log softmax", "standardise":
			return r.along(e)
		}
	case expr.KindBig:
		if e.Text == expr.LaneSum { // there is one lane
			return r.eval(e.Args[0])
		}
		return r.big(e, e.Subs)
	case expr.KindBracket:
		holds := map[string]bool{"<": a[0] < a[1], "≤": a[0] <= a[1], "=": a[0] == a[1], "≠": a[0] != a[1],
			"∧": a[0] != 0 && a[1] != 0, "∨": a[0] != 0 || a[1] != 0}[e.Text]
		if holds {
			return 1
		}
		return 0
	case expr.KindCases:
		if r.eval(e.Args[0]) != 0 {
			return r.eval(e.Args[1])
		}
		return r.eval(e.Args[2])
	}
	panic(fmt.Sprintf("cannot read %s (%d %q)", Unicode(e), e.Kind, e.Text))
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }

// along reports whether an expression is a function along axes, which looks at the
// elements beside the one that is asked for.
func along(e expr.Expr) bool {
	return e.Kind == expr.KindCall && slices.Contains([]string{"softmax", "log softmax", "standardise"}, e.Text)
}

func (r *reader) along(e expr.Expr) float64 {
	here, of := r.eval(e.Args[0]), e.Args[0]
	var all []float64
	var walk func(subs []string)
	walk = func(subs []string) {
		if len(subs) == 0 {
			all = append(all, r.eval(of))
			return
		}
		for v := range r.sizeOf(subs[0], of) {
			r.with(subs[0], v, func() { walk(subs[1:]) })
		}
	}
	walk(e.Subs)
	total, mean, square := 0.0, 0.0, 0.0
	for _, v := range all {
		total += math.Exp(v)
		mean += v / float64(len(all))
	}
	for _, v := range all {
		square += (v - mean) * (v - mean) / float64(len(all))
	}
	switch e.Text {
	case "softmax":
		return math.Exp(here) / total
	case "log softmax":
		return here - math.Log(total)
	}
	return (here - mean) / math.Sqrt(square+r.eval(e.Args[1]))
}

// lastIndex gives the vectors of a norm the index that they do not show.
func (r *reader) lastIndex(e expr.Expr) expr.Expr {
	if q, ok := r.quantity[e.Text]; ok && e.Kind == expr.KindSymbol && len(longAxes(q.node)) == len(e.Subs)+1 {
		e.Subs = append(slices.Clip(e.Subs), "last")
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = r.lastIndex(e.Args[i])
	}
	return e
}

func (r *reader) big(e expr.Expr, subs []string) float64 {
	all := r.elements(e, subs)
	s, most, squares := 0.0, math.Inf(-1), 0.0
	for _, x := range all {
		s, most = s+x, max(most, x)
	}
	mean := s / float64(len(all))
	for _, x := range all {
		squares += (x - mean) * (x - mean)
	}
	switch e.Text {
	case "mean":
		return mean
	case "max":
		return most
	case "var":
		return squares / float64(len(all))
	}
	return s
}

// elements are the values behind a sign for all values of its indices.
func (r *reader) elements(e expr.Expr, subs []string) (all []float64) {
	if len(subs) == 0 {
		return []float64{r.eval(e.Args[0])}
	}
	n := r.sizeOf(subs[0], e.Args[0])
	if n == 0 {
		panic("cannot read " + Unicode(e) + ": an index without a range")
	}
	old, had := r.size[subs[0]]
	r.size[subs[0]] = n
	defer func() {
		if delete(r.size, subs[0]); had {
			r.size[subs[0]] = old
		}
	}()
	for v := range n {
		r.with(subs[0], v, func() { all = append(all, r.elements(e, subs[1:])...) })
	}
	return all
}

func (r *reader) symbol(e expr.Expr) float64 {
	if e.Text == "e" && len(e.Subs) == 0 {
		return math.E
	}
	q, ok := r.quantity[e.Text]
	if e.Text == "∞" {
		return math.Inf(1)
	}
	if v, isIndex := r.index[e.Text]; !ok && isIndex {
		return float64(v)
	}
	if !ok {
		panic("unknown symbol " + Unicode(e))
	}
	axes := longAxes(q.node)
	if len(axes) != len(e.Subs) {
		panic(fmt.Sprintf("%s stands for %v", Unicode(e), q.node))
	}
	p := 0
	for k, a := range axes {
		v, ok := r.at(e.Subs[k])
		if k == 0 {
			v += q.first
		}
		if !ok || v < 0 || v >= a.Size {
			panic("free index, or one beyond its axis, in " + Unicode(e))
		}
		p = p*a.Size + v
	}
	return q.value.Data[p]
}

// at is the number that an index stands for: he is h·|e| + e, and t+1 one more.
func (r *reader) at(index string) (int, bool) {
	if head, rest, ok := strings.Cut(strings.TrimPrefix(index, "\x04"), "\x04"); ok && index[0] == 4 {
		first, factor, backwards := strings.Cut(head, "−")
		n, err := strconv.Atoi(first)
		if rest == "" {
			return n, err == nil
		}
		by := 0
		if i := strings.LastIndex(rest, "\x1e"); i >= 0 && !strings.HasSuffix(rest, "\x03") {
			by, _ = strconv.Atoi(rest[i+1:])
			rest = rest[:i]
		}
		v, ok := r.at(strings.TrimSuffix(strings.TrimPrefix(rest, "\x02"), "\x03"))
		switch m, _ := strconv.Atoi(factor); {
		case backwards && factor == "":
			return n - v, ok
		case backwards:
			return n - m*v, ok
		}
		return n*v + by, ok
	}
	if strings.Contains(index, "\x04") {
		panic("cannot read the index " + subscript.Text(index))
	}
	place, by := 0, 0
	text := subscript.Text(index)
	if i := strings.IndexAny(text, "+−"); i >= 0 {
		by, _ = strconv.Atoi(strings.ReplaceAll(strings.Trim(text[i:], ")"), "−", "-"))
	}
	for _, s := range subscript.Names(index) {
		v, ok := r.index[s]
		if !ok || r.size[s] == 0 && index != s {
			return 0, ok && index == s
		}
		if index == s {
			return v, true
		}
		place = place*r.size[s] + v
	}
	return place + by, true
}

// set gives the names in an index the values at which it is v.
func (r *reader) set(index string, v int, size map[string]int) {
	names := subscript.Names(index)
	for _, s := range slices.Backward(names) {
		n := size[s]
		if len(names) == 1 {
			n = v + 1
		}
		r.index[s], r.size[s] = v%n, size[s]
		v /= n
	}
}
