package viz

import (
	"regexp"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// pictured prints an expression for a figure, whose texts have subscripts and superscripts.
func pictured(e expr.Expr) string { return printer{figureScript{}}.print(e, bare) }

// pictured returns the equation for a figure.
func (e Equation) pictured() string { return pictured(e.Left) + " = " + pictured(e.Right) }

// A figureScript is Unicode with the subscripts and superscripts of a figure.
type figureScript struct{ unicodeScript }

func (figureScript) symbol(name string, subs []string) string {
	list, _ := indexList(subs)
	if m := indexed.FindStringSubmatchIndex(name); m != nil && m[1] == len(name) && list != "" { // v_c with an index i
		return picturedName(name[:m[6]-1]) + figure.Sub(name[m[6]:m[7]]+","+list)
	}
	if stem := strings.TrimRight(name, "₀₁₂₃₄₅₆₇₈₉"); stem != name && list != "" { // x₀ with an index
		return picturedName(stem) + figure.Sub(digits.Replace(name[len(stem):])+","+list)
	}
	return picturedName(name) + figure.Sub(list)
}

var digits = strings.NewReplacer("₀", "0", "₁", "1", "₂", "2", "₃", "3", "₄", "4", "₅", "5", "₆", "6", "₇", "7", "₈", "8", "₉", "9")

func (figureScript) sign(text string, subs []string) string {
	list, _ := indexList(subs)
	return text + figure.Sub(list) + " "
}

func (s figureScript) call(f string, subs, args []string) string {
	list, _ := indexList(subs)
	called := s.unicodeScript.call(f, nil, args)
	if rest, ok := strings.CutPrefix(called, f+"("); ok {
		return f + figure.Sub(list) + "(" + rest
	}
	return called
}

func (s figureScript) power(base, exponent string, e expr.Expr) string {
	if p := s.unicodeScript.power(base, exponent, e); !strings.HasPrefix(p, base+"^") {
		return p
	}
	return base + figure.Sup(exponent)
}

// indexed finds a letter with an index in a name: v_c, ∂loss/∂v_c, but not running_mean.
var indexed = regexp.MustCompile(`(^|[^\pL\pN_])(\pL\pM*′*)_([\pL\pN]+)($|[^\pL\pN_])`)

// picturedName returns a name with the index that a user wrote into it, v_c, as a subscript.
func picturedName(name string) string {
	return indexed.ReplaceAllStringFunc(name, func(s string) string {
		m := indexed.FindStringSubmatch(s)
		return m[1] + m[2] + figure.Sub(m[3]) + m[4]
	})
}
