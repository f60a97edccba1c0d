package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// Fusion puts instructions that can do their work row by row, and read each other's rows, into one group. A group runs block by block
// of rows: all its instructions on the first block, then all on the next, so that what they hand each other stays in the cache and
// never becomes an array. That covers chains of elementwise operations, reductions with what feeds and follows them, products with
// their bias, activation and softmax, and attention without the scores of all heads.
//
// Instructions are visited in order, and each joins the last group that it reads from, if it can; otherwise one that reads what it
// reads; otherwise it starts a group. Groups run in the order in which they were started, so an instruction may join one only if
// all that it reads comes from that group or an earlier one: this is what keeps the order right without looking at paths.

// The limits of what one group holds, in bytes, and in instructions.
const (
	wholeLimit   = 512 << 10  // of operands that every row needs
	foldLimit    = 64 << 10   // of a sum over the rows
	heavyLimit   = 256 << 10  // the same, where a row adds much to it:
	heavyFlops   = 8          // operations for each byte, at least
	blockLimit   = 256 << 10  // of the longest result in a block of as many rows as products want
	rowLimit     = 1536 << 10 // of a row of all results together
	coarseLimit  = 128 << 10  // of a row of one result, where an instruction makes the group it reads from take longer rows
	siblingLimit = 4 << 10    // the same, where it only reads what the group reads
	memberLimit  = 2048
	minRun       = 128 // elements that a block should have at least
)

// group is a set of instructions that run together.
type group struct {
	rows, limit int // 0 rows: a single instruction, which runs as a whole
	members     []member
	rowBytes    int         // of all results together
	whole       map[int]int // bytes of operands that every row needs, by buffer
	wholeBytes  int
	wide        extent
	extra       bool // for watched values alone
}

// extent says how long the rows of a group are: in bytes, of the longest result and of the longest that a product makes, and in
// rows of matrices, of the products' results.
type extent struct{ longest, product, unit int }

type member struct {
	ins int
	div kernel.Division
}

type fusion struct {
	p       *Program
	groups  []*group
	of      []int               // group by instruction
	from    []int               // instruction by buffer, -1 for a leaf
	divs    [][]kernel.Division // by instruction
	reader  []int               // the last group that reads a buffer
	readers map[int][]int       // the instructions that read a leaf
	late    int                 // the first group that runs after the checks
	fold    []bool              // by instruction: its result is a sum over the rows of its group
}

// fuse groups the instructions, but for those of watched values: [fusion.beside] does these once the rest is settled. Without it
// each runs alone.
func (p *Program) fuse(separate bool) *fusion {
	f := &fusion{p: p, of: make([]int, len(p.instrs)), from: make([]int, len(p.buffers)), reader: make([]int, len(p.buffers)),
		divs: make([][]kernel.Division, len(p.instrs)), fold: make([]bool, len(p.instrs))}
	for b := range f.from {
		f.from[b], f.reader[b] = -1, -1
	}
	for i := range p.instrs {
		ins := &p.instrs[i]
		f.from[ins.out.buf] = i
		if d, ok := ins.kernel.(kernel.Divider); ok && !separate {
			f.divs[i] = d.Divide(ins.out.layout, layoutsOf(ins.in))
		}
	}
	f.groupAll(false, separate)
	return f
}

// beside groups the instructions that are there for watched values alone.
func (f *fusion) beside(separate bool) { f.groupAll(true, separate) }

// groupAll groups the instructions that are there for watched values alone, or the others. Neither looks at the other.
func (f *fusion) groupAll(extra, separate bool) {
	p := f.p
	// Numbers that depend on leaves alone, a learning rate or a factor, come first: in their place they would cut groups in two. So do
	// copies of leaves that every row of some instruction needs, the weights of a convolution with their channels exchanged.
	first, needed := make([]bool, len(p.instrs)), f.neededWhole(extra)
	for i := range p.instrs {
		ins := &p.instrs[i]
		first[i] = !separate && ins.again == nil && (ins.out.layout.Len() == 1 || ins.copies && needed[ins.out.buf]) &&
			!slices.ContainsFunc(ins.in, func(v value) bool {
				return v.layout.Len() > ins.out.layout.Len() || f.from[v.buf] >= 0 && !first[f.from[v.buf]]
			})
	}
	for _, early := range []bool{true, false} {
		for i := range p.instrs {
			if p.instrs[i].extra != extra || first[i] != early {
				continue
			}
			p.under.look()
			f.place(i)
			if separate {
				p.instrs[i].cut = ""
			}
			for _, v := range p.instrs[i].in {
				f.reader[v.buf] = max(f.reader[v.buf], f.of[i])
			}
		}
	}
}

// neededWhole tells, by buffer, what every row of an instruction needs, however its work is divided.
func (f *fusion) neededWhole(extra bool) []bool {
	needed := make([]bool, len(f.p.buffers))
	for i := range f.p.instrs {
		if f.p.instrs[i].extra != extra {
			continue
		}
		for k, v := range f.p.instrs[i].in {
			needed[v.buf] = needed[v.buf] || len(f.divs[i]) > 0 && !slices.ContainsFunc(f.divs[i], func(d kernel.Division) bool {
				r, ok := d.Rows(v.layout, k, product(d.Dims))
				return ok && !r.Same()
			})
		}
	}
	return needed
}

