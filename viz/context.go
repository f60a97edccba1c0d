package viz

import (
	"context"
	"io"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// stopped ends a long computation from within when its context is done.
type stopped struct{ error }

// look panics with stopped if the context is done; see catch.
func (u *unfolder) look() {
	if u.ctx == nil {
		return
	}
	if err := u.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// catch turns a panic of look into the context's error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.error
	default:
		panic(r)
	}
}

// until sets the context that ends the work.
func until(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// DrawContext is [Draw], stopped with the error of ctx once ctx is done.
func DrawContext(ctx context.Context, roots []*graph.Node, opts ...Option) (f *figure.Figure, err error) {
	defer catch(&err)
	return Draw(roots, append(opts[:len(opts):len(opts)], until(ctx))...)
}

// SVGContext is [SVG], stopped with the error of ctx once ctx is done. Nothing is written then.
func SVGContext(ctx context.Context, w io.Writer, roots []*graph.Node, opts ...Option) error {
	f, err := DrawContext(ctx, roots, opts...)
	if err != nil {
		return err
	}
	return f.SVGContext(ctx, w, collect(opts).figure...)
}

// DiffContext is [Diff], stopped with the error of ctx once ctx is done.
func DiffContext(ctx context.Context, a, b []*graph.Node, opts ...Option) (d *Difference, err error) {
	defer catch(&err)
	if d, err = Diff(a, b, append(opts[:len(opts):len(opts)], until(ctx))...); err == nil {
		d.a.ctx, d.b.ctx = nil, nil
	}
	return d, err
}

// FigureContext is [Difference.Figure], stopped with the error of ctx once ctx is done.
func (d *Difference) FigureContext(ctx context.Context) (f *figure.Figure, err error) {
	err = d.within(ctx, func() { f = d.Figure() })
	return f, err
}

// TextContext is [Difference.Text], stopped with the error of ctx once ctx is done.
func (d *Difference) TextContext(ctx context.Context) (text string, err error) {
	err = d.within(ctx, func() { text = d.Text() })
	return text, err
}

func (d *Difference) within(ctx context.Context, work func()) (err error) {
	if err := d.whole(); err != nil {
		return err
	}
	d.a.ctx, d.b.ctx = ctx, ctx
	defer func() { d.a.ctx, d.b.ctx = nil, nil }()
	defer catch(&err)
	work()
	return nil
}

// DeriveContext is [Derive], stopped with the error of ctx once ctx is done.
func DeriveContext(ctx context.Context, derivatives ...*graph.Node) (d Derivation, err error) {
	defer catch(&err)
	return derive(ctx, derivatives)
}

// EquationsContext is [Equations], stopped with the error of ctx once ctx is done.
func EquationsContext(ctx context.Context, n *graph.Node) (out []Equation, err error) {
	defer catch(&err)
	return equations(ctx, n), nil
}
