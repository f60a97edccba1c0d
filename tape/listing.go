package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// Row is one instruction as the listing shows it.
type Row struct {
	Op      string // the operation, or Copy
	Result  string // label and shape of the result
	In      []string
	Of      []*graph.Node // the operands that In names, of Graph(); of a Copy or a Pack, Node itself
	Stage   int           // instructions of one stage run together, block by block
	Tile    int           // rows that are done at a time before the next instruction has its turn; 0 for all
	Scratch bool          // the result is never an array: each worker holds the rows of its block
	Stored  bool          // the result is written into the store at once: it has no place in the arena
	Sum     bool          // the result is a sum over the rows, added up block by block
	Offset  int           // of the result in the arena, or of a block of it in a worker's scratch, in bytes
	Bytes   int           // of the result, or of a block of it
	InPlace bool
	FLOPs   int64
	Traffic int64    // bytes read and written outside of scratch
	Repeat  bool     // made once more, in the blocks that read it, from what is in memory anyway
	Cut     string   // why it does not run in the blocks of what it reads; "" if it does, or reads nothing that is computed
	Again   int      // the bytes that computing it again saves; 0 for what is computed once, or for the first time
	Body    *Program // of a loop: what each step runs; its arena and FLOPs are part of the loop's
	Work    int      // of a loop: where in the arena what its steps need lies, Body.Arena() bytes
	Kept    string   // of a loop: which rows of its value it keeps, where nothing reads the others; "" for all
	Pos     graph.Pos
	Scope   string
	Node    *graph.Node // of Graph()
}

// Stage is what runs at once, as the listing shows it: one instruction as a whole, or several block by block.
type Stage struct {
	Rows, Block int    // rows in all and in a block; 0 for one instruction as a whole
	Parts       int    // partial sums that the blocks add to, 0 if they add to none
	Scratch     int    // bytes that each worker needs
	Only        string // the mask without which a run needs nothing of it and passes over it; "" for none
}

// Stages lists the stages in order.
func (p *Program) Stages() []Stage {
	out := make([]Stage, len(p.stage))
	for i := range p.stage {
		s := &p.stage[i]
		out[i] = Stage{s.rows, s.block, s.parts, s.scratch, p.condition(s)}
	}
	return out
}

