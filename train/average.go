package train

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// EMA keeps an exponential moving average of every parameter beside it, as the state "ema/PATH":
// after each step a ← d·a + (1−d)·p with the new value p, and a = p after the first. The decay d is
// in [0, 1). Training itself does not change; [Averaged] and [Trainer.Averages] read the averages.
// d is the scalar input "NAME/ema-decay", where NAME is the optimiser's.
func EMA(decay float64) Option {
	return Option{"", fmt.Sprintf("ema %v", decay), fraction("EMA decay", decay), func(s *settings) { s.ema, s.averages = decay, true }}
}

// average adds the averages of the parameters that the step updates so far.
func (r *run) average(o Optimiser) {
	if r.rate == nil || len(r.step) == 0 {
		return
	}
	end := r.g.Scope(o.name)
	decay := r.g.Scalar("ema-decay", r.set.ema, r.rate.DType())
	later := r.g.State(begun, r.rate.DType()) // 0 in the first step, then 1
	begin := r.assign(later, ops.Lit(later, 1))
	keep := ops.Mul(decay, later)
	end()
	defer r.g.Scope(averages)()
	for _, u := range r.step {
		p := u.Target
		if !p.IsValid() || p.Role() != graph.RoleParam {
			continue
		}
		a := r.g.State(p.Path(), p.DType(), p.Shape().Axes()...)
		r.of[a] = p
		d := ops.Cast(keep, p.DType())
		r.step = append(r.step, r.assign(a, ops.Add(ops.Mul(d, a), ops.Mul(ops.OneMinus(d), u.Value))))
	}
	r.step = append(r.step, begin)
}

// averages is the folder of the averages in the store.
const averages = "ema"

// begun is the name of the state that is 0 until there are averages, and 1 from then on.
const begun = "ema-begun"

// Averaged returns a copy of a store in which every parameter that [EMA] averages has the value of
// its average, to evaluate with while training goes on with the store itself. It is an error if
// Minimize was not called at the top level, with EMA, or if no step has updated the parameters yet.
func Averaged(s *tape.Store) (*tape.Store, error) {
	if err := averaged(s); err != nil {
		return nil, err
	}
	out := s.Clone()
	if err := overlay(out, s); err != nil {
		return nil, err
	}
	return out, nil
}

// averaged returns an error that says why a store has no averages; nil if it has.
func averaged(s *tape.Store) error {
	if s == nil || s.Step() == 0 {
		return errors.New("averages: no step has been taken")
	}
	for _, path := range s.Paths() {
		if !strings.HasSuffix(path, "/"+begun) {
			continue
		}
		d, err := s.Get(path)
		if err != nil {
			return fmt.Errorf("averages: %w", err)
		}
		if v := d.Data(); v == any(0.0) || v == any(float32(0)) {
			return errors.New("averages: no step has moved the parameters yet")
		}
	}
	return nil
}

// overlay copies the averages of one store to the parameters of another.
func overlay(to, from *tape.Store) error {
	if _, err := to.CopyFrom(from, averages, ""); err != nil {
		return fmt.Errorf("averages: %w", err)
	}
	return nil
}
