package tape

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// turn makes member k compute along the rows.
func (l *laying) turn(k int) {
	m := l.g.members[k]
	in := slices.Clone(l.instrs[m.ins].in)
	for i, v := range in {
		way := l.way(k, i)
		if t, ok := l.made.get(v.buf); ok {
			in[i].buf = t
		} else if way == asRows && !l.buffers[v.buf].turned {
			n := l.buffers[v.buf].bytes / v.layout.DType.Size() / l.g.rows
			rows := kernel.Dense(v.layout.DType, l.g.rows, n)
			in[i].buf = l.turnIn(m, i, value{v.buf, rows})
		} else if way == asView {
			once, dense, _ := l.view(m, i)
			in[i] = value{l.turnIn(m, i, value{v.buf, once}), dense}
		}
	}
	ins := &l.instrs[m.ins]
	ins.in = in
	b := ins.out.buf
	l.out = append(l.out, laid{member: m, turned: true})
	switch {
	case ins.out.layout.Len() == l.g.rows:
	case l.buffers[b].home == inScratch && !l.leaves(k):
		l.buffers[b].turned = true
	case l.joins(k):
		l.out[len(l.out)-1].back = true
	default:
		l.turnBack(ins)
	}
}

// turnIn returns the buffer of the turned rows of a value, which is all or a part of what operand i
// of a member is read from, and adds the member that turns them unless it is there.
func (l *laying) turnIn(m member, i int, v value) (buf int) {
	if b, ok := l.packs[v]; ok {
		return b
	}
	ins := &l.instrs[m.ins]
	node := operandNode(ins, i)
	if d := v.layout; d.Rank == 2 && d.Dims[0] == l.g.rows && d.Len()*d.DType.Size() == l.buffers[v.buf].bytes {
		node = l.nodeOf(node, v.buf)
	}
	buf = len(l.buffers)
	l.buffers = append(l.buffers, buffer{home: inScratch, bytes: v.layout.Len() * v.layout.DType.Size(), turned: true})
	l.add(buf, v, laid{turned: true}, instr{node: node, does: turns})
	l.packs[v] = buf
	return buf
}

// nodeOf returns the node whose value a buffer holds: x is that, or a view of it.
func (l *laying) nodeOf(x *graph.Node, b int) *graph.Node {
	for from := l.from.from[b]; from < 0 || x != l.instrs[from].node; {
		if _, isView := x.Op().(Viewed); !isView {
			break
		}
		x = x.In(0)
	}
	return x
}

// turnBack makes an instruction write turned rows, and adds the member that turns them back.
func (l *laying) turnBack(ins *instr) {
	b := ins.out.buf
	n := ins.out.layout.Len() / l.g.rows
	rows := kernel.Dense(ins.out.layout.DType, l.g.rows, n)
	t := len(l.buffers)
	l.buffers = append(l.buffers, buffer{home: inScratch, bytes: l.buffers[b].bytes, turned: true})
	ins.out.buf, ins.turned = t, true
	l.made.set(b, t)
	l.add(b, value{t, rows}, laid{back: true}, instr{node: ins.node, does: turnsBack})
}

// add adds a member that lays a value out in a buffer.
func (l *laying) add(buf int, v value, as laid, ins instr) {
	out := kernel.Dense(v.layout.DType, v.layout.Dims[:v.layout.Rank]...)
	ins.name, ins.kernel, ins.in, ins.out = "Turn", kernel.Turn{}, []value{v}, value{buf, out}
	ins.bytes = int64(touched(out) + touched(v.layout))
	as.member = member{len(l.instrs), kernel.Turn{}.Divide(out, []kernel.Layout{v.layout})[0]}
	l.instrs = append(l.instrs, ins)
	l.out = append(l.out, as)
}

// checkTurned returns an error unless every step that reads or writes turned rows knows that they
// are, and does so among the steps of their tile.
func (q *sequence) checkTurned() error {
	var made byBuffer[struct{}] // by the steps of a tile
	for i := range q.stages {
		s := &q.stages[i]
		for _, t := range s.tilings {
			made.empty(len(q.buffers))
			for k := t.from; k < t.to; k++ {
				st := &s.steps[k]
				for n, r := range st.in {
					if turned := q.buffers[r.buf].turned; turned != st.open.lie(n) || turned && !made.has(r.buf) {
						return fmt.Errorf("stage %d, step %d reads buffer %d, whose rows lie turned: %v", i, k, r.buf, turned)
					}
				}
				if b := &q.buffers[st.out.buf]; b.turned && (!st.open.turned || b.home != inScratch) {
					return fmt.Errorf("stage %d, step %d writes buffer %d, whose rows lie turned", i, k, st.out.buf)
				}
				made.set(st.out.buf, struct{}{})
			}
		}
	}
	return nil
}
