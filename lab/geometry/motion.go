package geometry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/table"
	"gonum.org/v1/gonum/mat"
)

// move is one random motion.
type move struct {
	motion Motion
	axes   []string
	offset []float64   // Translation
	turn   [][]float64 // Rotation
	order  []int       // Permutation
	factor float64     // Scaling
}

// draw makes a motion at random. Translations are about as far as the values are large.
func (t Transformation) draw(rng *rand.Rand, spread float64) move {
	m := move{motion: t.Motion, axes: t.Axes, factor: 1}
	size := t.size()
	switch t.Motion {
	case Translation:
		for range size {
			m.offset = append(m.offset, spread*rng.NormFloat64())
		}
	case Rotation:
		m.turn = orthogonal(rng, size)
	case Permutation:
		m.order = rng.Perm(size)
		if size > 1 && slices.IsSorted(m.order) {
			m.order[0], m.order[1] = 1, 0
		}
	case Scaling:
		m.factor = math.Exp2(0.3 + rng.Float64())
		if rng.IntN(2) == 0 {
			m.factor = 1 / m.factor
		}
	}
	return m
}

// size is the number of places along the axes; 1 without axes.
func (t Transformation) size() int {
	for _, n := range t.Of {
		for _, name := range t.Axes {
			if k := n.Shape().Index(name); k >= 0 {
				return n.Dim(k)
			}
		}
	}
	return 1
}

// orthogonal is a random orthogonal matrix, uniform among all of them: the Q of a normal
// matrix's QR decomposition, with the signs of R's diagonal (Mezzadri, 2007).
func orthogonal(rng *rand.Rand, n int) [][]float64 {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range n {
			out[i][j] = math.Copysign(q.At(i, j), q.At(i, j)*r.At(j, j))
		}
	}
	return out
}

// power is that of s by which a node is scaled.
func (t Transformation) power(n *graph.Node) float64 {
	if p, ok := t.Powers[n]; ok {
		return p
	}
	return 1
}

// reaches reports whether the motion can be applied to a value of the shape.
func (m move) reaches(shape graph.Shape) bool {
	if m.motion == Scaling || len(m.axes) == 0 {
		return true
	}
	for _, name := range m.axes {
		if k := shape.Index(name); k >= 0 && shape.Dim(k) == max(len(m.offset), len(m.turn), len(m.order)) {
			return true
		}
	}
	return false
}

// apply moves a value. Power counts in scalings only.
func (m move) apply(v []float64, shape graph.Shape, power float64) []float64 {
	out := slices.Clone(v)
	if m.motion == Scaling {
		f := math.Pow(m.factor, power)
		for i := range out {
			out[i] *= f
		}
		return out
	}
	if len(m.axes) == 0 {
		for i := range out {
			out[i] += m.offset[0]
		}
		return out
	}
	for _, name := range m.axes {
		if k := shape.Index(name); k >= 0 {
			out = m.along(out, shape, k)
		}
	}
	return out
}

// along moves a value along one axis.
func (m move) along(v []float64, shape graph.Shape, axis int) []float64 {
	size, inner := shape.Dim(axis), 1
	for k := axis + 1; k < shape.Rank(); k++ {
		inner *= shape.Dim(k)
	}
	out := slices.Clone(v)
	for i := range out {
		place := i / inner % size
		at := func(p int) float64 { return v[i+(p-place)*inner] }
		switch m.motion {
		case Translation:
			out[i] += m.offset[place]
		case Permutation:
			out[i] = at(m.order[place])
		case Rotation:
			out[i] = 0
			for p, w := range m.turn[place] {
				out[i] += w * at(p)
			}
		}
	}
	return out
}

// listed names as many as fit a table, and counts the others.
func listed(names []string) string {
	const room = 48
	used := 0
	for i, name := range names {
		if used += table.Width(name) + 2; used > room && i > 0 && len(names) > i+1 {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}

// String says what is moved: rotation of x, r along d.
func (t Transformation) String() string {
	var names []string
	byPower := map[float64][]string{}
	var powers []float64
	for _, n := range t.Of {
		names = append(names, n.Path())
		p := t.power(n)
		if byPower[p] == nil {
			powers = append(powers, p)
		}
		byPower[p] = append(byPower[p], n.Path())
	}
	if t.Motion == Scaling {
		var parts []string
		for _, p := range powers {
			by := "s"
			if p != 1 {
				by = "s^" + powerText(p)
			}
			parts = append(parts, listed(byPower[p])+" by "+by)
		}
		return "scaling of " + strings.Join(parts, ", ")
	}
	along := " along " + strings.Join(t.Axes, ", ")
	if len(t.Axes) == 0 {
		along = " by one number"
	}
	return fmt.Sprintf("%v of %s%s", t.Motion, listed(names), along)
}

// Symmetries are the transformations to try, read off the names of the axes. Along an
// axis that inputs share with parameters, a feature axis, both are rotated, translated and
// permuted, and the inputs are translated alone. Along the other axes of inputs, their
// examples, and those of parameters, such as prototypes and hidden units, there are
// permutations. All is scaled, apart and together, and with the temperature of a
// clustering.
func (s Site) Symmetries() ([]Transformation, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	var inputs []*graph.Node
	for _, n := range graph.Reachable(s.Model.Loss) {
		if _, has := n.Default(); n.Role() == graph.RoleInput && !has {
			inputs = append(inputs, n)
		}
	}
	var out []Transformation
	for _, name := range axisNames(append(slices.Clone(inputs), params...)) {
		in, par := having(inputs, name), having(params, name)
		floats := floatsOf(in)
		axes, all := []string{name}, append(slices.Clone(in), par...)
		if len(par) > 0 && len(floats) > 0 && len(floats) == len(in) {
			out = append(out, Transformation{Motion: Translation, Axes: axes, Of: all},
				Transformation{Motion: Translation, Axes: axes, Of: in},
				Transformation{Motion: Rotation, Axes: axes, Of: all})
		}
		out = append(out, Transformation{Motion: Permutation, Axes: axes, Of: all})
	}
	floats := floatsOf(inputs)
	if len(floats) > 0 {
		out = append(out, Transformation{Motion: Translation, Of: floats}, Transformation{Motion: Scaling, Of: floats})
	}
	out = append(out, Transformation{Motion: Scaling, Of: params})
	if both := append(slices.Clone(floats), params...); len(floats) > 0 {
		out = append(out, Transformation{Motion: Scaling, Of: both})
		if k := s.Model.KMeans; k != nil && k.Gamma != nil {
			out = append(out, Transformation{Motion: Scaling, Of: append(slices.Clone(both), k.Gamma), Powers: map[*graph.Node]float64{k.Gamma: -2}})
		}
	}
	return out, nil
}

// axisNames lists the names of axes with more than one place, in order of appearance,
// those whose sizes agree wherever they appear.
func axisNames(nodes []*graph.Node) []string {
	var names []string
	size := map[string]int{}
	for _, n := range nodes {
		for _, a := range n.Shape().Axes() {
			known, ok := size[a.Name]
			switch {
			case a.Name == "":
			case !ok:
				size[a.Name] = a.Size
				names = append(names, a.Name)
			case known != a.Size:
				size[a.Name] = 0
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return size[name] < 2 })
}

// having are the nodes with an axis of the name.
func having(nodes []*graph.Node, name string) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return n.Shape().Index(name) < 0 })
}

// floatsOf are the nodes whose values can be scaled and turned.
func floatsOf(nodes []*graph.Node) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return !n.DType().IsFloat() })
}
