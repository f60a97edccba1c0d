package figure

import (
	"cmp"
	"context"
	"slices"
)

const (
	signGap  = 24.0 // between signs in a column
	passGap  = 14.0 // between a sign and an arrow that passes it
	levelGap = 56.0 // between levels
	sweeps   = 60
	ordering = 24 // the sweeps in which the order may change
)

// strands lists what pulls stops together. What belongs to the trunk is pulled most, so that it is
// straight.
func (b *board) strands(trunk []bool) []strand {
	var out []strand
	for e, a := range b.sketch.Arrows {
		from, to := b.from[e], b.to[e]
		if a.Fold || b.arc[e].side != 0 || b.places[from].carrier >= 0 {
			continue
		}
		strength := 1.0
		switch {
		case len(b.via[e]) > 0 && b.stops[b.via[e][0]].low:
			strength = 0.02
		case b.port(from, to) != 0 || b.port(to, from) != 0:
			strength = 4
		case (b.sketch.Signs[from].Part > 0) != (b.sketch.Signs[to].Part > 0):
			strength = 1
		case trunk[from] && trunk[to] && b.places[to].column-b.places[from].column < 2:
			strength = 12
		case a.Straight && len(b.via[e]) == 0:
			strength = 8
		case a.Hidden:
			strength = 0.3
		}
		last, dy := from, b.pin(from, a.FromPin)+b.port(from, to)
		for _, k := range b.via[e] {
			s := strength
			if last != from {
				s = 6
			}
			out = append(out, strand{last, k, dy, 0, s})
			last, dy = k, 0
		}
		if b.places[from].column != b.places[to].column {
			out = append(out, strand{last, to, dy, b.pin(to, a.ToPin) + b.port(to, from), strength})
		}
	}
	return out
}

// order finds the order of the stops in each column and how high they are, sweep by sweep: each
// stop moves to the mean of its neighbours, as far as the others in its column let it.
func (b *board) order(ctx context.Context, trunk []bool) error {
	type pull struct {
		other        int
		dy, strength float64
	}
	before, after := make([][]pull, len(b.stops)), make([][]pull, len(b.stops))
	for _, s := range b.strands(trunk) {
		before[s.b] = append(before[s.b], pull{s.a, s.da - s.db, s.strength})
		after[s.a] = append(after[s.a], pull{s.b, s.db - s.da, s.strength})
	}
	leveled := len(b.sketch.Levels) > 1
	b.addLevels()
	for _, column := range b.columns {
		b.settle(column, func(int) float64 { return 1 })
	}
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range b.columns {
			c := i
			if sweep%2 == 1 {
				c = len(b.columns) - 1 - i
			}
			weight := map[int]float64{}
			for _, k := range b.columns[c] {
				sum, w := 0.0, 0.0
				add := func(pulls []pull) {
					for _, p := range pulls {
						sum, w = sum+float64(p.strength*(b.stops[p.other].y+p.dy)), w+p.strength
					}
				}
				if sweep >= ordering/2 || sweep%2 == 0 {
					add(before[k])
				}
				if sweep >= ordering/2 || sweep%2 == 1 {
					add(after[k])
				}
				if leveled {
					pull := 1.0
					if k < len(b.places) && trunk[k] {
						pull = 1e5
					}
					sum, w = sum+float64(pull*b.level(k)), w+pull
				}
				b.stops[k].want, weight[k] = b.stops[k].y, 0.2
				if w > 0 {
					b.stops[k].want, weight[k] = sum/w, w
				}
			}
			if sweep < ordering {
				b.sort(b.columns[c])
			}
			b.settle(b.columns[c], func(k int) float64 { return weight[k] })
		}
	}
	return nil
}

// level returns the height of a stop's level. An arrow passes above the signs of the upper of its
// ends' levels.
func (b *board) level(k int) float64 {
	if i := b.stops[k].sign; i >= 0 {
		return b.levels[b.sketch.Signs[i].Level]
	}
	e := b.stops[k].e
	return b.levels[min(b.sketch.Signs[b.from[e]].Level, b.sketch.Signs[b.to[e]].Level)] - signHeight
}

// addLevels finds the height of each level.
func (b *board) addLevels() {
	n := len(b.sketch.Levels)
	up, down := make([]float64, n), make([]float64, n)
	for i := range b.places {
		if l := b.sketch.Signs[i].Level; n > 1 && b.places[i].carrier < 0 {
			up[l], down[l] = max(up[l], b.places[i].room.up), max(down[l], b.places[i].room.down)
		}
	}
	b.levels = make([]float64, n)
	for l := 1; l < n; l++ {
		b.levels[l] = b.levels[l-1] + down[l-1] + levelGap + up[l]
	}
}

// sort orders a column by where its stops want to be.
func (b *board) sort(column []int) {
	slices.SortStableFunc(column, func(i, j int) int { return cmp.Compare(b.stops[i].want, b.stops[j].want) })
	b.keepOrder(column)
}

// keepOrder lets leaves keep their order among themselves, so that x and r have the same sides in
// every variant of a model, and parts theirs; arrows that pass below come last.
func (b *board) keepOrder(column []int) {
	keep := func(which func(k int) bool, compare func(i, j int) int) {
		var at, some []int
		for i, k := range column {
			if which(k) {
				at, some = append(at, i), append(some, k)
			}
		}
		slices.SortStableFunc(some, compare)
		for i, k := range some {
			column[at[i]] = k
		}
	}
	sign := func(k int) *Sign {
		if i := b.stops[k].sign; i >= 0 {
			return &b.sketch.Signs[i]
		}
		return &Sign{Role: Op}
	}
	keep(func(k int) bool { return sign(k).Role <= Const }, func(i, j int) int { return i - j })
	keep(func(k int) bool { return sign(k).Part > 0 }, func(i, j int) int { return sign(i).Part - sign(j).Part })
	keep(func(int) bool { return true }, func(i, j int) int {
		low := func(k int) int {
			if b.stops[k].low {
				return 1 + b.stops[k].e
			}
			return 0
		}
		return low(i) - low(j)
	})
}

// port returns how far below the middle of a tall sign an arrow to or from a part meets it.
func (b *board) port(tall, other int) float64 {
	n, part := &b.sketch.Signs[tall], b.sketch.Signs[other].Part
	if n.Ports < 2 || part == 0 {
		return 0
	}
	return tallGap * (float64(part) - float64(n.Ports+1)/2)
}

// settle moves the stops of a column as near as it can to where they want to be, in the sense of
// weighted least squares, without changing their order or letting them overlap (the algorithm of
// pooled adjacent violators).
func (b *board) settle(column []int, weight func(k int) float64) {
	type pool struct {
		sum, weight float64
		count       int
	}
	var pools []pool
	offset := make([]float64, len(column))
	for i, k := range column {
		if i > 0 {
			above := column[i-1]
			gap := signGap
			if b.stops[k].sign < 0 || b.stops[above].sign < 0 {
				gap = passGap
			}
			offset[i] = offset[i-1] + b.stops[above].room.down + gap + b.stops[k].room.up
		}
		w := weight(k)
		pools = append(pools, pool{float64(w * (b.stops[k].want - offset[i])), w, 1})
		for len(pools) > 1 {
			p, q := pools[len(pools)-2], pools[len(pools)-1]
			if p.sum/p.weight <= q.sum/q.weight {
				break
			}
			pools = append(pools[:len(pools)-2], pool{p.sum + q.sum, p.weight + q.weight, p.count + q.count})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.count {
			b.stops[column[i]].y = p.sum/p.weight + offset[i]
			i++
		}
	}
}
