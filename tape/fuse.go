package tape

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Fusion puts instructions that can do their work row by row, and read each other's rows, into one
// group. A group runs block by block of rows: all its instructions on the first block, then all on
// the next, so that what they hand each other stays in the cache and never becomes an array. That
// covers chains of elementwise operations, reductions with what feeds and follows them, products
// with their bias, activation and softmax, and attention without the scores of all heads.
//
// Instructions are visited in order, and each joins the last group that it reads from, if it can;
// otherwise one that reads what it reads; otherwise it starts a group. Groups run in the order in
// which they were started, so an instruction may join one only if all that it reads comes from that
// group or an earlier one: this keeps the order right without searching paths.

// fuse groups the instructions, but for those of watched values, which the phase watch groups.
func fuse(l *lowered) *fused {
	l = l.clone() // the search for a program that fits goes back to it
	f := &fused{lowered: l, of: make([]int, len(l.instrs)), divs: make([][]kernel.Division, len(l.instrs)),
		summed: make([]bool, len(l.instrs)), from: make([]int, len(l.buffers)), reader: make([]int, len(l.buffers))}
	for i := range f.of {
		f.of[i] = -1
	}
	for b := range f.from {
		f.from[b], f.reader[b] = -1, -1
	}
	for i := range f.instrs {
		ins := &f.instrs[i]
		f.from[ins.out.buf] = i
		if d, ok := ins.kernel.(kernel.Divider); ok && !f.how.separate {
			f.divs[i] = d.Divide(ins.out.layout, layoutsOf(ins.in))
		}
	}
	f.findUpdates()
	f.findGradients()
	f.groupAll(false)
	return f
}

// groupAll groups either the instructions that are there for watched values alone, or all others;
// neither depends on the other.
func (f *fused) groupAll(extra bool) {
	// Numbers that depend on leaves alone, a learning rate or a factor, come first: in their place
	// they would cut groups in two. So do copies of leaves that every row of some instruction
	// needs, the weights of a convolution with their channels exchanged.
	first, needed := make([]bool, len(f.instrs)), f.neededWhole(extra)
	for i := range f.instrs {
		ins := &f.instrs[i]
		_, sums := ins.kernel.(summing)
		first[i] = !f.how.separate && ins.again == nil && !sums &&
			(ins.out.layout.Len() == 1 || ins.does != computes && needed[ins.out.buf]) &&
			!slices.ContainsFunc(ins.in, func(v value) bool {
				return v.layout.Len() > ins.out.layout.Len() || f.from[v.buf] >= 0 && !first[f.from[v.buf]]
			})
	}
	for _, early := range []bool{true, false} {
		for i := range f.instrs {
			if f.instrs[i].extra != extra || first[i] != early {
				continue
			}
			f.how.look()
			f.assign(i)
			if f.how.separate {
				f.instrs[i].cut = ""
			}
			for _, v := range f.instrs[i].in {
				f.reader[v.buf] = max(f.reader[v.buf], f.of[i])
			}
		}
	}
}

