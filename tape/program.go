package tape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Program is a compiled graph: instructions over one arena. It does not change,
// and many VMs may share it.
type Program struct {
	source  *graph.Graph // as the user wrote it
	graph   *graph.Graph // as it is run
	log     []rewrite.Entry
	buffers []buffer
	instrs  []instr
	inputs  []input
	stored  []stored
	commits []commit
	finite  []check
	result  map[*graph.Node]value // by the user's node
	arena   int                   // bytes
}

// buffer is a block of memory that one instruction writes, or a leaf.
type buffer struct {
	leaf     bool       // lives outside the arena: an input, the store, a constant
	constant kernel.Mem // a constant's elements
	bytes    int
	offset   int  // in the arena
	place    int  // bytes taken there
	pinned   bool // lives until the end of the run
	passed   bool // its place went to a result computed in place
}

// value is a buffer read through a layout.
type value struct {
	buf    int
	layout kernel.Layout
}

type instr struct {
	node         *graph.Node // of the rewritten graph
	name         string
	kernel       kernel.Kernel
	loop         kernel.Loop
	out          value
	in           []value
	inPlace      bool
	copies       bool // a Copy that lays its own node out anew
	flops, bytes int64
}

type input struct {
	path       string
	typ        graph.Type
	buf        int
	def        float64
	hasDefault bool
}

// stored is a parameter or state that the program reads.
type stored struct {
	leaf leaf
	buf  int
}

// commit copies a result into the store when a step ends.
type commit struct {
	path     string
	to, from value
}

type check struct {
	name string
	v    value
}

// Graph is the graph that is run: the source after the passes.
func (p *Program) Graph() *graph.Graph { return p.graph }

// Log is what the passes did.
func (p *Program) Log() []rewrite.Entry { return slices.Clone(p.log) }

// Arena is the memory, in bytes, that a VM needs beyond inputs, store and
// constants: the peak of a run.
func (p *Program) Arena() int { return p.arena }

// FLOPs is the number of arithmetic operations of a run.
func (p *Program) FLOPs() (n int64) {
	for _, ins := range p.instrs {
		n += ins.flops
	}
	return n
}

// Traffic is the number of bytes that the instructions of a run read and write.
func (p *Program) Traffic() (n int64) {
	for _, ins := range p.instrs {
		n += ins.bytes
	}
	return n
}

// Row is one instruction as the listing shows it.
type Row struct {
	Op      string // the operation, or Copy
	Result  string // label and shape of the result
	In      []string
	Offset  int // of the result in the arena, in bytes
	Bytes   int // of the result
	InPlace bool
	FLOPs   int64
	Traffic int64 // bytes read and written
	Pos     graph.Pos
	Scope   string
	Node    *graph.Node // of Graph()
}

// Rows lists the instructions in order.
func (p *Program) Rows() []Row {
	rows := make([]Row, len(p.instrs))
	for i, ins := range p.instrs {
		b := p.buffers[ins.out.buf]
		at := ins.node.First()
		r := Row{Op: ins.name, Result: ins.node.String(), Offset: b.offset, Bytes: b.bytes, InPlace: ins.inPlace,
			FLOPs: ins.flops, Traffic: ins.bytes, Pos: at.Pos, Scope: at.Scope, Node: ins.node}
		for k := range ins.in {
			x := ins.node
			if !ins.copies {
				x = x.In(k)
			}
			r.In = append(r.In, x.String())
		}
		rows[i] = r
	}
	return rows
}

// String is the listing.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %q: %d instructions, arena %s, %s FLOP, %s moved a run\n",
		p.source.Name(), len(p.instrs), bytesText(int64(p.arena)), countText(p.FLOPs()), bytesText(p.Traffic()))
	rows := p.Rows()
	width := 6
	for _, r := range rows {
		width = max(width, len([]rune(r.Result)))
	}
	width = min(width, 40)
	fmt.Fprintf(&b, "%4s %9s %9s  %-*s  %8s %8s  instruction\n", "#", "offset", "bytes", width, "result", "FLOP", "moved")
	for i, r := range rows {
		mark := " "
		if r.InPlace {
			mark = "="
		}
		fmt.Fprintf(&b, "%4d %8d%s %9d  %s  %8s %8s  %s %s\n", i, r.Offset, mark, r.Bytes, pad(r.Result, width),
			countText(r.FLOPs), bytesText(r.Traffic), r.Op, strings.Join(r.In, ", "))
	}
	for _, c := range p.commits {
		fmt.Fprintf(&b, "commit %s\n", c.path)
	}
	return b.String()
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}

// bytesText is 512 B, 9.4 KiB, 3.1 MiB.
func bytesText(n int64) string {
	v := float64(n)
	for i, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1024 || i == 3 {
			if i == 0 {
				return fmt.Sprintf("%d B", n)
			}
			return fmt.Sprintf("%.1f %s", v, unit)
		}
		v /= 1024
	}
	return ""
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
