package viz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// box is a box of a drawing with its nodes: one node, or those of a closed scope.
type box struct {
	node    figure.Node
	members []*graph.Node
}

// group puts the shown nodes into boxes: one box for each node, or for all that are drawn as one.
// If that gives more boxes than the limit, it makes one box for each closed scope and column.
func (v *view) group() []box {
	closed := v.closed()
	boxKey := func(n *graph.Node) string { return v.boxKey(closed, n) }
	v.dense = v.isDense(v.boxes(boxKey))
	held := v.held(boxKey, v.dense)
	var out []box
	at := map[string]int{}
	for _, n := range v.shown {
		if held[v.drawn(n)] != nil {
			continue
		}
		key := boxKey(n)
		i, met := at[key]
		if !met {
			i = len(out)
			at[key] = i
			out = append(out, box{})
		}
		out[i].members = append(out[i].members, n)
		if loop := v.stands[n]; loop != nil {
			out[i].members = append(out[i].members, loop)
		}
	}
	holds := make([][]*graph.Node, len(out))
	for _, n := range v.shown { // after the node that a box shows
		if host := held[v.drawn(n)]; host != nil {
			i := at[boxKey(host)]
			out[i].members = append(out[i].members, n)
			if v.drawn(n) == n {
				holds[i] = append(holds[i], n)
			}
		}
	}
	id := map[*graph.Node]string{}
	for i := range out {
		v.look()
		members := out[i].members
		if key := closed[members[0]]; key != "" {
			out[i].node = v.closedBox(key, members)
		} else {
			out[i].node = v.node(v.drawn(members[0]))
			v.hold(&out[i].node, holds[i])
		}
		for _, n := range members {
			id[n] = out[i].node.ID
		}
	}
	for i := range out { // a derivative stands beside the box of its value
		b := &out[i]
		b.node.Row = ""
		for _, n := range b.members {
			if a, ok := v.of[n]; ok && id[a.Of] != b.node.ID {
				b.node.Row = id[a.Of]
				break
			}
		}
	}
	return out
}

// boxKey returns a key that is equal for the nodes of one box.
func (v *view) boxKey(closed map[*graph.Node]string, n *graph.Node) string {
	if key := closed[n]; key != "" {
		return key
	}
	return v.boxID(v.drawn(n))
}

// closed returns, for the nodes of closed scopes, the key of their box.
func (v *view) closed() map[*graph.Node]string {
	boxes := 0
	for _, n := range v.shown {
		if v.drawn(n) == n {
			boxes++
		}
	}
	if v.options.limit < 0 {
		return nil
	}
	loops := v.closedLoops()
	closes := func(path string) bool { return boxes > v.options.limit || loops[path] }
	if boxes <= v.options.limit && v.isDense(boxes) {
		fixed := v.fixed()
		closes = func(path string) bool { return loops[path] || fixed(path) }
	}
	open := map[string]bool{}
	for _, p := range v.options.open {
		for p = strings.Trim(p, "/"); p != ""; p = parent(p) {
			open[p] = true
		}
	}
	key := map[*graph.Node]string{}
	for _, n := range v.shown {
		parts := strings.Split(v.scope(n), "/")
		for i := range parts {
			p := strings.Join(parts[:i+1], "/")
			if p != "" && !open[p] && closes(p) {
				key[n] = p
				if v.backward[n] {
					key[n] = "∂" + p
				}
				break
			}
		}
	}
	v.cutCycles(key)
	return key
}

// fixed returns a function that reports whether all that is computed in a scope comes from
// constants, as that of positions does: in a drawing of many boxes, one box is enough for it.
func (v *view) fixed() func(path string) bool {
	fixed := map[*graph.Node]bool{}
	for _, n := range v.cone {
		fixed[n] = n.Role() == graph.RoleConstant || n.NumIn() > 0
		for i := range n.NumIn() {
			fixed[n] = fixed[n] && fixed[n.In(i)]
		}
	}
	fed, boxes := map[string]bool{}, map[string]int{}
	for _, n := range v.shown {
		for p := v.scope(n); p != ""; p = parent(p) {
			boxes[p]++
			fed[p] = fed[p] || !fixed[n] || v.roots[n]
		}
	}
	return func(path string) bool { return boxes[path] > 1 && !fed[path] }
}

