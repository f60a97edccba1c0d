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

// Limits of a sentence: how many names a list in it has, and up to how many boxes that both sides
// have are named one by one rather than by their scopes.
const (
	namesInList = 8
	boxesByName = 5
)

// Sentence says in words what the two sides have in common and what differs: "Same block1; x and
// loss differ; only B has embedding and ẽ." It is about values, as their derivatives follow from
// them. What is the same up to what flows in counts as the same. Scopes stand for what is in them.
func (d *Difference) Sentence() string {
	if d.whole() != nil {
		return ""
	}
	return figure.Linear(d.sentence())
}

// sentence returns the sentence for a figure, whose texts have subscripts.
func (d *Difference) sentence() string {
	s := d.survey()
	stands, taken := d.stands()
	onlyA, onlyB := s.only(0, taken), s.only(1, taken)
	var differ []string
	for _, name := range onlyA {
		if slices.Contains(onlyB, name) {
			differ = append(differ, name)
		}
	}
	shared := func(name string) bool { return slices.Contains(differ, name) }
	onlyA, onlyB = slices.DeleteFunc(onlyA, shared), slices.DeleteFunc(onlyB, shared)
	var parts []string
	add := func(list []string, text string) {
		if len(list) > 0 {
			parts = append(parts, fmt.Sprintf(text, enumerate(list)))
		}
	}
	termA, termB := d.termed(d.TermA), d.termed(d.TermB)
	if len(differ)+len(onlyA)+len(onlyB)+len(stands)+len(d.rewired())+len(termA)+len(termB) == 0 {
		parts = append(parts, "Same computation")
		if d.derivativesDiffer() {
			parts[0] = "Same values; derivatives differ"
		}
	} else if same := s.same(); len(same) > 0 {
		add(same, "Same %s")
	} else {
		parts = append(parts, "No computation in common")
	}
	add(differ, "%s "+agree(len(differ), "differs", "differ"))
	add(termA, "A adds a term to %s")
	add(termB, "B adds a term to %s")
	add(onlyA, "only A has %s")
	add(onlyB, "only B has %s")
	add(stands, "%s")
	rewired := d.rewired()
	add(rewired, "%s "+agree(len(rewired), "has", "have")+" other operands")
	add(d.renamed(), "%s")
	if len(parts) == 1 {
		add(d.resized(), "sizes differ: %s")
	}
	return strings.Join(parts, "; ") + "."
}

func (d *Difference) derivativesDiffer() bool {
	changed := slices.ContainsFunc(slices.Concat(d.Upstream, d.TermA, d.TermB), func(p Pair) bool { return d.a.backward[p.A] })
	return changed || slices.ContainsFunc(d.OnlyA, func(n *graph.Node) bool { return d.a.backward[n] }) ||
		slices.ContainsFunc(d.OnlyB, func(n *graph.Node) bool { return d.b.backward[n] })
}

// termed returns the names of values to which a side adds a term.
func (d *Difference) termed(pairs []Pair) (out []string) {
	for _, p := range pairs {
		if !d.a.backward[p.A] {
			out = append(out, bothNames(d.a.names.of(p.A), d.b.names.of(p.B)))
		}
	}
	return out
}

// stands says which input or parameter of one side stands where the other has something else that
// has a counterpart of its own; such leaves are taken.
func (d *Difference) stands() (out []string, taken map[*graph.Node]bool) {
	taken = map[*graph.Node]bool{}
	for _, r := range d.replaced {
		p := r.operands
		freeA, freeB := d.match.a[p.A] == nil, d.match.b[p.B] == nil
		a, b := d.a.called(p.A), d.b.called(p.B)
		switch {
		case freeB && !freeA && p.B.NumIn() == 0 && !taken[p.B]:
			taken[p.B] = true
			out = append(out, "B has "+b+" where A has "+a)
		case freeA && !freeB && p.A.NumIn() == 0 && !taken[p.A]:
			taken[p.A] = true
			out = append(out, "A has "+a+" where B has "+b)
		}
	}
	return out, taken
}

