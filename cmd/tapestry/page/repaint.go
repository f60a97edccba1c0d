package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tapestry-ml/tapestry/viz/figure"
)

// repaintedView is a sheet that the page has, with the marks of another step: its nodes look
// otherwise, and nothing else of it does but what is said here.
type repaintedView struct {
	Kept   string     `json:"kept"`
	Nodes  []nodeLook `json:"nodes"` // in the order in which they are among the items
	Legend string     `json:"legend,omitempty"`
	Scale  string     `json:"scale"`
	Step   int        `json:"step"`
}

// nodeLook is what the marks change of a node's item.
type nodeLook struct {
	SVG string      `json:"svg"`
	Box figure.Rect `json:"box"` // with the marks at its corners
}

// stills has the names of what stays of the sheets of a plan from step to step, for each way to draw
// them. A name is a digest of all that stays, so that a page that has it has just that.
type stills map[string]string

// maxStills is how many names of a plan are kept: times of loops make many ways to draw it.
const maxStills = 16

// way tells apart the sheets of a plan of which more differs than the marks.
func (q drawing) way() string { return fmt.Sprint(q.overlay != "", q.times) }

// name puts the name of what stays in a sheet, and of what else is said with it, into the sheet, and
// keeps it.
func (s stills) name(q drawing, sheet *sheetView, said ...compareView) error {
	if sheet.Kept = s[q.way()]; sheet.Kept != "" {
		return nil
	}
	still := *sheet
	drawn := *sheet.Sheet
	drawn.Legend = ""
	still.Sheet, still.Scale, still.Step = &drawn, "", 0
	still.Items = make([]itemView, len(sheet.Items))
	for i, it := range sheet.Items {
		if it.Kind == "node" {
			it.SVG, it.Box = "", figure.Rect{}
		}
		still.Items[i] = it
	}
	text, err := json.Marshal([]any{still, said})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	sheet.Kept = hex.EncodeToString(sum[:12])
	if len(s) >= maxStills {
		clear(s)
	}
	s[q.way()] = sheet.Kept
	return nil
}

// has reports whether a request comes from a page that has what stays of the sheet that it asks for.
func (s stills) has(r *request, q drawing) bool {
	kept := r.query.Get("kept")
	return kept != "" && kept == s[q.way()]
}

// repaint draws the nodes of a figure that is placed.
func repaint(ctx context.Context, f *figure.Figure, l *figure.Layout, scale string, step int, kept string) (*repaintedView, error) {
	sheet, err := f.Sheet(ctx, figure.Placed(l), figure.NodesAlone())
	if err != nil {
		return nil, err
	}
	out := &repaintedView{Kept: kept, Nodes: make([]nodeLook, len(sheet.Items)), Legend: sheet.Legend, Scale: scale, Step: step}
	for i, it := range sheet.Items {
		out.Nodes[i] = nodeLook{it.SVG, it.Box}
	}
	return out, nil
}
