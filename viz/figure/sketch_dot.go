package figure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/awalterschulze/gographviz"
)

// DOT writes s in the Graphviz language, from left to right; what is inside a sign is a cluster. An
// Auto theme is light. It is an error if [Sketch.Validate] finds a mistake; nothing is written then.
func (s *Sketch) DOT(w io.Writer, opts ...Option) error {
	if err := s.Validate(); err != nil {
		return err
	}
	o, err := (&Figure{}).options(opts)
	if err != nil {
		return err
	}
	if w == nil {
		return errNoWriter
	}
	d := &dotSketch{Graph: gographviz.NewGraph(), easel: easel{theme: o.theme}, names: map[string]string{}}
	if err := d.add(s); err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	ast, err := d.WriteAst()
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	_, err = io.WriteString(w, ast.String())
	return err
}

// A dotSketch builds the text of a sketch.
type dotSketch struct {
	*gographviz.Graph
	easel easel
	names map[string]string // of signs, by id
	edges int
}

func (d *dotSketch) add(s *Sketch) error {
	if err := d.SetName(dotName); err != nil {
		return err
	}
	if err := d.SetDir(true); err != nil {
		return err
	}
	title := strings.TrimSpace(line(s.Title, 100) + "\n" + line(s.Subtitle, 200))
	attrs := map[string]string{
		"rankdir": "LR", "nodesep": "0.3", "ranksep": "0.45", "compound": "true", "fontname": quote("DejaVu Sans"), "fontcolor": quote(d.easel.value(ink)),
		"bgcolor": quote(d.easel.value(page)), "labelloc": "t", "label": quote(cmp.Or(title, " ")), "tooltip": quote(cmp.Or(title, " ")),
	}
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if err := d.AddAttr(dotName, k, attrs[k]); err != nil {
			return err
		}
	}
	if err := d.signs(s, dotName); err != nil {
		return err
	}
	if err := d.arrows(s); err != nil {
		return err
	}
	return d.columns(s)
}

// columns gives the signs of a column one rank, and the order that they have in the SVG.
func (d *dotSketch) columns(s *Sketch) error {
	b, err := s.layout(context.Background())
	if err != nil {
		return err
	}
	for c, column := range b.columns {
		name, last := fmt.Sprintf("column_%05d", c), ""
		for _, k := range column {
			if k >= len(s.Signs) || s.Signs[k].Inner != nil {
				continue
			}
			if last == "" {
				if err := d.AddSubGraph(dotName, name, map[string]string{"rank": "same"}); err != nil {
					return err
				}
			} else if err := d.AddEdge(last, d.names[s.Signs[k].ID], true, map[string]string{"style": "invis", "id": quote(fmt.Sprintf("o%d", k))}); err != nil {
				return err
			}
			last = d.names[s.Signs[k].ID]
			d.Relations.Add(name, last)
		}
	}
	return nil
}

// signs adds the signs of a sketch to a subgraph.
func (d *dotSketch) signs(s *Sketch, parent string) error {
	for i := range s.Signs {
		n := &s.Signs[i]
		number := fmt.Sprintf("%05d", len(d.names))
		if n.Inner != nil {
			name := "cluster_" + number
			d.names[n.ID] = name
			err := d.AddSubGraph(parent, name, map[string]string{
				"label": quote(cmp.Or(line(n.Sub, subLimit), " ")), "labeljust": "l", "style": "rounded", "color": quote(d.easel.value(lineOf(Op))),
				"fontname": quote("DejaVu Sans"), "fontsize": "11", "fontcolor": quote(d.easel.value(faint)), "tooltip": quote(n.title()),
			})
			if err != nil {
				return err
			}
			if err := d.signs(n.Inner, name); err != nil {
				return err
			}
			continue
		}
		d.names[n.ID] = "n" + number
		if err := d.AddNode(parent, "n"+number, d.attrs(n)); err != nil {
			return err
		}
	}
	return nil
}

