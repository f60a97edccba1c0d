package tape

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// ordered is the form that proposes orders of the stages, by their numbers: the given one and, if
// it finds another, that of list scheduling.
type ordered struct {
	*staged
	orders [][]int
}

// order proposes an order that may need a smaller arena. Of the stages that may run next, list
// scheduling takes the one that frees most bytes beyond those that it makes, or else the earliest.
// The stages after the checks stay behind the others.
func order(s *staged) *ordered {
	given := make([]int, len(s.stages))
	for i := range given {
		given[i] = i
	}
	o := &ordered{s, [][]int{given}}
	if listed := slices.Concat(s.scheduled(0, s.late), s.scheduled(s.late, len(s.stages))); !slices.IsSorted(listed) {
		o.orders = append(o.orders, listed)
	}
	return o
}

// String lists the orders.
func (o *ordered) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ordered %q\n", o.source.Name())
	for i, order := range o.orders {
		fmt.Fprintf(&b, "  %s: %s\n", []string{"as given", "by list scheduling"}[i], strings.Trim(fmt.Sprint(order), "[]"))
	}
	return b.String()
}

// check returns an error unless each order has every stage once, what a stage reads comes before
// it, and the stages after the checks come last.
func (o *ordered) check() error {
	makers := map[int][]int{} // by buffer of the arena
	for i := range o.stages {
		for _, b := range o.made(i) {
			makers[b] = append(makers[b], i)
		}
	}
	for _, order := range o.orders {
		at := make([]int, len(o.stages))
		for k := range at {
			at[k] = -1
		}
		for k, i := range order {
			at[i] = k
		}
		for i, k := range at {
			if k < 0 || len(order) != len(at) || (k < o.late) != (i < o.late) {
				return fmt.Errorf("the order %v of %d stages, %d of them before the checks, misplaces stage %d", order, len(at), o.late, i)
			}
			for _, b := range o.read(i) {
				for _, from := range makers[b] {
					if at[from] > k {
						return fmt.Errorf("the order %v runs stage %d before stage %d, which makes buffer %d for it", order, i, from, b)
					}
				}
			}
		}
	}
	return nil
}

// scheduled lists stages [lo,hi) in the order of list scheduling.
func (q *sequence) scheduled(lo, hi int) []int {
	s := newSchedule(q, lo, hi)
	out := make([]int, 0, hi-lo)
	for len(s.ready) > 0 {
		c := heap.Pop(&s.ready).(candidate)
		if current := c.grows == s.grows[c.stage]; current && !s.done[c.stage] {
			out = append(out, lo+c.stage)
			s.finish(c.stage)
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

	// By buffer: the bytes that its last reader frees, how many stages have yet to read it, and the
	// sum of their numbers, which is the last one's number when one is left.
	bytes        []int64
	readers, sum []int
}

func newSchedule(q *sequence, lo, hi int) *schedule {
	n, buffers := hi-lo, len(q.buffers)
	s := &schedule{done: make([]bool, n), grows: make([]int64, n), waits: make([]int, n), next: make([][]int, n), reads: make([][]int, n),
		bytes: make([]int64, buffers), readers: make([]int, buffers), sum: make([]int, buffers)}
	maker := make([]int, buffers) // 0 for what is made before stage lo, else a stage's number + 1
	for i := range q.stages {
		made := q.made(i)
		for _, b := range made {
			maker[b] = max(0, i-lo+1)
		}
		for _, b := range distinct(q.read(i)) {
			if q.buffers[b].home != inArena || slices.Contains(made, b) {
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
	s.keepWrites(q, lo)
	s.keepSums(q, lo)
	for i := range n {
		for _, b := range q.made(lo + i) {
			if (s.readers[b] > 0 || q.buffers[b].pinned) && !q.buffers[b].kept {
				s.grows[i] += int64(roundUp(q.buffers[b].bytes))
			}
		}
		for _, b := range s.reads[i] {
			if !q.buffers[b].stays() {
				s.bytes[b] = int64(roundUp(q.buffers[b].bytes))
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

// keepWrites keeps the order of stages that write a parameter or state in place and those that read
// it before or after.
func (s *schedule) keepWrites(q *sequence, lo int) {
	written := map[int]bool{}
	writes := func(i int, to func(b int)) {
		for _, st := range q.stages[lo+i].steps {
			if q.buffers[st.out.buf].home == outside {
				to(st.out.buf)
			}
		}
	}
	for i := range s.next {
		writes(i, func(b int) { written[b] = true })
	}
	if len(written) == 0 {
		return
	}
	// By buffer: the last that wrote it, and those that have read it since.
	writer, readers := map[int]int{}, map[int][]int{}
	for i := range s.next {
		for _, b := range distinct(q.read(lo + i)) {
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

// finish marks stage i as done, and adds the stages that may run now or have become better
// candidates.
func (s *schedule) finish(i int) {
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

// candidate is a stage that may run next; the less the live bytes grow, the better. It is out of
// date if they have come to grow less than it says.
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

// distinct returns a list without repetitions, in order of size.
func distinct(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}
