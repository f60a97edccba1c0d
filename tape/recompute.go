package tape

import (
	"container/heap"
	"slices"
)

// thinning chooses what to drop and compute again in one round of the search for a program that fits. Times are stages of the program
// at hand. A value that is dropped is absent after its last use before a peak, until its next use: then it comes back, together with
// those of its operands that are absent too, and stays as before.
type thinning struct {
	*lifetimes
	lowered *Program
	gone    map[int]absence // by buffer
	change  []int64         // of live, by stage: differences not yet added up
	never   []bool          // by buffer: it cannot be brought back
	seen    []int           // by buffer: the last of the visits that came by
	visits  int
}

// absence is the time (from, back) without a buffer.
type absence struct{ from, back int }

// The limits of a round: peaks that are looked at, and instructions that bring one value back.
const (
	mostPeaks   = 128
	mostToBring = 256
)

// thin gives the lowered form of a program in which fewer bytes are live where p, its assembled form, has more than the budget, or more
// than a part of its peak.
func thin(lowered, p *Program, budget int, m manner) (next *Program, changed bool) {
	t := &thinning{lifetimes: p.lifetimes(), lowered: lowered, gone: map[int]absence{}, change: make([]int64, len(p.stage)+1),
		never: make([]bool, len(p.buffers)), seen: make([]int, len(p.buffers))}
	for i := range lowered.instrs { // there are no panels in the lowered form, and updates are made apart from where they go
		t.maker[lowered.instrs[i].out.buf] = i
	}
	_, bytes := t.peak()
	target := max(int64(budget)-max(int64(p.arena)-bytes, 0), int64(budget)/2, int64(m.pace*float64(bytes))) // what lies between the buffers does not fit either
	if bytes <= target {
		target = bytes - 1
	}
	live := slices.Clone(t.live)
	for range mostPeaks {
		at, bytes := t.peak()
		if bytes <= target {
			break
		}
		t.lower(at, target, m.blocks)
		sum := int64(0)
		for i := range t.live {
			sum += t.change[i]
			t.live[i] = live[i] + sum
		}
		if t.live[at] > target { // nothing more can be done there
			live[at] -= t.live[at]
			t.live[at] = 0
		}
	}
	return t.rebuild(), len(t.gone) > 0
}

// offer is a buffer that may be absent at a peak.
type offer struct {
	buf, from, back int
	at              int // the peak
	products        int // among the instructions that bring it back
	gain            float64
}

// lower drops values that are alive in stage at until no more than target bytes are, if it can: those first that bring most bytes times
// stages for the time it takes to compute them again, and those that take products last.
func (t *thinning) lower(at int, target int64, blocks bool) {
	bytes := t.take(at, target, t.live[at], func(back int) bool { return back > at })
	if blocks && t.p.stage[at].rows > 0 { // the stage may hold rows of its operands rather than all of each
		t.take(at, target, bytes, func(back int) bool { return back == at })
	}
}

// take is [thinning.lower] for the buffers that come back in certain stages. It gives the bytes that are left.
func (t *thinning) take(at int, target, bytes int64, in func(back int) bool) int64 {
	var offers offers
	for b := range t.made {
		t.p.under.look()
		if t.made[b] < 0 || t.made[b] >= at || t.never[b] || t.p.buffers[b].pinned {
			continue
		}
		if _, gone := t.gone[b]; gone {
			continue
		}
		k, _ := slices.BinarySearch(t.uses[b], at)
		if k == len(t.uses[b]) || !in(t.uses[b][k]) {
			continue
		}
		o := offer{buf: b, at: at, from: t.made[b], back: t.uses[b][k]}
		if k > 0 {
			o.from = t.uses[b][k-1]
		}
		if !t.weigh(&o) {
			t.never[b] = true // the more is gone, the less can be brought back
			continue
		}
		if o.back > at || k+1 == len(t.uses[b]) && t.joins(o) {
			offers = append(offers, o)
		}
	}
	heap.Init(&offers)
	for bytes > target && len(offers) > 0 {
		t.p.under.look()
		o := heap.Pop(&offers).(offer)
		was := o
		switch {
		case !t.weigh(&o):
		case o.products > was.products || o.gain < was.gain: // it has become dearer
			heap.Push(&offers, o)
		default:
			t.drop(o)
			bytes -= int64(t.p.buffers[o.buf].place)
		}
	}
	return bytes
}

