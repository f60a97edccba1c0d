package geometry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// objective is the loss of a site as a function of its parameters: a copy of the model's graph in
// which the parameters are inputs, so that one program evaluates any parameter vector.
type objective struct {
	site   Site
	params []*graph.Node // of the model
	graph  *graph.Graph
	copies map[*graph.Node]*graph.Node
	loss   *graph.Node
	inputs []*graph.Node // in place of params
	size   int           // of the parameter vector
}

// objective copies what the loss and the other given nodes of the model depend on.
func (s Site) objective(others ...*graph.Node) (*objective, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	o := &objective{site: s, params: params}
	o.graph, o.copies = cone.Copy(s.Model.Graph.Name(), params, append([]*graph.Node{s.Model.Loss}, others...)...)
	o.loss = o.copies[s.Model.Loss]
	for _, p := range params {
		o.inputs = append(o.inputs, o.copies[p])
		o.size += p.Shape().Len()
	}
	return o, o.graph.Err()
}

// objectives returns the objective of each site. It is an error if the sites' parameters differ.
func objectives(sites []Site) ([]*objective, error) {
	if len(sites) == 0 {
		return nil, errors.New("there is no site to look at")
	}
	var out []*objective
	for _, s := range sites {
		o, err := s.objective()
		if err != nil {
			return nil, err
		}
		out = append(out, o)
		if !s.SameParameters(sites[0]) {
			return nil, fmt.Errorf("%s has the parameters %s, and %s has %s: want the same, by name and type", sites[0].name(), parameterTypes(out[0].params), s.name(), parameterTypes(o.params))
		}
	}
	return out, nil
}

func parameterTypes(params []*graph.Node) string {
	var out []string
	for _, p := range params {
		out = append(out, fmt.Sprintf("%s %v", p.Path(), p.Type()))
	}
	return strings.Join(out, ", ")
}

// feedOf feeds the copies with what their originals are fed.
func feedOf(feed tape.Feed, copies map[*graph.Node]*graph.Node) tape.Feed {
	out := tape.Feed{}
	for n, t := range feed {
		if c := copies[n]; c != nil {
			out[c] = t
		}
	}
	return out
}

// here returns the parameter vector of the site.
func (o *objective) here() ([]float64, error) {
	v, err := stored(o.site.Store, o.params)
	if err != nil {
		err = fmt.Errorf("%s: %w", o.site.name(), err)
	}
	return v, err
}

// path checks that each vector of a path fits the parameters. A nil path stands for the site's own
// parameter vector alone.
func (o *objective) path(path [][]float64) ([][]float64, error) {
	if path == nil {
		here, err := o.here()
		return [][]float64{here}, err
	}
	for i, at := range path {
		if len(at) != o.size {
			return nil, fmt.Errorf("%s: step %d of the path has %d values, and the parameters have %d", o.site.name(), i, len(at), o.size)
		}
	}
	return path, nil
}

// valueOf returns the elements of an input or a parameter of the model at the site.
func (o *objective) valueOf(n *graph.Node) ([]float64, error) {
	if slices.Contains(o.params, n) {
		return stored(o.site.Store, []*graph.Node{n})
	}
	fed := o.site.Feed[n]
	if v, has := n.Default(); has && fed == nil {
		return []float64{v}, nil
	}
	if fed == nil {
		return nil, fmt.Errorf("%s: nothing is fed to %s", o.site.name(), n.Path())
	}
	v, err := floats(n.Type(), fed)
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", o.site.name(), n.Path(), err)
	}
	return v, err
}

// stored returns the elements of parameters in a store, one parameter after the other.
func stored(s *tape.Store, params []*graph.Node) ([]float64, error) {
	var out []float64
	for _, p := range params {
		t, err := s.Get(p.Path())
		if err != nil {
			return nil, err
		}
		v, err := floats(p.Type(), t)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

// floats returns the elements of a tensor of the given type in row-major order.
func floats(typ graph.Type, t *tensor.Dense) ([]float64, error) {
	a, err := tape.ArrayOf(typ, t)
	if err != nil {
		return nil, err
	}
	out := make([]float64, typ.Shape.Len())
	for i := range out {
		out[i] = a.At(i)
	}
	return out, nil
}

func (o *objective) compile(ctx context.Context, fetch ...*graph.Node) (*tape.Program, error) {
	p, err := tape.CompileContext(ctx, o.graph, tape.Fetch(fetch...))
	if err != nil {
		err = fmt.Errorf("%s: %w", o.site.name(), err)
	}
	return p, err
}

// each calls do for 0 to n−1, on several goroutines with an evaluator each, and counts every call.
// What do computes for i must depend on i alone.
func (o *objective) each(p *tape.Program, workers, n int, count *progress, do func(e *evaluator, i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, n)
	evaluators := make([]*evaluator, min(workers, n))
	for i := range evaluators {
		e, err := o.evaluator(p, tape.Workers(1))
		if err != nil {
			return err
		}
		defer e.close()
		evaluators[i] = e
	}
	for _, e := range evaluators {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if errs[i] = do(e, i); errs[i] != nil {
					return
				}
				count.step()
			}
		}()
	}
	wait.Wait()
	return cmp.Or(errs...)
}