// Rows lists the instructions in the order in which they run.
func (p *Program) Rows() []Row {
	rows := make([]Row, 0, len(p.instrs))
	for i := range p.stage {
		s := &p.stage[i]
		for k := range s.steps {
			ins := &p.instrs[s.steps[k].ins]
			b := p.buffers[ins.out.buf]
			at := ins.node.First()
			r := Row{Op: ins.name, Result: ins.node.String(), Stage: i, Scratch: b.scratch, Stored: b.leaf, Offset: b.offset, Bytes: b.bytes, InPlace: ins.inPlace,
				FLOPs: ins.flops, Traffic: ins.bytes, Cut: ins.cut, Repeat: ins.repeated, Pos: at.Pos, Scope: at.Scope, Node: ins.node}
			for _, run := range s.runs {
				if run.from <= k && k < run.to {
					r.Tile = run.rows
				}
			}
			if l, ok := ins.kernel.(*loop); ok {
				r.Body, r.Kept = l.body, l.kept()
				if l.body.arena > 0 {
					r.Work = p.buffers[s.work].offset
				}
			}
			if ins.again != nil {
				r.Again = ins.again.saves
			}
			for _, f := range s.folds {
				r.Sum = r.Sum || f.out == ins.out.buf
			}
			for k := range ins.in {
				x := ins.node
				if !ins.copies {
					x = x.In(k)
				}
				r.In, r.Of = append(r.In, operandText(x)), append(r.Of, x)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// String is the listing: an instruction a line, those that run together block by block joined by a bracket. Offsets after a ~ are in
// a worker's scratch, and so are the sizes beside them; = marks a result that takes the place of an operand, + one that is added up
// over the rows. Below a loop stands the listing of its body, marked ┆. A line that could not join the blocks of what it reads ends with the reason.
// "only if" names the mask of what a run passes over where the mask is false.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %q: %d instructions in %d stages, arena %s, scratch %s a worker, %s FLOP, %s moved a run\n",
		p.source.Name(), len(p.Rows()), len(p.stage), memory.Text(int64(p.arena)), memory.Text(int64(p.scratch)), countText(p.FLOPs()), memory.Text(p.Traffic()))
	if again, flops := p.Recomputed(); len(again) > 0 {
		fmt.Fprintf(&b, "%d instructions run again, to save memory: %s FLOP\n", len(again), countText(flops))
	}
	rows := p.Rows()
	at := 0 // rows at a time
	width := 6
	for _, r := range rows {
		width = max(width, len([]rune(r.Result)))
	}
	width = min(width, 40)
	fmt.Fprintf(&b, "%4s %9s  %9s  %-*s  %8s %9s  instruction\n", "#", "offset", "bytes", width, "result", "FLOP", "moved")
	for i, r := range rows {
		bracket, s := " ", &p.stage[r.Stage]
		if s.rows > 0 {
			bracket = "│"
			switch {
			case i == 0 || rows[i-1].Stage != r.Stage:
				fmt.Fprintf(&b, "     ╭ %s%s\n", s.text(), p.only(", ", s))
				at = s.block
				fallthrough
			default:
				if r.Tile != at {
					fmt.Fprintf(&b, "     ├ %d at a time\n", r.Tile)
				}
				at = r.Tile
			}
		}
		place, mark := fmt.Sprint(r.Offset), " "
		if r.Scratch {
			place = "~" + place
		}
		switch {
		case r.InPlace:
			mark = "="
		case r.Sum:
			mark = "+"
		}
		fmt.Fprintf(&b, "%4d %s%8s%s %9d  %s  %8s %9s  %s %s", i, bracket, place, mark, r.Bytes, pad(r.Result, width),
			countText(r.FLOPs), memory.Text(r.Traffic), r.Op, strings.Join(r.In, ", "))
		if r.Repeat {
			b.WriteString("  · once more")
		}
		if r.Cut != "" {
			fmt.Fprintf(&b, "  · apart: %s", r.Cut)
		}
		if r.Kept != "" {
			fmt.Fprintf(&b, "  · %s", r.Kept)
		}
		if r.Again > 0 {
			fmt.Fprintf(&b, "  · again: recomputed to save %s", memory.Text(int64(r.Again)))
		}
		if s.rows == 0 {
			b.WriteString(p.only("  · ", s))
		}
		b.WriteString("\n")
		if r.Body != nil {
			for line := range strings.Lines(r.Body.String()) {
				b.WriteString("     ┆ " + line)
			}
		}
		if s.rows > 0 && (i+1 == len(rows) || rows[i+1].Stage != r.Stage) {
			b.WriteString("     ╰\n")
		}
	}
	for _, c := range p.commits {
		how := "copied at the end"
		if c.direct {
			how = "written in place, after the checks"
		}
		fmt.Fprintf(&b, "commit %s, %s\n", c.path, how)
	}
	return b.String()
}

// text is what the listing says of a group.
func (s *stage) text() string {
	t := fmt.Sprintf("%d rows, %d at a time", s.rows, s.block)
	if s.parts > 1 {
		t += fmt.Sprintf(", sums in %d parts", s.parts)
	}
	return t
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// countText is 512, 9.4k, 3.1M.
func countText(n int64) string {
	v := float64(n)
	for i, unit := range []string{"", "k", "M", "G"} {
		if v < 1000 || i == 3 {
			if i == 0 {
				return fmt.Sprint(n)
			}
			return fmt.Sprintf("%.1f%s", v, unit)
		}
		v /= 1000
	}
	return ""
}

// operandText names an operand. A number that is the derivative of a loss by itself
// besides, as 1 is, appears as the number.
func operandText(x *graph.Node) string {
	if v, ok := x.Constant(); ok && x.Rank() == 0 && strings.HasPrefix(x.Name(), "∂") {
		return graph.Bits(v.Data[0]).String()
	}
	return x.String()
}
