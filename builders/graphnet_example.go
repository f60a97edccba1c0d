package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
)

// The small tasks of graph networks: communities, as in Zachary's karate club, of
// which a few members are known, and graphs to be told apart by their shape.

// links are the edges of an undirected graph.
type links [][2]int

// community draws which of c groups each of n nodes belongs to, and the links of a
// stochastic block model: nodes of one group are linked with probability 0.8, others
// with 0.1.
func community(rng *rand.Rand, n, c int) (group []int, l links) {
	group = make([]int, n)
	for i := range group {
		group[i] = rng.IntN(c)
	}
	for i := range n {
		for j := range i {
			p := 0.1
			if group[i] == group[j] {
				p = 0.8
			}
			if rng.Float64() < p {
				l = append(l, [2]int{i, j})
			}
		}
	}
	return group, l
}

// shaped returns the links of a cycle of n nodes, or of a star, whose nodes come in
// random order from the node first on.
func shaped(rng *rand.Rand, star bool, n, first int) links {
	order := rng.Perm(n)
	var l links
	for k := range n {
		switch {
		case !star:
			l = append(l, [2]int{first + order[k], first + order[(k+1)%n]})
		case k > 0:
			l = append(l, [2]int{first + order[0], first + order[k]})
		}
	}
	return l
}

// topology returns the links of a cycle (0), a ladder (1) or a binary tree (2) of n nodes.
func topology(kind, n int) (l links) {
	for i := range n {
		switch {
		case kind == 0 && n > 1:
			l = append(l, [2]int{i, (i + 1) % n})
		case kind == 1:
			if i >= 2 {
				l = append(l, [2]int{i - 2, i})
			}
			if i%2 == 1 {
				l = append(l, [2]int{i - 1, i})
			}
		case kind == 2 && i > 0:
			l = append(l, [2]int{(i - 1) / 2, i})
		}
	}
	return l
}

// distances returns how many links lie between node 0 and each of n nodes; 0 for one that no path
// leads to.
func (l links) distances(n int) []int {
	near := make([][]int, n)
	for _, e := range l {
		near[e[0]], near[e[1]] = append(near[e[0]], e[1]), append(near[e[1]], e[0])
	}
	far, seen := make([]int, n), make([]bool, n)
	reached := []int{0}
	for seen[0] = true; len(reached) > 0; reached = reached[1:] {
		for _, j := range near[reached[0]] {
			if !seen[j] {
				seen[j], far[j] = true, far[reached[0]]+1
				reached = append(reached, j)
			}
		}
	}
	return far
}

// fill writes the links of n nodes into the matrix that A begins with.
func (l links) fill(A []float64, n int) {
	for _, e := range l {
		A[e[0]*n+e[1]], A[e[1]*n+e[0]] = 1, 1
	}
}

// lists writes the links, both ways, as sources and targets of edges; those that
// are left over have the target −1, those that find no room are left out.
func (l links) lists(source, target graph.Value) {
	for e := range target.Data {
		target.Data[e] = -1
		if k := e / 2; k < len(l) {
			source.Data[e], target.Data[e] = float64(l[k][e%2]), float64(l[k][1-e%2])
		}
	}
}

// groupHints returns features x[i c] of noise, larger by 1.5 at the node's group.
func groupHints(rng *rand.Rand, t graph.Type, group []int) graph.Value {
	c := t.Shape.Dim(1)
	return build.Computed(t, func(p int) float64 {
		v := rng.NormFloat64()
		if group[p/c] == p%c {
			v += 1.5
		}
		return v
	})
}

// fewLabels returns the labels of the groups, −1 where a node's is not known: of two in three.
func fewLabels(t graph.Type, group []int) graph.Value {
	return build.Computed(t, func(i int) float64 {
		if i%3 != 0 {
			return -1
		}
		return float64(group[i])
	})
}

// describe gives size nodes of x[… d], from the node first on, what tells of them:
// how many links above two they have, which of a cycle is 0, and noise. The links'
// nodes are counted from the node base.
func (l links) describe(rng *rand.Rand, x graph.Value, first, size, base int) {
	d := x.Type.Shape.Dim(x.Type.Shape.Rank() - 1)
	for p := first * d; p < (first+size)*d; p++ {
		x.Data[p] = x.Type.DType.Round(0.3 * rng.NormFloat64())
		if p%d == 0 {
			x.Data[p] = -2
		}
	}
	for _, e := range l {
		x.Data[(base+e[0])*d]++
		x.Data[(base+e[1])*d]++
	}
}
