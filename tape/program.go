package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Program is a compiled graph: instructions over one arena. It does not change,
// and many VMs may share it.
type Program struct {
	source          *graph.Graph    // as the user wrote it
	graph           *graph.Graph    // as it is run
	rewritten       *rewrite.Result // nil for a body
	log             []rewrite.Entry
	buffers         []buffer
	instrs          []instr
	stage           []stage
	inputs          []input
	stored          []stored
	commits         []commit
	finite          []check
	result          map[*graph.Node]value // by the user's node
	arena           int                   // bytes
	scratch         int                   // bytes of each worker
	steps, operands int                   // in all stages together
	exports         []int                 // of a body: the buffers that lie where the loop says
	fed             [][]int               // by input, then by export: the operands that are all of it
	makers          [][]int               // by export: the calls that write all of it
	sizes           sizes
	under           *compilation      // that makes it
	tooLong         int               // bytes that arena and scratch stay below
	uses            map[packing]int   // while compiling
	packs           map[packing]value // while compiling
	late            int               // the first of the stages that run after the checks: they write to the store
}

// buffer is a block of memory that one instruction writes, or a leaf.
type buffer struct {
	leaf     bool       // lives outside the arena: an input, the store, a constant
	constant kernel.Mem // a constant's elements
	bytes    int
	offset   int  // in the arena
	place    int  // bytes taken there
	pinned   bool // lives until the end of the run
	watched  bool // pinned, but only because it is watched
	passed   bool // its place went to a result computed in place, or was given back
	rows     int  // in scratch: the rows that are held there at a time
	scratch  bool // lives in the scratch of the worker that runs its stage: bytes and offset are those of a block there
}

// vacate says that no stage makes buffer b any more: it takes no place in the arena.
func (p *Program) vacate(b int) { p.buffers[b] = buffer{leaf: true} }

// value is a buffer read through a layout.
type value struct {
	buf    int
	layout kernel.Layout
}

type instr struct {
	node         *graph.Node // of the rewritten graph
	name         string
	kernel       kernel.Kernel
	out          value
	in           []value
	inPlace      bool
	copies       bool   // a Copy that lays its own node out anew
	extra        bool   // for watched values alone
	checks       bool   // an index outside of its axis fails the run
	repeated     bool   // made once more, in the group that reads it
	again        *again // it makes anew what another has made before
	cut          string // why it does not run in the blocks of what it reads
	flops, bytes int64
}

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
	direct   bool // written where it belongs by the stage that makes it
}

type check struct {
	name string
	v    value
}

// Graph is the graph that is run: the source after the passes.
func (p *Program) Graph() *graph.Graph { return p.graph }

// Node is the node of Graph that computes what the wanted node n of the source
// computes: one that is fetched or watched, or the target or value of an update. Of
// other nodes it is nil.
func (p *Program) Node(n *graph.Node) *graph.Node {
	if p.rewritten == nil {
		return nil
	}
	return p.rewritten.Node(n)
}

// Log is what the passes did.
func (p *Program) Log() []rewrite.Entry { return slices.Clone(p.log) }

// Arena is the memory, in bytes, that a VM needs beyond inputs, store and
// constants for the arrays that it makes: the peak of a run.
func (p *Program) Arena() int { return p.arena }

// Scratch is the memory, in bytes, that each worker of a VM needs besides, for
// the blocks of rows that it works on.
func (p *Program) Scratch() int { return p.scratch }

// FLOPs is the number of arithmetic operations of a run.
func (p *Program) FLOPs() (n int64) {
	for _, s := range p.stage {
		for _, st := range s.steps {
			n += p.instrs[st.ins].flops
		}
	}
	return n
}

// Traffic is the number of bytes that the instructions of a run read and write. Of a table that Gather
// takes rows of, it counts these rows; ScatterAdd writes all of its result.
func (p *Program) Traffic() (n int64) {
	for _, s := range p.stage {
		for _, st := range s.steps {
			n += p.instrs[st.ins].bytes
		}
	}
	return n
}
