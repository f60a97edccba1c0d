package viz

import (
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Tree returns the drawing of a node as text, for terminals: each line is a value, with the
// values it is computed from below it. A value that was shown before is only named. Its errors
// are those of [Draw].
func Tree(n *graph.Node, opts ...Option) (string, error) {
	v, err := newView([]*graph.Node{n}, collect(opts))
	if err != nil {
		return "", err
	}
	if err := v.checkOpen(); err != nil {
		return "", err
	}
	below := map[*graph.Node][]*graph.Node{}
	for _, l := range v.links() {
		below[l.to] = append(below[l.to], l.from)
	}
	var b strings.Builder
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node, first, rest string)
	walk = func(n *graph.Node, first, rest string) {
		text := Unicode(v.symbol(n, nil))
		if again := seen[n] && len(below[n]) > 0; again {
			b.WriteString(first + text + "  (above)\n")
			return
		}
		seen[n] = true
		if n.NumIn() > 0 {
			text = v.equation(n).String()
		} else if _, ok := n.Default(); ok {
			text += " = " + Unicode(v.leaf(n))
		} else if c, ok := n.Constant(); ok && uniform(c) {
			text += " = " + Unicode(v.leaf(n))
		}
		b.WriteString(first + text + "  " + n.Type().String() + "\n")
		for i, x := range below[n] {
			if i < len(below[n])-1 {
				walk(x, rest+"├─ ", rest+"│  ")
			} else {
				walk(x, rest+"└─ ", rest+"   ")
			}
		}
	}
	walk(n, "", "")
	return b.String(), nil
}
