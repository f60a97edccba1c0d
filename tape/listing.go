package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// Row is one instruction as the listing shows it.
type Row struct {
	Op      string        // the operation; Copy, Pack, Turn and Accumulate lay a value out, or add it up
	Result  string        // name and shape of the result
	In      []string      // the operands: rows, leaves, or views: Transpose(x)[j=3 i=2]
	Of      []*graph.Node // the operands, of Graph(); of a Copy, Pack, Turn or Accumulate, Node itself
	Stage   int           // instructions of one stage run together, block by block
	Tile    int           // rows done at a time, before the next instruction; 0 for all
	Scratch bool          // the result is never an array: each worker holds the rows of its block
	Turned  bool          // there the rows lie innermost, not one after the other
	Stored  bool          // the result is written straight into the store, not the arena
	Sum     bool          // the result is a sum over the rows, added up block by block
	Offset  int           // bytes, in the arena or, of a block, in a worker's scratch
	Bytes   int           // of the result, or of a block of it
	InPlace bool
	FLOPs   int64
	Traffic int64    // bytes read and written outside of scratch
	Once    bool     // it runs in the first run, and again when a value that it depends on has changed: see [Once]
	Repeat  bool     // made once more, in the blocks that read it, from what is in memory anyway
	Cut     string   // why it does not run in the blocks of what it reads; "" if it does or reads leaves
	Again   int      // the bytes that computing it again saves; 0 for what is computed first
	Head    []string // of a loop: a line each on its steps, what it carries, reads and gives
	Body    *Program // of a loop: what each step runs; its arena and FLOPs are part of the loop's
	Work    int      // of a loop: where in the arena what its steps need lies, Body.Arena() bytes
	Kept    string   // of a loop: which rows of its value it keeps, where nothing reads the others; "" for all
	Lanes   bool     // it is a sum over lanes, which waits for all of them; see [Summer]
	Site    int      // of a sum over lanes: its number
	Pos     graph.Pos
	Scope   string
	Node    *graph.Node // of Graph()
}

// Stage is a part of the listing that runs at once: one instruction as a whole, or several block
// by block. A run skips a stage with a condition where its mask, a boolean scalar, is false: then
// the stage's results would only go into updates that keep the old value, as Select(full, new, old)
// does. The results of the run are the same, bit for bit, as if the stage ran. Stages with loops,
// with operations from outside this module or with indices that are checked have no condition. The
// listing shows it:
//
//	  ╭ 262144 rows, 1024 at a time, only if full[]
//	2 │      ~0  4096  %29[d=512 h=512]  262.1k  1.0 MiB  Mul %28[d=512 h=512], m/w[d=512 h=512]
type Stage struct {
	Rows, Block int    // rows in all and in a block; 0 for one instruction as a whole
	Parts       int    // sums and partial sums that the blocks add to, 0 if they add to none
	Scratch     int    // bytes that each worker needs
	Only        string // the name of the mask of its condition; "" for none
	Once        bool   // it runs in the first run, and again when a value that it depends on has changed: see [Once]
}

// Stages lists the stages in order.
func (p *Program) Stages() []Stage {
	out, name := make([]Stage, len(p.stages)), p.names()
	for i := range p.stages {
		s := &p.stages[i]
		out[i] = Stage{s.rows, s.block, s.parts, s.scratch, p.condition(name, s), s.once}
	}
	return out
}

// Rows lists the instructions in the order in which they run.
func (p *Program) Rows() []Row {
	rows, name := make([]Row, 0, p.calls), p.names()
	for i := range p.stages {
		for k := range p.stages[i].steps {
			rows = append(rows, p.row(name, i, k))
		}
	}
	return rows
}

// row returns what the listing shows of step k of a stage.
func (p *Program) row(name *naming, stage, k int) Row {
	s := &p.stages[stage]
	st := &s.steps[k]
	ins := &p.instrs[st.ins]
	b, at := &p.buffers[ins.out.buf], ins.node.First()
	r := Row{
		Op: ins.name, Result: name.result(ins), Stage: stage, Scratch: b.home == inScratch, Turned: b.turned, Stored: b.home == outside,
		Offset: b.offset, Bytes: b.bytes, InPlace: ins.inPlace, FLOPs: ins.flops, Traffic: ins.bytes,
		Cut: ins.cut, Repeat: ins.repeated, Once: st.once, Again: ins.saves, Pos: at.Pos, Scope: at.Scope, Node: ins.node,
	}
	for _, t := range s.tilings {
		if t.from <= k && k < t.to {
			r.Tile = t.rows
		}
	}
	if l, ok := ins.kernel.(*loop); ok {
		r.Body, r.Kept = l.body, l.kept()
		if l.body.arena > 0 {
			r.Work = p.buffers[s.work].offset
		}
	}
	if site, ok := p.sums(s); ok {
		r.Lanes, r.Site, r.Cut = true, site, ""
	}
	for _, x := range s.sums {
		r.Sum = r.Sum || x.out == ins.out.buf
	}
	for i, in := range st.in {
		r.In, r.Of = append(r.In, name.operand(ins, i, in.buf)), append(r.Of, operandNode(ins, i))
	}
	if l, ok := ins.kernel.(*loop); ok {
		r.Head = l.head(ins.node.Body(), r.In)
	}
	return r
}

