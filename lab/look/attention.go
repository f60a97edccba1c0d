package look

import (
	"context"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Attention is how the queries of one example weigh the keys: the weights of a softmax that something
// is weighed by.
type Attention struct {
	Name           string      // where it stands in the model, and which head of several it is
	Weights        [][]float64 // by query, then by key
	Query, Key     string      // names of the two axes
	Queries, Keys  []int       // the tokens at these places, where they are read from a list; nil otherwise
	queryIs, keyIs *graph.Node // the inputs that the tokens are of
}

// TokenInputs returns the nodes of integers that the queries and the keys are read from; nil for
// those that are not.
func (a Attention) TokenInputs() (queries, keys *graph.Node) { return a.queryIs, a.keyIs }

// ReadFrom reports whether a node of tokens is computed from the input of that path.
func ReadFrom(n *graph.Node, input string) bool {
	return slices.ContainsFunc(graph.Reachable(n), func(x *graph.Node) bool { return x.Role() == graph.RoleInput && x.Path() == input })
}

// Entropy returns the mean over the queries of the entropy of their weights, in units of that of equal
// weights: 1 where every key weighs the same, 0 where one has all the weight.
func (a Attention) Entropy() float64 { return entropy(a.Weights) }

// Attention returns the weights of every attention of the model in the first example, at the end of
// the training: of any softmax whose result weighs something, summed over the axis of the softmax.
// Heads, and what else comes before the axis of the queries, are apart. The weights of a clustering
// ([builders.Model.Centres]) are not among them. Of those inside a loop it has what the loop gives out.
func (r *Run) Attention(ctx context.Context) ([]Attention, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	if r.Model.Centres() != nil {
		return nil, nil
	}
	found := weighing(r.nodes())
	if len(found) == 0 {
		return nil, nil
	}
	var nodes []*graph.Node
	for _, f := range found {
		n, _, _ := f.value()
		nodes = append(nodes, n)
	}
	for _, n := range r.nodes() {
		if match.Is(n, match.Gather) && n.In(1).DType().IsInt() {
			nodes = append(nodes, n.In(1))
		}
	}
	values, err := r.take(ctx, r.End(), r.Feeds[0], nodes...)
	if err != nil {
		return nil, err
	}
	of := map[*graph.Node][]float64{}
	for i, n := range nodes {
		of[n] = values[i]
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = strings.TrimSuffix(strings.TrimSuffix(place(f.weights), "/α"), "/attend")
	}
	unique(names)
	var out []Attention
	for i, f := range found {
		out = append(out, f.split(names[i], of, nodes[len(found):], r.batchAxis())...)
	}
	return out, nil
}

// batchAxis returns the name and the size of the first axis of the inputs.
func (r *Run) batchAxis() graph.Axis {
	for _, n := range r.Model.Inputs() {
		if n.Rank() > 0 {
			return n.Shape().Axis(0)
		}
	}
	return graph.Axis{}
}

// weights is a node that weighs something by a softmax along an axis.
type weights struct {
	weights *graph.Node
	axis    int
	loop    *graph.Node // that gives the weights of all its steps; nil outside of loops
	part    trait.Part  // of the loop's value
}

// value returns the node that has the weights as its value, with the axes of the weights and where they begin.
func (w weights) value() (n *graph.Node, axes []graph.Axis, at int) {
	axes = w.weights.Shape().Axes()
	if w.loop == nil {
		return w.weights, axes, 0
	}
	return w.loop, append([]graph.Axis{graph.Ax("step", w.part.Rows)}, axes...), w.part.At
}

// weighing finds the nodes of softmax weights that weigh something.
func weighing(nodes []*graph.Node) []weights {
	var out []weights
	add := func(n *graph.Node, axis int) {
		if w, ok := softmaxed(n, axis); ok && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for _, n := range nodes {
		switch match.KindOf(n) {
		case match.MatMul:
			a, b := n.In(0), n.In(1)
			add(a, a.Rank()-1)
			add(b, b.Rank()-2)
		case match.Sum:
			x, axes, _ := match.Summed(n)
			if !match.Is(x, match.Mul) {
				continue
			}
			for _, axis := range axes.List() {
				add(x.In(0), axis)
				add(x.In(1), axis)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b weights) int { return a.weights.ID() - b.weights.ID() })
	for _, n := range nodes {
		if op, is := n.Op().(trait.Looped); is {
			out = append(out, looped(n, op.Loop())...)
		}
	}
	return out
}

// looped finds the weights in the body of a loop that the loop gives for all of its steps.
func looped(n *graph.Node, l trait.Loop) (out []weights) {
	body := n.Graph().Body(l.Body)
	parts, results := l.Parts(body), body.Out()
	for _, w := range weighing(graph.Reachable(results...)) {
		for k := l.Carries; k < l.Carries+l.Outs; k++ {
			if results[k] == w.weights && w.loop == nil {
				w.loop, w.part = n, parts[k]
				out = append(out, w)
			}
		}
	}
	return out
}

// softmaxed follows an axis of a node down, through changes of layout, choices and products, to a
// softmax or a sparsemax along it. The weights are those before any change of layout.
func softmaxed(n *graph.Node, axis int) (weights, bool) {
	if axis < 0 {
		return weights{}, false
	}
	root, axes := match.Laid(n)
	a := axes[axis]
	if a < 0 || root.Role() != graph.RoleOp {
		return weights{}, false
	}
	switch match.KindOf(root) {
	case match.Softmax, match.Sparsemax:
		along, _ := match.Along(root)
		return weights{weights: root, axis: a}, along.Has(a)
	case match.Select, match.Mul:
		for _, x := range root.Inputs() {
			if x.DType().IsFloat() && x.Rank() == root.Rank() {
				if _, ok := softmaxed(x, a); ok {
					return weights{weights: root, axis: a}, true
				}
			}
		}
	}
	return weights{}, false
}

// split returns the weights of the first example by query and key, apart for each head.
func (w weights) split(name string, values map[*graph.Node][]float64, tokens []*graph.Node, batch graph.Axis) []Attention {
	n, axes, at := w.value()
	key := w.axis + len(axes) - w.weights.Rank()
	query := -1
	for a, axis := range axes {
		if a != key && (query < 0 || axes[query] == batch || axis != batch) {
			query = a
		}
	}
	stride := make([]int, len(axes))
	for a, s := len(axes)-1, 1; a >= 0; a-- {
		stride[a] = s
		s *= axes[a].Size
	}
	offsets, titles := []int{at}, []string{name}
	for a, axis := range axes {
		if a == key || a == query || axis == batch {
			continue
		}
		var more []int
		var named []string
		for i, o := range offsets {
			for k := range axis.Size {
				more = append(more, o+k*stride[a])
				title := titles[i]
				if axis.Size > 1 {
					title += " " + axis.Name + "=" + itoa(k+1)
				}
				named = append(named, title)
			}
		}
		offsets, titles = more, named
	}
	var out []Attention
	for i, o := range offsets {
		one := Attention{Name: titles[i], Key: axes[key].Name}
		rows := 1
		if query >= 0 {
			rows, one.Query = axes[query].Size, axes[query].Name
			one.queryIs, one.Queries = tokensOf(axes[query], tokens, values)
		}
		one.keyIs, one.Keys = tokensOf(axes[key], tokens, values)
		for q := range rows {
			row := make([]float64, axes[key].Size)
			for k := range row {
				p := o + k*stride[key]
				if query >= 0 {
					p += q * stride[query]
				}
				row[k] = values[n][p]
			}
			one.Weights = append(one.Weights, row)
		}
		out = append(out, one)
	}
	return out
}

// tokensOf returns the tokens of the first example along an axis, and the node that has them: the
// first list of tokens along an axis of that name and size. Keys that are the queries' own have the
// name with a prime.
func tokensOf(axis graph.Axis, tokens []*graph.Node, values map[*graph.Node][]float64) (*graph.Node, []int) {
	name := strings.TrimRight(axis.Name, "′")
	for _, n := range tokens {
		if n.Rank() == 0 {
			continue
		}
		last := n.Shape().Axis(n.Rank() - 1)
		if last.Size != axis.Size || strings.TrimRight(last.Name, "′") != name {
			continue
		}
		out := make([]int, axis.Size)
		for i := range out {
			out[i] = int(values[n][i])
		}
		return n, out
	}
	return nil, nil
}
