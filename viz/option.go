package viz

import (
	"context"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Option changes what is drawn or written.
type Option func(*options)

type options struct {
	adjoints bool
	level    Level
	leveled  bool // a level was asked for
	title    string
	panels   [2]string
	noSaved  bool
	noLines  bool
	open     []string
	limit    int
	unfolded bool
	marks    map[*graph.Node]Mark
	heat     string
	fed      map[*graph.Node]float64
	courses  map[*graph.Node][2]float64
	figure   []figure.Option
	ctx      context.Context // ends long work; nil for none
}

// collapseAbove is the number of nodes above which scopes are drawn closed: more
// boxes are not read by anyone.
const collapseAbove = 300

func collect(opts []Option) options {
	o := options{limit: collapseAbove}
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// StopAtAdjoints makes formulas stop at derivatives with respect to named
// quantities: ∂loss/∂D appears as a symbol.
func StopAtAdjoints() Option { return func(o *options) { o.adjoints = true } }

// At draws at a level. Without it, drawings are at [Notes], or at [Ops] where
// nothing between the leaves and the results has a name: there would be one box.
func At(l Level) Option { return func(o *options) { o.level, o.leveled = l, true } }

// Title heads the drawing; without it, the graph's name does.
func Title(s string) Option { return func(o *options) { o.title = s } }

// Fed draws inputs that have a default with what a run feeds them, with four digits,
// where this is another number.
func Fed(values map[*graph.Node]float64) Option {
	return func(o *options) { o.fed = values }
}

// FedFrom draws inputs that have a default with the first and the last number that a
// training feeds them, with three digits: γ = 0.33 → 66.
func FedFrom(courses map[*graph.Node][2]float64) Option {
	return func(o *options) { o.courses = courses }
}

// Panels names the two sides of a comparison; without it, the graphs' names do.
func Panels(a, b string) Option { return func(o *options) { o.panels = [2]string{a, b} } }

// WithoutSaved leaves out the dotted edges of forward values that derivatives
// use.
func WithoutSaved() Option { return func(o *options) { o.noSaved = true } }

// WithoutLines leaves the user's source lines out of what is said of a node, so that
// a drawing that is kept does not change with every edit above them.
func WithoutLines() Option { return func(o *options) { o.noLines = true } }

// CollapseAbove draws scopes closed, as a box each, where more than n nodes would
// be visible. The default is 300; 0 closes always, a negative n never.
func CollapseAbove(n int) Option { return func(o *options) { o.limit = n } }

// Expand draws the scope at a path ("encoder/0"), and those around it, open where
// others are drawn closed. Of blocks that are drawn once for all ("encoder/0…11") it
// takes the one at the path out, to be drawn by itself.
func Expand(path string) Option {
	return func(o *options) { o.open = append(o.open, strings.Replace(path, "...", "…", 1)) }
}

// Unfolded draws blocks that repeat one by one. Without it, in a drawing of more than
// a hundred nodes, sibling scopes that are built alike and numbered one after the
// other ("block1" to "block12", "step 0" to "step 9") are drawn once, with their
// derivatives, under the name of all: "block1 … 12 × 12".
func Unfolded() Option { return func(o *options) { o.unfolded = true } }

// With passes options on to the writer of the figure: its theme, its legend.
func With(opts ...figure.Option) Option {
	return func(o *options) { o.figure = append(o.figure, opts...) }
}
