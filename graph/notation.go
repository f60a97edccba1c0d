package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Expr is an expression as people write it: the notation of an operation over
// its operands' expressions. Package viz prints it as Unicode or LaTeX with the
// parentheses that precedence asks for.
//
// Arrays are written by their elements: a quantity carries the names of its
// axes as subscripts, so that laying out, transposing and broadcasting need no
// sign of their own, and a sum names the axis it runs over.
type Expr struct {
	Kind ExprKind
	Text string   // symbol, operator or function
	Subs []string // ExprSymbol: subscripts; ExprSum: the bound indices
	Args []Expr
}

// ExprKind says how an expression is put together.
type ExprKind uint8

// The kinds of expressions.
const (
	ExprSymbol  ExprKind = iota // α_ij; Text is printed as it is
	ExprNumber                  // 0.5
	ExprAdd                     // a + b + …: Args; a negative term is an ExprNeg
	ExprMul                     // a·b·…
	ExprDiv                     // a / b
	ExprNeg                     // −a
	ExprPower                   // a^b
	ExprCall                    // Text(args…)
	ExprBig                     // Σ_j a: Text is the sign, Subs the bound indices
	ExprNorm                    // ‖a‖²: a sum of squares whose index a no longer shows
	ExprBracket                 // [a < b]: Text between the two args; 1 where true
	ExprCases                   // a if m, else b: Args m, a, b
)

// Sym is a symbol with subscripts.
func Sym(name string, subs ...string) Expr { return Expr{Kind: ExprSymbol, Text: name, Subs: subs} }

// Num is a number.
func Num(v float64) Expr {
	return Expr{Kind: ExprNumber, Text: strings.Replace(Bits(v).String(), "-", "−", 1)}
}

// Call is f(args…).
func Call(f string, args ...Expr) Expr { return Expr{Kind: ExprCall, Text: f, Args: args} }

// Plus is a + b, with nested sums flattened.
func (a Expr) Plus(b Expr) Expr { return flat(ExprAdd, a, b) }

// Minus is a − b.
func (a Expr) Minus(b Expr) Expr { return flat(ExprAdd, a, b.Neg()) }

// Times is a·b; a factor of 1 vanishes and signs and numbers come first.
func (a Expr) Times(b Expr) Expr {
	switch {
	case a.Kind == ExprNeg:
		return a.Args[0].Times(b).Neg()
	case b.Kind == ExprNeg:
		return a.Times(b.Args[0]).Neg()
	case a.is("1"):
		return b
	case b.is("1"):
		return a
	case b.Kind == ExprNumber && a.Kind != ExprNumber:
		a, b = b, a
	}
	if b.Kind == ExprMul && len(b.Args) > 0 && b.Args[0].Kind == ExprNumber && !(a.Kind == ExprNumber) {
		rest := Expr{Kind: ExprMul, Args: b.Args[1:]}
		if len(b.Args) == 2 {
			rest = b.Args[1]
		}
		return flat(ExprMul, b.Args[0], a, rest)
	}
	return flat(ExprMul, a, b)
}

// Over is a / b.
func (a Expr) Over(b Expr) Expr {
	if a.Kind == ExprNeg {
		return a.Args[0].Over(b).Neg()
	}
	if b.is("1") {
		return a
	}
	return Expr{Kind: ExprDiv, Args: []Expr{a, b}}
}

// Neg is −a.
func (a Expr) Neg() Expr {
	if a.Kind == ExprNeg {
		return a.Args[0]
	}
	return Expr{Kind: ExprNeg, Args: []Expr{a}}
}

// Pow is a^b.
func (a Expr) Pow(b Expr) Expr { return Expr{Kind: ExprPower, Args: []Expr{a, b}} }

// Big is a sign with bound indices before a: Σ_j a.
func Big(sign string, indices []string, a Expr) Expr {
	if len(indices) == 0 {
		return Call(sign, a)
	}
	return Expr{Kind: ExprBig, Text: sign, Subs: indices, Args: []Expr{a}}
}

func (a Expr) is(number string) bool { return a.Kind == ExprNumber && a.Text == number }

