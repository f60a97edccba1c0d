package viz

import (
	"context"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
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
	params   Params
	dense    int
	loops    bool // the steps of loops are shown
	marks    map[*graph.Node]Mark
	heat     string
	fed      map[*graph.Node]float64
	courses  map[*graph.Node][2]float64
	figure   []figure.Option
	apart    string          // the axis along which a sketch draws parts apart
	ctx      context.Context // ends long work; nil for none

	functions []ops.Composite
}

// collapseAbove is the number of nodes above which scopes are drawn closed: nobody reads more
// boxes.
const collapseAbove = 300

func collect(opts []Option) options {
	o := options{limit: collapseAbove, dense: denseAbove}
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	return o
}

// StopAtAdjoints makes formulas stop at derivatives by named quantities: ∂loss/∂D appears as a
// symbol.
func StopAtAdjoints() Option { return func(o *options) { o.adjoints = true } }

// Functions adds functions to those that formulas call by their names, wherever the graph has the
// operations that such a function adds. They are elementwise, of one float; see [ops.Composite].
func Functions(all ...ops.Composite) Option {
	return func(o *options) { o.functions = append(o.functions, all...) }
}

// At draws at a level. The default for drawings is [Notes], or [Ops] if nothing between the
// leaves and the results has a name, since Notes would draw a single box.
func At(l Level) Option { return func(o *options) { o.level, o.leveled = l, true } }

// Title sets the heading of the drawing; the default is the name of the graph.
func Title(s string) Option { return func(o *options) { o.title = s } }

// Fed draws inputs that have a default with the value that a run feeds them, with four digits,
// where it differs from the default.
func Fed(values map[*graph.Node]float64) Option {
	return func(o *options) { o.fed = values }
}

// FedFrom draws inputs that have a default with the first and the last value that a training
// feeds them, with three digits: γ = 0.33 → 66.
func FedFrom(courses map[*graph.Node][2]float64) Option {
	return func(o *options) { o.courses = courses }
}

// Panels names the two sides of a comparison; the default is the names of the graphs.
func Panels(a, b string) Option { return func(o *options) { o.panels = [2]string{a, b} } }

// WithoutSaved leaves out the dotted edges of forward values that derivatives use.
func WithoutSaved() Option { return func(o *options) { o.noSaved = true } }

// WithoutLines leaves the user's source lines out of the descriptions of nodes, so that a drawing
// that is kept in a repository does not change with every edit.
func WithoutLines() Option { return func(o *options) { o.noLines = true } }

// CollapseAbove draws scopes as one closed box each if more than n nodes would be visible. The
// default is 300; 0 always closes them, a negative n never.
func CollapseAbove(n int) Option { return func(o *options) { o.limit = n } }

// Expand draws the scope at a path ("encoder/0"), and those around it, open where other scopes
// are drawn closed. If the scope is one of the blocks that are drawn once for all
// ("encoder/0…11"), it is drawn by itself.
func Expand(path string) Option {
	return func(o *options) { o.open = append(o.open, strings.Replace(path, "...", "…", 1)) }
}

// Unfolded draws each of the blocks that repeat. By default, in a drawing of more than a hundred
// nodes, sibling scopes with equal structure and consecutive numbers ("block1" to "block12",
// "step 0" to "step 9") are drawn once, with their derivatives, under a common title: "block1 …
// 12 × 12".
func Unfolded() Option { return func(o *options) { o.unfolded = true } }

// withLoops shows the steps of loops.
func withLoops(o *options) { o.loops = true }

// With passes options on to the writer of the figure, such as its theme and its legend.
func With(opts ...figure.Option) Option {
	return func(o *options) { o.figure = append(o.figure, opts...) }
}
