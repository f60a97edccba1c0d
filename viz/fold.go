package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// foldAbove is the number of nodes above which repeated blocks are drawn once. In a smaller
// drawing they are easier to read one by one.
const foldAbove = 100

// A series has blocks of equal structure, one after another or side by side: sibling scopes whose
// names differ in a number at the end, such as the layers of a transformer or the steps of a
// recurrence. One of them, the model, is drawn for all.
type series struct {
	path   string   // "encoder/block1…12"
	model  string   // the path of the block that is drawn
	copies []string // the paths of all, by number
}

// A turn is the place of a node in a series.
type turn struct {
	series *series
	copy   int
}

// folding says which nodes are drawn for which.
type folding struct {
	all   []*series
	model map[*graph.Node]*graph.Node // the node drawn for each node that is not drawn itself
	turns map[*graph.Node][]turn      // in the series that contain the node itself
	known map[*graph.Node][]turn      // places found so far
}

// folder looks for series among the nodes of a cone.
type folder struct {
	*view
	home  map[*graph.Node]string // paths
	moved map[*graph.Node]bool   // moved to a scope other than its own
	out   *folding
}

// fold finds the series among the shown nodes.
func (v *view) fold() {
	if v.options.unfolded || len(v.shown) <= foldAbove {
		return
	}
	f := &folder{view: v, home: map[*graph.Node]string{}, moved: map[*graph.Node]bool{}, out: &folding{model: map[*graph.Node]*graph.Node{}, turns: map[*graph.Node][]turn{}, known: map[*graph.Node][]turn{}}}
	for _, n := range v.cone {
		f.home[n] = v.path(n)
	}
	f.lift()
	f.lower()
	for _, n := range f.cone { // a step of a derivative belongs to the scope of its value
		if o := n.First().Origin; o.Kind == graph.FromGrad && f.moved[o.Of] {
			f.home[n], f.moved[n] = f.home[o.Of], true
		}
	}
	f.search("", v.cone)
	if len(f.out.all) == 0 {
		return
	}
	f.gather()
	f.loops()
	v.folding = f.out
	for n := range v.paths {
		v.paths[n] = f.out.rename(f.home[v.drawn(n)])
	}
}

// drawn returns the node that is drawn for n: n, or its counterpart in the model of a series.
func (v *view) drawn(n *graph.Node) *graph.Node {
	for v.folding != nil {
		m, ok := v.folding.model[n]
		if !ok {
			break
		}
		n = m
	}
	return n
}

// apart reports whether two nodes are in different blocks of a series. Edges between them are not
// drawn.
func (v *view) apart(a, b *graph.Node) bool {
	if v.folding == nil {
		return false
	}
	for _, s := range v.folding.places(a) {
		for _, t := range v.folding.places(b) {
			if s.series == t.series && s.copy != t.copy {
				return true
			}
		}
	}
	return false
}

// places returns the turns of a node in all series, including those of its counterpart in the
// model.
func (f *folding) places(n *graph.Node) []turn {
	if t, ok := f.known[n]; ok {
		return t
	}
	t := slices.Clone(f.turns[n])
	if m, ok := f.model[n]; ok {
		for _, more := range f.places(m) {
			if !slices.ContainsFunc(t, func(t turn) bool { return t.series == more.series }) {
				t = append(t, more)
			}
		}
	}
	f.known[n] = t
	return t
}

// rename replaces a path in the model of a series by one in the series.
func (f *folding) rename(path string) string {
	for _, s := range slices.Backward(f.all) { // inner series first, since they are named by paths of models
		if within(path, s.model) {
			path = s.path + path[len(s.model):]
		}
	}
	return path
}

