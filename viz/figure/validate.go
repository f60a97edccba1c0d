package figure

import (
	"errors"
	"fmt"
	"strings"
)

// Validate returns all mistakes in f, joined, a line each; nil if f can be drawn. Drawing calls
// it first.
func (f *Figure) Validate() error {
	if f == nil {
		return errNoFigure
	}
	v := &validator{figure: f, index: f.index()}
	v.nodes()
	v.edges()
	v.modules()
	if len(f.Panels) > 2 {
		v.complain("%d panels: at most 2 can be compared", len(f.Panels))
	}
	if v.errs == nil { // cycles are looked for only if all references are valid
		v.cycles()
	}
	return errors.Join(v.errs...)
}

// index maps IDs to positions in Nodes; the first of equal IDs wins.
func (f *Figure) index() map[string]int {
	m := make(map[string]int, len(f.Nodes))
	for i := range f.Nodes {
		if _, ok := m[f.Nodes[i].ID]; !ok {
			m[f.Nodes[i].ID] = i
		}
	}
	return m
}

type validator struct {
	figure *Figure
	index  map[string]int
	errs   []error
}

func (v *validator) complain(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("figure: "+format, args...))
}

func (v *validator) panel(where string, panel int) {
	if n := v.figure.panels(); panel < 0 || panel > n {
		v.complain("%s: panel %d of a figure with %d", where, panel, n)
	}
}

func (v *validator) path(where, path string) {
	if path == "" {
		return
	}
	for _, part := range strings.Split(path, "/") {
		if part == "" {
			v.complain("%s: module path %q has an empty part", where, path)
			return
		}
	}
}

func (v *validator) nodes() {
	for i := range v.figure.Nodes {
		n := &v.figure.Nodes[i]
		where := fmt.Sprintf("node %d %q", i, n.ID)
		if !safeID(n.ID) {
			v.complain("%s: an id is one or more of a-z, 0-9, '_' and '-'", where)
		} else if first := v.index[n.ID]; first != i {
			v.complain("%s: duplicate id, first used by node %d", where, first)
		}
		if n.Role >= roles {
			v.complain("%s: unknown role %d", where, n.Role)
		}
		for _, r := range n.PanelRole {
			if r != nil && *r >= roles {
				v.complain("%s: unknown role %d", where, *r)
			}
		}
		v.marks(where, n)
		for p := range n.PanelMark {
			if n.PanelMark[p] != nil {
				v.marks(where, n.marked(p))
			}
		}
		for _, s := range n.Status {
			if s >= statuses {
				v.complain("%s: unknown status %d", where, s)
			}
		}
		v.panel(where, n.Panel)
		v.path(where, n.Module)
		if n.Row == "" {
			continue
		}
		if r, ok := v.index[n.Row]; !ok {
			v.complain("%s: row of unknown node %q", where, n.Row)
		} else if r == i {
			v.complain("%s: row of itself", where)
		}
	}
}

// marks checks the overlay marks of a node.
func (v *validator) marks(where string, n *Node) {
	if n.Heat < 0 || n.Heat > HeatSteps {
		v.complain("%s: heat %d is not between 0 and %d", where, n.Heat, HeatSteps)
	}
	if n.Group < 0 || n.Group > Groups {
		v.complain("%s: group %d is not between 0 and %d", where, n.Group, Groups)
	}
	if n.Heat > 0 && n.Group > 0 {
		v.complain("%s: both heat %d and group %d: a node has one fill", where, n.Heat, n.Group)
	}
	if n.Alarm >= alarms {
		v.complain("%s: unknown alarm %d", where, n.Alarm)
	}
}

func (v *validator) edges() {
	for i, e := range v.figure.Edges {
		where := fmt.Sprintf("edge %d %q → %q", i, e.From, e.To)
		from, okFrom := v.index[e.From]
		to, okTo := v.index[e.To]
		switch {
		case !okFrom:
			v.complain("%s: from unknown node", where)
		case !okTo:
			v.complain("%s: to unknown node", where)
		case from == to:
			v.complain("%s: joins a node with itself", where)
		case v.figure.seen(&v.figure.Edges[i], from, to) == 0:
			v.complain("%s: its ends and it are in different panels", where)
		}
		if e.Kind >= kinds {
			v.complain("%s: unknown kind %d", where, e.Kind)
		}
		v.panel(where, e.Panel)
	}
}

// seen returns the panels in which e between nodes from and to is drawn.
func (f *Figure) seen(e *Edge, from, to int) panelSet {
	return seenIn(e.Panel) & seenIn(f.Nodes[from].Panel) & seenIn(f.Nodes[to].Panel)
}

func (v *validator) modules() {
	type key struct {
		path     string
		backward bool
		panel    int
	}
	first := map[key]int{}
	for i, m := range v.figure.Modules {
		where := fmt.Sprintf("module %d %q", i, m.Path)
		if m.Path == "" {
			v.complain("%s: empty path", where)
		}
		v.path(where, m.Path)
		v.panel(where, m.Panel)
		k := key{m.Path, m.Backward, m.Panel}
		if j, ok := first[k]; ok {
			v.complain("%s: duplicate of module %d", where, j)
		} else {
			first[k] = i
		}
	}
}

// cycles reports Forward edges that form a cycle, by themselves or because Row puts several of
// their ends in one row.
func (v *validator) cycles() {
	f := v.figure
	var all []arc
	for _, e := range f.Edges {
		if e.Kind == Forward {
			all = append(all, arc{v.index[e.From], v.index[e.To]})
		}
	}
	if c := findCycle(len(f.Nodes), all); c != nil {
		ids := make([]string, len(c))
		for i, n := range c {
			ids[i] = f.Nodes[n].ID
		}
		v.complain("forward edges form a cycle: %s", strings.Join(ids, " → "))
		return
	}
	rows := joinRows(f, v.index)
	forward, _ := rows.arcs(f, v.index)
	if c := findCycle(len(f.Nodes), forward); c != nil {
		v.complain("rows contradict the forward edges: the row of %q would be above itself", f.Nodes[c[0]].ID)
	}
}

// An arc is a directed edge between two positions.
type arc struct{ from, to int }

// findCycle returns the nodes of a cycle among n, the first repeated at the
// end, or nil.
func findCycle(n int, arcs []arc) []int {
	out := make([][]int, n)
	in := make([]int, n)
	for _, a := range arcs {
		out[a.from] = append(out[a.from], a.to)
		in[a.to]++
	}
	var ready []int
	for i, d := range in {
		if d == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		for _, j := range out[ready[done]] {
			if in[j]--; in[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if done == n {
		return nil
	}
	// What is left has a predecessor that is left: walk back until a node repeats.
	back := make([]int, n)
	at := -1
	for _, a := range arcs {
		if in[a.from] > 0 && in[a.to] > 0 {
			back[a.to], at = a.from, a.to
		}
	}
	seen := make([]int, n)
	var walk []int
	for ; seen[at] == 0; at = back[at] {
		walk = append(walk, at)
		seen[at] = len(walk)
	}
	cycle := []int{at}
	for i := len(walk) - 1; i >= seen[at]-1; i-- {
		cycle = append(cycle, walk[i])
	}
	return cycle
}

func safeID(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != ""
}
