// Package assignment finds the best of all ways to pair a few points, for examples to be compared with.
package assignment

import (
	"math"
	"math/bits"
)

// Match pairs every point x with one y of its own at the least mean squared distance. Points are their
// coordinates one after the other, two each. It returns y in the order of x, and that mean.
func Match(x, y []float64) (matched []float64, mean float64) {
	n := len(x) / 2
	c := make([]float64, n*n)
	for i := range n {
		for j := range n {
			dx, dy := x[2*i]-y[2*j], x[2*i+1]-y[2*j+1]
			c[i*n+j] = dx*dx + dy*dy
		}
	}
	mean, columns := assign(c, n)
	for _, j := range columns {
		matched = append(matched, y[2*j], y[2*j+1])
	}
	return matched, mean
}

// assign returns the mean cost of the best assignment of a column of its own to every row, and the
// columns, by dynamic programming over sets of columns.
func assign(c []float64, n int) (cost float64, columns []int) {
	best, last := make([]float64, 1<<n), make([]int, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = math.Inf(1)
		row := bits.OnesCount(uint(set)) - 1
		for j := range n {
			if with := best[set&^(1<<j)] + c[row*n+j]; set>>j&1 == 1 && with < best[set] {
				best[set], last[set] = with, j
			}
		}
	}
	columns = make([]int, n)
	for set, row := 1<<n-1, n-1; row >= 0; row-- {
		columns[row] = last[set]
		set &^= 1 << last[set]
	}
	return best[1<<n-1] / float64(n), columns
}
