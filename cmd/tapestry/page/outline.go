package page

import (
	"context"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz"
)

// outline holds the modules of a drawing with all modules open, the formula of each by its id, and
// the number of boxes.
type outline struct {
	paths    []string
	formulas map[string]string
	nodes    int
}

// outlineKey identifies the drawing of an outline.
type outlineKey struct {
	of        *variant
	level     viz.Level
	gradients bool
}

// usualLimit is the number of boxes above which drawings close modules.
const usualLimit = 300

// outline finds the modules that a level draws, all open.
func (d *document) outline(ctx context.Context, v *variant, q drawing) (outline, error) {
	key := outlineKey{v, q.level, q.gradients}
	if o, known := d.outlines[key]; known {
		return o, nil
	}
	f, err := viz.DrawContext(ctx, v.drawn(q.gradients), viz.At(q.level), viz.CollapseAbove(-1), viz.Unfolded(), viz.DenseAbove(-1))
	if err != nil {
		return outline{}, err
	}
	o := outline{nodes: len(f.Nodes), formulas: formulasOf(f)}
	met := map[string]bool{"": true}
	for _, n := range f.Nodes {
		for p := n.Module; !met[p]; p = p[:max(strings.LastIndexByte(p, '/'), 0)] {
			met[p] = true
			o.paths = append(o.paths, p)
		}
	}
	slices.Sort(o.paths)
	if d.outlines == nil {
		d.outlines = map[outlineKey]outline{}
	}
	d.outlines[key] = o
	return o, nil
}

// opened returns the options that open and close modules as a request wants. A module that the page
// remembers from another level may not exist at this one, which is no error.
func (d *document) opened(ctx context.Context, v *variant, q drawing) ([]viz.Option, error) {
	if len(q.open)+len(q.closed) == 0 {
		return nil, nil
	}
	all := slices.Contains(q.open, "*")
	if len(q.closed) == 0 && all {
		return []viz.Option{viz.CollapseAbove(-1), viz.Unfolded()}, nil
	}
	o, err := d.outline(ctx, v, q)
	if err != nil {
		return nil, err
	}
	out := []viz.Option{viz.CollapseAbove(0)}                // what is not said to be open is closed, also where folding leaves few boxes
	if len(q.closed) > 0 && (all || o.nodes <= usualLimit) { // all would be open
		out = append(out, viz.Unfolded())
		all = true
	}
	for _, p := range o.paths {
		shut := slices.ContainsFunc(q.closed, func(c string) bool { return p == c || strings.HasPrefix(p, c+"/") })
		if !shut && (all || slices.Contains(q.open, p)) {
			out = append(out, viz.Expand(p))
		}
	}
	return out, nil
}
