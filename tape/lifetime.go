package tape

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// lifetimes tells during which stages the buffers of the arena hold values that are still read.
type lifetimes struct {
	*sequence
	stage []int   // by instruction: the stage that runs it, -1 if none does
	maker []int   // by buffer: the instruction that makes it, -1 if none does
	begin []int   // by buffer: the stage that makes it
	last  []int   // by buffer: the last stage in which it holds its place for itself
	uses  [][]int // by buffer: the stages that read it, in order
	live  []int64 // by stage: the bytes that are taken
}

// lifetimes finds the lifetimes; placed is false if offsets in the arena mean nothing.
func (q *sequence) lifetimes(placed bool) *lifetimes {
	n := len(q.buffers)
	l := &lifetimes{sequence: q, stage: make([]int, len(q.instrs)), maker: make([]int, n), begin: make([]int, n),
		last: make([]int, n), uses: make([][]int, n), live: make([]int64, len(q.stages)+1)}
	for i := range l.stage {
		l.stage[i] = -1
	}
	for b := range l.maker {
		l.maker[b], l.begin[b], l.last[b] = -1, -1, -1
	}
	for i := range q.stages {
		for _, st := range q.stages[i].steps {
			l.stage[st.ins] = i
			l.maker[q.instrs[st.ins].out.buf] = st.ins
		}
		for _, b := range q.made(i) {
			l.begin[b], l.last[b] = i, i
		}
		for _, b := range distinct(q.read(i)) {
			if l.holds(b) && l.begin[b] != i {
				l.uses[b] = append(l.uses[b], i)
				l.last[b] = i
			}
		}
	}
	if placed {
		l.takePlaces()
	}
	for b := range q.buffers {
		if l.begin[b] >= 0 {
			from := l.begin[b]
			if q.buffers[b].stays() {
				l.last[b] = len(q.stages) - 1
			}
			if q.buffers[b].kept {
				from = 0
			}
			l.add(l.live, b, from, l.last[b]+1, 1)
		}
	}
	for t := 1; t < len(l.live); t++ {
		l.live[t] += l.live[t-1]
	}
	l.live = l.live[:len(q.stages)]
	return l
}

// takePlaces ends the life of operands whose place a result takes one stage earlier, so that they
// do not count.
func (l *lifetimes) takePlaces() {
	for i := range l.stages {
		for _, b := range l.made(i) {
			for _, from := range l.read(i) {
				if l.holds(from) && l.last[from] == i && l.begin[from] < i &&
					l.buffers[from].offset == l.buffers[b].offset && !l.buffers[from].stays() {
					l.last[from] = i - 1
				}
			}
		}
	}
}

// add adds the bytes of buffer b, times sign, to the changes of live bytes in stages [from,to).
func (l *lifetimes) add(changes []int64, b, from, to int, sign int64) {
	bytes := sign * int64(roundUp(l.buffers[b].bytes))
	changes[from] += bytes
	changes[to] -= bytes
}

// holds reports whether buffer b has a place in the arena.
func (l *lifetimes) holds(b int) bool { return l.buffers[b].home == inArena }

// peak returns the first of the stages with most live bytes.
func (l *lifetimes) peak() (stage int, bytes int64) {
	bytes = slices.Max(l.live)
	return slices.Index(l.live, bytes), bytes
}

// list returns what is alive at the peak, the largest first.
func (l *lifetimes) list() (all []holder) {
	if len(l.live) == 0 {
		return nil
	}
	at, _ := l.peak()
	for b := range l.begin {
		if l.begin[b] >= 0 && (l.begin[b] <= at || l.buffers[b].kept) && at <= l.last[b] {
			h := holder{name: l.name(b), bytes: int64(l.buffers[b].bytes)}
			if l.maker[b] >= 0 {
				k, isLoop := l.instrs[l.maker[b]].kernel.(*loop)
				h.loop = isLoop && k.Steps > 1
			}
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b holder) int { return cmp.Compare(b.bytes, a.bytes) })
	return all
}

// name says what buffer b holds.
func (l *lifetimes) name(b int) string {
	s := &l.stages[l.begin[b]]
	for _, x := range s.sums {
		if x.partial == b && x.out != b {
			return "partial sums of " + l.name(x.out)
		}
	}
	if s.work == b && b != 0 {
		return "what a step of " + loopText(l.instrs[s.steps[0].ins].node) + " needs"
	}
	ins := &l.instrs[l.maker[b]]
	if ins.does == packs {
		return "panels of " + ins.node.String()
	}
	if _, isLoop := ins.kernel.(*loop); isLoop {
		return "the rows of " + loopText(ins.node)
	}
	return ins.node.String() + at(ins.node)
}

// loopText names a loop by its results and its line.
func loopText(n *graph.Node) string {
	var results []string
	for _, r := range n.Body().Out() {
		results = append(results, r.Label())
	}
	return fmt.Sprintf("%s of %s%s", n.Op().Name(), strings.Join(results, ", "), at(n))
}
