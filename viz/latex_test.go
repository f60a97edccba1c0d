package viz

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/expr"
)

func TestLatexNames(t *testing.T) {
	for name, want := range map[string]string{
		"x": "x", "γ": `\gamma`, "ℓ": `\ell`, "Δ": `\Delta`,
		"r̂": `\hat{r}`, "ŷ": `\hat{y}`, "x̄": `\bar{x}`, "γ̃": `\tilde{\gamma}`, "x′": "x'",
		"loss": `\mathrm{loss}`, "W1": `\mathrm{W1}`, "r_hat": `\mathrm{r\_hat}`, "βx": `\mathrm{\beta x}`, "fc1.w": `\mathrm{fc1.w}`,
		"%12": `\mathrm{\%12}`, "a\\b": `\mathrm{a\backslash b}`, "}": `\mathrm{\}}`, "$x$": `\mathrm{\$x\$}`,
		"x²": `\mathrm{x{}^{2}}`, "x₀": `\mathrm{x{}_{0}}`, "": "{}", "two words": `\mathrm{two\ words}`,
	} {
		if got := ExprLaTeX(expr.Sym(name)); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

// contained reports text that breaks out of LaTeX's math mode.
func contained(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // the next character is part of the command
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return "closes a brace that it did not open"
			}
		case '$', '%', '#', '&', '\n', '\r', '~':
			return "has a bare " + string(s[i])
		}
	}
	if depth != 0 {
		return "leaves a brace open"
	}
	return ""
}

func FuzzLatexName(f *testing.F) {
	for _, s := range []string{"x", "}{", `\end{document}`, "a%b", "$$", "∂a/∂b", "∂}/∂{", "∂∂/∂/∂", "r̂̂", "̂", "a\nb", "\xff", "#1", "~", "^_^", `\`, "′′", "(∂f/∂x)", "∂(/∂x", "x\u0302′", "<b>", "1e<b>", "<e1", "&", "]]>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, e := range []expr.Expr{expr.Sym(name), expr.Sym(name, "i", name), expr.Call(name, expr.Sym("x")), expr.Sym(name).Pow(expr.Sym(name)), expr.Big(name, []string{name}, expr.Sym("x")),
			{Kind: expr.KindNumber, Text: name}, {Kind: expr.KindBracket, Text: name, Args: []expr.Expr{expr.Sym("x"), expr.Sym("y")}}} {
			got := ExprLaTeX(e)
			if why := contained(got); why != "" {
				t.Errorf("%q: %s %s", name, got, why)
			}
			if strings.HasSuffix(got, `\`) {
				t.Errorf("%q: %s ends in a backslash", name, got)
			}
			d := xml.NewDecoder(strings.NewReader(MathML(e)))
			for {
				tok, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%q: %s: %v", name, MathML(e), err)
				}
				if el, ok := tok.(xml.StartElement); ok && el.Name.Local[0] != 'm' {
					t.Errorf("%q: %s has an element %s", name, MathML(e), el.Name.Local)
				}
			}
			if strings.ContainsAny(Unicode(e), "\n\r") {
				t.Errorf("%q: more than one line", name)
			}
		}
	})
}