// String returns the listing: an instruction a line, those that run together block by block joined
// by a bracket. Offsets after a ~ are in a worker's scratch, and so are the sizes beside them; =
// marks a result that takes the place of an operand, + one that is added up over the rows. Below a
// loop, marked ┆, stand its steps, what it carries, reads and gives, and the listing of its body.
// The line of an instruction that could not join the blocks of its operands ends with the reason.
// "only if" names the mask of stages that a run skips where the mask is false, "once" those that
// run once ([Once]). "turned" marks a result whose rows lie innermost in the scratch; Turn turns
// rows, and turns them back. MulSum adds up products that no other row reads, without one for them.
// An operand is a row's result, a leaf, or a view of either: Transpose(α)[j=3 i=150]; a Concat
// among the views is read in parts where they lie.
func (p *Program) String() string {
	var b strings.Builder
	rows := p.Rows()
	fmt.Fprintf(&b, "program %q: %d instructions in %d stages, arena %s, scratch %s a worker, %s FLOP, %s moved a run\n",
		p.source.Name(), len(rows), len(p.stages), memory.Text(int64(p.arena)), memory.Text(int64(p.scratch)), countText(p.FLOPs()), memory.Text(p.Traffic()))
	if again, flops := p.Recomputed(); len(again) > 0 {
		fmt.Fprintf(&b, "%d instructions run again, to save memory: %s FLOP\n", len(again), countText(flops))
	}
	b.WriteString(p.keptText())
	width := 6
	for _, r := range rows {
		width = max(width, len([]rune(r.Result)))
	}
	width = min(width, 40)
	fmt.Fprintf(&b, "%4s %9s  %9s  %-*s  %8s %9s  instruction\n", "#", "offset", "bytes", width, "result", "FLOP", "moved")
	name := p.names()
	at := 0 // rows at a time
	for i, r := range rows {
		s := &p.stages[r.Stage]
		grouped, first := s.rows > 0, i == 0 || rows[i-1].Stage != r.Stage
		if grouped && first {
			fmt.Fprintf(&b, "     ╭ %s%s\n", s.text(), p.only(name, ", ", s))
			at = s.block
		}
		if grouped && r.Tile != at {
			fmt.Fprintf(&b, "     ├ %d at a time\n", r.Tile)
			at = r.Tile
		}
		b.WriteString(r.text(i, width, grouped))
		if !grouped {
			b.WriteString(p.only(name, "  · ", s))
		}
		b.WriteString("\n")
		if r.Body != nil {
			for _, line := range r.Head {
				b.WriteString("     ┆ " + line + "\n")
			}
			for line := range strings.Lines(r.Body.String()) {
				b.WriteString("     ┆ " + line)
			}
		}
		if grouped && (i+1 == len(rows) || rows[i+1].Stage != r.Stage) {
			b.WriteString("     ╰\n")
		}
	}
	return b.String() + p.commitsText()
}

// text returns line i of the listing.
func (r *Row) text(i, width int, grouped bool) string {
	bracket, place, mark := " ", fmt.Sprint(r.Offset), " "
	if grouped {
		bracket = "│"
	}
	if r.Scratch {
		place = "~" + place
	}
	switch {
	case r.InPlace:
		mark = "="
	case r.Sum:
		mark = "+"
	}
	s := fmt.Sprintf("%4d %s%8s%s %9d  %s  %8s %9s  %s %s", i, bracket, place, mark, r.Bytes, pad(r.Result, width),
		countText(r.FLOPs), memory.Text(r.Traffic), r.Op, strings.Join(r.In, ", "))
	if r.Turned {
		s += "  · turned"
	}
	if r.Once && grouped {
		s += "  · once"
	}
	if r.Repeat {
		s += "  · once more"
	}
	if r.Cut != "" {
		s += "  · apart: " + r.Cut
	}
	if r.Kept != "" {
		s += "  · " + r.Kept
	}
	if r.Lanes {
		s += fmt.Sprintf("  · sum %d over lanes", r.Site)
	}
	if r.Again > 0 {
		s += "  · again: recomputed to save " + memory.Text(int64(r.Again))
	}
	return s
}

// commitsText lists the commits, and how they are done.
func (t *tables) commitsText() string {
	var b strings.Builder
	for _, c := range t.commits {
		how := "copied at the end"
		if c.direct {
			how = "written in place, after the checks"
		}
		fmt.Fprintf(&b, "commit %s, %s\n", c.path, how)
	}
	return b.String()
}

// text describes a group in the listing.
func (s *stage) text() string {
	t := fmt.Sprintf("%d rows, %d at a time", s.rows, s.block)
	if s.several > 1 {
		t += fmt.Sprintf(", sums of %d rows each", s.rows/s.several)
	}
	if s.parts > max(1, s.several) {
		t += fmt.Sprintf(", sums in %d parts", s.parts/s.several)
	}
	return t
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// countText writes a number as in 512, 9.4k, 3.1M.
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
