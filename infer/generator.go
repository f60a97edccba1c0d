package infer

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Model is a language model that reads one token of one text in each run.
type Model struct {
	Token  *graph.Node // the input token[b=1], of an integer type
	Fresh  *graph.Node // a scalar input: 1 for the first token of a text, and 0 for the others
	Logits *graph.Node // of the next token: floats [1 w], where w is the number of tokens
	Step   graph.Step  // the updates of the states that hold the context
	Window int         // the number of tokens that the model has room for; 0 if it is unlimited
}

// check returns an error for a part that the model lacks.
func (m Model) check() error {
	token := func(n *graph.Node) bool {
		return n.Role() == graph.RoleInput && n.Rank() == 1 && n.Dim(0) == 1 && n.DType().IsInt()
	}
	for _, part := range []struct {
		name, want string
		node       *graph.Node
		ok         func(n *graph.Node) bool
	}{
		{"Token", "an input of one whole number, as i64[b=1]", m.Token, token},
		{"Fresh", "a scalar input", m.Fresh, func(n *graph.Node) bool { return n.Role() == graph.RoleInput && n.Rank() == 0 }},
		{"Logits", "floats, as f32[b=1 w=50]", m.Logits, func(n *graph.Node) bool { return n.Rank() == 2 && n.Dim(0) == 1 && n.DType().IsFloat() }},
	} {
		switch {
		case part.node == nil:
			return fmt.Errorf("generator: %s is nil: want %s", part.name, part.want)
		case !part.node.IsValid():
			return part.node.Graph().Err()
		case !part.ok(part.node):
			return fmt.Errorf("generator: %s is the %v %v: want %s", part.name, part.node.Role(), part.node, part.want)
		}
	}
	switch {
	case len(m.Step) == 0:
		return errors.New("generator: the step is empty, so that the model would forget what it reads")
	case m.Window < 0:
		return fmt.Errorf("generator: a window of %d tokens: want at least 1, or 0 for no end", m.Window)
	}
	return nil
}

// Generator generates texts. It may be used by one goroutine at a time, and runs its model on one
// core.
type Generator struct {
	model   Model
	vm      *tape.VM
	sampler *Sampler
	feed    tape.Feed
	logits  []float64 // of the next token
	text    []int32   // the tokens in the window, if the model has one
	begun   bool      // the model has read a token of this text
}

// NewGenerator joins a model and a store. Parameters that the store lacks are initialised, as by
// tape.Program.NewVM; the package's doc says under "One store" how a store can be shared. An
// incomplete model and a sampling out of range are errors. When ctx ends, it stops compiling.
func NewGenerator(ctx context.Context, m Model, store *tape.Store, s Sampling) (*Generator, error) {
	sampler, err := NewSampler(s)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	prog, err := tape.CompileContext(ctx, m.Token.Graph(), tape.Fetch(m.Logits), tape.Do(m.Step))
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(store, tape.Workers(1))
	if err != nil {
		return nil, err
	}
	return &Generator{
		model: m, sampler: sampler, vm: vm, logits: make([]float64, m.Logits.Dim(1)), text: make([]int32, 0, m.Window),
		feed: tape.Feed{m.Token: tape.Tensor(graph.NewValue(m.Token.Type())), m.Fresh: tape.Scalar(m.Fresh.DType(), 0)},
	}, nil
}

// Generate reads a prompt, the beginning of a new text, and continues it by at most n tokens: it
// calls yield with each token as soon as it is chosen. It stops, without an error, when yield
// returns false, and with an error when ctx ends. The sampler's random numbers continue from text
// to text. A prompt without tokens, or with one that is not from 0 to w−1, is an error.
func (s *Generator) Generate(ctx context.Context, prompt []int32, n int, yield func(token int32) (more bool)) error {
	switch {
	case len(prompt) == 0:
		return errors.New("generate: the prompt is empty: want at least one token")
	case n < 0:
		return fmt.Errorf("generate: %d tokens: want at least 0", n)
	case yield == nil:
		return errors.New("generate: yield is nil")
	}
	for i, token := range prompt {
		if token < 0 || int(token) >= len(s.logits) {
			return fmt.Errorf("generate: token %d of the prompt is %d: want 0 to %d", i, token, len(s.logits)-1)
		}
	}
	s.text, s.begun = s.text[:0], false
	for _, token := range prompt[len(prompt)-s.view(len(prompt)):] {
		if err := s.read(ctx, token); err != nil {
			return err
		}
	}
	for i := range n {
		token, err := s.sampler.Choose(s.logits)
		if err != nil {
			return fmt.Errorf("generate: after %d tokens: %w", len(prompt)+i, err)
		}
		if !yield(token) || i == n-1 {
			return nil
		}
		if err := s.read(ctx, token); err != nil {
			return err
		}
	}
	return nil
}

// view returns the number of the last tokens of a text of length n that are still in the window
// after all of it: what came before has no influence, and need not be read.
func (s *Generator) view(n int) int {
	w := s.model.Window
	if w == 0 || n <= w {
		return n
	}
	half := w / 2
	return half + 1 + (n-w-1)%(w-half)
}

// read shows the model a token. If the window is full, it first reads its last half again.
func (s *Generator) read(ctx context.Context, token int32) error {
	if w := s.model.Window; w > 0 {
		if len(s.text) == w {
			half := copy(s.text, s.text[w-w/2:])
			s.text, s.begun = s.text[:half], false
			for _, t := range s.text {
				if err := s.run(ctx, t); err != nil {
					return err
				}
			}
		}
		s.text = append(s.text, token)
	}
	return s.run(ctx, token)
}

// run runs the model on a token.
func (s *Generator) run(ctx context.Context, token int32) error {
	fresh := 1.0
	if s.begun {
		fresh = 0
	}
	s.put(s.model.Token, float64(token))
	s.put(s.model.Fresh, fresh)
	if err := s.vm.Run(ctx, s.feed); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	s.begun = true
	v, err := s.vm.Value(s.model.Logits)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	a, err := tape.ArrayOf(s.model.Logits.Type(), v)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	for i := range s.logits {
		s.logits[i] = a.At(i)
	}
	return nil
}

// put feeds an input of one element.
func (s *Generator) put(in *graph.Node, v float64) {
	if a, err := tape.ArrayOf(in.Type(), s.feed[in]); err == nil {
		a.Set(0, v)
	}
}

// Close releases the generator; a later Generate returns an error.
func (s *Generator) Close() { s.vm.Close() }