func layoutsOf(values []value) []kernel.Layout {
	out := make([]kernel.Layout, len(values))
	for i, v := range values {
		out[i] = v.layout
	}
	return out
}

// place finds the group of instruction i.
func (f *fusion) place(i int) {
	ins := &f.p.instrs[i]
	last := -1 // the last group that it reads from
	for _, v := range ins.in {
		if from := f.from[v.buf]; from >= 0 {
			last = max(last, f.of[from])
		}
	}
	if ins.again != nil { // otherwise it would be made with what it reads, and kept
		if ins.again.opens {
			f.start(i)
			return
		}
		if from := f.from[ins.again.after]; from >= 0 {
			last = max(last, f.of[from])
		}
	}
	if last >= 0 {
		why, ok := f.join(i, last, coarseLimit)
		if ok {
			return
		}
		ins.cut = why
	}
	var tried []int
	for _, v := range ins.in {
		g := f.reader[v.buf]
		if g > last && !slices.Contains(tried, g) {
			if _, ok := f.join(i, g, siblingLimit); ok {
				return
			}
			tried = append(tried, g)
		}
	}
	f.start(i)
}

// start makes a group of instruction i alone.
func (f *fusion) start(i int) {
	g := &group{whole: map[int]int{}, extra: f.p.instrs[i].extra}
	f.groups = append(f.groups, g)
	f.of[i] = len(f.groups) - 1
	for _, d := range f.divs[i] {
		// As many rows as one stride leads through for every operand, unless a row is very long then.
		best := 0
		for n, rows := 1, 1; n <= len(d.Dims); n++ {
			rows *= d.Dims[n-1]
			limit, _, ok := f.fits(i, d, rows, -1)
			if ok && rows > 1 && (limit == rows || best > 0 && f.rowBytes(i, d, best) > 64<<10 && f.longEnough(i, d, rows, limit)) {
				best = rows
			}
		}
		if best > 0 {
			if _, ok := f.add(f.of[i], i, d, best); ok {
				return
			}
		}
	}
	g.rows = 0
	g.members = []member{{ins: i}}
}

// join puts instruction i into group g, if it can; otherwise it says why not.
func (f *fusion) join(i, at, coarsest int) (why string, ok bool) {
	g := f.groups[at]
	ins := &f.p.instrs[i]
	switch {
	case len(f.divs[i]) == 0:
		return "its rows depend on each other", false
	case g.rows == 0:
		return "what it reads is made as a whole", false
	case g.extra != ins.extra:
		return "it is watched only", false
	case len(g.members) >= memberLimit:
		return "the block is full", false
	}
	for _, d := range f.divs[i] {
		for _, rows := range f.common(g, d) {
			w, ok := f.tryJoin(i, at, d, rows, coarsest)
			if ok {
				return "", true
			}
			if why == "" {
				why = w
			}
		}
	}
	if why == "" {
		why = "it has other rows"
	}
	return why, false
}

// common lists the numbers of rows that a group and a division may share, the largest first.
func (f *fusion) common(g *group, d kernel.Division) (rows []int) {
	try := func(n int) {
		if n > 1 && g.rows%n == 0 && !slices.Contains(rows, n) {
			rows = append(rows, n)
		}
	}
	try(g.rows)
	for n, all := len(d.Dims), product(d.Dims); n > 0; n-- {
		try(all)
		try(gcd(all, g.rows))
		all /= d.Dims[n-1]
	}
	slices.SortFunc(rows, func(a, b int) int { return b - a })
	return rows
}

func (f *fusion) tryJoin(i, at int, d kernel.Division, rows, coarsest int) (why string, ok bool) {
	g := f.groups[at]
	limit, why, ok := f.fits(i, d, rows, at)
	if !ok {
		return why, false
	}
	if !f.longEnough(i, d, rows, limit) {
		return "its rows are too short a run", false
	}
	if rows != g.rows {
		lim := rows
		bytes := 0
		var wide extent
		for _, m := range g.members {
			l, _, ok := f.fits(m.ins, m.div, rows, at)
			if !ok || !f.longEnough(m.ins, m.div, rows, l) {
				return "it has other rows", false
			}
			lim = gcd(lim, l)
			bytes += f.rowBytes(m.ins, m.div, rows)
			wide = f.with(wide, m.ins, m.div, rows)
		}
		if bytes > rowLimit || max(wide.longest, f.rowBytes(i, d, rows)) > coarsest {
			return "a block would not stay in the cache", false
		}
		keep := *g
		g.rows, g.limit, g.rowBytes, g.wide = rows, lim, bytes, wide
		if why, ok := f.add(at, i, d, rows); !ok {
			*g = keep
			return why, false
		}
	} else if why, ok := f.add(at, i, d, rows); !ok {
		return why, false
	}
	f.of[i] = at
	return "", true
}

