package report

import (
	"html/template"
	"strings"
	"testing"
)

// TestFormulasBreakBetweenTerms: a line may end before = and before a term with its sign, and
// neither after a sign of summation nor within brackets.
func TestFormulasBreakBetweenTerms(t *testing.T) {
	const sum = `<munder><mo>∑</mo><mi>j</mi></munder><mo>&#8290;</mo><mi>x</mi>`
	infix := func(s string) string { return `</mrow><mrow><mo form="infix">` + s + `</mo>` }
	for _, c := range []struct{ in, want string }{
		{`<math display="block"><mi>y</mi><mo>=</mo>` + sum + ` <mo>+</mo> ` + sum + `</math>`,
			`<math display="block"><mrow><mi>y</mi>` + infix("=") + sum + ` ` + infix("+") + ` ` + sum + `</mrow></math>`},
		{`<math><mi>y</mi><mo>=</mo><mo>−</mo><mi>x</mi><mo>−</mo><mrow><mo>(</mo><mi>a</mi><mo>−</mo><mi>b</mi><mo>)</mo></mrow></math>`,
			`<math><mrow><mi>y</mi>` + infix("=") + `<mo>−</mo><mi>x</mi>` + infix("−") + `<mrow><mo>(</mo><mi>a</mi><mo>−</mo><mi>b</mi><mo>)</mo></mrow></mrow></math>`},
		{`<math><mo>−</mo><mi>x</mi></math>`, `<math><mo>−</mo><mi>x</mi></math>`},
		{`x = y + z`, `x = y + z`},
		{`<b>x</b> = <i>y</i>`, `<b>x</b> = <i>y</i>`},
		{`<math><mi>y</mi><mo>=</mo><mi>x</mi></math> and <math><mi>z</mi></math>`, `<math><mi>y</mi><mo>=</mo><mi>x</mi></math> and <math><mi>z</mi></math>`},
	} {
		if got := breakable(template.HTML(c.in)); string(got) != c.want {
			t.Errorf("%s becomes\n%s, want\n%s", c.in, got, c.want)
		}
	}
	p := fake()
	p.Variants[0].Formula = `<math><mi>a</mi><mo>=</mo><mi>b</mi></math>`
	p.Variants[0].Chain = []Equation{{`<math><mi>c</mi><mo>=</mo><mi>d</mi></math>`, ""}}
	p.Difference.Identity = `<math><mi>e</mi><mo>=</mo><mi>f</mi></math>`
	page := render(t, p)
	for _, s := range []string{"a", "c", "e"} {
		if !strings.Contains(page, `<math><mrow><mi>`+s+`</mi></mrow><mrow><mo form="infix">=</mo>`) {
			t.Errorf("the formula of %s cannot be broken", s)
		}
	}
}
