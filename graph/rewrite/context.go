package rewrite

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// stopped is the panic that ends a rewriting whose context is done.
type stopped struct{ error }

// look ends the rewriting if the context is done; see catch.
func look(ctx context.Context) {
	if ctx == nil {
		return
	}
	if err := ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// catch, deferred, turns the panic of look into the error of the context.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.error
	default:
		panic(r)
	}
}

// RunContext is [Run], stopped with the error of ctx once ctx is done.
func RunContext(ctx context.Context, g *graph.Graph, wanted []*graph.Node, passes ...Pass) (*Result, error) {
	return run(ctx, g, wanted, passes, nil)
}

// TraceContext is [Trace], stopped with the error of ctx once ctx is done.
func TraceContext(ctx context.Context, g *graph.Graph, wanted []*graph.Node, passes ...Pass) (*History, error) {
	rec := &recorder{left: -1}
	res, err := run(ctx, g, wanted, passes, rec)
	if err != nil {
		return nil, err
	}
	return &History{res, rec.firings, g, slices.Clone(wanted), passes}, nil
}
