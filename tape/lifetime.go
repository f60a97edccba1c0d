package tape

import (
	"fmt"
	"slices"
	"strings"
)

// lifetimes say when the buffers of the arena of a planned program hold what is still read.
type lifetimes struct {
	p     *Program
	stage []int   // by instruction: the stage that runs it, -1 if none does
	maker []int   // by buffer: the instruction that makes it, -1 for a leaf
	made  []int   // by buffer: the stage that makes it
	last  []int   // by buffer: the last stage in which it holds its place for itself
	uses  [][]int // by buffer: the stages that read it, in order
	live  []int   // by stage: the bytes that are taken
}

func (p *Program) lifetimes() *lifetimes {
	l := &lifetimes{p: p, stage: make([]int, len(p.instrs)), maker: make([]int, len(p.buffers)), made: make([]int, len(p.buffers)),
		last: make([]int, len(p.buffers)), uses: make([][]int, len(p.buffers)), live: make([]int, len(p.stage)+1)}
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
			l.live[l.made[b]] += p.buffers[b].place
			l.live[l.last[b]+1] -= p.buffers[b].place
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
func (l *lifetimes) peak() (stage, bytes int) {
	bytes = slices.Max(l.live)
	return slices.Index(l.live, bytes), bytes
}

// holders names what is largest at the peak.
func (l *lifetimes) holders() string {
	at, _ := l.peak()
	var alive []int
	for b := range l.made {
		if l.made[b] >= 0 && l.made[b] <= at && at <= l.last[b] {
			alive = append(alive, b)
		}
	}
	slices.SortStableFunc(alive, func(a, b int) int { return l.p.buffers[b].place - l.p.buffers[a].place })
	const named = 3
	var out []string
	for _, b := range alive[:min(named, len(alive))] {
		out = append(out, fmt.Sprintf("%s (%s)", l.name(b), bytesText(int64(l.p.buffers[b].bytes))))
	}
	if more := len(alive) - named; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// name says what buffer b holds.
func (l *lifetimes) name(b int) string {
	for _, f := range l.p.stage[l.made[b]].folds {
		if f.partial == b && f.out != b {
			return "partial sums of " + l.name(f.out)
		}
	}
	if s := &l.p.stage[l.made[b]]; s.work == b && b != 0 {
		return "what a step of " + l.p.instrs[s.steps[0].ins].node.String() + " needs"
	}
	if i := l.maker[b]; l.p.instrs[i].name == "Pack" {
		return "panels of " + l.p.instrs[i].node.String()
	}
	return l.p.instrs[l.maker[b]].node.String()
}
