package figure

import "fmt"

// An Option changes how a figure is written.
type Option func(*options)

type options struct {
	theme  Theme
	legend bool
	prefix string
	panel  int
	near   map[string]float64 // places in an earlier drawing; nil for none
	steady bool               // later drawings can be near to this one
	placed *Layout            // nil where it is to be computed
	nodes  bool               // a sheet has nothing else
}

// WithTheme sets the colours; the default is Auto.
func WithTheme(t Theme) Option { return func(o *options) { o.theme = t } }

// WithoutLegend omits the legend.
func WithoutLegend() Option { return func(o *options) { o.legend = false } }

// IDPrefix begins every id of the SVG, so that several can be in one page. It consists of a–z,
// 0–9, '_' and '-' and begins with a letter.
func IDPrefix(prefix string) Option { return func(o *options) { o.prefix = prefix } }

// OnlyPanel draws only panel 1 or 2 of a comparison, with its marks.
func OnlyPanel(panel int) Option { return func(o *options) { o.panel = panel } }

// Placed draws things at the places of a layout that [Figure.Layout] computed of this figure, or of
// one that differs in its marks alone: heat, groups, badges, alarms and titles.
func Placed(l *Layout) Option { return func(o *options) { o.placed = l } }

// NodesAlone leaves all items but the nodes out of a [Sheet], and its Style. In sheets of figures
// that differ in their marks alone, and all have an overlay, nothing else differs but the legend.
func NodesAlone() Option { return func(o *options) { o.nodes = true } }

func (f *Figure) options(opts []Option) (options, error) {
	o := options{legend: true}
	if f == nil {
		return o, errNoFigure
	}
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	switch {
	case o.theme > Dark:
		return o, fmt.Errorf("figure: unknown theme %d", o.theme)
	case o.prefix != "" && (!safeID(o.prefix) || o.prefix[0] < 'a'):
		return o, fmt.Errorf("figure: id prefix %q is not a letter followed by a-z, 0-9, '_' and '-'", o.prefix)
	case o.panel < 0 || o.panel > f.panels():
		return o, fmt.Errorf("figure: panel %d of a figure with %d", o.panel, f.panels())
	}
	return o, nil
}

// shows reports whether panel p (0 or 1) is to be drawn.
func (o options) shows(p int) bool { return o.panel == 0 || o.panel == p+1 }
