package page

import (
	"context"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/tape"
)

// program is the step as it is run: its instructions, and the nodes of the model as
// written that they compute.
type program struct {
	rows    []tape.Row
	variant *variant
	written []*graph.Node // by row; nil where the passes made something new
	others  map[*variant][]*graph.Node
	owners  map[*variant][]*graph.Node
	stages  []tape.Stage
}

// program of the document.
func (d *document) program() (*program, error) {
	if d.run != nil {
		return d.run, nil
	}
	p := &program{rows: d.session.prog.Rows(), stages: d.session.prog.Stages()}
	var nodes []*graph.Node
	for _, r := range p.rows {
		nodes = append(nodes, r.Node)
	}
	p.variant = newVariant(asRun, nil, nodes, nil)
	p.others, p.owners = map[*variant][]*graph.Node{}, map[*variant][]*graph.Node{}
	p.written = p.by(d.asWritten)
	d.run = p
	return p, nil
}

// of returns the node of a variant that an instruction computes, or nil if there is none.
func (p *program) of(v *variant, row int) *graph.Node {
	if v.kind == asRun {
		return p.rows[row].Node
	}
	return p.by(v)[row]
}

// ownedBy returns the nodes of a variant to which the amounts of the instructions belong, by row: the
// nodes that they compute, and the loops that what is computed for all steps at once has left.
func (p *program) ownedBy(v *variant) []*graph.Node {
	if nodes, known := p.owners[v]; known {
		return nodes
	}
	nodes, left := make([]*graph.Node, len(p.rows)), v.steps()
	for i, r := range p.rows {
		nodes[i] = p.of(v, i)
		if of := left[lineOf(r.Node, r.Node.IsBackward())]; nodes[i] == nil && r.Node.NumIn() > 0 && len(of) == 1 {
			nodes[i] = of[0]
		}
	}
	p.owners[v] = nodes
	return nodes
}

// by returns the nodes of a variant that the instructions compute, by row.
func (p *program) by(v *variant) []*graph.Node {
	if nodes, known := p.others[v]; known {
		return nodes
	}
	source := sources(v, p.variant)
	nodes := make([]*graph.Node, len(p.rows))
	for i, r := range p.rows {
		nodes[i] = source[r.Node]
	}
	p.others[v] = nodes
	return nodes
}

// sources maps the nodes of p, which the passes made, to nodes of the model as written, w. It finds
// a leaf by its path, an operation by itself and its operands, and a loop, whose body the passes
// rewrite as well, by where it was made. It finds a node that a rule has rewritten by its name, if
// that is unique, or by the node that it is the derivative of.
func sources(w, p *variant) map[*graph.Node]*graph.Node {
	g := graph.Of(w.all()...)
	constants := map[string]*graph.Node{}
	for _, n := range w.cone {
		if v, is := n.Constant(); is {
			constants[v.String()] = n
		}
	}
	before, after := w.byName(), p.byName()
	written, run := w.loops(), p.loops()
	found := map[*graph.Node]*graph.Node{}
	for _, n := range p.cone {
		if trait.LoopBody(n) != nil {
			if k := madeAt(n); len(written[k]) == len(run[k]) {
				found[n] = written[k][slices.Index(run[k], n)]
			}
			continue
		}
		var x *graph.Node
		if path := n.Path(); path != "" {
			x = g.Lookup(path)
		} else if v, is := n.Constant(); is {
			x = constants[v.String()]
		} else {
			in := n.Inputs()
			for i, o := range in {
				in[i] = found[o]
			}
			if !slices.Contains(in, nil) {
				x = g.Find(n.Op(), in...)
			}
		}
		if k := called(n); x == nil && before[k] != nil && after[k] == n {
			x = before[k]
		}
		if of, _ := n.AdjointOf(); x == nil && of != nil {
			x = adjoint(w, found[of])
		}
		if x != nil && x.Type() == n.Type() && w.byID[x.ID()] == x {
			found[n] = x
		}
	}
	return found
}

