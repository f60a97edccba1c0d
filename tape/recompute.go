package tape

import (
	"container/heap"
	"slices"
)

// A value that is needed early and late keeps its place in between. Where memory is short, it is
// dropped after the early use and computed again for the late one. For example, the derivative of a
// chain keeps a, b and c for the way back:
//
//	lowered "chain"
//	  a[i=64] = Sin x[i=64]
//	  b[i=64] = Sin a[i=64]
//	  c[i=64] = Sin b[i=64]
//	  %9[i=64] = Cos c[i=64]
//	  ∂loss/∂c[i=64] = Mul Broadcast(Reshape(1))[i=64], %9[i=64]
//	  %11[i=64] = Cos b[i=64]
//	  ∂loss/∂b[i=64] = Mul ∂loss/∂c[i=64], %11[i=64]
//	  %13[i=64] = Cos a[i=64]
//	  ∂loss/∂a[i=64] = Mul ∂loss/∂b[i=64], %13[i=64]
//	  %15[i=64] = Cos x[i=64]
//	  ∂loss/∂x[i=64] = Mul ∂loss/∂a[i=64], %15[i=64]
//
// Three arrays of 256 B are live at a time, while c is made. With a budget of 512 B, a is absent
// from then until it is read again: a second instruction makes it.
//
//	lowered "chain"
//	  a[i=64] = Sin x[i=64]
//	  b[i=64] = Sin a[i=64]
//	  c[i=64] = Sin b[i=64]
//	  %9[i=64] = Cos c[i=64]
//	  ∂loss/∂c[i=64] = Mul Broadcast(Reshape(1))[i=64], %9[i=64]
//	  %11[i=64] = Cos b[i=64]
//	  ∂loss/∂b[i=64] = Mul ∂loss/∂c[i=64], %11[i=64]
//	  a[i=64] = Sin x[i=64]  · again
//	  %13[i=64] = Cos a[i=64]
//	  ∂loss/∂a[i=64] = Mul ∂loss/∂b[i=64], %13[i=64]
//	  %15[i=64] = Cos x[i=64]
//	  ∂loss/∂x[i=64] = Mul ∂loss/∂a[i=64], %15[i=64]

// thinning chooses what to drop and compute again in one round of the search for a program that
// fits. Times are stages of the planned program at hand. A value that is dropped is absent after
// its last use before a peak, until its next use: then it comes back, together with those of its
// operands that are absent too, and stays as before. The instructions are those of the lowered
// form, of which a new one is made.
type thinning struct {
	*lifetimes // of the planned program
	lowered    *lowered
	gone       map[int]absence // by buffer
	change     []int64         // of live, by stage: differences not yet added up
	never      []bool          // by buffer: it cannot be brought back
	seen       []int           // by buffer: the last of the visits that came by
	visits     int
}

// absence is the time (from, back) without a buffer.
type absence struct{ from, back int }

// The limits of a round: the number of peaks, and of instructions that bring one value back.
const (
	mostPeaks   = 128
	mostToBring = 256
)

