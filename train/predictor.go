package train

import (
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/infer"
)

// meta returns the texts that a checkpoint keeps: those of the plan, and the nets that predict, so
// that the file alone is enough to do so (see infer.LoadPredictor).
func (f *fitting) meta() (map[string]string, error) {
	if f.nets == nil {
		nets, err := f.predictors(f.largest())
		if err != nil {
			return nil, err
		}
		f.nets = infer.ForwardMeta(nets...)
	}
	meta := maps.Clone(f.nets)
	maps.Copy(meta, f.plan.Checkpoints.Meta)
	return meta, nil
}

// largest returns the size of the largest batch trained on, here or before the checkpoint from which
// training goes on.
func (f *fitting) largest() size {
	s, was := size{rows: f.rows, sizes: f.sizes}, size{rows: f.model.Rows, sizes: f.model.Sizes}
	if was.places() > s.places() {
		return was
	}
	return s
}

// predictors returns the nets that predict a batch and a single row. There are none of a model
// whose inputs or output are not rows, and only the first if the model cannot be built for one row,
// or then has other inputs or another output, as one whose rows are the nodes of a network does.
func (t *Trainer) predictors(s size) ([]infer.Forward, error) {
	s.mode = Evaluating
	rows := s.rows
	p, err := t.build(s)
	if err != nil {
		return nil, err
	}
	batch := infer.Forward{Rows: rows, Output: p.net.Output}
	inputs, output, err := batch.Columns()
	if err != nil {
		return nil, nil
	}
	if rows > 1 {
		if p, err := t.build(size{rows: 1, sizes: s.sizes, mode: Evaluating}); err == nil {
			one := infer.Forward{Rows: 1, Output: p.net.Output}
			if in, out, err := one.Columns(); err == nil && out == output && slices.Equal(in, inputs) {
				return []infer.Forward{batch, one}, nil
			}
		}
	}
	return []infer.Forward{batch}, nil
}