// line is where a loop, or a node in its step, was made, forward or for a derivative.
type line struct {
	pos      graph.Pos
	scope    string
	backward bool
}

func lineOf(n *graph.Node, backward bool) line { return line{n.First().Pos, n.First().Scope, backward} }

// steps returns the loops of a variant by their lines and those of their steps.
func (v *variant) steps() map[line][]*graph.Node {
	out := map[line][]*graph.Node{}
	for _, loop := range v.cone {
		body := trait.LoopBody(loop)
		if body == nil {
			continue
		}
		for _, n := range append(body.Graph().Nodes(), loop) {
			if k := lineOf(n, loop.IsBackward()); n.NumIn() > 0 && !slices.Contains(out[k], loop) {
				out[k] = append(out[k], loop)
			}
		}
	}
	return out
}

// loopPlace identifies a loop throughout the passes, which change its carried values and results.
type loopPlace struct {
	pos      graph.Pos
	scope    string
	backward bool
	steps    int
	reverse  bool
}

func madeAt(n *graph.Node) loopPlace {
	l, at := n.Op().(trait.Looped).Loop(), n.First()
	return loopPlace{at.Pos, at.Scope, n.IsBackward(), l.Steps, l.Reverse}
}

// loops returns the loops of a variant by their places, in order of creation.
func (v *variant) loops() map[loopPlace][]*graph.Node {
	out := map[loopPlace][]*graph.Node{}
	for _, n := range v.cone {
		if trait.LoopBody(n) != nil {
			out[madeAt(n)] = append(out[madeAt(n)], n)
		}
	}
	return out
}

// inScope is a node's name and its scope.
type inScope struct{ name, scope string }

func called(n *graph.Node) inScope { return inScope{n.Name(), n.First().Scope} }

// byName returns the nodes whose names are unique in their scopes.
func (v *variant) byName() map[inScope]*graph.Node {
	out := map[inScope]*graph.Node{}
	for _, n := range v.cone {
		k := called(n)
		if _, met := out[k]; met || k.name == "" {
			out[k] = nil
		} else {
			out[k] = n
		}
	}
	return out
}

// adjoint returns the derivative of the loss by a node.
func adjoint(w *variant, of *graph.Node) *graph.Node {
	if of == nil {
		return nil
	}
	for _, n := range w.cone {
		if x, _ := n.AdjointOf(); x == of {
			return n
		}
	}
	return nil
}

// tapeInfo is the listing of the step as it is run.
type tapeInfo struct {
	Listing []rowView `json:"listing"`
	Arena   int       `json:"arena"`
	Scratch int       `json:"scratch"`
	FLOPs   int64     `json:"flops"`
	Traffic int64     `json:"traffic"`
	Step    int       `json:"step"`
}

// rowView is an instruction.
type rowView struct {
	I        int      `json:"i"`
	Op       string   `json:"op"`
	Result   string   `json:"result"`
	Operands []string `json:"operands"`
	Node     *string  `json:"node"` // of the model as written
	Stage    int      `json:"stage"`
	Bracket  string   `json:"bracket"` // its place among what runs together block by block: "╭", "│", "╰", or "" alone
	Rows     int      `json:"rows,omitempty"`
	Block    int      `json:"block,omitempty"`
	Offset   int      `json:"offset"`
	Bytes    int      `json:"bytes"`
	Scratch  bool     `json:"scratch"` // offset and bytes are in a worker's scratch
	InPlace  bool     `json:"inplace"`
	FLOPs    int64    `json:"flops"`
	Traffic  int64    `json:"traffic"`
	Time     *float64 `json:"time"` // seconds; null until it was measured
	Pos      string   `json:"pos"`
	Scope    string   `json:"scope"`
	Backward bool     `json:"backward"`
}

