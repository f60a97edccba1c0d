package figure

import (
	"math"
	"strings"
)

// A scene is a figure prepared for layout: items that take a place in rows, the boxes that
// contain them, and the links between items of adjacent rows.
type scene struct {
	*measures
	figure *Figure
	from   []int // ends of the edges, as positions in Nodes
	to     []int
	seen   []panelSet // of the edges
	row    []int      // of the nodes
	rows   int
	item   []item  // nodes first, in their order; then the runs of long edges
	runs   [][]int // of each edge: its runs from start to end
	box    []box   // the two columns, then modules, each after its parent
	inRow  [][]int // items, left to right
	links  []link
	byRow  [][]link        // the links, once they are needed
	level  map[arc]float64 // neighbours in a row that an edge joins: the room it needs
}

// An item takes one place in each row that it spans. It is a node in one row, or the vertical run
// of a long edge in the rows that the edge passes within one box. Many edges of one kind that
// leave a node share runs as far as they can.
type item struct {
	node        int  // or -1
	run         bool // of an edge
	first, last int  // rows
	seen        panelSet
	half        float64 // half of the width
	rank        sibling
	inside      []int // boxes from the column down to the innermost
	x           float64
}

// A box is a column or a module in a column.
type box struct {
	path        string
	backward    bool
	parent      int // or -1 for the two columns
	depth       int
	first, last int // rows; first > last while empty
	seen        panelSet
	rank        sibling
	title       [2]string // per panel
	copies      []string
	left, right float64
}

// A sibling is the sort key of items and boxes within one box: the key, and the serial number
// where keys are equal.
type sibling struct {
	key    float64
	serial int
}

func (s sibling) before(t sibling) bool {
	if s.key != t.key {
		return s.key < t.key
	}
	return s.serial < t.serial
}

// bus is the number of long edges of a node from which they share a run.
const bus = 4

// A link joins item a in a row with item b in the next.
type link struct{ a, b, row int }

const (
	forwardColumn  = 0
	backwardColumn = 1
)

func newScene(f *Figure) *scene {
	index := f.index()
	s := &scene{measures: f.measures(), figure: f, level: map[arc]float64{}}
	s.row, s.rows = assignRows(f, index)
	s.addBoxes()
	for i := range f.Edges {
		e := &f.Edges[i]
		from, to := index[e.From], index[e.To]
		s.from, s.to = append(s.from, from), append(s.to, to)
		s.seen = append(s.seen, f.seen(e, from, to))
	}
	s.bound()
	s.addRuns()
	s.fill()
	s.inRow = make([][]int, s.rows)
	for i := range s.item {
		it := &s.item[i]
		it.rank = sibling{float64(i), i}
		for r := it.first; r <= it.last; r++ {
			s.inRow[r] = append(s.inRow[r], i)
		}
	}
	return s
}

// bound computes the rows and panels of every box.
func (s *scene) bound() {
	for i := range s.item {
		it := &s.item[i]
		for _, b := range it.inside {
			k := &s.box[b]
			k.first, k.last, k.seen = min(k.first, it.first), max(k.last, it.last), k.seen|it.seen
		}
	}
}

// fill puts an empty item where a box would have a row with nothing in it, so that nothing else
// is placed there.
func (s *scene) fill() {
	held := map[[2]int]panelSet{} // by box and row
	hold := func(it *item) {
		for _, b := range it.inside[1:] {
			for r := it.first; r <= it.last; r++ {
				held[[2]int{b, r}] |= it.seen
			}
		}
	}
	path := make([][]int, len(s.box))
	for i := range s.item {
		hold(&s.item[i])
		in := s.item[i].inside
		for d := 1; d < len(in); d++ {
			path[in[d]] = in[:d+1]
		}
	}
	for b := len(s.box) - 1; b > backwardColumn; b-- { // inner boxes first: what fills them also fills the outer ones
		k := &s.box[b]
		for r := k.first; r <= k.last; r++ {
			if lack := k.seen &^ held[[2]int{b, r}]; lack != 0 {
				s.item = append(s.item, item{node: -1, first: r, last: r, seen: lack, half: 1, inside: path[b]})
				hold(&s.item[len(s.item)-1])
			}
		}
	}
}

