package lab

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// tasks returns, for each model, the index of the model whose examples it is trained on: among
// those whose examples serve it ([serves]) the one whose examples serve most models, the first
// among equals. Only the first n models give examples to others. All models with data of their own
// have the same rows, in the same batches. inputs has, for each model that is trained on the
// examples of another, the path of the other's input for the path of each of its own.
func tasks(models []*builders.Model, n int) (task []int, inputs []map[string]string) {
	task, inputs = make([]int, len(models)), make([]map[string]string, len(models))
	served := make([]int, len(models))
	by := make([][]map[string]string, len(models)) // by giver and receiver; nil where that serves not
	for i, m := range models {
		by[i] = make([]map[string]string, len(models))
		for j, other := range models {
			if by[i][j] = serves(m, other); by[i][j] != nil {
				served[i]++
			}
		}
	}
	for i, m := range models {
		task[i] = i
		if m.Rows != nil {
			task[i] = slices.IndexFunc(models, func(m *builders.Model) bool { return m.Rows != nil })
			continue
		}
		for j := range models[:n] {
			if best := task[i]; by[j][i] != nil && (served[j] > served[best] || served[j] == served[best] && j < best) {
				task[i] = j
			}
		}
		if task[i] != i {
			inputs[i] = by[task[i]][i]
		}
	}
	return task, inputs
}

// serves returns the input of m, by path, that each input of other corresponds to, if the examples
// of m can be those of other; nil if not. Inputs correspond if they have the same element type and
// sizes, whatever their axes are called, and are both targets or both not, and if other takes what
// m draws. First those of the same path are paired. The rest must be as many in both models, and
// there must be one way alone to pair them.
func serves(m, other *builders.Model) map[string]string {
	pairs := map[string]string{}
	if m == other {
		for _, n := range m.Inputs() {
			pairs[n.Path()] = n.Path()
		}
		return pairs
	}
	if m.Examples == nil {
		return nil
	}
	var rest []*graph.Node
	free := m.Inputs()
	for _, n := range other.Inputs() {
		i := slices.IndexFunc(free, func(own *graph.Node) bool { return own.Path() == n.Path() && alike(own, n) })
		if i < 0 {
			rest = append(rest, n)
			continue
		}
		pairs[n.Path()] = n.Path()
		free = slices.Delete(free, i, i+1)
	}
	if len(rest) > 0 {
		if len(rest) != len(free) {
			return nil
		}
		kind, otherKind := targets(m), targets(other)
		for len(rest) > 0 { // what has one partner left takes it
			i, partner := -1, -1
			for j, n := range rest {
				fits := indices(free, func(own *graph.Node) bool {
					return alike(own, n) && (kind == nil || otherKind == nil || kind[own] == otherKind[n])
				})
				if len(fits) == 1 {
					i, partner = j, fits[0]
					break
				}
			}
			if i < 0 {
				return nil
			}
			pairs[rest[i].Path()] = free[partner].Path()
			rest, free = slices.Delete(rest, i, i+1), slices.Delete(free, partner, partner+1)
		}
	}
	if !takes(other, m, pairs) {
		return nil
	}
	return pairs
}

// indices returns the places of the nodes of which is holds.
func indices(nodes []*graph.Node, is func(n *graph.Node) bool) []int {
	var out []int
	for i, n := range nodes {
		if is(n) {
			out = append(out, i)
		}
	}
	return out
}

// alike reports whether two inputs have the same element type and sizes.
func alike(a, b *graph.Node) bool {
	return a.DType() == b.DType() && a.Shape().SameSizes(b.Shape())
}

// targets tells which inputs of a model the loss depends on, and the output does not. It is nil for
// a model whose output is the loss, in which nothing tells them.
func targets(m *builders.Model) map[*graph.Node]bool {
	if m.Output == nil || m.Output == m.Loss {
		return nil
	}
	out := map[*graph.Node]bool{}
	for _, n := range m.Inputs() {
		out[n] = true
	}
	for _, n := range graph.Reachable(m.Output) {
		delete(out, n)
	}
	return out
}

// takes reports whether a model can be fed what another draws: whole numbers, as tokens and classes
// are, lie between the least and the largest of those that it draws itself, and an input with
// another path that is never negative, or never positive, is fed none that are. Both draw the batches
// of the first steps from one seed. A model without examples takes everything.
func takes(m, from *builders.Model, pairs map[string]string) bool {
	if m.Examples == nil {
		return true
	}
	inputs := slices.DeleteFunc(m.Inputs(), func(n *graph.Node) bool {
		return n.DType().IsFloat() && pairs[n.Path()] == n.Path()
	})
	if len(inputs) == 0 {
		return true
	}
	own, given := map[string]*extent{}, map[string]*extent{}
	for t := range judged {
		a, errA := batch(m, 1, t)
		b, errB := batch(from, 1, t)
		if errA != nil || errB != nil {
			return false
		}
		for _, n := range inputs {
			if t == 0 {
				own[n.Path()], given[n.Path()] = newExtent(), newExtent()
			}
			own[n.Path()].add(a[n].Data)
			given[n.Path()].add(b[from.Graph.Lookup(pairs[n.Path()])].Data)
		}
	}
	for path, o := range own {
		g := given[path]
		switch {
		case o.whole && !(g.whole && g.least >= o.least && g.most <= o.most),
			o.least >= 0 && g.least < 0, o.most <= 0 && g.most > 0:
			return false
		}
	}
	return true
}

// extent is the range of some numbers.
type extent struct {
	least, most float64
	whole       bool // all are whole numbers
}

func newExtent() *extent { return &extent{math.Inf(1), math.Inf(-1), true} }

func (e *extent) add(values []float64) {
	for _, v := range values {
		e.least, e.most, e.whole = min(e.least, v), max(e.most, v), e.whole && v == math.Trunc(v)
	}
}

// sameExamples reports whether two models draw the same numbers from one seed.
func sameExamples(m, from *builders.Model, pairs map[string]string) bool {
	a, errA := batch(m, 1, 0)
	b, errB := batch(from, 1, 0)
	if errA != nil || errB != nil {
		return false
	}
	for _, n := range m.Inputs() {
		if !slices.Equal(a[n].Data, b[from.Graph.Lookup(pairs[n.Path()])].Data) {
			return false
		}
	}
	return true
}
