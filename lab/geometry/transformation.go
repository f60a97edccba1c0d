package geometry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/table"
)

// Motion is a kind of random transformation.
type Motion int

// The motions.
const (
	Translation Motion = iota // adds random offsets, the same at every place along the axes; without axes one number everywhere
	Rotation                  // multiplies by a random orthogonal matrix along one axis; half of them reflect
	Permutation               // permutes the places along an axis at random, or along several axes in the same way
	Scaling                   // multiplies by a positive factor s
)

var motionNames = [...]string{"translation", "rotation", "permutation", "scaling"}

// String returns the name in lower case.
func (m Motion) String() string { return motionNames[min(max(int(m), 0), len(motionNames)-1)] }

// Transformation moves inputs and parameters of a model together, by one random motion.
type Transformation struct {
	Motion Motion
	Axes   []string      // by name: one for a rotation, one or more for a permutation; a scaling ignores them
	Of     []*graph.Node // inputs and parameters; each has at least one of the axes
	// Powers has the exponent p of the factor s^p for nodes of Of that a scaling does not simply
	// multiply by s: −2 for a temperature γ of squared distances.
	Powers map[*graph.Node]float64
}

// power returns the exponent of s for a node.
func (t Transformation) power(n *graph.Node) float64 {
	if p, ok := t.Powers[n]; ok {
		return p
	}
	return 1
}

// size returns the number of places along the axes; 1 without axes.
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

// check returns an error if the transformation does not fit the objective.
func (t Transformation) check(o *objective) error {
	size := 0
	if len(t.Of) == 0 {
		return errors.New("nothing is moved")
	}
	for _, n := range t.Of {
		switch {
		case n == nil || o.copies[n] == nil || n.Role() != graph.RoleInput && !slices.Contains(o.params, n):
			return fmt.Errorf("%v is no input or parameter that the loss depends on", n)
		case t.Motion != Permutation && !n.DType().IsFloat():
			return fmt.Errorf("%v counts or indexes: it can only be permuted", n)
		case t.Motion == Scaling:
			continue
		case t.Motion == Rotation && len(t.Axes) != 1, t.Motion == Permutation && len(t.Axes) == 0:
			return fmt.Errorf("a %v along %d axes", t.Motion, len(t.Axes))
		}
		has := len(t.Axes) == 0
		for _, name := range t.Axes {
			if k := n.Shape().Index(name); k >= 0 {
				if has = true; size != 0 && size != n.Dim(k) {
					return fmt.Errorf("the axis %s of %v has another size than %d", name, n, size)
				}
				size = n.Dim(k)
			}
		}
		if !has {
			return fmt.Errorf("%v has no axis %v", n, t.Axes)
		}
	}
	return nil
}

// String describes the transformation: "rotation of x, r along d", "scaling of x by s, γ by s^-2".
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
			parts = append(parts, firstFew(byPower[p])+" by "+by)
		}
		return "scaling of " + strings.Join(parts, ", ")
	}
	along := " along " + strings.Join(t.Axes, ", ")
	if len(t.Axes) == 0 {
		along = " by one number"
	}
	return fmt.Sprintf("%v of %s%s", t.Motion, firstFew(names), along)
}

// firstFew lists as many names as fit a table, and counts the others.
func firstFew(names []string) string {
	const room = 48
	used := 0
	for i, name := range names {
		if used += table.Width(name) + 2; used > room && i > 0 && len(names) > i+1 {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:i], ", "), len(names)-i)
		}
	}
	return strings.Join(names, ", ")
}