// addBoxes creates the columns, the boxes of all module paths and the items of their nodes.
func (s *scene) addBoxes() {
	type key struct {
		path     string
		backward bool
	}
	known := map[key]int{}
	add := func(path string, backward bool, parent, depth int) int {
		k := len(s.box)
		known[key{path, backward}] = k
		s.box = append(s.box, box{
			path: path, backward: backward, parent: parent, depth: depth,
			first: math.MaxInt, last: -1, rank: sibling{float64(k), -1 - k},
		})
		return k
	}
	add("", false, -1, 0)
	add("", true, -1, 0)
	for i := range s.figure.Nodes {
		n := &s.figure.Nodes[i]
		at := forwardColumn
		if n.Backward {
			at = backwardColumn
		}
		inside := []int{at}
		for path := range modulePaths(n.Module) {
			k, ok := known[key{path, n.Backward}]
			if !ok {
				k = add(path, n.Backward, at, len(inside))
			}
			at = k
			inside = append(inside, at)
		}
		w, _ := s.size(n, s.figure.panels())
		s.item = append(s.item, item{node: i, first: s.row[i], last: s.row[i], seen: seenIn(n.Panel), half: w / 2, inside: inside})
	}
	for k := range s.box {
		b := &s.box[k]
		title := b.path[strings.LastIndexByte(b.path, '/')+1:]
		if b.backward {
			title = "∂ " + title
		}
		b.title = [2]string{line(title, textLimit), line(title, textLimit)}
	}
	for _, m := range s.figure.Modules {
		k, ok := known[key{m.Path, m.Backward}]
		if !ok {
			continue // no node is in it, so there is nothing to draw
		}
		s.box[k].copies = m.Copies
		for p := range 2 {
			if m.Panel == 0 || m.Panel == p+1 {
				s.box[k].title[p] = line(m.Title, textLimit)
			}
		}
	}
}

// addRuns gives each edge that passes rows its runs, and links adjacent items.
func (s *scene) addRuns() {
	type key struct {
		from, box int
		kind      Kind
		down      bool
		seen      panelSet
	}
	keyOf := func(e, box int) key {
		return key{s.from[e], box, s.figure.Edges[e].Kind, s.row[s.to[e]] > s.row[s.from[e]], s.seen[e]}
	}
	long := map[key]int{} // number of edges that could share a run
	for e := range s.from {
		if s.along(e) && s.distance(e) > 1 {
			long[keyOf(e, 0)]++
		}
	}
	shared := map[key]int{}
	linked := map[link]bool{}
	s.runs = make([][]int, len(s.from))
	for e, from := range s.from {
		if !s.along(e) {
			continue
		}
		to := s.to[e]
		label := line(s.figure.Edges[e].longest(), labelLimit)
		if s.row[from] == s.row[to] {
			want := 44.0
			if label != "" {
				want = labelWidth(label) + 36
			}
			s.level[arc{from, to}] = max(s.level[arc{from, to}], want)
			continue
		}
		step := 1
		if s.row[to] < s.row[from] {
			step = -1
		}
		last := from
		join := func(to, row int) {
			a, b := last, to
			if step < 0 {
				a, b, row = b, a, row-1
			}
			if l := (link{a, b, row}); !linked[l] {
				linked[l] = true
				s.links = append(s.links, l)
			}
			last = to
		}
		for row := s.row[from] + step; row != s.row[to]; row += step {
			inside := s.passes(from, to, row)
			box := inside[len(inside)-1]
			if last >= len(s.figure.Nodes) && box == s.innermost(last) {
				it := &s.item[last]
				it.first, it.last = min(it.first, row), max(it.last, row)
				continue
			}
			k := keyOf(e, box)
			run, ok := shared[k]
			if bus := long[keyOf(e, 0)] >= bus; !ok || !bus {
				run = len(s.item)
				s.item = append(s.item, item{node: -1, run: true, first: row, last: row, seen: s.seen[e], half: runHalf, inside: inside})
				if bus {
					shared[k] = run
				}
			}
			it := &s.item[run]
			it.half = max(it.half, labelWidth(label)/2)
			s.runs[e] = append(s.runs[e], run)
			join(run, row-step)
		}
		join(to, s.row[to]-step)
	}
	for i := len(s.figure.Nodes); i < len(s.item); i++ {
		for r := s.item[i].first; r < s.item[i].last; r++ {
			s.links = append(s.links, link{i, i, r})
		}
	}
}

// along reports whether edge e stays in its column.
func (s *scene) along(e int) bool {
	return s.figure.Nodes[s.from[e]].Backward == s.figure.Nodes[s.to[e]].Backward
}

// distance returns the number of rows from one end of edge e to the other.
func (s *scene) distance(e int) int {
	d := s.row[s.to[e]] - s.row[s.from[e]]
	return max(d, -d)
}

func (s *scene) innermost(i int) int { return s.item[i].inside[len(s.item[i].inside)-1] }

// passes returns the boxes in which an edge passes a row. The edge leaves and enters boxes
// through their top and bottom, so it stays in the boxes of its ends as far as they reach, unless
// these are side by side.
func (s *scene) passes(from, to, row int) []int {
	p, q := s.item[from].inside, s.item[to].inside
	both := len(common(p, q))
	reach := func(path []int) int {
		n := both
		for n < len(path) && s.box[path[n]].first <= row && row <= s.box[path[n]].last {
			n++
		}
		return n
	}
	a, b := reach(p), reach(q)
	switch {
	case a > both && b == both:
		return p[:a:a]
	case b > both && a == both:
		return q[:b:b]
	}
	return p[:both:both]
}

// common returns the common prefix of two paths, which is at least a column.
func common(a, b []int) []int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n:n]
}