func (d *document) row(p *program, i int) rowView {
	r := p.rows[i]
	v := rowView{I: i, Op: r.Op, Result: r.Result, Operands: append([]string{}, r.In...), Stage: r.Stage, Offset: r.Offset, Bytes: r.Bytes,
		Scratch: r.Scratch, InPlace: r.InPlace, FLOPs: r.FLOPs, Traffic: r.Traffic, Pos: position(r.Pos), Scope: r.Scope, Backward: r.Node.IsBackward()}
	if n := p.written[i]; n != nil {
		id := d.asWritten.id(n)
		v.Node = &id
	}
	first, last := i == 0 || p.rows[i-1].Stage != r.Stage, i == len(p.rows)-1 || p.rows[i+1].Stage != r.Stage
	switch {
	case first && last:
	case first:
		v.Bracket = "╭"
	case last:
		v.Bracket = "╰"
	default:
		v.Bracket = "│"
	}
	if r.Stage < len(p.stages) {
		v.Rows, v.Block = p.stages[r.Stage].Rows, p.stages[r.Stage].Block
	}
	if d.timed != nil {
		seconds := d.timed.Rows[i].Time.Seconds()
		v.Time = &seconds
	}
	return v
}

func (s *Service) tape(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	prog := d.session.prog
	out := tapeInfo{Listing: []rowView{}, Arena: prog.Arena(), Scratch: prog.Scratch(), FLOPs: prog.FLOPs(), Traffic: prog.Traffic(), Step: step}
	for i := range p.rows {
		out.Listing = append(out.Listing, d.row(p, i))
	}
	return out, nil
}

// instructionView is an instruction with its operands and result at a state.
type instructionView struct {
	I        int          `json:"i"`
	Text     string       `json:"text"`
	Formula  *formulaView `json:"formula"`
	Operands []arrayView  `json:"operands"`
	Result   arrayView    `json:"result"`
	Gradient *arrayView   `json:"gradient"` // of the result, if one is computed
	Node     *string      `json:"node"`     // of the model as written
	Pos      string       `json:"pos"`
	Step     int          `json:"step"`
}

// arrayView is the value of a node.
type arrayView struct {
	Node  string     `json:"node"` // of the program
	Label string     `json:"label"`
	Shape string     `json:"shape"`
	DType string     `json:"dtype"`
	Stats *statsView `json:"stats"`
	valuesView
}

func newArray(v *variant, n *graph.Node, a tape.Array) arrayView {
	rank := n.Rank()
	w := window{at: make([]int, rank), row: max(rank-2, -1), col: rank - 1, rows: 8, cols: 8}
	return arrayView{v.id(n), label(n), n.Shape().String(), n.DType().String(), newStats(a), *w.view(a, tape.Array{})}
}

func (s *Service) instruction(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	i, err := index(r.place("i"), len(p.rows))
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, p.variant, step)
	if err != nil {
		return nil, err
	}
	row, shown := p.rows[i], d.row(p, i)
	n := row.Node
	out := &instructionView{I: i, Text: row.Result + " = " + row.Op + " " + strings.Join(row.In, ", "), Node: shown.Node, Pos: shown.Pos, Step: step, Operands: []arrayView{},
		Formula: formulaOf(n), Result: newArray(p.variant, n, record.Value(n))}
	for _, x := range n.Inputs() {
		out.Operands = append(out.Operands, newArray(p.variant, x, record.Value(x)))
	}
	if n.NumIn() == 0 && len(row.In) == 1 { // a copy, laid out for what reads it
		out.Operands = append(out.Operands, out.Result)
	}
	if g := record.Gradient(n); g != nil {
		a := newArray(p.variant, g, record.Value(g))
		out.Gradient = &a
	}
	return out, nil
}

// measured returns the profile of profiledRuns runs at the last state. It is made once.
func (d *document) measured(ctx context.Context) (*tape.Profile, error) {
	if d.timed != nil {
		return d.timed, nil
	}
	feed, err := d.session.feeder.at(d.session.steps())
	if err != nil {
		return nil, err
	}
	d.timed, err = d.session.vm.Profile(ctx, feed, profiledRuns)
	return d.timed, err
}

// profiledRuns is the number of runs whose medians are steady enough for seven colours.
const profiledRuns = 9
