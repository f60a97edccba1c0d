package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
	"gorgonia.org/tensor"
)

// assignedRows is the number of rows that a clustering assigns to centres at once.
const assignedRows = 128

// openEmpty prepares an empty folder for the centres of the best of several trainings, and locks it
// until release is called. The folder must be empty because a reader takes the checkpoint with the
// most steps, which might be that of another training.
func (k *keeping) openEmpty() (release func(), err error) {
	if k.dir == "" || !k.shared.first() {
		return func() {}, nil
	}
	folder := checkpoint.Folder{Dir: k.dir}
	if release, err = folder.Open(); err != nil {
		return nil, err
	}
	step, some, err := folder.Newest()
	if err == nil && some {
		err = fmt.Errorf("%s holds checkpoints up to step %d, and a clustering begins anew: take another folder", k.dir, step)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// metaFilled is the metadata key of the values that replaced missing ones: a filling as JSON.
const metaFilled = "filled"

// filledIn returns the values that replaced missing ones, or nil if a checkpoint states none.
func filledIn(s *checkpoint.State) (*filling, error) {
	text := s.Meta[metaFilled]
	if text == "" {
		return nil, nil
	}
	var f filling
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.Path, metaFilled, err)
	}
	return &f, nil
}

// centres writes a checkpoint of the best run if a folder is given: its centres, the model that
// assigns rows to them, and the values that replaced missing ones.
func (k *keeping) centres(c lab.Config, v lab.Clustering, t *training) error {
	if k.dir == "" || !k.shared.first() {
		return nil
	}
	best, d := v.Best(), len(c.Table.Columns)
	store := tape.NewStore(nil, tape.Seed(best.Seed))
	store.Resume(best.Seed, uint64(best.Steps), 0)
	clusters := len(best.Centres()) / d
	if err := store.Add("r", tensor.New(tensor.WithShape(clusters, d), tensor.WithBacking(best.Centres()))); err != nil {
		return err
	}
	nets := []infer.Forward{assigning(v.Name, graph.F64, assignedRows, clusters, d), assigning(v.Name, graph.F64, 1, clusters, d)}
	meta, err := t.centresMeta(c)
	if err != nil {
		return err
	}
	maps.Copy(meta, infer.ForwardMeta(nets...))
	_, err = checkpoint.Folder{Dir: k.dir}.Save(&checkpoint.State{Store: store, Model: checkpoint.Identify(assignedRows, nil, nil, nets[0].Output), Meta: meta})
	return err
}

// centresMeta returns a checkpoint's metadata: the columns that a clustering reads, and how they are
// prepared.
func (t *training) centresMeta(c lab.Config) (map[string]string, error) {
	meta := map[string]string{}
	if t.points != nil {
		maps.Copy(meta, fit.Meta(*t.points))
	} else {
		meta[infer.MetaColumns] = infer.NamesMeta(c.Table.Columns)
	}
	if t.filled != nil {
		text, err := json.Marshal(t.filled)
		if err != nil {
			return nil, err
		}
		meta[metaFilled] = string(text)
	}
	return meta, nil
}

// clustering configures the training of a clustering to last for the epochs that are asked for, to
// stop early and, of a single one, to write checkpoints and a log, and to resume from an earlier
// checkpoint. The returned function closes the log, and returns the error with which training ended,
// or a plainer one for a checkpoint that the training cannot resume from.
func (k *keeping) clustering(ctx context.Context, c *lab.Config, t *training, name string, one bool) (ended func(error) error, err error) {
	file := k.logFile()
	meta, err := t.centresMeta(*c)
	if err != nil {
		return nil, err
	}
	m, err := c.Variant(name).Build(c.DType)
	if err != nil {
		return nil, err
	}
	if one {
		if err := k.fits(t.cmd.ErrOrStderr(), m, chosen(t.cmd, name)); err != nil {
			return nil, err
		}
	}
	batch := m.Points().Dim(0)
	epoch := max(1, c.Table.Rows()/batch)
	if k.epochs > 0 {
		c.Steps = k.stepsOf(c.Table.Rows(), batch)
	}
	var held *lab.HeldOut
	if t.held != nil && (k.patience > 0 || k.log != "") {
		if held, err = c.HeldOut(ctx, name); err != nil {
			return nil, err
		}
	}
	var refused error
	dt, clusters := c.DType, c.K
	if clusters == 0 {
		clusters = lab.DefaultK(c.Table)
	}
	c.Build = func(rows int, mode train.Mode) *train.Net {
		if mode == train.Training { // asked for by a checkpoint alone: the data have another number of rows
			refused = fmt.Errorf("%s: resume: %s was trained on batches of %d rows, and these are others: the data are not the same, or it holds the best of several runs", name, k.dir, rows)
			return nil
		}
		return &train.Net{Output: assigning(name, dt, rows, clusters, len(c.Table.Columns)).Output}
	}
	c.Plan = func(trainer *train.Trainer, p *train.Plan) error {
		if held != nil {
			p.Validate = func(ctx context.Context) (metric.Scores, error) { return held.Stored(ctx, trainer.Store()) }
			p.Every, p.Patience = epoch, k.patience
			p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Ended {
					best, _ := trainer.Best()
					t.stopped = append(t.stopped, stoppedAt(best, e))
				}
				return nil
			}))
		}
		if !one {
			return nil
		}
		if k.log != "" {
			p.Observers = append(p.Observers, watch.JSONLines(file, watch.Timed(), watch.About(t.notes.text(t.taken)), watch.With(chosen(t.cmd, name)), watch.In(k.ranIn())))
		}
		if k.dir != "" {
			p.Checkpoints = train.Checkpoints{Dir: k.dir, Interval: 10 * time.Second, Meta: meta}
		}
		if k.resume {
			p.Resume = k.dir
		}
		if k.shared.first() {
			p.Observers = append(p.Observers, passedOver(t.cmd.ErrOrStderr()))
		}
		return nil
	}
	return func(err error) error {
		file.Close()
		held.Close()
		if err != nil && refused != nil {
			return refused
		}
		return k.unreadable(err)
	}, nil
}

// stoppedAt returns the best step of a training that patience ended, and zero for others.
func stoppedAt(best train.Best, end train.Event) train.Best {
	if end.Step < end.Steps {
		return best
	}
	return train.Best{}
}

// assigning returns the model that gives cluster[i], the nearest of the centres r[j d] to each row
// of x[i d].
func assigning(name string, dt graph.DType, rows, clusters, d int) infer.Forward {
	g := graph.New(name)
	axis := graph.Ax("d", d)
	x := g.Input("x", dt, graph.Ax("i", rows), axis)
	r := g.Param("r", dt, graph.Ax("j", clusters), axis)
	return infer.Forward{Rows: rows, Output: ops.ArgMin(builders.SqDistances(x, r), "j").As("cluster")}
}