// add puts instruction i into a group of so many rows, within the limits.
func (f *fusion) add(at, i int, d kernel.Division, rows int) (why string, ok bool) {
	g, ins := f.groups[at], &f.p.instrs[i]
	limit, why, ok := f.fits(i, d, rows, at)
	if !ok {
		return why, false
	}
	bytes, whole, wide := f.rowBytes(i, d, rows), 0, f.with(g.wide, i, d, rows)
	news := map[int]int{}
	for k, v := range ins.in {
		r, _ := d.Rows(v.layout, k, rows)
		if r.Same() {
			if _, has := g.whole[v.buf]; !has {
				news[v.buf] = touched(v.layout)
				whole += touched(v.layout)
			}
		}
	}
	switch {
	case len(g.members) > 0 && g.rowBytes+bytes > rowLimit:
		return "a block would not stay in the cache", false
	case len(g.members) > 0 && f.outgrown(wide):
		return "a block of as many rows as products want would not stay in the cache", false
	case g.wholeBytes+whole > wholeLimit:
		return fmt.Sprintf("what every row needs (%s) does not stay in the cache", memory.Text(int64(g.wholeBytes+whole))), false
	case d.Accumulate != nil && !f.folds(i, rows):
		return "a sum of arrays so large is a product of its own", false
	}
	for b, n := range news {
		g.whole[b] = n
	}
	g.wholeBytes += whole
	g.rowBytes += bytes
	g.wide = wide
	if g.rows == 0 {
		g.rows, g.limit = rows, rows
	}
	g.limit = gcd(g.limit, limit)
	g.members = append(g.members, member{i, d})
	f.fold[i] = d.Accumulate != nil
	return "", true
}

// fits checks that instruction i divides into so many rows and, if it reads from group at, that each row needs only the same row of
// what is made there. limit is as [kernel.Rows.Limit], for all operands.
func (f *fusion) fits(i int, d kernel.Division, rows, at int) (limit int, why string, ok bool) {
	ins := &f.p.instrs[i]
	limit = rows
	if d.Accumulate == nil {
		if _, ok := d.Rows(ins.out.layout, -1, rows); !ok {
			return 0, "it has other rows", false
		}
	}
	for k, v := range ins.in {
		r, ok := d.Rows(v.layout, k, rows)
		if !ok {
			return 0, "it has other rows", false
		}
		from := f.from[v.buf]
		if from < 0 || at < 0 || f.of[from] != at || from == i {
			limit = gcd(limit, r.Limit())
			continue
		}
		size := f.p.instrs[from].out.layout.Len()
		stride, uniform := r.Uniform()
		lo, hi := r.Span()
		switch {
		case f.fold[from]:
			return 0, fmt.Sprintf("it needs the whole sum %v", f.p.instrs[from].node), false
		case !uniform || stride*rows != size || lo < 0 || hi > stride:
			return 0, fmt.Sprintf("each row needs all rows of %v", f.p.instrs[from].node), false
		}
	}
	return limit, "", true
}

// longEnough reports whether blocks within the limit have enough elements to be worth a call.
func (f *fusion) longEnough(i int, d kernel.Division, rows, limit int) bool {
	if limit == rows {
		return true
	}
	n := 0
	if d.Accumulate == nil {
		n = f.p.instrs[i].out.layout.Len()
	}
	for _, v := range f.p.instrs[i].in {
		n = max(n, v.layout.Len())
	}
	return n/rows*limit >= minRun
}

// with is an extent with the result of instruction i.
func (f *fusion) with(e extent, i int, d kernel.Division, rows int) extent {
	n, ins := f.rowBytes(i, d, rows), &f.p.instrs[i]
	e.longest = max(e.longest, n)
	if d.Accumulate == nil && isProduct(ins.kernel) {
		l := ins.out.layout
		e.product, e.unit = max(e.product, n), max(e.unit, product(l.Dims[:l.Rank-1])/rows)
	}
	return e
}

// outgrown reports whether the rows are too long for as many as the products want in a block, and it is not the products' own results
// that are.
func (f *fusion) outgrown(e extent) bool {
	return e.unit > 0 && e.longest > e.product && e.longest*((f.p.sizes.rows+e.unit-1)/e.unit) > blockLimit
}

// folds reports whether a sum over the rows is worth its partial sums: a large one is if each row adds much to it. A product is no
// worse on its own.
func (f *fusion) folds(i, rows int) bool {
	ins := &f.p.instrs[i]
	bytes := touched(ins.out.layout)
	heavy := !isProduct(ins.kernel) && ins.flops/int64(rows) >= heavyFlops*int64(bytes)
	return bytes <= foldLimit || heavy && bytes <= heavyLimit
}

// rowBytes is the size of a row of the result; a sum over the rows has none.
func (f *fusion) rowBytes(i int, d kernel.Division, rows int) int {
	if d.Accumulate != nil {
		return 0
	}
	l := f.p.instrs[i].out.layout
	return l.Len() * l.DType.Size() / rows
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
