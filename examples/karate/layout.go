package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data/edges"
)

// layout places the nodes of a connected network in the plane so that the distance between
// any two is, as nearly as can be, the number of edges on the shortest way d_ij between
// them: it makes the stress Σ_{i<j} d_ij⁻²(‖p_i − p_j‖ − d_ij)² small by majorisation
// (Gansner, Koren & North, 2004), beginning on a circle.
func layout(n *edges.Network) [][2]float64 {
	d := distances(n)
	p := make([][2]float64, n.Nodes)
	for i := range p {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n.Nodes))
		p[i] = [2]float64{cos, sin}
	}
	for range 300 {
		for i := range p {
			var sum [2]float64
			weight := 0.0
			for j := range p {
				if i == j {
					continue
				}
				w := 1 / (d[i][j] * d[i][j])
				apart := max(math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1]), 1e-9)
				for k := range sum {
					sum[k] += w * (p[j][k] + d[i][j]*(p[i][k]-p[j][k])/apart)
				}
				weight += w
			}
			p[i] = [2]float64{sum[0] / weight, sum[1] / weight}
		}
	}
	separate(p, 0.4)
	return p
}

// separate moves places that are nearer than least apart, which stress hardly minds of two
// nodes with the same neighbours.
func separate(p [][2]float64, least float64) {
	for range 100 {
		for i := range p {
			for j := range i {
				apart := max(math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1]), 1e-9)
				for k := range 2 {
					by := (p[i][k] - p[j][k]) * max(0, least/apart-1) / 2
					p[i][k], p[j][k] = p[i][k]+by, p[j][k]-by
				}
			}
		}
	}
}

// distances are the numbers of edges on the shortest ways between nodes (Floyd, 1962).
func distances(n *edges.Network) [][]float64 {
	d := make([][]float64, n.Nodes)
	for i := range d {
		d[i] = make([]float64, n.Nodes)
		for j := range d {
			if i != j {
				d[i][j] = math.Inf(1)
			}
		}
	}
	for e := range n.From {
		i, j := n.From[e], n.To[e]
		d[i][j], d[j][i] = 1, 1
	}
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}
