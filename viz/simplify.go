package viz

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
)

// product is a signed fraction: ± num/den · top… / bottom….
type product struct {
	neg         bool
	num, den    float64
	top, bottom []expr.Expr
}

// simplify shortens an expression without changing its value: signs and numbers are gathered and
// taken out of sums, factors of 1 and terms of 0 vanish, equal factors become powers, and a sum
// over an index that its body lacks becomes a factor.
func (u *unfolder) simplify(e expr.Expr) expr.Expr {
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = u.simplify(e.Args[i])
	}
	switch e.Kind {
	case expr.KindNumber, expr.KindNeg, expr.KindMul, expr.KindDiv:
		return productOf(e).expr()
	case expr.KindAdd:
		return total(e.Args)
	case expr.KindPower:
		return power(e.Args[0], e.Args[1])
	case expr.KindBig:
		return u.big(e)
	case expr.KindBracket:
		return compared(e)
	case expr.KindCall:
		return called(e)
	case expr.KindCases:
		return u.cases(e)
	}
	return e
}

func productOf(e expr.Expr) product {
	p := product{num: 1, den: 1}
	p.times(e, false)
	return p
}

// times multiplies by e, or divides by it.
func (p *product) times(e expr.Expr, under bool) {
	v, isNumber := valueOf(e)
	switch {
	case isNumber:
		if math.Signbit(v) {
			p.neg, v = !p.neg, -v
		}
		if under && v != 0 {
			p.den *= v
		} else if under {
			p.bottom = append(p.bottom, e)
		} else {
			p.num *= v
		}
	case e.Kind == expr.KindNeg:
		p.neg = !p.neg
		p.times(e.Args[0], under)
	case e.Kind == expr.KindMul:
		for _, a := range e.Args {
			p.times(a, under)
		}
	case e.Kind == expr.KindDiv:
		p.times(e.Args[0], under)
		p.times(e.Args[1], !under)
	case under:
		p.bottom = append(p.bottom, e)
	default:
		p.top = append(p.top, e)
	}
}

// expr writes a product: sign, number, factors.
func (p product) expr() expr.Expr {
	if q := p.num / p.den; q == math.Trunc(q) && math.Abs(q) < 1e15 || p.num != math.Trunc(p.num) || p.den != math.Trunc(p.den) {
		p.num, p.den = q, 1
	}
	if p.num == 0 && len(p.bottom) == 0 {
		return decimal(0)
	}
	if p.neg && p.num == 1 && p.den == 1 && len(p.top) == 1 && len(p.bottom) == 0 && p.top[0].Kind == expr.KindAdd {
		var terms []expr.Expr
		for _, t := range p.top[0].Args {
			terms = append(terms, t.Neg())
		}
		return total(terms)
	}
	top, bottom := powers(p.top), powers(p.bottom)
	slices.SortStableFunc(top, func(a, b expr.Expr) int { return constants(b) - constants(a) })
	coefficient := decimal(p.num)
	if p.den != 1 {
		coefficient = coefficient.Over(decimal(p.den))
	}
	var e expr.Expr
	switch {
	case p.num == 1 && p.den == 1 && len(top) > 0:
		e = multiply(top)
	case p.den != 1 || len(top) == 0:
		e = multiply(append([]expr.Expr{coefficient}, top...))
	default:
		e = multiply(append([]expr.Expr{decimal(p.num)}, top...))
	}
	if len(bottom) > 0 {
		e = e.Over(multiply(bottom))
	}
	if p.neg {
		e = e.Neg()
	}
	return e
}

// constants returns 1 for γ and the like, which are written before what varies.
func constants(e expr.Expr) int {
	if e.Kind == expr.KindSymbol && len(e.Subs) == 0 {
		return 1
	}
	return 0
}

func multiply(factors []expr.Expr) expr.Expr {
	if len(factors) == 1 {
		return factors[0]
	}
	return expr.Expr{Kind: expr.KindMul, Args: factors}
}

// powers gathers equal factors: x·x becomes x².
func powers(factors []expr.Expr) []expr.Expr {
	var base []expr.Expr
	var keys []string
	var exponent []int
	for _, f := range factors {
		b, n := f, 1
		if f.Kind == expr.KindPower {
			if v, ok := valueOf(f.Args[1]); ok && v > 0 && v == math.Trunc(v) && v < 100 {
				b, n = f.Args[0], int(v)
			}
		}
		k := key(b)
		if i := slices.Index(keys, k); i >= 0 {
			exponent[i] += n
			continue
		}
		base, keys, exponent = append(base, b), append(keys, k), append(exponent, n)
	}
	for i, n := range exponent {
		if n > 1 {
			base[i] = base[i].Pow(decimal(float64(n)))
		}
	}
	return base
}