// lift moves nodes that do not depend on what flows through blocks, because they are computed
// from constants and parameters alone, and that several scopes use, to the scope around all of
// these. (Equal computations are one node, which is in the first block that has it.)
func (f *folder) lift() {
	static := map[*graph.Node]bool{}
	for _, n := range f.cone {
		static[n] = n.Role() == graph.RoleConstant || n.Role() == graph.RoleParam || n.NumIn() > 0 && trait.LoopBody(n) == nil
		for i := range n.NumIn() {
			static[n] = static[n] && static[n.In(i)]
		}
	}
	for _, n := range slices.Backward(f.cone) {
		if static[n] && !f.roots[n] && n.Role() != graph.RoleParam {
			if at, used := f.usedIn(n); used {
				f.move(n, meeting(f.home[n], at))
			}
		}
	}
}

// move moves a node to another scope, if that is another block.
func (f *folder) move(n *graph.Node, to string) {
	long, short := f.home[n], to
	if len(long) < len(short) {
		long, short = short, long
	}
	between := long[len(short):]
	for name := range strings.SplitSeq(between, "/") {
		if numbered(name) {
			f.home[n], f.moved[n] = to, true
			return
		}
	}
}

// lower moves nodes that take one step's part of an array to the step that uses it, together with
// their derivatives.
func (f *folder) lower() {
	takes := map[*graph.Node]bool{}
	for _, n := range f.cone {
		takes[n] = n.NumIn() > 0 && !f.backward[n] && (match.Is(n, match.Slice) || isLayout(n) && takes[n.In(0)])
	}
	for _, n := range slices.Backward(f.cone) {
		if at, used := f.usedIn(n); used && takes[n] && !f.roots[n] && at != f.home[n] && within(at, f.home[n]) {
			// into the outermost scope on the way: the step, not a layer in it
			next, _, _ := strings.Cut(strings.TrimPrefix(at[len(f.home[n]):], "/"), "/")
			f.move(n, join(f.home[n], next))
		}
	}
}

// usedIn returns the innermost scope that contains all uses of a node.
func (f *folder) usedIn(n *graph.Node) (scope string, used bool) {
	for i, u := range f.usersOf()[n] {
		if i == 0 {
			scope, used = f.home[u], true
			continue
		}
		scope = meeting(scope, f.home[u])
	}
	return scope, used
}

// meeting returns the innermost scope around two scopes.
func meeting(a, b string) string {
	for !within(b, a) {
		a = parent(a)
	}
	return a
}

// search folds the series among the direct children of a scope, given the nodes in it, and
// continues in what is drawn.
func (f *folder) search(scope string, nodes []*graph.Node) {
	inner := map[string][]*graph.Node{}
	var names []string
	for _, n := range nodes {
		rest := strings.TrimPrefix(f.home[n][len(scope):], "/")
		name, _, _ := strings.Cut(rest, "/")
		if name == "" {
			continue
		}
		if inner[name] == nil {
			names = append(names, name)
		}
		inner[name] = append(inner[name], n)
	}
	for _, run := range runs(names) {
		for len(run) > 0 {
			n := 1
			if len(run) > 1 {
				n = f.foldRun(scope, run, inner)
			}
			run = run[n:]
		}
	}
	for _, name := range names {
		if nodes := inner[name]; len(nodes) > 0 && len(f.out.model) < len(f.cone) {
			if _, folded := f.out.model[nodes[0]]; !folded {
				f.search(join(scope, name), nodes)
			}
		}
	}
}

func join(scope, name string) string { return strings.TrimPrefix(scope+"/"+name, "/") }

// runs groups names that end in consecutive numbers.
func runs(names []string) [][]string {
	type counted struct {
		name, stem string
		number     int
	}
	var all []counted
	for _, s := range names {
		if k, err := strconv.Atoi(s[len(stem(s)):]); err == nil {
			all = append(all, counted{s, stem(s), k})
		}
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.stem, b.stem), a.number-b.number, cmp.Compare(a.name, b.name))
	})
	var out [][]string
	for i, n := range all {
		if i > 0 && n.stem == all[i-1].stem && n.number == all[i-1].number+1 {
			out[len(out)-1] = append(out[len(out)-1], n.name)
		} else {
			out = append(out, []string{n.name})
		}
	}
	return out
}

