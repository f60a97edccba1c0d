package gorgonia

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	G "gorgonia.org/gorgonia"
)

// built gives gorgonia's graph, nil where it refuses the call or panics.
func (s setting) built() *theirGraph {
	var h theirGraph
	_, err := guard(func() (_ []float64, err error) {
		h, err = s.build()
		return nil, err
	})
	if err != nil {
		return nil
	}
	return &h
}

// imported gives the value of gorgonia's graph as we import it, and our gradients of its loss.
func (h *theirGraph) imported() (y, first []float64, err error) {
	m, err := Import(h.g, Params(h.x...))
	if err != nil {
		return nil, nil, err
	}
	if err := graph.Verify(m.Graph); err != nil {
		return nil, nil, err
	}
	dx := grad.OrZero(m.Node(h.loss), m.Nodes(h.x...)...)
	if y, err = m.evaluated(m.Node(h.y)); err != nil {
		return nil, nil, err
	}
	first, err = m.evaluated(dx...)
	return y, first, err
}

// evaluated gives the values of nodes by the reference, with those of the leaves as gorgonia has
// them.
func (m *Imported) evaluated(nodes ...*graph.Node) (all []float64, err error) {
	feed, err := m.Feed()
	if err != nil {
		return nil, err
	}
	values, err := feed.Values()
	if err != nil {
		return nil, err
	}
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		t, err := m.Store.Get(n.Path())
		if err != nil {
			return nil, err
		}
		v, err := arrayOf(t, n.Type())
		if err != nil {
			return nil, err
		}
		values[n] = v
	}
	out, err := ref.Eval(trait.Env{}, values, nodes...)
	for _, v := range out {
		all = append(all, v.Data...)
	}
	return all, err
}

// held compares an imported graph with what is meant, and reports whether there is one.
func (s setting) held(t *testing.T, how string) bool {
	t.Helper()
	h := s.built()
	if h == nil {
		return false
	}
	y, first, _ := s.mine(t)
	gotY, gotFirst, err := h.imported()
	if err != nil {
		t.Errorf("%s: %v", how, err)
		return true
	}
	if v := judge(gotY, nil, y); v != right {
		t.Errorf("%s: the value is %s", how, v)
	}
	if v := judge(gotFirst, nil, first); v != right {
		t.Errorf("%s: the gradient is %s", how, v)
	}
	return true
}

// TestImportsEveryFunction: what each of gorgonia's functions builds has the value and gradient that
// are meant, also where gorgonia's are wrong.
func TestImportsEveryFunction(t *testing.T) {
	for _, o := range slices.Concat(owns(), sweeps()) {
		if !newSetting(o).held(t, o.op) && o.op != "LogSumExp" {
			t.Errorf("%s: gorgonia does not build it", o.op)
		}
	}
}

// TestImportsRandomCalls does the same for drawn shapes and settings. G.AveragePool1D builds a
// maximum, which is imported as what it is.
func TestImportsRandomCalls(t *testing.T) {
	log.SetOutput(io.Discard) // where GroupNorm writes
	defer log.SetOutput(os.Stderr)
	for _, f := range families() {
		if f.name == "AveragePool1D" {
			continue
		}
		r := rand.New(rand.NewPCG(3, 5))
		built := 0
		for range 10 {
			if how, o := f.draw(r); newSetting(o).held(t, fmt.Sprintf("%s, %s", f.name, how)) {
				built++
			}
		}
		if built < 5 {
			t.Errorf("%s: gorgonia builds %d of 10", f.name, built)
		}
	}
}

// derivatives holds the nodes of gorgonia's own Grad, as they are imported, to the right gradient
// or, where gorgonia's is wrong, to either.
func (s setting) derivatives(t *testing.T, how string) {
	t.Helper()
	h := s.built()
	if h == nil {
		return
	}
	_, first, _ := s.mine(t)
	var d G.Nodes
	theirs, err := guard(func() (_ []float64, err error) {
		if d, err = G.Grad(h.loss, h.x...); err != nil {
			return nil, err
		}
		return valuesOf(h.g, nil, d...)
	})
	if d == nil {
		return // it has no derivative
	}
	m, failed := Import(h.g)
	if failed != nil {
		t.Errorf("%s: %v", how, failed)
		return
	}
	if len(m.Left) > 0 {
		if err == nil {
			t.Errorf("%s: left out: %v", how, m.Left)
		}
		return
	}
	for _, x := range h.x {
		if m.Node(x).Role() != graph.RoleParam {
			t.Errorf("%s: %v is no parameter, though it was differentiated by", how, x)
		}
	}
	got, failed := m.evaluated(m.Nodes(d...)...)
	if v := judge(got, failed, first); v == right {
		return
	}
	if judge(theirs, err, slices.Clone(first)) == right || fmt.Sprintf("%.8g", got) != fmt.Sprintf("%.8g", theirs) {
		t.Errorf("%s: gorgonia's gradient is %s, its import %s", how, judge(theirs, err, slices.Clone(first)), judge(got, failed, first))
	}
}

// TestImportsDerivatives: gorgonia's own derivatives are imported with the graph.
func TestImportsDerivatives(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	for _, o := range slices.Concat(owns(), sweeps()) {
		newSetting(o).derivatives(t, o.op)
	}
	for _, f := range families() {
		r := rand.New(rand.NewPCG(3, 5))
		for range 5 {
			how, o := f.draw(r)
			newSetting(o).derivatives(t, fmt.Sprintf("%s, %s", f.name, how))
		}
	}
}