// power returns a^b.
func power(a, b expr.Expr) expr.Expr {
	if f, ok := strings.CutPrefix(b.Text, "log softmax"); ok && f == "" && b.Kind == expr.KindCall && a.Text == "e" {
		b.Text = "softmax"
		return b
	}
	switch b.Text {
	case "1":
		return a
	case "2":
		if a.Kind == expr.KindNeg {
			a = a.Args[0]
		}
	}
	return a.Pow(b)
}

// total adds terms. A subtracted term does not come first if another can.
func total(terms []expr.Expr) expr.Expr {
	var out []expr.Expr
	constant := 0.0
	var add func(e expr.Expr, neg bool)
	add = func(e expr.Expr, neg bool) {
		v, isNumber := valueOf(e)
		switch {
		case isNumber && neg:
			constant -= v
		case isNumber:
			constant += v
		case e.Kind == expr.KindNeg:
			add(e.Args[0], !neg)
		case e.Kind == expr.KindAdd:
			for _, a := range e.Args {
				add(a, neg)
			}
		case neg:
			out = append(out, e.Neg())
		default:
			out = append(out, e)
		}
	}
	for i, t := range terms {
		before := len(out)
		add(t, false)
		if i == 0 && before == len(out) && constant > 0 { // 1 − x keeps its order
			out, constant = append(out, decimal(constant)), 0
		}
	}
	switch {
	case constant > 0:
		out = append(out, decimal(constant))
	case constant < 0:
		out = append(out, decimal(-constant).Neg())
	}
	if i := slices.IndexFunc(out, func(e expr.Expr) bool { return e.Kind != expr.KindNeg }); i > 0 {
		first := out[i]
		out = slices.Insert(slices.Delete(out, i, i+1), 0, first)
	}
	switch len(out) {
	case 0:
		return decimal(0)
	case 1:
		return out[0]
	}
	return shared(out)
}

// shared returns a sum of at least two terms, with their common number in front.
func shared(terms []expr.Expr) expr.Expr {
	rest := make([]expr.Expr, len(terms))
	var num, den float64
	for i, t := range terms {
		p := productOf(t)
		if i == 0 {
			num, den = p.num, p.den
		}
		if p.num != num || p.den != den || num == 1 && den == 1 || len(p.top) == 0 {
			return expr.Expr{Kind: expr.KindAdd, Args: terms}
		}
		p.num, p.den = 1, 1
		rest[i] = p.expr()
	}
	return product{num: num, den: den, top: []expr.Expr{total(rest)}}.expr()
}

// big returns Σ_j, or another sign with a bound index, before a simplified body.
func (u *unfolder) big(e expr.Expr) expr.Expr {
	linear := e.Text == "Σ" || e.Text == "mean"
	if !linear && e.Text != "max" && e.Text != "min" {
		return e
	}
	out := product{num: 1, den: 1}
	body := e.Args[0]
	if linear {
		p := productOf(body)
		out.neg, out.num, out.den = p.neg, p.num, p.den
		p.neg, p.num, p.den = false, 1, 1
		body = p.expr()
	}
	var bound []string
	inside := free(body)
	for _, s := range e.Subs {
		switch {
		case slices.Contains(inside, s):
			bound = append(bound, s)
		case e.Text == "Σ":
			out.num *= float64(u.size[s])
		}
	}
	if len(bound) == 0 {
		out.times(body, false)
	} else {
		out.top = []expr.Expr{expr.Big(e.Text, bound, body)}
	}
	return out.expr()
}

// key returns a text that is equal for expressions that differ only in the names of bound
// indices.
func key(e expr.Expr) string {
	var b strings.Builder
	var walk func(e expr.Expr, bound []string)
	walk = func(e expr.Expr, bound []string) {
		b.WriteString(strconv.Itoa(int(e.Kind)) + strconv.Quote(e.Text))
		if binds(e) {
			bound = append(slices.Clip(bound), e.Subs...)
		}
		for _, s := range e.Subs {
			if i := slices.Index(bound, s); i >= 0 {
				s = "#" + strconv.Itoa(i)
			}
			b.WriteString("_" + s)
		}
		b.WriteByte('(')
		for _, a := range e.Args {
			walk(a, bound)
		}
		b.WriteByte(')')
	}
	walk(e, nil)
	return b.String()
}
