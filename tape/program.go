package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Program is a compiled graph: instructions over one arena. It does not change, and many VMs may
// share it.
type Program struct {
	sequence
	arena, scratch  int     // bytes; scratch is that of each worker
	calls, operands int     // in all stages together
	fed             [][]int // by input, then by export: the operands that read the whole buffer
	makers          [][]int // by export: the calls that write the whole buffer
	sizes           sizes
}

// unit is the subject of one compilation: a graph, or the body of a loop, with the buffers
// through which it is reached from outside. No phase changes it.
type unit struct {
	source    *graph.Graph    // as the user wrote it
	graph     *graph.Graph    // as it is run
	rewritten *rewrite.Result // nil for a body
	inputs    []input
	stored    []stored
	finite    []check
	result    map[*graph.Node]value // by the user's node
	exports   []int                 // of a body: the buffers that lie where the loop says
}

// tables are common to all forms of a program: the unit, its buffers and its commits.
type tables struct {
	*unit
	buffers []buffer
	commits []commit
}

// sequence is instructions in stages, in the order in which they run.
type sequence struct {
	tables
	instrs []instr
	stages []stage
	late   int   // the first of the stages that run after the checks: they write to the store
	lots   []lot // of stages that run once
}

// stays reports whether a buffer keeps its place to the end of the run.
func (b *buffer) stays() bool { return b.pinned || b.kept }

// home says where the memory of a buffer comes from.
type home int

// The homes of buffers.
const (
	inArena   home = iota
	inScratch      // of the worker that runs the stage: bytes and offset are those of a block there
	outside        // an input, a parameter or state, a constant, or what a loop supplies
	nowhere        // no instruction makes the buffer any more, and none reads it
)

// buffer is a block of memory that one instruction writes, or that comes from outside.
type buffer struct {
	home     home
	constant kernel.Mem // the elements of a constant
	bytes    int
	offset   int  // in the arena or the scratch
	pinned   bool // lives until the end of the run
	kept     bool // lives from run to run: made by a stage that runs once, and read by others
	rows     int  // in scratch: the rows that are held there at a time
	turned   bool // in scratch: they lie turned, see [stager.lay]
}

// value is a buffer read through a layout.
type value struct {
	buf    int
	layout kernel.Layout
}

// instr is an instruction: a kernel, the values that it reads and the one that it writes.
type instr struct {
	node         *graph.Node // of the rewritten graph
	reads        *graph.Node // whose operands it reads, which it computes as well; nil for those of node
	name         string
	kernel       kernel.Kernel
	does         does
	out          value
	in           []value
	inPlace      bool   // the result took the place of an operand
	turned       bool   // the result's rows lie turned, and are turned back by another instruction
	repeated     bool   // made once more, in the group that reads it
	saves        int    // bytes that making it again frees meanwhile; see again
	cut          string // why it does not run in the blocks of what it reads
	flops, bytes int64
}

// does says what an instruction does for its node.
type does int

// What instructions do.
const (
	computes  does = iota // the value of the node
	copies                // lays the value of the node out anew
	packs                 // lays the value of the node out in panels
	turns                 // turns rows of the value of the node
	turnsBack             // lays turned rows of the value of the node out one after the other
	adds                  // adds the value of the node to a sum over the steps of a loop
	widens                // converts the value of the node to the type that kernels compute in
	narrows               // rounds the value of the node to its type
)

type input struct {
	path       string
	typ        graph.Type
	buf        int
	hasDefault bool
	value      kernel.Mem // the default
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
	direct   bool // the stage that makes the result writes it into the store
}

type check struct {
	name string
	v    value
}

// Graph returns the graph that is run: the source after the passes.
func (p *Program) Graph() *graph.Graph { return p.graph }

// Node returns the node of Graph that computes what the wanted node n of the source computes: one
// that is fetched or watched, or the target or value of an update. Of other nodes it is nil.
func (p *Program) Node(n *graph.Node) *graph.Node {
	if p.rewritten == nil {
		return nil
	}
	return p.rewritten.Node(n)
}

// Log returns what the passes of package rewrite did before the graph was lowered: an entry for
// each firing of a rule, in order, as `tapestry rewrite` prints them.
func (p *Program) Log() []rewrite.Entry {
	if p.rewritten == nil {
		return nil
	}
	return slices.Clone(p.rewritten.Log)
}

// Arena returns the memory, in bytes, that a VM needs beyond inputs, store and constants for the
// arrays that it makes: the peak of a run, with what it keeps from run to run ([Once]).
func (p *Program) Arena() int { return p.arena }

// Scratch returns the memory, in bytes, that each worker of a VM needs besides, for the blocks of
// rows that it works on.
func (p *Program) Scratch() int { return p.scratch }

// FLOPs returns the number of arithmetic operations of a run, but for stages that run once ([Once]).
func (p *Program) FLOPs() (n int64) {
	for _, s := range p.stages {
		for _, st := range s.steps {
			if st.once {
				continue
			}
			n += p.instrs[st.ins].flops
		}
	}
	return n
}

// Traffic returns the number of bytes that the instructions of a run read and write, but for stages
// that run once ([Once]). Of a table
// that Gather takes rows of, it counts these rows; ScatterAdd writes all of its result.
func (p *Program) Traffic() (n int64) {
	for _, s := range p.stages {
		for _, st := range s.steps {
			if st.once {
				continue
			}
			n += p.instrs[st.ins].bytes
		}
	}
	return n
}
