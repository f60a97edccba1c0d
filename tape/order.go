package tape

import (
	"container/heap"
	"slices"
)

// order puts the stages in an order that needs a smaller arena, if list scheduling finds one: of the stages that may run next it takes
// the one that frees most bytes beyond those that it makes, or else the earliest. The stages after the checks stay behind the others.
// It leaves the program planned.
func (p *Program) order() {
	p.plan()
	given, arena := p.stage, p.arena
	order := slices.Concat(p.scheduled(0, p.late), p.scheduled(p.late, len(p.stage)))
	if slices.IsSorted(order) {
		return
	}
	p.stage = make([]stage, len(given))
	for i, from := range order {
		p.stage[i] = given[from]
	}
	if p.plan(); p.arena >= arena {
		p.stage = given
		p.plan()
	}
}

// scheduled lists stages [lo,hi) in the order of list scheduling.
func (p *Program) scheduled(lo, hi int) []int {
	s := newSchedule(p, lo, hi)
	out := make([]int, 0, hi-lo)
	for len(s.ready) > 0 {
		if c := heap.Pop(&s.ready).(candidate); c.grows == s.grows[c.stage] && !s.done[c.stage] { // otherwise out of date
			out = append(out, lo+c.stage)
			s.run(c.stage)
		}
	}
	return out
}

// schedule is the state of list scheduling. Its stages are numbered from 0.
type schedule struct {
	ready candidates
	done  []bool
	grows []int64 // by stage: bytes that it makes, less those that it frees
	waits []int   // by stage: the edges that lead to it from stages that have not run
	next  [][]int // by stage: those that wait for it
	reads [][]int // by stage: the buffers of the arena that others made and it reads, each once

	// By buffer: what its last reader frees, how many stages of the program have yet to read it, and the sum of their numbers, which
	// is the last one's number when one is left.
	bytes        []int64
	readers, sum []int
}

func newSchedule(p *Program, lo, hi int) *schedule {
	n, buffers := hi-lo, len(p.buffers)
	s := &schedule{done: make([]bool, n), grows: make([]int64, n), waits: make([]int, n), next: make([][]int, n), reads: make([][]int, n),
		bytes: make([]int64, buffers), readers: make([]int, buffers), sum: make([]int, buffers)}
	maker := make([]int, buffers) // 0 for what is made before stage lo, else a stage's number + 1
	for i := range p.stage {
		made := p.madeIn(i)
		for _, b := range made {
			maker[b] = max(0, i-lo+1)
		}
		for _, b := range distinct(p.readIn(i)) {
			if p.buffers[b].leaf || p.buffers[b].scratch || slices.Contains(made, b) {
				continue
			}
			s.readers[b]++
			s.sum[b] += i - lo
			if lo <= i && i < hi {
				s.reads[i-lo] = append(s.reads[i-lo], b)
				if maker[b] > 0 {
					s.follow(maker[b]-1, i-lo)
				}
			}
		}
	}
	s.keepWrites(p, lo)
	for i := range n {
		for _, b := range p.madeIn(lo + i) {
			if s.readers[b] > 0 || p.buffers[b].pinned {
				s.grows[i] += int64(roundUp(p.buffers[b].bytes))
			}
		}
		for _, b := range s.reads[i] {
			if !p.buffers[b].pinned {
				s.bytes[b] = int64(roundUp(p.buffers[b].bytes))
			}
			if s.readers[b] == 1 {
				s.grows[i] -= s.bytes[b]
			}
		}
		if s.waits[i] == 0 {
			s.ready = append(s.ready, candidate{i, s.grows[i]})
		}
	}
	heap.Init(&s.ready)
	return s
}

// follow makes stage i wait for stage from.
func (s *schedule) follow(from, i int) {
	s.next[from] = append(s.next[from], i)
	s.waits[i]++
}

// keepWrites keeps the order of stages that write a leaf in place and those that read it before or after.
func (s *schedule) keepWrites(p *Program, lo int) {
	written := map[int]bool{}
	writes := func(i int, leaf func(b int)) {
		for _, st := range p.stage[lo+i].steps {
			if p.buffers[st.out.buf].leaf {
				leaf(st.out.buf)
			}
		}
	}
	for i := range s.next {
		writes(i, func(b int) { written[b] = true })
	}
	if len(written) == 0 {
		return
	}
	writer, readers := map[int]int{}, map[int][]int{} // of a leaf: the last that wrote it, and those that have read it since
	for i := range s.next {
		for _, b := range distinct(p.readIn(lo + i)) {
			if from, ok := writer[b]; ok {
				s.follow(from, i)
			}
			if written[b] {
				readers[b] = append(readers[b], i)
			}
		}
		writes(i, func(b int) {
			if from, ok := writer[b]; ok && from != i {
				s.follow(from, i)
			}
			for _, r := range readers[b] {
				if r != i {
					s.follow(r, i)
				}
			}
			writer[b], readers[b] = i, nil
		})
	}
}

// run marks stage i as run, and finds what may run next and what has become better.
func (s *schedule) run(i int) {
	s.done[i] = true
	for _, b := range s.reads[i] {
		s.readers[b]--
		s.sum[b] -= i
		if last := s.sum[b]; s.readers[b] == 1 && s.bytes[b] > 0 && 0 <= last && last < len(s.grows) {
			s.grows[last] -= s.bytes[b]
			if s.waits[last] == 0 {
				heap.Push(&s.ready, candidate{last, s.grows[last]})
			}
		}
	}
	for _, k := range s.next[i] {
		if s.waits[k]--; s.waits[k] == 0 {
			heap.Push(&s.ready, candidate{k, s.grows[k]})
		}
	}
}

// candidate is a stage that may run next, the better the less the live bytes grow. It is out of date when they grow less than that.
type candidate struct {
	stage int
	grows int64
}

// candidates is a heap.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c candidates) Less(i, k int) bool {
	if c[i].grows != c[k].grows {
		return c[i].grows < c[k].grows
	}
	return c[i].stage < c[k].stage
}

// Push and Pop are for package heap.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop removes the last element.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// distinct is a list without repetitions, in order of size.
func distinct(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}