// rewired returns the values that take, on each side, operands that the other side has elsewhere.
func (d *Difference) rewired() (out []string) {
	for _, r := range d.replaced {
		title := d.title(r.box)
		if d.match.a[r.operands.A] != nil && d.match.b[r.operands.B] != nil && !d.a.backward[r.box.A] && !slices.Contains(out, title) {
			out = append(out, title)
		}
	}
	return out
}

// renamed says of leaves that are the same what their names are on both sides.
func (d *Difference) renamed() (out []string) {
	for _, p := range d.Shared {
		a, b := givenName(p.A), givenName(p.B)
		if p.A.NumIn() == 0 && a != "" && b != "" && a != b {
			if s := a + " is " + b; !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// resized says how long the axes of matched leaves are that differ in length.
func (d *Difference) resized() (out []string) {
	for _, p := range d.Shared {
		if p.A.NumIn() > 0 || d.a.backward[p.A] {
			continue
		}
		as, bs := p.A.Shape().Axes(), p.B.Shape().Axes()
		for len(as) > 0 && len(bs) > 0 {
			x, y := as[len(as)-1], bs[len(bs)-1]
			as, bs = as[:len(as)-1], bs[:len(bs)-1]
			if s := fmt.Sprintf("%s = %d in A and %d in B", x.Name, x.Size, y.Size); x.Size != y.Size && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// title returns the name of a box that both sides have, or both names.
func (d *Difference) title(p Pair) string { return bothNames(d.a.called(p.A), d.b.called(p.B)) }

func bothNames(a, b string) string {
	if a == b {
		return a
	}
	return a + " (in B " + b + ")"
}

// called returns the name of a box, without scopes, or its formula.
func (v *view) called(n *graph.Node) string {
	if _, ok := v.names[n]; ok {
		return v.plain(n)
	}
	return v.inShort(n, aliasLength)
}

// survey has the boxes of values by their scopes.
type survey struct {
	d     *Difference
	boxes [2]map[string][]*graph.Node // directly in a scope, by path
	inner [2]map[string][]string      // scopes directly in a scope, in order
	other [2]map[*graph.Node]*graph.Node
	views [2]*view
}

func (d *Difference) survey() *survey {
	s := &survey{d: d, views: [2]*view{d.a, d.b}}
	for side, v := range s.views {
		s.boxes[side], s.inner[side], s.other[side] = map[string][]*graph.Node{}, map[string][]string{}, map[*graph.Node]*graph.Node{}
		known := map[string]bool{"": true}
		for _, n := range v.shown {
			if v.backward[n] {
				continue
			}
			path := v.path(n)
			s.boxes[side][path] = append(s.boxes[side][path], n)
			for ; !known[path]; path = parent(path) {
				known[path] = true
				s.inner[side][parent(path)] = append(s.inner[side][parent(path)], path)
			}
		}
	}
	for _, p := range slices.Concat(d.Shared, d.Upstream) {
		s.other[0][p.A], s.other[1][p.B] = p.B, p.A
	}
	return s
}

// losses returns the number of losses directly in a scope.
func (s *survey) losses(side int, path string) (count int) {
	for _, n := range s.boxes[side][path] {
		if s.views[side].losses[n] {
			count++
		}
	}
	return count
}

// count returns the number of boxes in a scope, and how many of them are the same on both sides.
func (s *survey) count(side int, path string) (all, same int) {
	for _, n := range s.boxes[side][path] {
		all++
		if s.other[side][n] != nil {
			same++
		}
	}
	for _, p := range s.inner[side][path] {
		a, b := s.count(side, p)
		all, same = all+a, same+b
	}
	return all, same
}

// only lists what one side alone has: scopes of which the other has nothing, and single boxes, but
// for those that are taken.
func (s *survey) only(side int, taken map[*graph.Node]bool) []string {
	for _, p := range slices.Concat(s.d.TermA, s.d.TermB) {
		taken[p.A], taken[p.B] = true, true
	}
	var out places
	var walk func(path string)
	walk = func(path string) {
		all, same := s.count(side, path)
		whole := path != "" && same == 0 && all-s.losses(side, path) > 1
		if whole {
			out.add(s.first(side, path), lastName(path))
		}
		for _, n := range s.boxes[side][path] {
			if s.other[side][n] == nil && !taken[n] && (!whole || s.views[side].losses[n]) {
				out.add(n, s.views[side].called(n))
			}
		}
		for _, p := range s.inner[side][path] {
			if !whole {
				walk(p)
			}
		}
	}
	walk("")
	return out.names()
}

// same lists what both sides have: the computed boxes, or, where these are many, the scopes of
// which at least two thirds are on both sides.
func (s *survey) same() (out []string) {
	var computed []Pair
	for _, n := range s.views[0].shown {
		if y := s.other[0][n]; y != nil && n.NumIn() > 0 && !s.views[0].backward[n] {
			computed = append(computed, Pair{n, y})
		}
	}
	if len(computed) <= boxesByName {
		for _, p := range computed {
			out = append(out, s.d.title(p))
		}
		return out
	}
	var list places
	var walk func(path string)
	walk = func(path string) {
		if to, met := s.d.match.scope[path]; met && path != "" {
			all, same := s.count(0, path)
			others, _ := s.count(1, to)
			if 3*same >= 2*(all+others-same) {
				list.add(s.first(0, path), bothNames(lastName(path), lastName(to)))
				return
			}
		}
		for _, n := range s.boxes[0][path] {
			if y := s.other[0][n]; y != nil && n.NumIn() > 0 {
				list.add(n, s.d.title(Pair{n, y}))
			}
		}
		for _, p := range s.inner[0][path] {
			walk(p)
		}
	}
	walk("")
	return list.names()
}

// first returns the first computed box in a scope, or else its first box.
func (s *survey) first(side int, path string) *graph.Node {
	var out *graph.Node
	for _, n := range s.boxes[side][path] {
		if out == nil || out.NumIn() == 0 && n.NumIn() > 0 {
			out = n
		}
	}
	for _, p := range s.inner[side][path] {
		if n := s.first(side, p); out == nil || out.NumIn() == 0 || n.NumIn() > 0 && n.ID() < out.ID() {
			out = n
		}
	}
	return out
}

// places are names with the nodes that say where they stand.
type places []struct {
	node *graph.Node
	name string
}

func (l *places) add(n *graph.Node, name string) {
	*l = append(*l, struct {
		node *graph.Node
		name string
	}{n, name})
}

// names returns the names in the order of the nodes, each once, with series such as block1,
// block2, block3 as one.
func (l places) names() (out []string) {
	slices.SortStableFunc(l, func(x, y struct {
		node *graph.Node
		name string
	}) int {
		return x.node.ID() - y.node.ID()
	})
	for _, p := range l {
		if !slices.Contains(out, p.name) {
			out = append(out, p.name)
		}
	}
	return joined(out)
}

// joined puts three and more names that follow each other and end in consecutive numbers together:
// block1 … block12.
func joined(names []string) (out []string) {
	for i := 0; i < len(names); {
		j := i + 1
		for j < len(names) && succeeds(names[j], names[j-1]) {
			j++
		}
		if j-i > 2 {
			out = append(out, names[i]+" … "+names[j-1])
		} else {
			out = append(out, names[i:j]...)
		}
		i = j
	}
	return out
}

// succeeds reports whether a name is another with the next number at its end.
func succeeds(name, before string) bool {
	stem := strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(stem):])
	return err == nil && before == stem+strconv.Itoa(n-1)
}

// enumerate returns "a, b and c".
func enumerate(list []string) string {
	if more := len(list) - namesInList; more > 1 {
		list = append(slices.Clone(list[:namesInList]), plural.Count(more, "other"))
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