// stem returns a name without the number at its end.
func stem(name string) string { return strings.TrimRight(name, "0123456789") }

func numbered(name string) bool { return stem(name) != name }

// foldRun folds as many of the blocks, from the first, as have equal structure, and returns their
// number.
func (f *folder) foldRun(scope string, names []string, inner map[string][]*graph.Node) int {
	var blocks []*block
	for _, name := range names {
		b := f.block(join(scope, name), inner[name])
		if f.single(b.path) || len(blocks) > 0 && b.values != blocks[0].values {
			break
		}
		blocks = append(blocks, b)
	}
	for len(blocks) > 1 {
		model := slices.MaxFunc(blocks, func(a, b *block) int { return len(a.nodes) - len(b.nodes) })
		alike := slices.IndexFunc(blocks, func(b *block) bool { return !b.fits(model) })
		if alike < 0 && !f.returns(blocks) {
			f.add(scope, blocks, model)
			return len(blocks)
		}
		if alike < 0 {
			break
		}
		if alike == 0 { // the first block has all that the others have, and more
			break
		}
		blocks = blocks[:alike]
	}
	return 1
}

// single reports whether a block is to be drawn by itself.
func (f *folder) single(path string) bool {
	return slices.ContainsFunc(f.options.open, func(p string) bool { return within(strings.Trim(p, "/"), path) })
}

// add adds a series.
func (f *folder) add(scope string, blocks []*block, model *block) {
	last := strings.TrimLeft(blocks[len(blocks)-1].path[len(scope):], "/")
	s := &series{path: blocks[0].path + "…" + last[len(stem(last)):], model: model.path}
	f.out.all = append(f.out.all, s)
	for k, b := range blocks {
		s.copies = append(s.copies, b.path)
		for _, n := range b.nodes {
			f.out.turns[n] = append(f.out.turns[n], turn{s, k})
			if b != model {
				f.out.model[n] = model.at[b.key[n]]
			}
		}
	}
}

// returns reports whether a value leaves the blocks and comes back through other nodes. Drawn as
// one, such blocks would feed themselves.
func (f *folder) returns(blocks []*block) bool {
	inside, after := map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, b := range blocks {
		for _, n := range b.nodes {
			inside[n] = true
		}
	}
	for _, n := range f.cone {
		if f.backward[n] {
			continue
		}
		for i := range n.NumIn() {
			switch x := n.In(i); {
			case inside[n] && after[x]:
				return true
			case !inside[n] && (inside[x] || after[x]):
				after[n] = true
			}
		}
	}
	return false
}

// gather draws the sum of the contributions of several steps to a derivative as one box, not as a
// chain of additions.
func (f *folder) gather() {
	of := func(n *graph.Node) *graph.Node {
		if o := n.First().Origin; o.Kind == graph.FromGrad && match.Is(n, match.Add) && f.backward[n] && f.out.turns[n] == nil {
			return o.Of
		}
		return nil
	}
	for _, n := range f.cone {
		users := f.usersOf()[n]
		if o := of(n); o != nil && len(users) == 1 && of(users[0]) == o && !f.roots[n] {
			f.out.model[n] = users[0]
		}
	}
}

// loops draws the steps of the loops of a block as those of the model's loops.
func (f *folder) loops() {
	for _, l := range f.all {
		own := append(graph.Reachable(l.body.Out()...), l.body.In()...)
		for _, x := range own {
			if t := f.out.turns[l.node]; t != nil {
				f.out.turns[x] = t
			}
		}
		model := f.open[f.out.model[l.node]]
		if model == nil {
			continue
		}
		for i, y := range append(graph.Reachable(model.body.Out()...), model.body.In()...) {
			if i < len(own) && own[i] != y {
				f.out.model[own[i]] = y
			}
		}
	}
}

// text returns the title of a series: "block1 … 12 × 12".
func (s *series) text() string {
	return fmt.Sprintf("%s × %d", strings.Replace(s.path[strings.LastIndexByte(s.path, '/')+1:], "…", " … ", 1), len(s.copies))
}
