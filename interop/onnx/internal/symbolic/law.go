package symbolic

import (
	"fmt"
	"math"
	"math/big"
)

// polynomial is (a·N² + b·N + c)/over, in whole numbers.
type polynomial struct{ a, b, c, over int64 }

// whole returns the polynomial of the least degree, at most 2, through the values at the sizes, which
// are at least four.
func whole(sizes []int, values []int64) (polynomial, bool) {
	n := make([]*big.Rat, len(sizes))
	v := make([]*big.Rat, len(sizes))
	for i := range sizes {
		n[i], v[i] = new(big.Rat).SetInt64(int64(sizes[i])), new(big.Rat).SetInt64(values[i])
	}
	quotient := func(a, b, c, d *big.Rat) *big.Rat { // (a−b)/(c−d)
		return new(big.Rat).Quo(new(big.Rat).Sub(a, b), new(big.Rat).Sub(c, d))
	}
	// Newton's form: d0 + d1·(N−n0) + d2·(N−n0)·(N−n1).
	d1 := quotient(v[1], v[0], n[1], n[0])
	d2 := quotient(quotient(v[2], v[1], n[2], n[1]), d1, n[2], n[0])
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	a := d2
	b := new(big.Rat).Sub(d1, mul(d2, new(big.Rat).Add(n[0], n[1])))
	c := new(big.Rat).Add(new(big.Rat).Sub(v[0], mul(d1, n[0])), mul(d2, mul(n[0], n[1])))
	over := big.NewInt(1)
	for _, x := range []*big.Rat{a, b, c} {
		shared := new(big.Int).GCD(nil, nil, over, x.Denom())
		over.Mul(over, new(big.Int).Quo(x.Denom(), shared))
	}
	out := polynomial{over: over.Int64()}
	for i, x := range []*big.Rat{a, b, c} {
		y := new(big.Rat).Mul(x, new(big.Rat).SetInt(over))
		if !y.Num().IsInt64() || !over.IsInt64() {
			return polynomial{}, false
		}
		*[]*int64{&out.a, &out.b, &out.c}[i] = y.Num().Int64()
	}
	for i, n := range sizes {
		if got, exact := out.at(int64(n)); !exact || got != values[i] {
			return polynomial{}, false
		}
	}
	return out, true
}

// at returns the value, and whether the division is exact.
func (p polynomial) at(n int64) (int64, bool) {
	v := p.a*n*n + p.b*n + p.c
	return v / p.over, v%p.over == 0
}

func (p polynomial) constant() bool { return p.a == 0 && p.b == 0 }

// in writes the polynomial of a symbol: N, 2N, N+1, (N²−N)/2.
func (p polynomial) in(symbol string) string {
	text := ""
	term := func(factor int64, of string) {
		if factor == 0 {
			return
		}
		switch {
		case factor < 0:
			text += "−"
		case text != "":
			text += "+"
		}
		if factor = max(factor, -factor); factor != 1 || of == "" {
			text += fmt.Sprint(factor)
		}
		text += of
	}
	term(p.a, symbol+"²")
	term(p.b, symbol)
	term(p.c, "")
	switch {
	case text == "":
		return "0"
	case p.over == 1:
		return text
	}
	return fmt.Sprintf("(%s)/%d", text, p.over)
}

// law is a real number as a function of a size.
type law struct {
	kind                 kind
	factor, shift, power float64
}

// kind is the form of a law.
type kind int

const (
	power       kind = iota // factor·(N + shift)^power
	logarithmic             // shift + factor·log N
	corrected               // factor·N/(N + shift), as where a variance is corrected for the mean
)

func (l law) at(n float64) float64 {
	switch l.kind {
	case logarithmic:
		return l.shift + l.factor*math.Log(n)
	case corrected:
		return l.factor * n / (n + l.shift)
	}
	return l.factor * math.Pow(n+l.shift, l.power)
}

// real returns the law of values at sizes, to a relative tolerance: how large its rounding may have
// made the error of a value.
func real(sizes []int, values []float64, tolerance float64) (law, bool) {
	var laws []law
	n0, n1, v0, v1 := float64(sizes[0]), float64(sizes[1]), values[0], values[1]
	laws = append(laws, law{factor: v0})
	for _, p := range []float64{-1, 1, -0.5, 0.5, -2, 2} {
		laws = append(laws, law{factor: v0 * math.Pow(n0, -p), power: p})
		// v^(1/p) is a line in N; its root is −shift.
		u0, u1 := math.Pow(math.Abs(v0), 1/p), math.Pow(math.Abs(v1), 1/p)
		if slope := (u1 - u0) / (n1 - n0); slope != 0 && v0*v1 > 0 {
			for _, shift := range simple(u0/slope - n0) {
				laws = append(laws, law{factor: v0 * math.Pow(n0+shift, -p), shift: shift, power: p})
			}
		}
	}
	if whole := math.Round((v1 - v0) / (math.Log(n1) - math.Log(n0))); whole != 0 {
		laws = append(laws, law{kind: logarithmic, factor: whole, shift: v0 - whole*math.Log(n0)})
	}
	for _, shift := range simple(n0/v0 - n0) {
		laws = append(laws, law{kind: corrected, factor: 1, shift: shift})
	}
	if r := v0 * n1 / (v1 * n0); r != 1 { // (n1 + shift)/(n0 + shift)
		for _, shift := range simple((n1 - r*n0) / (r - 1)) {
			laws = append(laws, law{kind: corrected, factor: v0 * (n0 + shift) / n0, shift: shift})
		}
	}
	for i, l := range laws {
		if whole := math.Round(l.factor); whole != 0 && math.Abs(l.factor-whole) <= tolerance*math.Abs(whole) && !math.IsInf(whole, 0) {
			laws[i].factor = whole // rounding made it another
		}
	}
	for _, l := range laws {
		fits := true
		for i, n := range sizes {
			v := l.at(float64(n))
			fits = fits && (v == values[i] || math.Abs(v-values[i]) <= tolerance*max(math.Abs(v), math.Abs(values[i])))
		}
		if fits {
			return l, true
		}
	}
	return law{}, false
}

// simple returns the numbers that a shift with rounding errors may be: halves, and parts of 1 such as the
// −1/64 of where 64N − 1 are counted. There are none for a shift that is large.
func simple(shift float64) (out []float64) {
	if math.Abs(shift) > 4 || shift == 0 {
		return nil
	}
	if half := math.Round(2*shift) / 2; half != 0 {
		out = append(out, half)
	}
	return append(out, 1/math.Round(1/shift))
}