// joins reports whether all that brings a buffer back may run in the blocks of the stage that wants it.
func (t *thinning) joins(o offer) bool {
	list, _ := t.bring(o.buf, o.back)
	for _, i := range list {
		if t.stage[i] < 0 {
			continue
		}
		s := &t.p.stage[t.stage[i]]
		if s.rows != t.p.stage[o.back].rows || slices.ContainsFunc(s.folds, func(f fold) bool { return f.out == t.lowered.instrs[i].out.buf }) {
			return false
		}
	}
	return true
}

// weigh sets what an offer gains and takes; false if it cannot be brought back.
func (t *thinning) weigh(o *offer) bool {
	list, ok := t.bring(o.buf, o.back)
	if !ok {
		return false
	}
	time := 1.0
	o.products = 0
	for _, i := range list {
		ins := &t.lowered.instrs[i]
		time += nanos(ins)
		if isProduct(ins.kernel) {
			o.products = 1
		}
	}
	o.gain = float64(t.p.buffers[o.buf].place) * float64(max(o.back, o.at+1)-o.from) / time
	return true
}

// bring lists the instructions that make buffer b anew in a stage, from values that are there.
func (t *thinning) bring(b, stage int) (list []int, ok bool) {
	t.visits++
	t.seen[b] = t.visits
	for todo := []int{b}; len(todo) > 0; {
		b, todo = todo[len(todo)-1], todo[:len(todo)-1]
		i := t.maker[b]
		if i < 0 || i >= len(t.lowered.instrs) || len(list) == mostToBring {
			return nil, false
		}
		ins := &t.lowered.instrs[i]
		if _, users := ins.kernel.(runner); users {
			return nil, false
		}
		list = append(list, i)
		for _, v := range ins.in {
			if t.seen[v.buf] != t.visits && !t.there(v.buf, stage) {
				t.seen[v.buf] = t.visits
				todo = append(todo, v.buf)
			}
		}
	}
	return list, true
}

// there reports whether the first making of buffer b can be read in a stage.
func (t *thinning) there(b, stage int) bool {
	if t.lowered.buffers[b].leaf {
		return true
	}
	if !t.holds(b) {
		return false
	}
	if a, gone := t.gone[b]; gone && a.from < stage {
		return false
	}
	return t.last[b] >= stage || len(t.uses[b]) > 0 && t.uses[b][len(t.uses[b])-1] >= stage
}

// drop makes a buffer absent. What brings it back comes back with it, and reads what is there.
func (t *thinning) drop(o offer) {
	list, _ := t.bring(o.buf, o.back)
	t.gone[o.buf] = absence{o.from, o.back}
	t.add(o.from+1, max(o.back, o.at+1), -int64(t.p.buffers[o.buf].place))
	for _, i := range list {
		ins := &t.lowered.instrs[i]
		if b := ins.out.buf; b != o.buf {
			if a, gone := t.gone[b]; gone && o.back < a.back {
				t.gone[b] = absence{a.from, o.back}
				t.add(o.back, a.back, int64(t.p.buffers[b].place))
			}
		}
		for _, v := range ins.in {
			if b := v.buf; t.holds(b) && t.there(b, o.back) {
				if k, has := slices.BinarySearch(t.uses[b], o.back); !has {
					t.uses[b] = slices.Insert(t.uses[b], k, o.back)
				}
			}
		}
	}
}

// add changes the live bytes of stages [from,to).
func (t *thinning) add(from, to int, bytes int64) {
	t.change[from] += bytes
	t.change[to] -= bytes
}

// rebuild writes the instructions anew.
func (t *thinning) rebuild() *Program {
	q := t.lowered.unassembled()
	r := &rebuilding{thinning: t, q: q, copies: map[int]int{}}
	from := q.instrs
	q.instrs = make([]instr, 0, len(from)+len(t.gone))
	for i := range from {
		t.p.under.look()
		ins := from[i]
		if t.stage[i] < 0 { // others run instead, where it is read
			q.instrs = append(q.instrs, ins)
			continue
		}
		for k := range ins.in {
			ins.in[k].buf = r.operand(ins.in[k].buf, i, 0)
		}
		r.put(ins, t.stage[i])
	}
	q.forget()
	return q
}

// rebuilding is the list of instructions as it grows.
type rebuilding struct {
	*thinning
	q      *Program
	copies map[int]int // by buffer: what has been made anew
	stages []int       // those with an instruction in the list, in order
	first  []int       // by these: the buffer that the first of these instructions makes
}

