package figure

import "slices"

// linksByRow groups links by their upper row, once, since they do not change while rows are put
// in order.
func (s *scene) linksByRow() [][]link {
	if s.byRow == nil {
		s.byRow = make([][]link, s.rows)
		for _, l := range s.links {
			s.byRow[l.row] = append(s.byRow[l.row], l)
		}
	}
	return s.byRow
}

// crossings counts the pairs of links that cross and are seen together.
func (s *scene) crossings() int {
	total := 0
	place := make([]int, len(s.item))
	by := s.linksByRow()
	for p := range s.figure.panels() {
		for r := 0; r+1 < s.rows; r++ {
			for k, i := range s.inRow[r] {
				place[i] = k
			}
			var ends []arc
			for _, l := range by[r] {
				if s.sees(p, l) {
					ends = append(ends, arc{place[l.a], l.b})
				}
			}
			for k, i := range s.inRow[r+1] {
				place[i] = k
			}
			for k := range ends {
				ends[k].to = place[ends[k].to]
			}
			total += inversions(ends, len(s.inRow[r+1]))
		}
	}
	return total
}

// inversions counts the pairs of arcs that cross, with ends in [0, n).
func inversions(arcs []arc, n int) int {
	slices.SortFunc(arcs, func(a, b arc) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	tree := make([]int, n+1) // Fenwick tree over lower ends
	total := 0
	for met, a := range arcs {
		for k := a.to + 1; k > 0; k -= k & -k {
			met -= tree[k]
		}
		total += met // earlier ones that end further right
		for k := a.to + 1; k <= n; k += k & -k {
			tree[k]++
		}
	}
	return total
}

// transpose swaps neighbours of one box in a row as long as that removes crossings.
func (s *scene) transpose() {
	place := make([]int, len(s.item))
	by := s.linksByRow()
	above, below := make([][]int, len(s.item)), make([][]int, len(s.item))
	for range 3 {
		improved := false
		for r, row := range s.inRow {
			for _, i := range row {
				above[i], below[i] = above[i][:0], below[i][:0]
			}
			if r > 0 {
				s.places(place, r-1)
				for _, l := range by[r-1] {
					above[l.b] = append(above[l.b], place[l.a])
				}
			}
			if r+1 < s.rows {
				s.places(place, r+1)
				for _, l := range by[r] {
					below[l.a] = append(below[l.a], place[l.b])
				}
			}
			for k := 0; k+1 < len(row); k++ {
				i, j := row[k], row[k+1]
				a, b := &s.item[i], &s.item[j]
				if a.node < 0 || b.node < 0 || !slices.Equal(a.inside, b.inside) {
					continue
				}
				if crossed(above[i], above[j])+crossed(below[i], below[j]) > crossed(above[j], above[i])+crossed(below[j], below[i]) {
					row[k], row[k+1] = j, i
					improved = true
				}
			}
		}
		if !improved {
			return
		}
	}
}

func (s *scene) places(place []int, row int) {
	for k, i := range s.inRow[row] {
		place[i] = k
	}
}

// crossed counts the pairs in which an end of the left item is to the right of one of the right
// item.
func crossed(left, right []int) int {
	n := 0
	for _, a := range left {
		for _, b := range right {
			if a > b {
				n++
			}
		}
	}
	return n
}