func flat(k ExprKind, parts ...Expr) Expr {
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

// Free lists the subscripts that are not bound inside, in order of appearance.
func (a Expr) Free() []string {
	var out []string
	a.free(nil, &out)
	return out
}

func (a Expr) free(bound []string, out *[]string) {
	switch a.Kind {
	case ExprSymbol:
		for _, s := range a.Subs {
			if !slices.Contains(bound, s) && !slices.Contains(*out, s) {
				*out = append(*out, s)
			}
		}
	case ExprBig:
		bound = append(slices.Clone(bound), a.Subs...)
	}
	for _, x := range a.Args {
		x.free(bound, out)
	}
}

// Subst renames free subscripts: from[i] becomes to[i]; "" removes it.
func (a Expr) Subst(from, to []string) Expr {
	rename := func(s string) string {
		if i := slices.Index(from, s); i >= 0 {
			return to[i]
		}
		return s
	}
	switch a.Kind {
	case ExprSymbol:
		var subs []string
		for _, s := range a.Subs {
			if s = rename(s); s != "" {
				subs = append(subs, s)
			}
		}
		a.Subs = subs
	case ExprBig:
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

// Cases is a where the mask m is true, and b elsewhere.
func Cases(m, a, b Expr) Expr { return Expr{Kind: ExprCases, Args: []Expr{m, a, b}} }

// Norm2 is ‖a‖²: the sum of a² over an index that a no longer shows.
func Norm2(a Expr) Expr { return Expr{Kind: ExprNorm, Args: []Expr{a}} }

// What joins the parts of an index that is more than a name. Names of axes hold
// none of these, and no reader sees them.
const (
	joined  = "\x1f" // between the parts of the index of a merged axis
	shifted = "\x1e" // before what is added to an index
	opened  = "\x02"
	closed  = "\x03"
	literal = "\x04" // around what is no name: a number, or a factor
)

// Fixed is the index of one place: h_4.
func Fixed(place int) string { return literal + strconv.Itoa(place) + literal }

// Strided is the index of every step-th place from one on: 2t+1, or 4−t backwards.
func Strided(index string, from, step int) string {
	if index == "" {
		return ""
	}
	if strings.ContainsAny(index, joined+shifted+literal) {
		index = opened + index + closed
	}
	switch {
	case step == -1:
		return literal + strconv.Itoa(from) + "−" + literal + index
	case step < 0:
		return literal + strconv.Itoa(from) + "−" + strconv.Itoa(-step) + literal + index
	case step == 1:
		return Shifted(index, from)
	}
	return Shifted(literal+strconv.Itoa(step)+literal+index, from)
}

// Shifted is the index that lies by places behind another: t+1.
func Shifted(index string, by int) string {
	if index == "" || by == 0 {
		return index
	}
	if name, k, ok := plainShift(index); ok {
		if by += k; by == 0 {
			return name
		}
		return name + shifted + fmt.Sprintf("%+d", by)
	}
	if strings.ContainsAny(index, joined+shifted) {
		index = opened + index + closed
	}
	return index + shifted + fmt.Sprintf("%+d", by)
}

// plainShift takes t+1 apart into t and 1.
func plainShift(index string) (name string, by int, ok bool) {
	name, k, ok := strings.Cut(index, shifted)
	if !ok || strings.ContainsAny(index, joined+opened+closed+literal) {
		return "", 0, false
	}
	by, err := strconv.Atoi(k)
	return name, by, err == nil
}

// Joined is the index of an axis that merges others, in row-major order: he for
// h and e. Without one of its parts it is none.
func Joined(indices ...string) string {
	parts := make([]string, len(indices))
	for i, s := range indices {
		if s == "" {
			return ""
		}
		if parts[i] = s; len(indices) > 1 && strings.Contains(s, shifted) {
			parts[i] = opened + s + closed
		}
	}
	return strings.Join(parts, joined)
}

// IndexNames lists the names that an index is made of: t of t+1, h and e of he.
func IndexNames(index string) []string {
	var out []string
	eachName(index, func(name string) string {
		out = append(out, name)
		return name
	})
	return out
}

// RenameIndex replaces the names within an index by indices; one that becomes ""
// takes the whole index with it.
func RenameIndex(index string, to func(name string) string) string {
	if to == nil {
		return index
	}
	if name, by, ok := plainShift(index); ok {
		return Shifted(to(name), by)
	}
	gone := false
	s := eachName(index, func(name string) string {
		r := to(name)
		gone = gone || r == ""
		if index != name && (strings.Contains(r, shifted) || strings.Contains(r, joined) && strings.Contains(index, shifted)) {
			r = opened + r + closed
		}
		return r
	})
	if gone {
		return ""
	}
	return s
}

func eachName(index string, f func(string) string) string {
	var b strings.Builder
	const special = joined + shifted + opened + closed + literal
	for index != "" {
		end := strings.IndexAny(index, special)
		switch {
		case end == 0 && index[:1] == literal:
			end = 2 + strings.Index(index[1:], literal)
			b.WriteString(index[:end])
		case end < 0:
			end = len(index)
			b.WriteString(f(index))
		case end > 0:
			b.WriteString(f(index[:end]))
		default:
			end = 1
			if index[:1] == shifted {
				if end = 1 + strings.IndexAny(index[1:], special); end == 0 {
					end = len(index)
				}
			}
			b.WriteString(index[:end])
		}
		index = index[end:]
	}
	return b.String()
}

// IndexText is an index as it is read: he, or (head,e) where parts have longer
// names; t+1.
func IndexText(index string) string {
	if !strings.ContainsAny(index, joined+shifted+literal) {
		return index
	}
	between := ","
	if !slices.ContainsFunc(IndexNames(index), func(s string) bool { return len([]rune(s)) > 1 }) && !strings.ContainsAny(index, shifted+literal) {
		between = ""
	} else if strings.Contains(index, joined) {
		index = opened + index + closed
	}
	return strings.NewReplacer(joined, between, literal, "", shifted, "", opened, "(", closed, ")", "-", "−").Replace(index)
}
