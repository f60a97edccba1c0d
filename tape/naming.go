package tape

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// naming gives results and operands the names that listings and forms use. An operand is named
// after the row that makes it, as a view of such a row or of a leaf, or as a leaf: a path or the
// numbers of a constant. So a listing tells where each operand comes from.
type naming struct {
	maker []*instr // by buffer: what writes it, nil for what is only read
}

// namesOf returns the names of so many buffers, which the given instructions write.
func namesOf(buffers int, instrs iter.Seq[*instr]) *naming {
	n := &naming{make([]*instr, buffers)}
	for ins := range instrs {
		n.maker[ins.out.buf] = ins
	}
	return n
}

// result names what an instruction makes, with its shape.
func (n *naming) result(ins *instr) string { return n.made(ins) + ins.node.Shape().String() }

// made names what an instruction makes.
func (n *naming) made(ins *instr) string {
	if ins.turned {
		plain := *ins
		plain.turned = false
		return "columns(" + n.made(&plain) + ")"
	}
	_, isView := ins.node.Op().(Viewed)
	switch {
	case ins.does == packs:
		return "panels(" + n.read(ins, 0, ins.in[0].buf) + ")"
	case ins.does == turns:
		return "turned(" + n.read(ins, 0, ins.in[0].buf) + ")"
	case ins.does == adds:
		return "total(" + ins.node.Label() + ")"
	case ins.does == widens, ins.does == computes && int(ins.out.layout.DType) != int(ins.node.DType()):
		return "wide(" + ins.node.Label() + ")"
	case ins.does == copies && !isView:
		return "copy(" + ins.node.Label() + ")"
	}
	return ins.node.Label()
}

// operand names what an instruction reads from a buffer as operand k, with its shape.
func (n *naming) operand(ins *instr, k, buf int) string {
	x := operandNode(ins, k)
	if _, constant := x.Constant(); constant && x.Rank() == 0 {
		return leafText(x)
	}
	return n.read(ins, k, buf) + x.Shape().String()
}

// operandNode returns the node of operand k: an instruction that copies, packs or adds reads the
// value of its own node, and one that computes another node as well reads what that does.
func operandNode(ins *instr, k int) *graph.Node {
	if ins.does != computes {
		return ins.node
	}
	if ins.reads != nil {
		return ins.reads.In(min(k, ins.reads.NumIn()-1)) // a square is a product of two operands
	}
	return ins.node.In(k)
}

// read names what an instruction reads from a buffer as operand k.
func (n *naming) read(ins *instr, k, buf int) string {
	maker := n.maker[buf]
	switch {
	case maker != nil && maker.does == packs:
		return n.made(maker)
	case ins.does == adds && k == 0: // the sum so far
		return n.made(ins)
	}
	return n.text(operandNode(ins, k), maker)
}

// text writes x as views of what an instruction makes, or of a leaf: maker is nil for a leaf.
// Arrays that are joined without an instruction of their own are written as they are joined.
func (n *naming) text(x *graph.Node, maker *instr) string {
	if maker != nil && x == maker.node {
		return n.made(maker)
	}
	if _, isView := x.Op().(Viewed); isView {
		return viewText(x) + "(" + n.text(x.In(0), maker) + ")"
	}
	if !joins(x) {
		return leafText(x)
	}
	parts := make([]string, x.NumIn())
	for i := range parts {
		parts[i] = n.text(x.In(i), maker)
	}
	return "Concat(" + strings.Join(parts, ", ") + ")"
}

// joins reports whether x is arrays beside each other.
func joins(x *graph.Node) bool {
	op, ok := x.Op().(Runnable)
	if !ok {
		return false
	}
	_, ok = op.Kernel(x).(kernel.Concat)
	return ok
}

// base returns the node whose value a buffer holds, of which x is a view.
func (n *naming) base(x *graph.Node, buf int) *graph.Node {
	for n.maker[buf] == nil || x != n.maker[buf].node {
		if _, isView := x.Op().(Viewed); !isView {
			break
		}
		x = x.In(0)
	}
	return x
}

// viewText names a view: with its attributes only where it leaves elements out, because elsewhere
// the shape tells what it does.
func viewText(v *graph.Node) string {
	if v.Shape().Len() < v.In(0).Shape().Len() {
		return graph.OpText(v.Op())
	}
	return v.Op().Name()
}

// leafText names a leaf: the numbers of a constant, the first few if they are many.
func leafText(x *graph.Node) string {
	v, ok := x.Constant()
	if !ok {
		return x.Label()
	}
	bits := 64
	if x.DType().Wide() == graph.F32 {
		bits = 32
	}
	const few = 3
	var numbers []string
	for i, e := range v.Data {
		if i == few && len(v.Data) > few+1 {
			numbers = append(numbers, "…")
			break
		}
		numbers = append(numbers, strconv.FormatFloat(e, 'g', -1, bits))
	}
	if x.Rank() == 0 {
		return numbers[0]
	}
	return "{" + strings.Join(numbers, " ") + "}"
}

// line writes an instruction: its result, the operation, its operands.
func (n *naming) line(ins *instr, in []int) string {
	operands := make([]string, len(in))
	for k, buf := range in {
		operands[k] = n.operand(ins, k, buf)
	}
	return fmt.Sprintf("%s = %s %s", n.result(ins), ins.name, strings.Join(operands, ", "))
}

// lineOf writes an instruction that reads its own operands.
func (n *naming) lineOf(ins *instr) string {
	in := make([]int, len(ins.in))
	for k, v := range ins.in {
		in[k] = v.buf
	}
	return n.line(ins, in)
}

// lineOf writes the instruction of a step, which may read panels in place of an operand.
func (q *sequence) lineOf(n *naming, st *step) string {
	in := make([]int, len(st.in))
	for k, r := range st.in {
		in[k] = r.buf
	}
	return n.line(&q.instrs[st.ins], in)
}

// names returns the names for the instructions of the form.
func (l *lowered) names() *naming {
	return namesOf(len(l.buffers), func(yield func(*instr) bool) {
		for i := range l.instrs {
			if ins := &l.instrs[i].instr; l.buffers[ins.out.buf].home != nowhere && !yield(ins) {
				return
			}
		}
	})
}

// names returns the names for the instructions of the stages.
func (q *sequence) names() *naming {
	return namesOf(len(q.buffers), func(yield func(*instr) bool) {
		for i := range q.stages {
			for _, st := range q.stages[i].steps {
				if !yield(&q.instrs[st.ins]) {
					return
				}
			}
		}
	})
}
