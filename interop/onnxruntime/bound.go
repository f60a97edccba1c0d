package onnxruntime

import (
	"context"
	"errors"
)

// Bound is a model that reads its inputs from given arrays and writes its outputs into others, run
// after run, without a copy or an allocation. It is for runs that are many and short, and for timing.
// It may be used by one goroutine at a time; many may be bound to one session.
type Bound struct {
	session *Session
	call    *call // nil once closed
}

// Bind prepares runs on the memory of arrays: inputs as for [Session.Run], and outputs by name, of the
// type and sizes that the run gives. The memory of an array belongs to one of them.
func (s *Session) Bind(inputs, outputs map[string]Array) (*Bound, error) {
	if s == nil {
		return nil, errClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.native == nil {
		return nil, errClosed
	}
	in, err := s.arrange(inputs)
	if err != nil {
		return nil, err
	}
	var places []int
	var into []given
	for k, v := range s.outputs {
		if a, ok := outputs[v.Name]; ok {
			if err := fits("output", v, a); err != nil {
				return nil, err
			}
			places, into = append(places, k), append(into, given{k, a})
		}
	}
	for name := range outputs {
		if place(s.outputs, name) < 0 {
			return nil, unknown("output", name, s.outputs)
		}
	}
	if len(places) == 0 {
		return nil, errors.New("onnxruntime: no outputs are bound")
	}
	c, err := s.native.call(in, places, into)
	if err != nil {
		return nil, err
	}
	return &Bound{s, c}, nil
}

// Run runs the model once. When ctx ends, the run stops after the operator that it is at, and the
// outputs are spoilt.
func (b *Bound) Run(ctx context.Context) error {
	if b == nil || b.call == nil {
		return errClosed
	}
	b.session.mu.RLock()
	defer b.session.mu.RUnlock()
	if b.session.native == nil {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.call.run(ctx)
}

// Close ends the use of the arrays. A later Run is an error.
func (b *Bound) Close() error {
	if b != nil && b.call != nil {
		b.call.release()
		b.call = nil
	}
	return nil
}