// neededWhole reports, by buffer, whether every row of some instruction needs all of it, however
// the work is divided.
func (f *fused) neededWhole(extra bool) []bool {
	needed := make([]bool, len(f.buffers))
	for i := range f.instrs {
		if f.instrs[i].extra != extra {
			continue
		}
		for k, v := range f.instrs[i].in {
			byRows := func(d kernel.Division) bool {
				r, ok := d.Rows(v.layout, k, product(d.Dims))
				return ok && !r.Same()
			}
			if len(f.divs[i]) > 0 && !slices.ContainsFunc(f.divs[i], byRows) {
				needed[v.buf] = true
			}
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

// assign finds the group of instruction i.
func (f *fused) assign(i int) {
	ins := &f.instrs[i]
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
	if d := f.gradient[i]; d >= 0 && f.of[d] > last {
		if _, ok := f.join(i, f.of[d], coarseLimit); ok {
			return
		}
	}
	if last >= 0 {
		last = f.merge(i, last)
		why, ok := f.join(i, last, coarseLimit)
		if ok {
			return
		}
		ins.cut = why
	}
	var tried []int
	for _, v := range ins.in {
		g := f.reader[v.buf]
		if g > last && !slices.Contains(tried, g) && f.gains(i, f.groups[g], v) {
			if _, ok := f.join(i, g, siblingLimit); ok {
				if ins.cut != "" {
					ins.cut = "from its operands only, beside what reads the same: " + ins.cut
				}
				return
			}
			tried = append(tried, g)
		}
	}
	f.start(i)
}

// merge moves all of group from into an earlier one of as many rows that instruction i reads from
// too, if neither i nor anything of it needs a group between them: what reads leaves alone, as a
// Gather does, starts a group, which would cut that of the instruction's other operands in two. It
// returns the group that holds what from held.
func (f *fused) merge(i, from int) int {
	at, ins, g := -1, &f.instrs[i], f.groups[from]
	for _, v := range ins.in {
		if k := f.from[v.buf]; k >= 0 && f.of[k] < from && f.groups[f.of[k]].rows == g.rows {
			at = max(at, f.of[k])
		}
	}
	if at < 0 || g.rows == 0 || ins.again != nil || ins.extra != g.extra || f.groups[at].extra != g.extra ||
		len(g.members) > mergeLimit || len(f.groups[at].members)+len(g.members) > memberLimit {
		return from
	}
	between := func(v value) bool {
		k := f.from[v.buf]
		return k >= 0 && f.of[k] > at && f.of[k] != from
	}
	if slices.ContainsFunc(ins.in, between) {
		return from
	}
	for _, m := range g.members {
		if f.instrs[m.ins].again != nil || slices.ContainsFunc(f.instrs[m.ins].in, between) {
			return from
		}
	}
	keep := *f.groups[at]
	keep.whole = maps.Clone(keep.whole)
	for _, m := range g.members {
		if _, ok := f.add(at, m.ins, m.div, g.rows); !ok {
			for _, m := range g.members {
				f.of[m.ins] = from
			}
			*f.groups[at] = keep
			return from
		}
		f.of[m.ins] = at
	}
	for _, m := range g.members {
		for _, v := range f.instrs[m.ins].in {
			if f.reader[v.buf] == from {
				f.reader[v.buf] = at
			}
		}
	}
	*g = group{whole: map[int]int{}, extra: g.extra}
	return at
}

// start makes a group of instruction i alone.
func (f *fused) start(i int) {
	g := &group{whole: map[int]int{}, extra: f.instrs[i].extra}
	f.groups = append(f.groups, g)
	f.of[i] = len(f.groups) - 1
	for _, d := range f.divs[i] {
		// As many rows as are equally spaced in every operand, unless a row would be very long.
		best := 0
		for n, rows := 1, 1; n <= len(d.Dims); n++ {
			rows *= d.Dims[n-1]
			stretch, _, ok := f.fits(i, d, rows, -1)
			if ok && rows > 1 && (stretch == rows ||
				best > 0 && f.rowBytes(i, d, best) > 64<<10 && f.longEnough(i, d, rows, stretch)) {
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
func (f *fused) join(i, at, coarsest int) (why string, ok bool) {
	g := f.groups[at]
	ins := &f.instrs[i]
	_, sums := ins.kernel.(summing)
	switch {
	case sums:
		return "all lanes have to be there", false
	case len(f.divs[i]) == 0:
		return "its rows depend on each other", false
	case g.rows == 0:
		return "what it reads is made as a whole", false
	case f.updating(g) && !f.updates[i]:
		return "it would wait for the checks with an update", false
	case g.extra != ins.extra:
		return "it is watched only", false
	case len(g.members) >= memberLimit:
		return fmt.Sprintf("a group of %d instructions has as many as it may", memberLimit), false
	}
	for _, d := range f.divs[i] {
		for _, rows := range f.common(g, d) {
			w, ok := f.tryJoin(i, at, d, rows, coarsest)
			if ok {
				return "", true
			}
			if why == "" && w != otherRows {
				why = w
			}
		}
	}
	if why == "" {
		why = fmt.Sprintf("it has other rows: %s of its own, %d of the group, and no division in common", rowsText(f.divs[i]), g.rows)
	}
	return why, false
}

// otherRows says that a number of rows is not one that an instruction divides into. It is the reason
// why an instruction joins no group only if none of the numbers is.
const otherRows = "it has other rows"

// common lists the numbers of rows that a group and a division may share, the largest first.
func (f *fused) common(g *group, d kernel.Division) (rows []int) {
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

func (f *fused) tryJoin(i, at int, d kernel.Division, rows, coarsest int) (why string, ok bool) {
	g := f.groups[at]
	stretch, why, ok := f.fits(i, d, rows, at)
	if !ok {
		return why, false
	}
	if !f.longEnough(i, d, rows, stretch) {
		return f.tooShort("", i, d, rows, stretch), false
	}
	if rows != g.rows {
		most := rows
		bytes := 0
		var wide extent
		for _, m := range g.members {
			l, _, ok := f.fits(m.ins, m.div, rows, at)
			if !ok {
				return fmt.Sprintf("%v in its group does not divide into the %d rows that it has", f.instrs[m.ins].node, rows), false
			} else if !f.longEnough(m.ins, m.div, rows, l) {
				return f.tooShort(fmt.Sprintf("%v in its group: ", f.instrs[m.ins].node), m.ins, m.div, rows, l), false
			}
			most = gcd(most, l)
			bytes += f.rowBytes(m.ins, m.div, rows)
			wide = f.with(wide, m.ins, m.div, rows)
		}
		if bytes > rowLimit {
			return exceeds("a row of the group's results", bytes, rowLimit), false
		} else if longest := max(wide.longest, f.rowBytes(i, d, rows)); longest > coarsest {
			return exceeds(fmt.Sprintf("in the %d rows that both have, a row", rows), longest, coarsest), false
		}
		keep := *g
		g.rows, g.stretch, g.rowBytes, g.wide = rows, most, bytes, wide
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
func (f *fused) add(at, i int, d kernel.Division, rows int) (why string, ok bool) {
	g, ins := f.groups[at], &f.instrs[i]
	stretch, why, ok := f.fits(i, d, rows, at)
	if !ok {
		return why, false
	}
	bytes, whole, wide := f.rowBytes(i, d, rows), 0, f.with(g.wide, i, d, rows)
	news := map[int]int{}
	for k, v := range ins.in {
		r, _ := d.Rows(v.layout, k, rows)
		if r.Same() && !(f.updates[i] && !kernel.Elementwise(ins.kernel)) {
			if _, has := g.whole[v.buf]; !has {
				news[v.buf] = touched(v.layout)
				whole += touched(v.layout)
			}
		}
	}
	switch {
	case len(g.members) > 0 && g.rowBytes+bytes > rowLimit:
		return exceeds("a row of the group's results", g.rowBytes+bytes, rowLimit), false
	case len(g.members) > 0 && f.outgrown(wide):
		return exceeds("the longest result in a block of as many rows as products want", f.blockOf(wide), blockLimit), false
	case g.wholeBytes+whole > wholeLimit:
		return exceeds("what every row needs", g.wholeBytes+whole, wholeLimit), false
	case d.Accumulate != nil && g.sums != 0 && g.sums != d.Sums():
		return fmt.Sprintf("it adds up to %s, the group to %d", plural.Count(d.Sums(), "sum"), g.sums), false
	case d.Accumulate != nil && d.Sums() > 1 && !f.readsFrom(i, at):
		return "its sums are worth no blocks of rows that are there already", false
	case d.Accumulate != nil && !f.worthSumming(i, d, rows):
		return f.tooLarge(i, d, rows), false
	}
	for b, n := range news {
		g.whole[b] = n
	}
	g.wholeBytes += whole
	g.rowBytes += bytes
	g.wide = wide
	if g.rows == 0 {
		g.rows, g.stretch = rows, rows
	}
	g.stretch = gcd(g.stretch, stretch)
	g.large = g.large || f.large(i)
	g.members = append(g.members, member{i, d})
	if d.Accumulate != nil {
		g.sums = d.Sums()
	}
	f.summed[i] = d.Accumulate != nil
	return "", true
}

// fits checks that instruction i divides into so many rows and, if it reads from group at, that
// each row needs only the same row of what is made there. It returns the longest stretch within
// which the rows of every operand are equally spaced, as [kernel.Rows.Limit] does for one.
func (f *fused) fits(i int, d kernel.Division, rows, at int) (stretch int, why string, ok bool) {
	ins := &f.instrs[i]
	stretch = rows
	if d.Accumulate == nil {
		if _, ok := d.Rows(ins.out.layout, -1, rows); !ok {
			return 0, otherRows, false
		}
	} else if sums := d.Sums(); sums > 1 {
		if rows%sums != 0 || rows/sums < leastTerms {
			return 0, otherRows, false
		}
		stretch = rows / sums // no block has rows of two sums
	}
	for k, v := range ins.in {
		r, ok := d.Rows(v.layout, k, rows)
		if !ok {
			return 0, otherRows, false
		}
		from := f.from[v.buf]
		if from < 0 || at < 0 || f.of[from] != at || from == i {
			stretch = gcd(stretch, r.Limit())
			continue
		}
		size := f.instrs[from].out.layout.Len()
		apart, uniform := r.Uniform()
		lo, hi := r.Span()
		switch {
		case f.summed[from]:
			return 0, fmt.Sprintf("it needs the whole sum %v", f.instrs[from].node), false
		case !uniform || apart*rows != size || lo < 0 || hi > apart:
			return 0, fmt.Sprintf("each row needs all rows of %v", f.instrs[from].node), false
		}
	}
	return stretch, "", true
}
