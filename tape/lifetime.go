package tape

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// lifetimes say when the buffers of the arena of a planned program hold what is still read.
type lifetimes struct {
	p     *Program
	stage []int   // by instruction: the stage that runs it, -1 if none does
	maker []int   // by buffer: the instruction that makes it, -1 for a leaf
	made  []int   // by buffer: the stage that makes it
	last  []int   // by buffer: the last stage in which it holds its place for itself
	uses  [][]int // by buffer: the stages that read it, in order
	live  []int64 // by stage: the bytes that are taken
}

func (p *Program) lifetimes() *lifetimes {
	l := &lifetimes{p: p, stage: make([]int, len(p.instrs)), maker: make([]int, len(p.buffers)), made: make([]int, len(p.buffers)),
		last: make([]int, len(p.buffers)), uses: make([][]int, len(p.buffers)), live: make([]int64, len(p.stage)+1)}
	for i := range l.stage {
		l.stage[i] = -1
	}
	for b := range l.maker {
		l.maker[b], l.made[b], l.last[b] = -1, -1, -1
	}
	for i := range p.stage {
		for _, st := range p.stage[i].steps {
			l.stage[st.ins] = i
			l.maker[p.instrs[st.ins].out.buf] = st.ins
		}
		made := p.madeIn(i)
		for _, b := range made {
			l.made[b], l.last[b] = i, i
		}
		for _, b := range distinct(p.readIn(i)) {
			if !l.holds(b) || l.made[b] == i {
				continue
			}
			l.uses[b] = append(l.uses[b], i)
			l.last[b] = i
		}
	}
	for i := range p.stage {
		if p.tooLarge() {
			break // places mean nothing
		}
		for _, b := range p.madeIn(i) { // an operand whose place it takes counts no more
			for _, from := range p.readIn(i) {
				if l.holds(from) && l.last[from] == i && l.made[from] < i && p.buffers[from].offset == p.buffers[b].offset && !p.buffers[from].pinned {
					l.last[from] = i - 1
				}
			}
		}
	}
	for b := range p.buffers {
		if l.made[b] >= 0 {
			if p.buffers[b].pinned {
				l.last[b] = len(p.stage) - 1
			}
			l.live[l.made[b]] += int64(p.buffers[b].place)
			l.live[l.last[b]+1] -= int64(p.buffers[b].place)
		}
	}
	for t := 1; t < len(l.live); t++ {
		l.live[t] += l.live[t-1]
	}
	l.live = l.live[:len(p.stage)]
	return l
}

// holds reports whether buffer b has a place in the arena.
func (l *lifetimes) holds(b int) bool { return !l.p.buffers[b].leaf && !l.p.buffers[b].scratch }

// peak is the first of the stages with most live bytes.
func (l *lifetimes) peak() (stage int, bytes int64) {
	bytes = slices.Max(l.live)
	return slices.Index(l.live, bytes), bytes
}

// list gives what is alive at the peak.
func (l *lifetimes) list() (all []holder) {
	if len(l.live) == 0 {
		return nil
	}
	at, _ := l.peak()
	for b := range l.made {
		if l.made[b] >= 0 && l.made[b] <= at && at <= l.last[b] {
			k, isLoop := l.p.instrs[max(0, l.maker[b])].kernel.(*loop)
			all = append(all, holder{l.name(b), int64(l.p.buffers[b].bytes), isLoop && l.maker[b] >= 0 && k.Steps > 1})
		}
	}
	slices.SortStableFunc(all, func(a, b holder) int { return cmp.Compare(b.bytes, a.bytes) })
	return all
}

// name says what buffer b holds.
func (l *lifetimes) name(b int) string {
	for _, f := range l.p.stage[l.made[b]].folds {
		if f.partial == b && f.out != b {
			return "partial sums of " + l.name(f.out)
		}
	}
	if s := &l.p.stage[l.made[b]]; s.work == b && b != 0 {
		return "what a step of " + loopText(l.p.instrs[s.steps[0].ins].node) + " needs"
	}
	if i := l.maker[b]; l.p.instrs[i].name == "Pack" {
		return "panels of " + l.p.instrs[i].node.String()
	}
	n := l.p.instrs[l.maker[b]].node
	if n.Body() != nil && l.p.instrs[l.maker[b]].name == n.Op().Name() {
		return "the rows of " + loopText(n)
	}
	return n.String() + at(n)
}

// loopText names a loop by its results and its line.
func loopText(n *graph.Node) string {
	var results []string
	for _, r := range n.Body().Out() {
		results = append(results, r.Label())
	}
	return fmt.Sprintf("%s of %s%s", n.Op().Name(), strings.Join(results, ", "), at(n))
}