// boxID returns the id of a node's own box.
func (v *view) boxID(n *graph.Node) string {
	if id := v.id[n]; id != "" {
		return id
	}
	return "n" + strconv.Itoa(n.ID())
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// cutCycles splits boxes that feed each other in a cycle into stages, so that the boxes have an
// order. Only values need one; derivatives may be read in any order.
func (v *view) cutCycles(key map[*graph.Node]string) {
	name := func(n *graph.Node) string { return v.boxKey(key, n) }
	next := map[string][]string{}
	links := slices.DeleteFunc(v.flow(), func(l link) bool { return v.backward[l.to] })
	for _, l := range links {
		if f, t := name(l.from), name(l.to); f != t && !slices.Contains(next[f], t) {
			next[f] = append(next[f], t)
		}
	}
	circle := circles(v.shown, name, next)
	stage := map[*graph.Node]int{}
	for changed := true; changed; {
		changed = false
		for _, l := range links { // in the order of the receivers, one pass is enough, unless a series disturbs it
			from, to := v.drawn(l.from), v.drawn(l.to)
			f, t := name(from), name(to)
			if circle[f] != circle[t] {
				continue
			}
			s := stage[from]
			if f != t {
				s++
			}
			if s > stage[to] {
				stage[to], changed = s, true
			}
		}
	}
	for _, n := range v.shown {
		if s := stage[v.drawn(n)]; s > 0 && key[n] != "" {
			key[n] += "#" + strconv.Itoa(s)
		}
	}
}

// circles numbers the boxes so that boxes on one cycle have the same number (Tarjan's strongly
// connected components).
func circles(nodes []*graph.Node, name func(*graph.Node) string, next map[string][]string) map[string]int {
	circle, index, low := map[string]int{}, map[string]int{}, map[string]int{}
	var stack []string
	var visit func(s string)
	visit = func(s string) {
		index[s] = len(index) + 1
		low[s] = index[s]
		stack = append(stack, s)
		for _, t := range next[s] {
			if index[t] == 0 {
				visit(t)
				low[s] = min(low[s], low[t])
			} else if circle[t] == 0 {
				low[s] = min(low[s], index[t])
			}
		}
		if low[s] == index[s] {
			for {
				t := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if circle[t] = index[s]; t == s {
					return
				}
			}
		}
	}
	for _, n := range nodes {
		if index[name(n)] == 0 {
			visit(name(n))
		}
	}
	return circle
}

// closedBox returns the box that stands for the nodes of a scope.
func (v *view) closedBox(key string, members []*graph.Node) figure.Node {
	path, stage, _ := strings.Cut(strings.TrimPrefix(key, "∂"), "#")
	ops, params, numbers := 0, 0, 0
	role := figure.Op
	for _, n := range members {
		switch {
		case n.Role() == graph.RoleParam:
			params++
			numbers += n.Shape().Len()
		case n.NumIn() > 0:
			ops++
		}
		if v.losses[n] {
			role = figure.Loss
		}
	}
	b := figure.Node{Sub: plural.Count(ops, "op"), Module: parent(path), Role: role, Backward: v.backward[members[0]], Closed: path}
	b.ID = figure.ModuleID(path, b.Backward)
	if stage != "" {
		b.ID += "_s" + stage // no module's name contains it
	}
	b.Main, b.Copies = v.moduleTitle(path, b.Backward)
	for _, l := range v.all {
		if v.loopPath(l) == path && l.base == l {
			b.Main = v.loopSummary(l)
			if b.Backward {
				b.Main = "∂ " + b.Main
			}
		}
	}
	if b.Backward {
		b.Role = figure.Gradient
	}
	if params > 0 {
		b.Sub += ", " + plural.Count(numbers, "parameter")
	}
	b.Title = fmt.Sprintf("scope %s, closed\n%s, %s of %s", path, plural.Count(ops, "operation"), plural.Count(params, "array"), plural.Count(numbers, "parameter"))
	return b
}
