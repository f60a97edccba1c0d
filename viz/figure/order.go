package figure

import (
	"context"
	"math"
	"slices"
)

// orderRows sorts every row so that there are few crossings and boxes do not interleave, by the
// barycentre method of Sugiyama, Tagawa and Toda (1981). Within its box an item is placed by the
// mean position of its neighbours; boxes and runs have one key for all their rows, so they keep
// their side of each other from top to bottom. The positions are those at which the previous
// order would be drawn; the order with the fewest crossings wins.
func (s *scene) orderRows(ctx context.Context) error {
	rounds := 24
	if len(s.item) > 600 {
		rounds = 8
	}
	near := s.neighbours()
	fewest, shortest := math.MaxInt, math.Inf(1)
	var best [][]int
	for start := range 2 {
		if start == 1 {
			s.seedByWalk(near)
		}
		stale := 0
		for round := 0; round < rounds && stale < 7; round++ {
			if round > 0 {
				s.rekey(near, round)
			}
			s.sortRows()
			s.transpose()
			if err := s.newPlacement().settle(ctx, 30); err != nil {
				return err
			}
			stale++
			if n, l := s.crossings(), s.length(); n < fewest || n == fewest && l < shortest-1 {
				fewest, shortest, stale = n, l, 0
				best = make([][]int, len(s.inRow))
				for r := range s.inRow {
					best[r] = slices.Clone(s.inRow[r])
				}
			}
		}
	}
	s.inRow = best
	return s.orient(ctx, near, fewest)
}

// orient mirrors each column if more of its leaves then stand from left to right as the caller has
// them, and if no more links cross. A drawing and its mirror image are as good; with this rule
// what two models have in common keeps its side.
func (s *scene) orient(ctx context.Context, near []neighbours, crossings int) error {
	place := func() (int, error) {
		if err := s.newPlacement().settle(ctx, 30); err != nil {
			return 0, err
		}
		return s.reversed(near), nil
	}
	reversed, err := place()
	if err != nil || reversed == 0 {
		return err
	}
	given := s.inRow
	s.inRow = make([][]int, len(given))
	for r, row := range given {
		s.inRow[r] = slices.Clone(row)
		slices.Reverse(s.inRow[r])
		slices.SortStableFunc(s.inRow[r], func(a, b int) int { return s.item[a].inside[0] - s.item[b].inside[0] })
	}
	mirrored, err := place()
	if err != nil || mirrored < reversed && s.crossings() <= crossings {
		return err
	}
	s.inRow = given
	return nil
}

// reversed counts the pairs of leaves of the forward column that stand the other way round than the
// caller has them.
func (s *scene) reversed(near []neighbours) int {
	n := 0
	var leaves []int
	for i := range s.item {
		if it := &s.item[i]; it.node < 0 || it.inside[0] != forwardColumn || len(near[i].above) > 0 {
			continue
		}
		for _, j := range leaves {
			if s.item[j].x > s.item[i].x {
				n++
			}
		}
		leaves = append(leaves, i)
	}
	return n
}

// sortRows sorts each row by the keys along the paths of boxes.
func (s *scene) sortRows() {
	for _, row := range s.inRow {
		slices.SortFunc(row, func(a, b int) int {
			x, y := s.diverge(a, b)
			if x.before(y) {
				return -1
			}
			return 1
		})
	}
}

// diverge returns the siblings at which the paths to two items part.
func (s *scene) diverge(a, b int) (x, y sibling) {
	p, q := s.item[a].inside, s.item[b].inside
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	x, y = s.item[a].rank, s.item[b].rank
	if n < len(p) {
		x = s.box[p[n]].rank
	}
	if n < len(q) {
		y = s.box[q[n]].rank
	}
	return x, y
}

// neighbours has an item's neighbours in the rows above and below.
type neighbours struct{ above, below []int }

func (s *scene) neighbours() []neighbours {
	near := make([]neighbours, len(s.item))
	for _, l := range s.links {
		if l.a != l.b {
			near[l.a].below = append(near[l.a].below, l.b)
			near[l.b].above = append(near[l.b].above, l.a)
		}
	}
	return near
}

// rekey computes new keys from the positions: every third round all neighbours count, in the
// others only those above or only those below.
func (s *scene) rekey(near []neighbours, round int) {
	sum := make([]float64, len(s.box))
	count := make([]float64, len(s.box))
	for _, l := range s.links {
		if l.a == l.b {
			continue
		}
		p, q := s.item[l.a].inside, s.item[l.b].inside
		n := len(common(p, q))
		for _, b := range p[n:] {
			sum[b] += s.item[l.b].x
			count[b]++
		}
		for _, b := range q[n:] {
			sum[b] += s.item[l.a].x
			count[b]++
		}
	}
	for b := backwardColumn + 1; b < len(s.box); b++ {
		k := &s.box[b]
		k.rank.key = (k.left + k.right) / 2
		if count[b] > 0 {
			k.rank.key = sum[b] / count[b]
		}
	}
	for i := range s.item {
		it := &s.item[i]
		n := near[i]
		switch {
		case it.node < 0 || round%3 == 2 || len(n.above) == 0 || len(n.below) == 0:
			it.rank.key = s.mean(it.x, n.above, n.below)
		case round%3 == 0:
			it.rank.key = s.mean(it.x, n.above)
		default:
			it.rank.key = s.mean(it.x, n.below)
		}
	}
}

// mean returns the mean position of items, or x if there are none.
func (s *scene) mean(x float64, lists ...[]int) float64 {
	sum, n := 0.0, 0
	for _, list := range lists {
		for _, i := range list {
			sum += s.item[i].x
			n++
		}
	}
	if n == 0 {
		return x
	}
	return sum / float64(n)
}

// seedByWalk numbers the items in the order of a depth-first walk over links.
func (s *scene) seedByWalk(near []neighbours) {
	met := make([]bool, len(s.item))
	for b := backwardColumn + 1; b < len(s.box); b++ {
		s.box[b].rank.key = math.Inf(1)
	}
	count := 0
	var stack []int
	for _, row := range s.inRow {
		for _, start := range row {
			stack = append(stack[:0], start)
			for len(stack) > 0 {
				i := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if met[i] {
					continue
				}
				met[i] = true
				s.item[i].rank.key = float64(count)
				for _, b := range s.item[i].inside[1:] {
					s.box[b].rank.key = min(s.box[b].rank.key, float64(count))
				}
				count++
				stack = append(stack, near[i].above...)
				for _, j := range slices.Backward(near[i].below) {
					stack = append(stack, j)
				}
			}
		}
	}
}

// length returns the horizontal length of all links.
func (s *scene) length() float64 {
	sum := 0.0
	for _, l := range s.links {
		sum += math.Abs(s.item[l.a].x - s.item[l.b].x)
	}
	return sum
}