// attrs returns the attributes of a sign.
func (d *dotSketch) attrs(n *Sign) map[string]string {
	var label []string
	for _, l := range n.Lines {
		label = append(label, line(l, signLimit))
	}
	if n.named() {
		label = append(label, line(n.Sub, subLimit))
	}
	w, h := n.boxSize()
	attrs := map[string]string{
		"label": quote(cmp.Or(strings.Join(label, "\n"), " ")), "tooltip": quote(n.title()), "id": quote("s-" + n.ID), "comment": quote("role=" + n.Role.String()),
		"shape": dotShapes[n.Role].shape, "style": quote(dotShapes[n.Role].style), "fillcolor": quote(d.easel.value(fillOf(n.Role))), "color": quote(d.easel.value(lineOf(n.Role))),
		"penwidth": "1.6", "fontname": quote("DejaVu Sans"), "fontsize": "11", "fontcolor": quote(d.easel.value(ink)), "fixedsize": "true", "width": inches(w + 8), "height": inches(h),
	}
	switch n.Form {
	case Disc:
		attrs["shape"], attrs["style"], attrs["fontsize"] = "circle", "filled", "14"
	case Bare:
		attrs["shape"], attrs["style"] = "plaintext", quote("")
	}
	if n.Role == Param || n.Role == State || n.Role == Loss || n.Role == Output {
		attrs["peripheries"] = "2"
	}
	if texts, _ := n.under(); len(texts) > 0 { // beside a circle it would be on arrows
		attrs["label"] = quote(strings.Join(append(label, texts...), "\n"))
		for _, t := range texts {
			w = max(w, TextWidth(t, signSize)+8)
		}
		attrs["width"], attrs["height"] = inches(w+8), inches(h+smallLine*float64(len(texts)))
		if n.Form == Disc {
			attrs["shape"], attrs["style"], attrs["fontsize"] = "box", quote("filled,rounded"), "11"
		}
	}
	return attrs
}

// arrows adds the arrows of a sketch and of those inside.
func (d *dotSketch) arrows(s *Sketch) error {
	index := s.index()
	for i := range s.Signs {
		if inner := s.Signs[i].Inner; inner != nil {
			if err := d.arrows(inner); err != nil {
				return err
			}
		}
	}
	// end returns the node of an end of an arrow, and the cluster if it ends at its border.
	end := func(id, pin string, last bool) (node, cluster string) {
		n := &s.Signs[index[id]]
		if n.Inner == nil {
			return d.names[id], ""
		}
		if pin != "" {
			return d.names[pin], ""
		}
		at := 0
		if last {
			at = len(n.Inner.Signs) - 1
		}
		if at < 0 || len(n.Inner.Signs) == 0 {
			return "", ""
		}
		return d.names[n.Inner.Signs[at].ID], d.names[id]
	}
	for _, a := range s.Arrows {
		from, tail := end(a.From, a.FromPin, true)
		to, head := end(a.To, a.ToPin, false)
		if from == "" || to == "" {
			continue
		}
		add := func(from, to string, k Kind, attrs map[string]string) error {
			attrs["id"], attrs["color"] = quote("a"+strconv.Itoa(d.edges)), quote(d.easel.value(kindLine[k].paint))
			attrs["penwidth"], attrs["comment"] = num(kindLine[k].width), quote("kind="+k.String())
			attrs["fontname"], attrs["fontsize"], attrs["fontcolor"] = quote("DejaVu Sans"), "9", quote(d.easel.value(faint))
			d.edges++
			return d.AddEdge(from, to, true, attrs)
		}
		attrs := map[string]string{"tooltip": quote(s.Signs[index[a.From]].name() + " → " + s.Signs[index[a.To]].name())}
		if tail != "" {
			attrs["ltail"] = tail
		}
		if head != "" {
			attrs["lhead"] = head
		}
		if a.Label != "" {
			attrs["label"] = quote(" " + line(a.Label, labelLimit))
		}
		switch {
		case a.Fold:
			attrs["constraint"] = "false"
		case a.Hidden:
			attrs["style"] = "invis"
		}
		if err := add(from, to, Forward, attrs); err != nil {
			return err
		}
		if a.Grad {
			if err := add(to, from, Grad, map[string]string{"constraint": "false", "style": "dashed", "tooltip": quote("derivative")}); err != nil {
				return err
			}
		}
	}
	return nil
}
