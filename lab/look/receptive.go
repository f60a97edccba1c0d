package look

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
)

// Receptive says which places of the input a unit of each layer of a convolutional net depends on.
type Receptive struct {
	Input  string // the array that the first convolution or pooling reads
	Axes   []string
	Size   []int // of the input along each of the one or two axes
	Layers []ReceptiveLayer
}

// ReceptiveLayer is one convolution or pooling.
type ReceptiveLayer struct {
	Name string
	Kind string // convolution, transposed convolution or pooling
	Grid []int  // how many places the layer has along each axis
	Unit []int  // the place of the unit that is looked at: that in the middle
	Sees []bool // the places of the input that the unit depends on, by rows
	// Extent is how far these reach along each axis, from the first to the last.
	Extent []int
}

// Receptive returns the receptive field of the middle unit of every convolution and pooling, found by
// trial: places of the input are made NaN in turn, and where the unit turns NaN, it depends on
// the place. So batch normalisation shows as what it is, a dependence on everything. Along two
// axes, rows and columns are tried apart, which is exact for fields that are rectangles. It returns nil for
// a model without convolution, pooling or their transposes.
func (r *Run) Receptive(ctx context.Context) (*Receptive, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	var layers []*graph.Node
	for _, n := range r.nodes() {
		if windows(n) != "" {
			layers = append(layers, n)
		}
	}
	if len(layers) == 0 {
		return nil, nil
	}
	source := layers[0].In(0)
	spatial := source.Rank() - 2
	if spatial < 1 || spatial > 2 || !source.DType().IsFloat() {
		return nil, nil
	}
	out := &Receptive{Input: place(source)}
	if source.Role() == graph.RoleInput {
		out.Input = source.Path()
	}
	for a := 1; a <= spatial; a++ {
		out.Axes, out.Size = append(out.Axes, source.Shape().Axis(a).Name), append(out.Size, source.Dim(a))
	}
	if source.Dim(0) < 1 {
		return nil, nil
	}
	var names []string
	var kept []*graph.Node
	for _, n := range layers {
		if n.Rank() != source.Rank() {
			continue
		}
		kept = append(kept, n)
		name := n.First().Scope
		if name == "" {
			name = windows(n)
		}
		names = append(names, name)
		l := ReceptiveLayer{Kind: windows(n)}
		for a := 1; a <= spatial; a++ {
			l.Grid, l.Unit = append(l.Grid, n.Dim(a)), append(l.Unit, n.Dim(a)/2)
		}
		out.Layers = append(out.Layers, l)
	}
	unique(names)
	for i := range out.Layers {
		out.Layers[i].Name = names[i]
	}
	clean, err := r.take(ctx, r.End(), r.Feeds[0], source)
	if err != nil {
		return nil, err
	}
	m := r.copied([]*graph.Node{source}, kept...)
	defer m.close()
	fetch := make([]*graph.Node, len(kept))
	for i, n := range kept {
		fetch[i] = m.copies[n]
	}
	if err := m.compile(ctx, r.End(), fetch...); err != nil {
		return nil, err
	}
	seen := make([][][]bool, len(kept)) // by layer, axis and place along the axis
	for axis := range spatial {
		for k := range out.Size[axis] {
			poisoned := poison(source.Shape(), clean[0], axis+1, k)
			feed := m.feed(r.Feeds[0])
			feed[m.copies[source]] = tape.Tensor(graph.Value{Type: source.Type(), Data: poisoned})
			values, err := m.values(ctx, feed, fetch...)
			if err != nil {
				return nil, err
			}
			for i, n := range kept {
				if len(seen[i]) <= axis {
					seen[i] = append(seen[i], make([]bool, out.Size[axis]))
				}
				seen[i][axis][k] = turned(n.Shape(), values[i], out.Layers[i].Unit)
			}
		}
	}
	for i := range out.Layers {
		out.Layers[i].fill(seen[i])
	}
	return out, nil
}

// windows says what a node that slides over an array does; "" for another node.
func windows(n *graph.Node) string {
	switch match.KindOf(n) {
	case match.Conv:
		return "convolution"
	case match.ConvInput:
		return "transposed convolution"
	case match.MaxPool, match.SumPool:
		return "pooling"
	}
	return ""
}

// poison returns an array whose first example is NaN at place k along an axis.
func poison(s graph.Shape, clean []float64, axis, k int) []float64 {
	out := append([]float64{}, clean...)
	after := 1
	for a := axis + 1; a < s.Rank(); a++ {
		after *= s.Dim(a)
	}
	for p := range s.Len() / s.Dim(0) {
		if p/after%s.Dim(axis) == k {
			out[p] = math.NaN()
		}
	}
	return out
}

// turned reports whether any channel of a unit of the first example is NaN.
func turned(s graph.Shape, values []float64, unit []int) bool {
	p := 0
	for i, u := range unit {
		p = p*s.Dim(i+1) + u
	}
	channels := s.Dim(s.Rank() - 1)
	for _, v := range values[p*channels : (p+1)*channels] {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}

// fill joins what is seen along each axis.
func (l *ReceptiveLayer) fill(seen [][]bool) {
	l.Sees = []bool{true}
	for _, along := range seen {
		var next []bool
		for _, s := range l.Sees {
			for _, a := range along {
				next = append(next, s && a)
			}
		}
		l.Sees = next
		first, last := -1, -2
		for k, a := range along {
			if a {
				if last = k; first < 0 {
					first = k
				}
			}
		}
		l.Extent = append(l.Extent, last-first+1)
	}
}
