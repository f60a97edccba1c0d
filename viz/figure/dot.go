package figure

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/awalterschulze/gographviz"
)

// DOT writes f in the Graphviz language. A comparison becomes one graph, in which nodes of one
// panel only are outlined in that panel's colour; OnlyPanel writes one side. An Auto theme is
// light. It is an error if [Figure.Validate] finds a mistake; nothing is written then.
//
// Names in the text are numbers, never the caller's; the ID of a node is its id attribute. A
// backward edge whose ends must keep rows of their own is written from its upper end with
// dir=back, which tells Graphviz that the arrow points up.
func (f *Figure) DOT(w io.Writer, opts ...Option) error {
	o, err := f.options(opts)
	if err != nil {
		return err
	}
	if err := f.Validate(); err != nil {
		return err
	}
	if w == nil {
		return errNoWriter
	}
	d := &dotGraph{Graph: gographviz.NewGraph(), scene: newScene(f), options: o, easel: easel{theme: o.theme}}
	d.width = len(strconv.Itoa(max(len(f.Nodes), len(d.box))))
	for _, add := range []func() error{d.addGraph, d.addBoxes, d.addNodes, d.addRows, d.addEdges} {
		if err := add(); err != nil {
			return fmt.Errorf("figure: %w", err)
		}
	}
	ast, err := d.WriteAst()
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	_, err = io.WriteString(w, ast.String())
	return err
}

const dotName = "G"

// A dotGraph builds the text of a scene, and makes up for what gographviz does not do: it quotes
// nothing, drops nodes with an unknown parent, and sorts by name, so names are padded.
type dotGraph struct {
	*gographviz.Graph
	*scene
	options options
	easel   easel
	width   int // digits of a number in a name
}

func (d *dotGraph) addGraph() error {
	if err := d.SetName(dotName); err != nil {
		return err
	}
	if err := d.SetDir(true); err != nil {
		return err
	}
	attrs := map[string]string{
		"rankdir": "TB", "newrank": "true", "nodesep": "0.35", "ranksep": "0.5", "fontname": quote("DejaVu Sans"),
		"fontcolor": quote(d.easel.value(ink)), "bgcolor": quote(d.easel.value(page)), "labelloc": "t", "label": quote(d.title()), "tooltip": quote(d.title()),
	}
	if len(d.figure.Edges) > 400 || d.abreast() {
		// Graphviz needs minutes to route curves around many nodes, and loses edges beside clusters
		// that share ranks.
		attrs["splines"] = "line"
	}
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if err := d.AddAttr(dotName, k, attrs[k]); err != nil {
			return err
		}
	}
	return nil
}

// abreast reports whether modules of one column are side by side.
func (d *dotGraph) abreast() bool {
	for b := backwardColumn + 1; b < len(d.box); b++ {
		for c := backwardColumn + 1; c < b; c++ {
			x, y := &d.box[b], &d.box[c]
			if x.parent == y.parent && d.panel(x.seen) >= 0 && d.panel(y.seen) >= 0 && x.first <= y.last && y.first <= x.last {
				return true
			}
		}
	}
	return false
}

