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
// Names in the text are numbers, never the caller's; the ID of a node is its id attribute. An edge
// that goes up is written from its upper end with dir=back, which tells Graphviz that the arrow
// points up.
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
	for _, add := range []func() error{d.addGraph, d.addBoxes, d.addNodes, d.addRows, d.addEdges, d.addSides} {
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
		"fontcolor": quote(d.easel.value(ink)), "bgcolor": quote(d.easel.value(page)), "labelloc": "t", "label": d.caption(), "tooltip": quote(d.title()),
		"splines": "true",
	}
	if d.columns() && d.interleaved() > 2 {
		attrs["splines"] = "line" // Graphviz fails to route curves between them
	}
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if err := d.AddAttr(dotName, k, attrs[k]); err != nil {
			return err
		}
	}
	return nil
}

// interleaved counts the edges from one module into another beside it for which as many lead back, so
// that no order of the two has them all going down.
func (d *dotGraph) interleaved() (n int) {
	type pair struct{ above, below int }
	count := map[pair]int{}
	for e := range d.from {
		if d.panel(d.seen[e]) < 0 {
			continue
		}
		above, below := d.item[d.from[e]].inside, d.item[d.to[e]].inside
		if d.row[d.to[e]] < d.row[d.from[e]] {
			above, below = below, above
		}
		k := len(common(above, below))
		if k == 0 || k == len(above) || k == len(below) {
			continue
		}
		p, back := pair{above[k], below[k]}, pair{below[k], above[k]}
		count[p]++
		if x, y := &d.box[p.above], &d.box[p.below]; count[p] <= count[back] && x.first <= y.last && y.first <= x.last {
			n++
		}
	}
	return n
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

// parent returns the name of the subgraph of box b. The columns are subgraphs where there are two, so
// that they stay side by side.
func (d *dotGraph) parent(b int) string {
	if b <= backwardColumn && !d.columns() {
		return dotName
	}
	return d.name("cluster_", b)
}

// columns reports whether both columns have nodes.
func (d *dotGraph) columns() bool {
	return d.panel(d.box[forwardColumn].seen) >= 0 && d.panel(d.box[backwardColumn].seen) >= 0
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
	for b := forwardColumn; b <= backwardColumn && d.columns(); b++ {
		if err := d.AddSubGraph(dotName, d.parent(b), map[string]string{"peripheries": "0", "label": quote(" ")}); err != nil {
			return err
		}
	}
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
			"label": quote(cmp.Or(k.title[p], " ")), "labeljust": "l", "peripheries": "1", "style": quote(style), "color": quote(d.easel.value(rule)),
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
	Input: {"box", "filled,rounded"}, Hyper: {"octagon", "filled"}, Param: {"box", "filled"}, State: {"box", "filled,dashed"}, Const: {"note", "filled"},
	Op: {"box", "filled,rounded"}, Move: {"box", "filled,diagonals"}, Along: {"box", "filled"}, Reduce: {"invtrapezium", "filled"}, Gradient: {"hexagon", "filled,dashed"},
	Loss: {"box", "filled,rounded"}, Output: {"box", "filled,dotted"}, Update: {"parallelogram", "filled"},
}

func (d *dotGraph) addNodes() error {
	roomy := new(Figure).measures() // Graphviz has its own distances, and texts of one size
	for i := range d.figure.Nodes {
		n := &d.figure.Nodes[i]
		p := d.panel(seenIn(n.Panel))
		if p < 0 {
			continue
		}
		label := dotMarkup(line(n.main(p), textLimit), dotMain)
		if sub := line(n.sub(p), textLimit); sub != "" {
			small := faint
			if _, on, ok := n.overlaid(); ok {
				small = on
			}
			label += `<BR/><FONT POINT-SIZE="13">` + "\u00A0" + `</FONT><FONT POINT-SIZE="` + num(dotSub) + `" COLOR="` + d.easel.value(small) + `">` + dotMarkup(sub, dotSub) + `</FONT>`
		}
		if params := line(n.Params, textLimit); params != "" {
			label += `<BR/><FONT POINT-SIZE="` + num(dotSub) + `">` + dotMarkup(params, dotSub) + `</FONT>`
		}
		w, h := roomy.size(n, d.figure.panels())
		if n.Params != "" { // a third line
			h += 16
		}
		shape := dotShapes[n.Role]
		fill, line := d.figure.roleColours(n.Role)
		if d.figure.comparing() && n.Panel > 0 {
			line = ownOf(n.Panel - 1)
		}
		attrs := map[string]string{
			"label": dotHTML(label), "tooltip": quote(n.title(p)), "id": quote("n-" + n.ID), "comment": quote("role=" + n.Role.String()),
			"shape": shape.shape, "style": quote(shape.style), "fillcolor": quote(d.easel.value(fill)), "color": quote(d.easel.value(line)), "penwidth": "1.6",
			"fontname": quote("DejaVu Sans"), "fontsize": num(dotMain), "fontcolor": quote(d.easel.value(ink)),
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
			attrs["label"] = dotHTML(" " + dotMarkup(label, dotSub))
		}
		if s := [kinds]string{Grad: "dashed", Saved: "dotted", Assign: "dashed", Carry: "dashed"}[edge.Kind]; s != "" {
			attrs["style"] = quote(s)
		}
		attrs["weight"] = dotWeight[edge.Kind]
		if d.row[to] < d.row[from] {
			from, to = to, from
			attrs["dir"] = "back"
		}
		if !d.along(e) && d.figure.Nodes[from].Backward && (d.figure.Nodes[from].Row == "" || d.figure.comparing()) {
			attrs["constraint"] = "false" // such edges would draw the gradients to the left
		}
		if err := d.AddEdge(d.name("n", from), d.name("n", to), true, attrs); err != nil {
			return err
		}
	}
	return nil
}

// addSides adds an edge that is not seen, from a value to a gradient in its row: it puts the column of
// gradients on the right.
func (d *dotGraph) addSides() error {
	if !d.columns() {
		return nil
	}
	index := d.figure.index()
	for i, n := range d.figure.Nodes {
		v, ok := index[n.Row]
		if ok && n.Backward && !d.figure.Nodes[v].Backward && d.row[i] == d.row[v] && d.panel(seenIn(n.Panel)) >= 0 && d.panel(seenIn(d.figure.Nodes[v].Panel)) >= 0 {
			return d.AddEdge(d.name("n", v), d.name("n", i), true, map[string]string{"style": "invis", "comment": quote("kind=order")})
		}
	}
	return nil
}

// dotWeight says how straight Graphviz draws each kind of edge. What is saved pulls at nothing.
var dotWeight = [kinds]string{Forward: "4", Grad: "4", Saved: "0", Assign: "1", Carry: "1"}

var (
	dotEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\uFFFD", "&#xFFFD;") // gographviz cannot read U+FFFD itself
	dotEntity  = regexp.MustCompile(`&(#?[0-9A-Za-z]+;)`)
)

// quote returns s cleaned, as a DOT string that shows it literally: Graphviz would resolve
// escapes and entities in it.
func quote(s string) string {
	return `"` + dotEscaper.Replace(dotEntity.ReplaceAllString(Linear(Clean(s)), "&amp;$1")) + `"`
}

// inches formats a length, given in pixels of 1/72 inch.
func inches(px float64) string { return strconv.FormatFloat(px/72, 'f', 3, 64) }
