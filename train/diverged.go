package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Diverged is the error of a step whose loss is NaN or infinite. Nothing of the step was committed.
type Diverged struct {
	Step    int              // number of steps committed before
	Finding *inspect.Finding // the first value that is not finite, and why; nil if it was not found
	Where   string           // the value that Finding blames, if data or parameters have it: x[n=2 p=1] = NaN, row 17; else ""
	Err     error            // wraps a *tape.NotFinite

	batch data.Batch
	first int // the row of the batch with which what was fed begins
	feed  tape.Feed
	store *tape.Store   // with the random draws of the run
	roots []*graph.Node // to be looked into
}

// Error returns one line, with the number of the failed step, counted from 1: step 17: log of a
// negative: log(−1.5): loss[] is NaN: nothing was committed.
func (d *Diverged) Error() string {
	parts := []string{fmt.Sprintf("step %d", d.Step+1)}
	if d.Finding != nil {
		parts = append(parts, d.Finding.Cause)
	}
	if d.Where != "" {
		parts = append(parts, d.Where)
	}
	if d.Err != nil {
		parts = append(parts, d.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns Err.
func (d *Diverged) Unwrap() error { return d.Err }

// newDiverged returns the error of the step after t, in which wild was found; err wraps wild as the
// engine does.
func newDiverged(t int, p *program, b data.Batch, wild *tape.NotFinite, err error) *Diverged {
	if p.net.Loss.Name() == "" && err == error(wild) {
		err = &tape.NotFinite{Name: "the loss", Value: wild.Value}
	}
	d := &Diverged{Step: t, Err: err, batch: b}
	if p.lanes != nil {
		p.lanes.suspect(d, p.feed)
		return d
	}
	d.feed, d.roots = p.feed, []*graph.Node{p.net.Loss}
	for _, u := range p.step {
		d.roots = append(d.roots, u.Value)
	}
	return d
}

// autopsy adds to the error of a step why it failed.
func (f *fitting) autopsy(ctx context.Context, d *Diverged) error {
	if len(d.roots) == 0 {
		return d // what is not finite is on other ranks
	}
	store := d.store
	if store == nil {
		store = f.Store()
	}
	finding, failed := inspect.Autopsy(ctx, d.feed, store, d.roots...)
	if failed != nil {
		return fmt.Errorf("%w; the autopsy failed: %w", d, failed)
	}
	if d.Finding = finding; finding != nil {
		d.Where = blamed(finding, d.batch, d.first)
	}
	return d
}

// blamed returns the place of a cause that lies in the data, in a state or in a parameter, and not
// in the model's operations; "" for others. The rows begin with the first of the batch's.
func blamed(f *inspect.Finding, b data.Batch, first int) string {
	if len(f.Path) == 0 {
		return ""
	}
	suspect := f.Path[len(f.Path)-1]
	if len(f.Made) == 1 && len(f.Made[0].Entries) > 0 && f.Made[0].Entries[0].Node.Role() == graph.RoleInput {
		suspect = f.Made[0].Entries[0] // which was only laid out otherwise
	}
	n := suspect.Node
	at := n.Path() + strings.TrimPrefix(suspect.String(), n.Label())
	switch {
	case n.Role() == graph.RoleInput && n.Rank() > 0 && b.Values[n.Path()] != nil:
		return fmt.Sprintf("%s, %s", at, rowText(b, first+suspect.Index[0]))
	case n.Role() == graph.RoleInput, n.Role() == graph.RoleState:
		return at
	case n.Role() == graph.RoleParam && f.Step > 0:
		return fmt.Sprintf("%s after step %d", at, f.Step)
	}
	return ""
}
