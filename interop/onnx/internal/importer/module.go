package importer

import (
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// modules names what a module of the file hands on, if the file has no name for it, after the
// module: drawings and formulas then have a quantity for each.
func (im *builder) modules(f *format.Graph, s *names) {
	if im.options.Roles.Stated || im.bodies > 0 {
		return // our own names are those of the user
	}
	made, outermost := map[string][]string{}, map[string]int{} // by value: the scopes around it, how many it stays in
	leaves := func(name string, to []string) {
		from, ok := made[name]
		if !ok {
			return
		}
		same := 0
		for same < len(from) && same < len(to) && from[same] == to[same] {
			same++
		}
		if least, seen := outermost[name]; !seen || same < least {
			outermost[name] = same
		}
	}
	var order []string
	split := func(scope string) []string {
		return strings.FieldsFunc(scope, func(r rune) bool { return r == '/' })
	}
	for _, n := range f.Nodes {
		around := split(scopeOf(n))
		taken := map[string]bool{}
		need(n, taken)
		for name := range taken {
			leaves(name, around)
		}
		for _, name := range n.Outputs {
			if name != "" {
				made[name], order = around, append(order, name)
			}
		}
	}
	for _, v := range f.Outputs {
		leaves(v.Name, split(im.around)) // that of the If that has the graph
	}
	for _, name := range order {
		stays, left := outermost[name]
		if v := s.values[name]; left && stays < len(made[name]) && v.kind == array && v.node.IsValid() && v.node.Graph() == im.g && v.node.Role() == graph.RoleOp {
			im.called = append(im.called, naming{v.node, v.node.First(), made[name][stays]})
		}
	}
}
