// Package expr has expressions as people write them. An operation returns one as its notation
// (trait.Notated), and package viz prints it as Unicode, LaTeX or MathML.
package expr

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Expr is an expression as people write it: the notation of an operation over
// its operands' expressions. Package viz prints it as Unicode or LaTeX with the
// parentheses that precedence asks for.
//
// Arrays are written by their elements: a quantity carries the names of its
// axes as subscripts, so that laying out, transposing and broadcasting need no
// sign of their own, and a sum names the axis it runs over.
type Expr struct {
	Kind Kind
	Text string   // symbol, operator or function
	Subs []string // KindSymbol, KindElement: subscripts; KindBig, KindArray: the bound indices
	Args []Expr
}

// A Kind says how an expression is put together.
type Kind uint8

// The kinds of expressions.
const (
	KindSymbol  Kind = iota // α_ij; Text is printed as it is
	KindNumber              // 0.5
	KindAdd                 // a + b + …: Args; a negative term is a KindNeg
	KindMul                 // a·b·…
	KindDiv                 // a / b
	KindNeg                 // −a
	KindPower               // a^b
	KindCall                // Text(args…)
	KindBig                 // Σ_j a: Text is the sign, Subs the bound indices; of a LaneSum none
	KindNorm                // ‖a‖²: a sum of squares whose index a no longer shows
	KindBracket             // [a < b]: Text between the two args; 1 where true
	KindCases               // a if m, else b: Args m, a, b
	KindArray               // [a]_ij, the array of the elements a; K where they are K_ij
	KindProduct             // A·B·…, a product of matrices, whose factors keep their order
	KindElement             // (A)_ij, an element of an array
)

// Sym returns a symbol with subscripts: Sym("α", "i", "j") is α_ij.
func Sym(name string, subs ...string) Expr { return Expr{Kind: KindSymbol, Text: name, Subs: subs} }

// Num returns a number, printed with the digits that it needs.
func Num(v float64) Expr {
	return Expr{Kind: KindNumber, Text: strings.Replace(attr.FloatOf(v).String(), "-", "−", 1)}
}

// Call returns f(args…).
func Call(f string, args ...Expr) Expr { return Expr{Kind: KindCall, Text: f, Args: args} }

// Plus returns a + b, with nested sums flattened.
func (a Expr) Plus(b Expr) Expr { return flat(KindAdd, a, b) }

// Minus returns a − b.
func (a Expr) Minus(b Expr) Expr { return flat(KindAdd, a, b.Neg()) }

// Times returns a·b, without factors of 1, and with the sign and numbers first.
func (a Expr) Times(b Expr) Expr {
	switch {
	case a.Kind == KindNeg:
		return a.Args[0].Times(b).Neg()
	case b.Kind == KindNeg:
		return a.Times(b.Args[0]).Neg()
	case a.is("1"):
		return b
	case b.is("1"):
		return a
	case b.Kind == KindNumber && a.Kind != KindNumber:
		a, b = b, a
	}
	if b.Kind == KindMul && len(b.Args) > 0 && b.Args[0].Kind == KindNumber && !(a.Kind == KindNumber) {
		rest := Expr{Kind: KindMul, Args: b.Args[1:]}
		if len(b.Args) == 2 {
			rest = b.Args[1]
		}
		return flat(KindMul, b.Args[0], a, rest)
	}
	return flat(KindMul, a, b)
}

// Over returns a / b, without a divisor of 1, and with the sign of a first.
func (a Expr) Over(b Expr) Expr {
	if a.Kind == KindNeg {
		return a.Args[0].Over(b).Neg()
	}
	if b.is("1") {
		return a
	}
	return Expr{Kind: KindDiv, Args: []Expr{a, b}}
}

// Neg returns −a, or b if a is −b.
func (a Expr) Neg() Expr {
	if a.Kind == KindNeg {
		return a.Args[0]
	}
	return Expr{Kind: KindNeg, Args: []Expr{a}}
}