// title returns the title of the figure, and of the panel if one is written alone.
func (d *dotGraph) title() string {
	var parts []string
	if t := line(d.figure.Title, 100); t != "" {
		parts = append(parts, t)
	}
	for p, panel := range d.figure.Panels {
		if t := line(panel.Title, 80); t != "" && d.options.shows(p) {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return " " // some readers show the name if the label is empty
	}
	return strings.Join(parts, "\n")
}

func (d *dotGraph) name(prefix string, i int) string {
	return fmt.Sprintf("%s%0*d", prefix, d.width, i)
}

// parent returns the name of the subgraph of box b.
func (d *dotGraph) parent(b int) string {
	if b <= backwardColumn {
		return dotName
	}
	return d.name("cluster_", b)
}

// panel returns the panel whose texts are written for what is seen in s, or -1 for the empty set.
func (d *dotGraph) panel(s panelSet) int {
	for p := range d.figure.panels() {
		if s.has(p) && d.options.shows(p) {
			return p
		}
	}
	return -1
}

func (d *dotGraph) addBoxes() error {
	for b := backwardColumn + 1; b < len(d.box); b++ {
		k := &d.box[b]
		p := d.panel(k.seen)
		if p < 0 {
			continue
		}
		style := "rounded"
		if k.backward {
			style = "rounded,dashed"
		}
		tip := "module " + k.path
		if len(k.copies) > 1 {
			style, tip = "rounded,dashed,bold", "modules "+strings.Join(k.copies, ", ")
		}
		err := d.AddSubGraph(d.parent(k.parent), d.parent(b), map[string]string{
			"label": quote(cmp.Or(k.title[p], " ")), "labeljust": "l", "style": quote(style), "color": quote(d.easel.value(rule)),
			"fontname": quote("DejaVu Sans"), "fontsize": "11", "fontcolor": quote(d.easel.value(faint)), "tooltip": quote(tip),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dotShapes has the shape and style of each role.
var dotShapes = [roles]struct{ shape, style string }{
	Input: {"box", "filled,rounded"}, Param: {"box", "filled"}, State: {"box", "filled,dashed"}, Const: {"note", "filled"},
	Op: {"box", "filled,rounded"}, Reduce: {"invtrapezium", "filled"}, Gradient: {"hexagon", "filled,dashed"},
	Loss: {"box", "filled,rounded"}, Output: {"box", "filled,dotted"}, Update: {"parallelogram", "filled"},
}

func (d *dotGraph) addNodes() error {
	for i := range d.figure.Nodes {
		n := &d.figure.Nodes[i]
		p := d.panel(seenIn(n.Panel))
		if p < 0 {
			continue
		}
		label := line(n.main(p), textLimit)
		if sub := line(n.sub(p), textLimit); sub != "" {
			label += "\n" + sub
		}
		w, h := nodeSize(n, d.figure.panels())
		shape := dotShapes[n.Role]
		fill, line := d.figure.roleColours(n.Role)
		if d.figure.comparing() && n.Panel > 0 {
			line = ownOf(n.Panel - 1)
		}
		attrs := map[string]string{
			"label": quote(cmp.Or(label, " ")), "tooltip": quote(n.title(p)), "id": quote("n-" + n.ID), "comment": quote("role=" + n.Role.String()),
			"shape": shape.shape, "style": quote(shape.style), "fillcolor": quote(d.easel.value(fill)), "color": quote(d.easel.value(line)), "penwidth": "1.6",
			"fontname": quote("DejaVu Sans"), "fontsize": "11", "fontcolor": quote(d.easel.value(ink)),
			"fixedsize": "true", "width": inches(w + 8), "height": inches(h),
		}
		d.overlay(n, attrs)
		if n.Role == Param || n.Role == State || n.Role == Loss || n.Role == Output {
			attrs["peripheries"] = "2"
		}
		if err := d.AddNode(d.parent(d.innermost(i)), d.name("n", i), attrs); err != nil {
			return err
		}
	}
	return nil
}

// addRows gives nodes that share a row the same rank.
func (d *dotGraph) addRows() error {
	u := joinRows(d.figure, d.figure.index())
	members := make([][]int, u.size)
	for i, n := range d.figure.Nodes {
		if d.panel(seenIn(n.Panel)) >= 0 {
			members[u.unit[i]] = append(members[u.unit[i]], i)
		}
	}
	for k, m := range members {
		if len(m) < 2 {
			continue
		}
		name := d.name("row_", k)
		if err := d.AddSubGraph(dotName, name, map[string]string{"rank": "same"}); err != nil {
			return err
		}
		for _, i := range m {
			d.Relations.Add(name, d.name("n", i))
		}
	}
	return nil
}

// addEdges writes edges from the top down, those of values first: Graphviz places nodes from left
// to right as it meets them.
func (d *dotGraph) addEdges() error {
	order := make([]int, len(d.from))
	for e := range order {
		order[e] = e
	}
	value := func(e int) bool { return !d.figure.Nodes[d.from[e]].Backward && d.along(e) }
	slices.SortStableFunc(order, func(a, b int) int {
		if value(a) != value(b) {
			if value(a) {
				return -1
			}
			return 1
		}
		return d.row[d.from[a]] - d.row[d.from[b]]
	})
	fixed := d.rowOfValue()
	for _, e := range order {
		p := d.panel(d.seen[e])
		if p < 0 {
			continue
		}
		edge := &d.figure.Edges[e]
		from, to := d.from[e], d.to[e]
		style := kindLine[edge.Kind]
		attrs := map[string]string{
			"id": quote("e-" + strconv.Itoa(e)), "color": quote(d.easel.value(style.paint)), "penwidth": num(style.width), "fontname": quote("DejaVu Sans"),
			"fontsize": "9", "fontcolor": quote(d.easel.value(faint)), "comment": quote("kind=" + edge.Kind.String()),
			"tooltip": quote(edgeTitle(edge, &d.figure.Nodes[from], &d.figure.Nodes[to], p)),
		}
		if label := line(edge.Label, labelLimit); label != "" {
			attrs["label"] = quote(" " + label)
		}
		if s := [kinds]string{Grad: "dashed", Saved: "dotted", Assign: "dashed"}[edge.Kind]; s != "" {
			attrs["style"] = quote(s)
		}
		switch down := d.row[to] - d.row[from]; {
		case down > 0 && d.along(e):
		case down < 0 && d.along(e) && !(fixed[from] && fixed[to]):
			from, to = to, from
			attrs["dir"] = "back"
		default:
			attrs["constraint"] = "false"
		}
		if err := d.AddEdge(d.name("n", from), d.name("n", to), true, attrs); err != nil {
			return err
		}
	}
	return nil
}

// rowOfValue reports, for each node, whether a forward node fixes its row.
func (d *dotGraph) rowOfValue() []bool {
	u := joinRows(d.figure, d.figure.index())
	value := make([]bool, u.size)
	for i, n := range d.figure.Nodes {
		value[u.unit[i]] = value[u.unit[i]] || !n.Backward
	}
	fixed := make([]bool, len(d.figure.Nodes))
	for i := range fixed {
		fixed[i] = value[u.unit[i]]
	}
	return fixed
}

var (
	dotEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\uFFFD", "&#xFFFD;") // gographviz cannot read U+FFFD itself
	dotEntity  = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)
)

// quote returns s cleaned, as a DOT string that shows it literally: Graphviz would resolve
// escapes and entities in it.
func quote(s string) string {
	return `"` + dotEscaper.Replace(dotEntity.ReplaceAllString(Clean(s), "&amp;$1")) + `"`
}

// inches formats a length, given in pixels of 1/72 inch.
func inches(px float64) string { return strconv.FormatFloat(px/72, 'f', 3, 64) }
