package main

import (
	"io"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// The JSON of an instruction and its values; numbers that are not finite are null.
type (
	instructionJSON struct {
		Model    string         `json:"model"`
		Step     int            `json:"training_step"`
		Index    int            `json:"instruction"`
		Of       int            `json:"instructions"`
		Loop     *loopJSON      `json:"iteration,omitempty"`
		Written  bool           `json:"as_written,omitempty"` // the index is that of a node of the model
		Note     string         `json:"note,omitempty"`
		Taken    []string       `json:"as_notes,omitzero"` // what is as the notes have it, and not by default
		Op       string         `json:"op"`
		Pos      string         `json:"pos"`
		Scope    string         `json:"scope,omitempty"`
		Offset   int            `json:"offset"`
		Scratch  bool           `json:"scratch"`
		InPlace  bool           `json:"in_place"`
		FLOPs    int64          `json:"flops"`
		Owner    string         `json:"owner,omitempty"`
		Formula  string         `json:"formula,omitempty"`
		Backward bool           `json:"backward"`
		Update   string         `json:"update,omitempty"`
		Operands []quantityJSON `json:"operands"`
		Result   quantityJSON   `json:"result"`
	}
	// loopJSON is the iteration of the loop that the instruction is in; time is the loop's own
	// count.
	loopJSON struct {
		Number int `json:"number"`
		Of     int `json:"of"`
		Time   int `json:"time"`
	}
	quantityJSON struct {
		Label     string        `json:"label"`
		Type      string        `json:"type"`
		Min       jsonNumber    `json:"min"`
		Mean      jsonNumber    `json:"mean"`
		Max       jsonNumber    `json:"max"`
		Std       jsonNumber    `json:"std"`
		Zeros     int           `json:"zeros"`
		NaN       int           `json:"nan"`
		Inf       int           `json:"inf"`
		Bins      []int         `json:"histogram"`
		Values    []jsonNumber  `json:"values"`
		Gradient  *quantityJSON `json:"gradient,omitempty"`
		AsWritten bool          `json:"gradient_as_written,omitempty"`
	}
)

func newQuantityJSON(q inspect.Quantity) quantityJSON {
	out := arrayJSON(q.Node.String(), q.Value)
	if q.Gradient != nil {
		g := arrayJSON(adjointText(q.Gradient), q.Slope)
		out.Gradient, out.AsWritten = &g, q.AsWritten
	}
	return out
}

func arrayJSON(label string, a tape.Array) quantityJSON {
	s := inspect.StatisticsOf(a, sparkBins)
	out := quantityJSON{Label: label, Type: a.Type.String(), Min: jsonNumber(s.Min), Mean: jsonNumber(s.Mean), Max: jsonNumber(s.Max), Std: jsonNumber(s.Std),
		Zeros: s.Zeros, NaN: s.NaN, Inf: s.PosInf + s.NegInf, Bins: s.Bins, Values: make([]jsonNumber, s.Count)}
	for i := range out.Values {
		out.Values[i] = jsonNumber(a.At(i))
	}
	return out
}

// stepJSON prints the instruction, or the node, that the view shows.
func stepJSON(w io.Writer, model string, at *stepView) error {
	ins := at.ins
	r := ins.Row
	v := instructionJSON{Model: model, Step: ins.Step, Index: ins.Index, Of: len(at.rows), Note: at.note, Taken: at.taken, Written: at.stages == nil, Op: r.Op, Pos: r.Pos.String(), Scope: r.Scope, Offset: r.Offset,
		Scratch: r.Scratch, InPlace: r.InPlace, FLOPs: r.FLOPs, Backward: ins.Backward, Result: newQuantityJSON(ins.Result), Operands: []quantityJSON{}}
	if it := at.iteration; it != nil {
		v.Loop = &loopJSON{it.Number, it.Of, it.Time}
	}
	if n := ins.Owner.Node; n != nil {
		v.Owner = n.String()
		if n.Role() == graph.RoleOp {
			v.Formula = viz.Formula(n)
		}
	}
	if ins.Update != nil {
		v.Update = ins.Update.Path()
	}
	for _, q := range ins.Operands {
		v.Operands = append(v.Operands, newQuantityJSON(q))
	}
	return printJSON(w, v)
}