// thin returns lowered instructions with which fewer bytes are live where p, which was planned from
// the given ones, has more than the budget, or more than a part of its peak.
func thin(from *lowered, p *planned, budget int, m manner) (next *lowered, changed bool) {
	t := &thinning{lifetimes: p.lifetimes(!p.tooLarge()), lowered: from, gone: map[int]absence{}, change: make([]int64, len(p.stages)+1),
		never: make([]bool, len(p.buffers)), seen: make([]int, len(p.buffers))}
	// The lowered form has no panels, and updates have buffers apart from their targets.
	for i := range from.instrs {
		t.maker[from.instrs[i].out.buf] = i
	}
	_, bytes := t.peak()
	between := max(int64(p.arena)-bytes, 0) // what lies between the buffers does not fit either
	target := max(int64(budget)-between, int64(budget)/2, int64(m.pace*float64(bytes)))
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

// lower drops values that are live in stage at until at most target bytes are, if it can: first
// those that free most bytes times stages for the time of computing them again, and last those that
// take products.
func (t *thinning) lower(at int, target int64, blocks bool) {
	bytes := t.take(at, target, t.live[at], func(back int) bool { return back > at })
	if blocks && t.stages[at].rows > 0 { // it may hold rows of its operands only
		t.take(at, target, bytes, func(back int) bool { return back == at })
	}
}

// take drops the buffers that come back in certain stages, see [thinning.lower]. It returns the
// bytes that are left.
func (t *thinning) take(at int, target, bytes int64, in func(back int) bool) int64 {
	offers := t.offers(at, in)
	heap.Init(&offers)
	for bytes > target && len(offers) > 0 {
		t.lowered.how.look()
		o := heap.Pop(&offers).(offer)
		was := o
		switch {
		case !t.weigh(&o):
		case o.products > was.products || o.gain < was.gain: // it has become dearer
			heap.Push(&offers, o)
		default:
			t.drop(o)
			bytes -= int64(roundUp(t.buffers[o.buf].bytes))
		}
	}
	return bytes
}

// offers lists what may be absent in stage at and come back in certain stages.
func (t *thinning) offers(at int, in func(back int) bool) (list offers) {
	for b := range t.begin {
		t.lowered.how.look()
		if t.begin[b] < 0 || t.begin[b] >= at || t.never[b] || t.buffers[b].pinned {
			continue
		}
		if _, gone := t.gone[b]; gone {
			continue
		}
		k, _ := slices.BinarySearch(t.uses[b], at)
		if k == len(t.uses[b]) || !in(t.uses[b][k]) {
			continue
		}
		o := offer{buf: b, at: at, from: t.begin[b], back: t.uses[b][k]}
		if k > 0 {
			o.from = t.uses[b][k-1]
		}
		if !t.weigh(&o) {
			t.never[b] = true // the more is gone, the less can be brought back
			continue
		}
		if o.back > at || k+1 == len(t.uses[b]) && t.joins(o) {
			list = append(list, o)
		}
	}
	return list
}

// joins reports whether all instructions that bring a buffer back may run in the blocks of the
// stage that wants it.
func (t *thinning) joins(o offer) bool {
	list, _ := t.bring(o.buf, o.back)
	for _, i := range list {
		if t.stage[i] < 0 {
			continue
		}
		s, out := &t.stages[t.stage[i]], t.lowered.instrs[i].out.buf
		if s.rows != t.stages[o.back].rows || slices.ContainsFunc(s.sums, func(x sum) bool { return x.out == out }) {
			return false
		}
	}
	return true
}

// weigh sets the gain and the cost of an offer; it returns false if the buffer cannot be brought
// back.
func (t *thinning) weigh(o *offer) bool {
	list, ok := t.bring(o.buf, o.back)
	if !ok {
		return false
	}
	time := 1.0
	o.products = 0
	for _, i := range list {
		ins := &t.lowered.instrs[i].instr
		time += nanos(ins)
		if isProduct(ins.kernel) {
			o.products = 1
		}
	}
	o.gain = float64(roundUp(t.buffers[o.buf].bytes)) * float64(max(o.back, o.at+1)-o.from) / time
	return true
}

// bring lists the instructions that compute buffer b again in a stage, from values that are there.
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
		if once(ins.kernel) {
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
	if t.lowered.buffers[b].home == outside {
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

// drop makes a buffer absent. The values from which it is computed again come back with it.
func (t *thinning) drop(o offer) {
	list, _ := t.bring(o.buf, o.back)
	t.gone[o.buf] = absence{o.from, o.back}
	t.add(t.change, o.buf, o.from+1, max(o.back, o.at+1), -1)
	for _, i := range list {
		ins := &t.lowered.instrs[i]
		if b := ins.out.buf; b != o.buf {
			if a, gone := t.gone[b]; gone && o.back < a.back {
				t.gone[b] = absence{a.from, o.back}
				t.add(t.change, b, o.back, a.back, 1)
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
