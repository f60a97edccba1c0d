package inspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/tape"
)

// A suspicion is what is looked for on the way back from a value that is not finite.
type suspicion uint8

const (
	unsuspected suspicion = iota
	negative              // where a positive number was wanted
	zero                  // or close to it, where anything else was
	extreme               // in magnitude
)

// explain fills in cause, witness and path.
func (r *Record) explain(f *Finding) {
	n, p := f.At.Node, ravel(f.At.Node.Shape(), f.At.Index)
	f.Path = []Entry{f.At}
	if n.Role() != graph.RoleOp {
		f.Cause = map[graph.Role]string{
			graph.RoleInput:    "a value that is not finite was fed",
			graph.RoleParam:    "the parameter is not finite: an earlier step, or who set it, made it so",
			graph.RoleState:    "the state is not finite: an earlier step, or who set it, made it so",
			graph.RoleConstant: "the constant is not finite",
		}[n.Role()]
		return
	}
	f.Witness = r.operands(f.At)
	var guilty int
	var of suspicion
	f.Cause, guilty, of = r.cause(n, p, f)
	if guilty >= 0 && len(f.Witness[guilty].Entries) > 0 {
		f.Path = append(f.Path, r.suspects(f.Witness[guilty].Entries[0], of)...)
		f.Made = r.operands(f.Path[len(f.Path)-1])
	}
}

// operands lists what an element is computed of.
func (r *Record) operands(e Entry) []Operand {
	var out []Operand
	for i := range e.Node.NumIn() {
		out = append(out, r.operand(e.Node, ravel(e.Node.Shape(), e.Index), i))
	}
	return out
}

// operand is what element p needs of operand i, the most important first: what is
// not finite, then what is largest in magnitude.
func (r *Record) operand(n *graph.Node, p, i int) Operand {
	const most = 3
	x := n.In(i)
	o := Operand{Number: i}
	var at []int
	r.windowOf(n, p, i).each(x.Shape(), func(q int) { at = append(at, q) })
	o.Of = len(at)
	weight := func(q int) float64 {
		v := math.Abs(r.values[x].At(q))
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	for _, q := range at[:min(most, len(at))] {
		o.Entries = append(o.Entries, r.settled(r.entry(x, q)))
	}
	return o
}

// settled follows an element without a name to where it was before it was laid out.
func (r *Record) settled(e Entry) Entry {
	for e.Node.Name() == "" && moves(e.Node) {
		o := r.operand(e.Node, ravel(e.Node.Shape(), e.Index), 0)
		if o.Of != 1 {
			break
		}
		e = o.Entries[0]
	}
	return e
}

// cause names what made element p of n not finite, with the operand that did it (-1
// if it cannot be told) and what is wrong with that.
func (r *Record) cause(n *graph.Node, p int, f *Finding) (cause string, guilty int, of suspicion) {
	in := make([]float64, n.NumIn())
	single := true
	for i, o := range f.Witness {
		if in[i] = math.NaN(); len(o.Entries) > 0 {
			in[i] = o.Entries[0].Value
		}
		single = single && o.Of == 1
	}
	got := f.At.Value
	if single {
		switch op := n.Op().Name(); {
		case op == "Log" && in[0] < 0, op == "Log1p" && in[0] < -1:
			return fmt.Sprintf("log of a negative: %s(%s)", lower(op), number(in[0])), 0, negative
		case op == "Log" && in[0] == 0, op == "Log1p" && in[0] == -1:
			return fmt.Sprintf("log of zero: %s(%s) is −∞", lower(op), number(in[0])), 0, zero
		case op == "Sqrt" && in[0] < 0:
			return "square root of a negative: sqrt(" + number(in[0]) + ")", 0, negative
		case op == "Div" && in[1] == 0 && in[0] == 0:
			return "0/0", 1, zero
		case op == "Div" && in[1] == 0:
			return "division by zero: " + number(in[0]) + "/0", 1, zero
		case op == "Div" && math.IsInf(in[0], 0) && math.IsInf(in[1], 0):
			return "∞/∞", 1, extreme
		case op == "Mul" && (in[0] == 0 || in[1] == 0) && math.IsNaN(got):
			return "0·∞", -1, unsuspected
		case (op == "Sub" || op == "Add") && math.IsInf(in[0], 0) && math.IsInf(in[1], 0):
			return "∞ − ∞", -1, unsuspected
		case op == "Pow" && in[0] < 0 && math.IsNaN(got):
			return fmt.Sprintf("a power of a negative that is no whole number: %s^%s", number(in[0]), number(in[1])), 0, negative
		case op == "Pow" && in[0] == 0:
			return "a negative power of zero: 0^" + number(in[1]), 0, zero
		}
	}
	guilty = r.largest(f)
	true64, defined := r.defined(n, p)
	limit, large := "float32's 3.4e38", 1e12
	if n.DType() == graph.F64 {
		limit, large = "float64's 1.8e308", 1e100
	}
	size := 0.0
	for _, v := range in {
		size = max(size, math.Abs(v))
	}
	switch {
	case slices.ContainsFunc(in, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }) && math.IsNaN(got):
		return n.Op().Name() + " of what is infinite has no value", guilty, extreme
	case math.IsInf(got, 0) && (n.Op().Name() == "Exp" || n.Op().Name() == "Expm1"):
		f := lower(n.Op().Name())
		return fmt.Sprintf("overflow of %s: %s(%s) is beyond %s", f, f, number(in[0]), limit), 0, extreme
	case defined && finite(true64) && n.Op().Name() == "Div" && math.Abs(in[1]) < 1:
		return fmt.Sprintf("overflow: Div gives %s, beyond %s: the divisor is tiny", number(true64), limit), 1, zero
	case defined && finite(true64):
		return fmt.Sprintf("overflow: %s gives %s, beyond %s", n.Op().Name(), number(true64), limit), guilty, extreme
	case size > large:
		return fmt.Sprintf("overflow: %s of numbers up to %s goes beyond %s", n.Op().Name(), number(size), limit), guilty, extreme
	case math.IsInf(got, 0):
		return n.Op().Name() + " is infinite there", guilty, extreme
	}
	return n.Op().Name() + " has no value there", guilty, extreme
}