// Pow returns a^b.
func (a Expr) Pow(b Expr) Expr { return Expr{Kind: KindPower, Args: []Expr{a, b}} }

// Big returns a sign with bound indices before a, such as Σ_j a; without indices a call of the
// sign.
func Big(sign string, indices []string, a Expr) Expr {
	if len(indices) == 0 {
		return Call(sign, a)
	}
	return Expr{Kind: KindBig, Text: sign, Subs: indices, Args: []Expr{a}}
}

// LaneSum is the sign of a sum over the lanes of a step, which binds no index: what it adds up are
// values of the same name in other lanes.
const LaneSum = "Σ_lanes"

// OverLanes returns the sum of a over the lanes of a step, a [KindBig] without indices.
func OverLanes(a Expr) Expr { return Expr{Kind: KindBig, Text: LaneSum, Args: []Expr{a}} }

// Array returns the array whose elements are a, over the indices: Array(K_ij, i, j) is K, and Array(K_ij,
// j, i) its transpose. Without indices it is a.
func Array(a Expr, indices ...string) Expr {
	if len(indices) == 0 {
		return a
	}
	return Expr{Kind: KindArray, Subs: indices, Args: []Expr{a}}
}

// Product returns the matrix product a·b, whose factors are never reordered.
func Product(a, b Expr) Expr { return flat(KindProduct, a, b) }

// Element returns the element of an array at the indices: Element(K, i, j) is K_ij. Without indices it is
// the array.
func Element(array Expr, indices ...string) Expr {
	if len(indices) == 0 {
		return array
	}
	return Expr{Kind: KindElement, Subs: indices, Args: []Expr{array}}
}

func (a Expr) is(number string) bool { return a.Kind == KindNumber && a.Text == number }

func flat(k Kind, parts ...Expr) Expr {
	e := Expr{Kind: k}
	for _, p := range parts {
		if p.Kind == k {
			e.Args = append(e.Args, p.Args...)
		} else {
			e.Args = append(e.Args, p)
		}
	}
	return e
}

// Free returns the subscripts that are not bound inside a, in order of appearance.
func (a Expr) Free() []string {
	var out []string
	a.free(nil, &out)
	return out
}

func (a Expr) free(bound []string, out *[]string) {
	switch a.Kind {
	case KindSymbol, KindElement:
		for _, s := range a.Subs {
			if !slices.Contains(bound, s) && !slices.Contains(*out, s) {
				*out = append(*out, s)
			}
		}
	case KindBig, KindArray:
		bound = append(slices.Clone(bound), a.Subs...)
	}
	for _, x := range a.Args {
		x.free(bound, out)
	}
}

// Subst returns a with free subscripts renamed: from[i] becomes to[i], or is removed if that is "".
// The rest of the longer list is ignored.
func (a Expr) Subst(from, to []string) Expr {
	from = from[:min(len(from), len(to))]
	rename := func(s string) string {
		if i := slices.Index(from, s); i >= 0 {
			return to[i]
		}
		return s
	}
	switch a.Kind {
	case KindSymbol, KindElement:
		var subs []string
		for _, s := range a.Subs {
			if s = rename(s); s != "" {
				subs = append(subs, s)
			}
		}
		a.Subs = subs
	case KindBig, KindArray:
		var f, t []string
		for i, s := range from {
			if !slices.Contains(a.Subs, s) {
				f, t = append(f, s), append(t, to[i])
			}
		}
		from, to = f, t
	}
	args := make([]Expr, len(a.Args))
	for i, x := range a.Args {
		args[i] = x.Subst(from, to)
	}
	a.Args = args
	return a
}

// Cases returns the expression that is a where the mask m is true, and b elsewhere.
func Cases(m, a, b Expr) Expr { return Expr{Kind: KindCases, Args: []Expr{m, a, b}} }

// Norm2 returns ‖a‖², the sum of a² over an index that a no longer shows.
func Norm2(a Expr) Expr { return Expr{Kind: KindNorm, Args: []Expr{a}} }