// put adds an instruction that runs in a stage.
func (r *rebuilding) put(ins instr, stage int) {
	r.q.instrs = append(r.q.instrs, ins)
	if k, begun := slices.BinarySearch(r.stages, stage); !begun {
		r.stages, r.first = slices.Insert(r.stages, k, stage), slices.Insert(r.first, k, ins.out.buf)
	}
}

// operand gives what instruction i of the lowered program reads in place of buffer b: b, or b made anew. saves are the bytes that a
// buffer frees for whose sake b is needed.
func (r *rebuilding) operand(b, i, saves int) int {
	stage := r.stage[i]
	if r.there(b, stage) || r.stays(b, stage, saves == 0) {
		return b
	}
	if c, ok := r.copies[b]; ok {
		return c
	}
	ins := r.lowered.instrs[r.maker[b]]
	if _, gone := r.gone[b]; gone {
		saves = r.lowered.buffers[b].bytes
	}
	ins.in = slices.Clone(ins.in)
	for k := range ins.in {
		ins.in[k].buf = r.operand(ins.in[k].buf, i, saves)
	}
	first := b
	if ins.again != nil {
		first = ins.again.of
	}
	after, begun := slices.BinarySearch(r.stages, stage)
	ins.out.buf = len(r.q.buffers)
	ins.again, ins.extra = &again{of: first, opens: !begun, saves: saves}, r.lowered.instrs[i].extra
	if begun {
		ins.again.after = r.first[after]
	} else {
		ins.again.after = ins.out.buf
		r.stages, r.first = slices.Insert(r.stages, after, stage), slices.Insert(r.first, after, ins.out.buf)
	}
	r.q.buffers = append(r.q.buffers, buffer{bytes: r.lowered.buffers[b].bytes})
	r.q.instrs = append(r.q.instrs, ins)
	r.copies[b] = ins.out.buf
	return ins.out.buf
}

// stays reports whether what reads buffer b in a stage may do so, although b is no array in memory: it is an update written in place,
// or lives in the scratch of the stage, or, for a reader that is not new itself, is made there from what is in memory.
func (r *rebuilding) stays(b, stage int, old bool) bool {
	maker := r.maker[b]
	switch {
	case r.holds(b):
		return false
	case r.stage[maker] == stage || r.stage[maker] >= 0 && r.p.buffers[b].leaf:
		return true
	case !old:
		return false
	}
	for _, v := range r.lowered.instrs[maker].in {
		if !r.there(v.buf, stage) && !r.stays(v.buf, stage, old) {
			return false
		}
	}
	return true
}

// forget leaves out the instructions whose results nothing reads any more; the first that is left of several that make the same is not
// a repetition then.
func (p *Program) forget() {
	read := make([]bool, len(p.buffers))
	for _, ins := range slices.Backward(p.instrs) {
		if !read[ins.out.buf] && !p.buffers[ins.out.buf].pinned {
			continue
		}
		read[ins.out.buf] = true
		for _, v := range ins.in {
			read[v.buf] = true
		}
	}
	made := make([]bool, len(p.buffers))
	instead := make([]int, len(p.buffers)) // of a buffer that nothing reads: the one made before it
	kept, latest := make([]instr, 0, len(p.instrs)), 0
	for _, ins := range p.instrs {
		if !read[ins.out.buf] {
			instead[ins.out.buf] = latest
			p.vacate(ins.out.buf)
			continue
		}
		latest = ins.out.buf
		first := latest
		if ins.again != nil {
			a := *ins.again
			first = a.of
			if !made[first] {
				a.saves = 0
			}
			if !read[a.after] {
				a.after = instead[a.after]
			}
			ins.again = &a
		}
		made[first] = true
		kept = append(kept, ins)
	}
	p.instrs = kept
}

// offers is a heap.
type offers []offer

func (o offers) Len() int      { return len(o) }
func (o offers) Swap(i, k int) { o[i], o[k] = o[k], o[i] }
func (o offers) Less(i, k int) bool {
	switch {
	case o[i].products != o[k].products:
		return o[i].products < o[k].products
	case o[i].gain != o[k].gain:
		return o[i].gain > o[k].gain
	}
	return o[i].buf < o[k].buf
}

// Push and Pop are for package heap.
func (o *offers) Push(x any) { *o = append(*o, x.(offer)) }

// Pop removes the last element.
func (o *offers) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}