// lower is the name of a function as formulas write it.
func lower(op string) string { return string(op[0]|0x20) + op[1:] }

// largest is the operand with the entry of the largest magnitude, -1 if there is none.
func (r *Record) largest(f *Finding) int {
	best, size := -1, 0.0
	for i, o := range f.Witness {
		if len(o.Entries) > 0 {
			if v := math.Abs(o.Entries[0].Value); best < 0 || v > size || math.IsNaN(v) {
				best, size = i, v
			}
		}
	}
	return best
}

// defined is element p of n by its float64 definition, of its recorded operands.
func (r *Record) defined(n *graph.Node, p int) (v float64, ok bool) {
	in := make([]graph.Value, n.NumIn())
	for i, x := range n.Inputs() {
		in[i] = r.wide(x)
	}
	y, err := ref.Apply(r.env(), n, in)
	if err != nil {
		return 0, false
	}
	return y.Data[p], true
}

// keepsSign lists operations through which a negative number stays what it is.
var keepsSign = []string{"Sum", "Mean", "Add", "Cast", "Concat", "Gather", "Max", "Min", "Maximum", "Minimum", "Select", "StopGradient"}

// hops is how long a path back may be.
const hops = 12

// suspects goes back from an entry with something wrong to where it came up, over
// what only moved it.
func (r *Record) suspects(e Entry, of suspicion) []Entry {
	out := []Entry{e}
	for range hops {
		n, v := e.Node, e.Value
		if n.NumIn() == 0 {
			break
		}
		next, found := Entry{}, false
		p := ravel(n.Shape(), e.Index)
		for i := range n.NumIn() {
			x := n.In(i)
			if !x.DType().IsFloat() {
				continue
			}
			for _, c := range r.operand(n, p, i).Entries {
				if r.suspected(n, v, c.Value, of) && (!found || math.Abs(c.Value) > math.Abs(next.Value)) {
					next, found = c, true
				}
			}
		}
		if !found {
			break
		}
		if next.Node.Role() == graph.RoleConstant && n.Op().Name() == "Select" {
			if c, ok := r.decided(r.settled(r.entry(n.In(0), p)), v, of); ok {
				next = c
			}
		}
		if moves(n) { // the same number elsewhere
			out = out[:len(out)-1]
		}
		out = append(out, next)
		e = next
		if of == zero && e.Value != 0 {
			of = extreme // what underflowed
		}
	}
	return out
}

// decided is the number with something wrong that a mask compares element by element:
// where a choice takes a constant, it is why.
func (r *Record) decided(mask Entry, v float64, of suspicion) (Entry, bool) {
	n := mask.Node
	for _, x := range n.Inputs() {
		if !x.DType().IsFloat() || x.Shape() != n.Shape() {
			continue
		}
		c := r.settled(r.entry(x, ravel(n.Shape(), mask.Index)))
		if c.Node.Role() != graph.RoleConstant && r.suspected(n, v, c.Value, of) {
			return c, true
		}
	}
	return Entry{}, false
}

// suspected reports whether c, of which v = n(… c …), has what is wrong with v.
func (r *Record) suspected(n *graph.Node, v, c float64, of suspicion) bool {
	switch of {
	case negative:
		return c < 0 && (moves(n) || slices.Contains(keepsSign, n.Op().Name()))
	case zero:
		return math.Abs(c) <= math.Abs(v) && n.Op().Name() != "Sub" || n.Op().Name() == "Exp" && c < 0
	case extreme:
		if n.Op().Name() == "Exp" {
			return math.Abs(c) > 8
		}
		return moves(n) || math.Abs(c) >= math.Max(8, math.Sqrt(math.Abs(v))/2)
	}
	return false
}

// moves reports whether an operation only lays its operand out elsewhere.
func moves(n *graph.Node) bool {
	_, ok := n.Op().(tape.Viewed)
	return ok && n.NumIn() == 1
}
