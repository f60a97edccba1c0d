package importer

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// longest is how much of a name of the file is kept, in characters.
const longest = 200

// cut returns a name of the file as a terminal may be shown it.
func cut(name string) string {
	name = strings.NewReplacer("\n", "�", "\t", "�").Replace(terminal.Clean(name))
	if r := []rune(name); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return name
}

// Cut returns a name of the file as a terminal may be shown it.
func Cut(name string) string { return cut(name) }

// parts returns the modules that a name lists, as Netron shows them: those between slashes and dots.
// A number belongs to the name before it: encoder.layer.0.weight is encoder, layer.0, weight.
func parts(name string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(cut(prefixed.ReplaceAllString(name, "")), func(r rune) bool { return r == '/' || r == '.' }) {
		if number(p) && len(out) > 0 {
			out[len(out)-1] += "." + p
		} else {
			out = append(out, p)
		}
	}
	return out
}

// prefixed matches what tools put before all names: the inliner of ONNX before those of a function that it
// has written out, and the exporter of Paddle.
var prefixed = regexp.MustCompile(`^(?:(?:\w*_branch_+)?_?Inline_\d+__|p2o\.)`)

// temporary matches the last part of a name that Paddle gives the result of a module.
var temporary = regexp.MustCompile(`^tmp_\d+$`)

func number(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// split returns the scope of a name and the name in it.
func split(name string) (scope, last string) {
	p := parts(name)
	if len(p) > 1 && temporary.MatchString(p[len(p)-1]) {
		p = p[:len(p)-1]
	}
	if len(p) == 0 {
		return "", cut(name)
	}
	return strings.Join(p[:len(p)-1], "/"), p[len(p)-1]
}

// Path returns the path of a leaf with a name of the file.
func Path(name string) string { return join(split(name)) }

// scopeOf returns the scope that a node's name says, or else that of its first result.
func scopeOf(n *format.Node) string {
	name := n.Name
	if name == "" && len(n.Outputs) > 0 {
		name = n.Outputs[0]
	}
	scope, _ := split(name)
	return scope
}

// within returns the path of a scope in another; either may be "".
func within(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return join(outer, inner)
}

// nameOf returns what result i of a node is called; "" where the file has made up a name of the
// operator, or of a number.
func nameOf(n *format.Node, i int) string {
	_, name := split(strings.TrimSuffix(n.Outputs[i], fmt.Sprintf("_output_%d", i)))
	rest, ofOp := strings.CutPrefix(name, n.Op)
	if number(name) || ofOp && strings.Trim(rest, "_:.0123456789") == "" || strings.Contains(name, ":") {
		return ""
	}
	return name
}

// axisName returns a name of the file as that of an axis; "" if it cannot be one.
func axisName(s string) string {
	if s = cut(s); !IsName(s) || len(s) > 40 {
		return ""
	}
	return s
}

// IsName reports whether a name is one that an axis, and a setting, can have.
func IsName(s string) bool {
	_, err := graph.NewShape(graph.Ax(s, 1))
	return s != "" && err == nil
}

// Symbol is a dimension of inputs whose size the file leaves open.
type Symbol struct {
	Name  string // the file's, with other characters as _; the input's and the axis' number where it has none
	Input string // the first that has it
	Axis  int
}

// Symbols lists the sizes that must be given to import a graph, in order of appearance.
func Symbols(g *format.Graph) []Symbol {
	var out []Symbol
	seen, given := map[string]bool{}, map[string]bool{}
	for _, t := range g.Init {
		given[t.Name] = true
	}
	for _, v := range g.Inputs {
		if given[v.Name] || v.Type == nil {
			continue
		}
		for i, d := range v.Type.Dims {
			if name := symbol(v, i); d.Size < 0 && !seen[name] {
				seen[name] = true
				out = append(out, Symbol{name, cut(v.Name), i})
			}
		}
	}
	return out
}

// symbol returns the name of the size of axis i.
func symbol(v *format.Value, i int) string {
	switch s := plain(v.Type.Dims[i].Symbol); s {
	case "":
	case "loss", "output": // settings of another kind
		return s + "_size"
	default:
		return s
	}
	return fmt.Sprintf("%s_%d", plain(v.Name), i)
}

// plain returns a name with _ for what the name of a setting cannot have.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && IsName(string(r)) || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, cut(s))
	if s = strings.Trim(s, "_"); s != "" && '0' <= s[0] && s[0] <= '9' {
		s = "n" + s
	}
	return s
}

// Plain returns a name of the file as one that a setting can have.
func Plain(name string) string { return plain(name) }
