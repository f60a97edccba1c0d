package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Diverged is the error of a step whose loss is NaN or infinite or, with [Trainer.CheckUpdates], a
// new parameter or state. Nothing of the step was committed. [Trainer.Fit] fills in why; of several
// ranks all have the same error.
type Diverged struct {
	Step     int              // number of steps committed before
	Lane     string           // of a step in lanes, where it was not finite first: lane 5 on rank 2, rows 42–49 of the batch; else ""
	Finding  *inspect.Finding // the first value that is not finite, and why; nil if it was not found
	Compiled bool             // Finding is in the graph that the tape runs, after its rewrites: as written all is finite, or lanes meet inside of the loss
	Where    string           // the value that Finding blames, if data or parameters have it: x[n=2 p=1] = NaN, row 17; else ""
	Roots    []*graph.Node    // what was looked into as written: the loss, and what is computed after it
	Err      error            // wraps a *tape.NotFinite

	p     *program
	batch data.Batch
	row   func(i int) string // names a row of what was fed
	feed  tape.Feed
	store *tape.Store // with the random draws of the run
	meets bool        // the tape alone runs lanes that meet together: nothing can be looked into as written
	// ran returns what to look into of the graph that the tape runs, and what that is fed.
	ran func(ctx context.Context) (tape.Feed, []*graph.Node, error)
}

// Error returns one line, with the number of the failed step, counted from 1: step 17: log of a
// negative: log(−1.5): loss[] is NaN: nothing was committed.
func (d *Diverged) Error() string {
	parts := []string{fmt.Sprintf("step %d", d.Step+1)}
	if d.Lane != "" {
		parts = append(parts, d.Lane)
	}
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

// checked returns the option by which a step fails whose loss is not finite and, if asked for, one
// whose updates are not. The names of these are by that which a [*tape.NotFinite] has.
func checked(loss *graph.Node, step graph.Step, updates bool) (tape.Option, map[string]string) {
	finite, names := []*graph.Node{loss}, map[string]string{}
	for _, u := range step {
		if !updates || !u.Value.DType().IsFloat() {
			continue
		}
		x := u.Value
		if x.DType().IsHalf() {
			x = ops.Cast(x, graph.F32)
		}
		sum := ops.Sum(x) // which is finite if its terms are, unless they are close to overflow themselves
		finite, names[sum.String()] = append(finite, sum), "the new "+u.Target.Path()
	}
	return tape.CheckFinite(finite...), names
}

// newDiverged returns the error of the step after t, in which wild was found; err wraps wild as the
// engine does.
func newDiverged(t int, p *program, b data.Batch, wild *tape.NotFinite, err error) *Diverged {
	name := p.checks[wild.Name]
	if wild.Name == p.net.Loss.String() && p.net.Loss.Name() == "" {
		name = "the loss"
	}
	if name != "" && err == error(wild) {
		err = &tape.NotFinite{Name: name, Value: wild.Value}
	}
	return &Diverged{Step: t, Err: err, p: p, batch: b}
}

// suspect sets what is to be looked into after a step without lanes.
func (d *Diverged) suspect(store *tape.Store) {
	p := d.p
	d.feed, d.store, d.Roots = p.feed, store, []*graph.Node{p.net.Loss}
	for _, u := range p.step {
		d.Roots = append(d.Roots, u.Value)
	}
	d.row = func(i int) string { return rowText(d.batch, i) }
	d.ran = func(context.Context) (tape.Feed, []*graph.Node, error) { return d.updates(p.prog) }
}

// updates returns the new values of a program, to be looked into.
func (d *Diverged) updates(p *tape.Program) (tape.Feed, []*graph.Node, error) {
	if p == nil {
		return nil, nil, nil
	}
	var roots []*graph.Node
	for _, u := range p.Graph().Updates() {
		roots = append(roots, u.Value)
	}
	return inspect.Feed(d.feed, p.Graph()), roots, nil
}

// autopsy adds to the error of a step why it failed. All ranks call it.
func (f *fitting) autopsy(ctx context.Context, d *Diverged) error {
	if d.p.lanes == nil {
		d.suspect(f.Store())
	} else if err := f.lookIntoLanes(ctx, d); err != nil {
		return fmt.Errorf("%w; the autopsy failed: %w", d, err)
	}
	if len(d.Roots) == 0 {
		return d
	}
	var finding *inspect.Finding
	var failed error
	if !d.meets {
		finding, failed = inspect.Autopsy(ctx, d.feed, d.store, d.Roots...)
	}
	if failed == nil && (finding == nil || finding.Harmless()) {
		finding, failed = d.inCompiled(ctx)
		d.Compiled = finding != nil
	}
	if failed != nil {
		return fmt.Errorf("%w; the autopsy failed: %w", d, failed)
	}
	if d.Finding = finding; finding != nil {
		d.Where = d.blamed()
	}
	return d
}

// inCompiled looks into the graph that the tape runs.
func (d *Diverged) inCompiled(ctx context.Context) (*inspect.Finding, error) {
	feed, roots, err := d.ran(ctx)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	finding, err := inspect.Autopsy(ctx, feed, d.store, roots...)
	if err != nil || finding != nil && finding.Harmless() {
		return nil, err
	}
	return finding, nil
}

// blamed returns the place of a cause that lies in the data, in a state or in a parameter, and not
// in the model's operations; "" for others.
func (d *Diverged) blamed() string {
	f := d.Finding
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
	case n.Role() == graph.RoleInput && n.Rank() > 0 && d.batch.Values[n.Path()] != nil && d.row != nil:
		return fmt.Sprintf("%s, %s", at, d.row(suspect.Index[0]))
	case n.Role() == graph.RoleInput, n.Role() == graph.RoleState:
		return at
	case n.Role() == graph.RoleParam && f.Step > 0:
		return fmt.Sprintf("%s after step %d", at, f.Step)
	}
	return ""
}
