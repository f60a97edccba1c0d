package viz

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// words names the operations of a group, from the first to the last. What the equation in the sign
// says of a softmax's operand is left out.
func (s *sketcher) words(g *group) []string {
	var out []string
	told := g.mixes && s.named(g.last()) && s.equationIn(g) != ""
	for i, n := range g.members {
		switch {
		case match.Is(n, match.Neg) && len(out) > 0:
			if rest, times := strings.CutPrefix(out[len(out)-1], "× "); times {
				out[len(out)-1] = "× −" + rest
			} else {
				out[len(out)-1] = "−" + out[len(out)-1]
			}
		case s.slight(n) && !told && (match.Is(n, match.Neg) || s.joiner(n) != ""):
			out = append(out, s.word(n))
		case match.Is(n, match.Square) && i+1 < len(g.members) && match.Is(g.members[i+1], match.Sum):
			continue
		case match.Is(n, match.Sum) && i > 0 && match.Is(g.members[i-1], match.Square):
			out = append(out, "‖·‖²")
		case i > 0 && trait.IsElementwise(n.Op()) && slices.ContainsFunc(s.operands[n], s.hides): // + b, after W·
		case !s.slight(n):
			out = append(out, s.word(n))
		}
	}
	if len(out) == 0 {
		out = append(out, s.word(g.last()))
	}
	if len(out) > 5 {
		out = append(out[:4:4], "…", out[len(out)-1])
	}
	return out
}

// word names an operation.
func (s *sketcher) word(n *graph.Node) string {
	var own []string // parameters that have no sign
	for _, x := range s.operands[n] {
		if s.hides(x) && x.Role() != graph.RoleConstant || s.role(x) == figure.Hyper {
			own = append(own, s.clipped(x))
		}
	}
	if m := s.behind(n); m != n {
		n = m
	} else if isLayout(n) && s.spread(n.In(0)) && !s.spread(n) {
		return "concat"
	}
	switch op := s.joiner(n); {
	case match.Is(n, match.MatMul) && len(own) == 1:
		return "· " + own[0]
	case op != "" && len(own) == 1:
		return op + " " + own[0]
	case match.Is(n, match.Neg):
		return "−"
	case match.Is(n, match.Sigmoid):
		return "σ"
	}
	if op, ok := n.Op().(trait.Notated); ok {
		marks := make([]expr.Expr, n.NumIn())
		for k := range marks {
			marks[k] = place(k, axisNames(n.In(k)))
		}
		switch e := op.Notation(n, marks); e.Kind {
		case expr.KindCall:
			name, _, _ := strings.Cut(e.Text, "{")
			if name = strings.Trim(name, "_ "); name != "" && name != "matmul" {
				return name
			}
		case expr.KindBig:
			if e.Text == expr.LaneSum {
				return "Σ lanes"
			}
			if !match.Is(n, match.MatMul) {
				if sign := Unicode(expr.Sym(e.Text, e.Subs...)); !strings.Contains(sign, "_") {
					return sign
				}
				return e.Text
			}
		case expr.KindPower:
			if e.Args[1].Kind != expr.KindNumber {
				return "^"
			}
			return Unicode(expr.Sym("(·)").Pow(e.Args[1]))
		case expr.KindNorm:
			return "‖·‖²"
		}
	}
	if op := s.joiner(n); op != "" {
		if names := s.constants(n); names != "" {
			return op + " " + names
		}
		return op
	}
	return strings.ToLower(n.Op().Name())
}

// constants returns the number that an operation adds or multiplies.
func (s *sketcher) constants(n *graph.Node) string {
	for i := range n.NumIn() {
		if c, ok := constantOf(n.In(i)); ok {
			return strings.Replace(strconv.FormatFloat(c, 'g', 3, 64), "-", "−", 1)
		}
	}
	return ""
}

// clipped returns the name of a parameter.
func (s *sketcher) clipped(n *graph.Node) string {
	name := s.names.of(n)
	if width(name) > wordLength-4 {
		name = s.plain(n)
	}
	return name
}
