package figure

import (
	"cmp"
	"context"
	"slices"
)

// straighten aligns the steps of a main path: an item and the one below that it mainly leads to
// become one block, if each is the other's first choice and the order of the rows allows it.
func (p *placement) straighten(ctx context.Context) error {
	s := p.scene
	p.fixed = make([][]int, len(p.block))
	for _, e := range p.seps {
		p.fixed[e.from] = append(p.fixed[e.from], e.to)
	}
	type pair struct{ a, b, weight int }
	var pairs []pair
	for panel := range s.figure.panels() {
		depth, height := s.paths(panel)
		above, below := s.choices(panel, depth, height)
		for i := range s.item {
			if j := below[i]; j >= 0 && above[j] == i {
				pairs = append(pairs, pair{i, j, depth[i] + height[i]})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(y.weight-x.weight, x.a-y.a, x.b-y.b) })
	met := make([]int, len(p.block))
	for k, e := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, b := p.block.find(e.a), p.block.find(e.b)
		if a == b || p.reaches(a, b, met, 2*k+1) || p.reaches(b, a, met, 2*k+2) {
			continue // one is to the left of the other
		}
		p.block.join(a, b)
		p.fixed[b] = p.blocks(append(p.fixed[b], p.fixed[a]...))
		p.x[b] = (p.x[a] + p.x[b]) / 2
	}
	p.fixed = nil
	p.sequence()
	return nil
}

// blocks returns the blocks of variables, each once; those of a long column have the borders of
// its box in common.
func (p *placement) blocks(of []int) []int {
	for i, v := range of {
		of[i] = p.block.find(v)
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// reaches reports whether constraints lead from block a to block b; visited blocks are marked
// with stamp in met.
func (p *placement) reaches(a, b int, met []int, stamp int) bool {
	stack := []int{a}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v == b {
			return true
		}
		if met[v] == stamp {
			continue
		}
		met[v] = stamp
		for _, w := range p.fixed[v] {
			stack = append(stack, p.block.find(w))
		}
	}
	return false
}

// paths returns, for each item that panel p shows, the number of links on the longest path from
// the top to it and from it to the bottom.
func (s *scene) paths(p int) (depth, height []int) {
	depth, height = make([]int, len(s.item)), make([]int, len(s.item))
	by := s.linksByRow()
	for _, links := range by {
		for _, l := range links {
			if l.a != l.b && s.sees(p, l) {
				depth[l.b] = max(depth[l.b], depth[l.a]+1)
			}
		}
	}
	for _, links := range slices.Backward(by) {
		for _, l := range links {
			if l.a != l.b && s.sees(p, l) {
				height[l.a] = max(height[l.a], height[l.b]+1)
			}
		}
	}
	return depth, height
}

// choices returns for each item the neighbour above and below, in panel p, that is on the longest
// path, or -1 if there is none or several are equally good. A node is better than the run of an
// edge.
func (s *scene) choices(p int, depth, height []int) (above, below []int) {
	type choice struct{ item, score int }
	up, down := make([]choice, len(s.item)), make([]choice, len(s.item))
	for i := range s.item {
		up[i], down[i] = choice{-1, -1}, choice{-1, -1}
	}
	offer := func(to *choice, i, length int) {
		score := 2 * length
		if s.item[i].node >= 0 {
			score++
		}
		if score > to.score {
			*to = choice{i, score}
		} else if score == to.score && i != to.item {
			to.item = -1
		}
	}
	for _, l := range s.links {
		if l.a != l.b && s.sees(p, l) {
			offer(&up[l.b], l.a, depth[l.a])
			offer(&down[l.a], l.b, height[l.b])
		}
	}
	for i := range s.item {
		above, below = append(above, up[i].item), append(below, down[i].item)
	}
	return above, below
}

// sees reports whether panel p shows link l.
func (s *scene) sees(p int, l link) bool { return (s.item[l.a].seen & s.item[l.b].seen).has(p) }
