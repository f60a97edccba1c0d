package rnn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// Seq2Seq is an encoder and a decoder: it reads a sequence of tokens and writes another (Sutskever,
// Vinyals & Le, 2014; the notes on machine translation):
//
//	h, s₀ = encoder(x),  s_t = cell(y_{t−1}, s_{t−1}),  p(y_t) = softmax(V·[a_t; s_t] + b)
//
// Without a score, the encoder's last state is all that the decoder knows of x, the bottleneck of
// the notes, and V takes s_t alone. With a score, the decoder looks back at every step, a_t = Σ_i
// α_i·h_i; see [attention.AttendStates].
type Seq2Seq struct {
	Source, Target nn.Embedding // the target's has one row more: the start token's
	Encoder        Reader
	Cell           Cell
	Score          attention.Score // nil for none
	Output         nn.Linear       // v[as w], or v[h w] where the decoder does not look back
	Unroll         bool            // the decoder's steps written out

	mask *graph.Node // see Masked
}

// Reader is an encoder: from a sequence x[b s m] it makes states h[b s h] for the decoder to look
// at, and the state with which the decoder begins. [Recur], [Bidirectional] and [ConvReader] are
// readers.
type Reader interface {
	Read(x *graph.Node) (h *graph.Node, final []*graph.Node)
}

// MaskedReader is a reader that passes over padding, as [Recur] and [Bidirectional] do: it reads
// each sequence of a batch as if it were alone, without the padding after it.
type MaskedReader interface {
	Reader
	// ReadMasked is Read of the places where mask[b s] is true; nil is all.
	ReadMasked(x, mask *graph.Node) (h *graph.Node, final []*graph.Node)
}

// Said holds the output of a decoder.
type Said struct {
	Logits    *graph.Node // [b t w]: their softmax is the distribution of each token
	Attention *graph.Node // α[b t s]: where the decoder looked; nil if it does not
}

// Feedback chooses the previous token of a decoder that runs freely.
type Feedback int

// The kinds of feedback.
const (
	Likeliest Feedback = iota // the likeliest token, as in use; it has no derivative
	Expected                  // the expected embedding, Σ_w p_w·table_w, which has one
)

// Masked returns the model for sources of different lengths: mask[b s] is true for tokens and false
// for padding (see [nn.Present]). The encoder, which must be a [MaskedReader], passes over padding,
// and the decoder gives it no weight. So each source of a batch is read as if it were alone, and
// the values at padding make no difference:
//
//	said := m.Masked(nn.Present(lengths, s)).Forced(source, target)
func (m Seq2Seq) Masked(mask *graph.Node) Seq2Seq {
	m.mask = mask
	return m
}

// Forced returns the output at each place of a target[b t], after the right tokens before it
// (teacher forcing), for sources[b s]; both are whole numbers. Trained this way, the model only
// ever sees right beginnings.
func (m Seq2Seq) Forced(source, target *graph.Node) Said {
	d, start := m.read(source)
	if !d.Output.W.IsValid() {
		return Said{Logits: d.Output.W}
	}
	defer d.Output.W.Graph().Scope("decoder")()
	before := build.Rows("Seq2Seq", d.Table, build.Shifted(target, float64(m.words()))).As("y₋₁")
	if !before.IsValid() || before.Rank() < 2 {
		return Said{Logits: graph.Of(source, target).Fail("Seq2Seq", errNoSequence, target)}
	}
	// Its output does not influence the next token: the states need not wait for it.
	s, _ := Recur{Cell: d.Cell, Unroll: m.Unroll}.run(before, nil, start, "s")
	logits, α := d.say(s)
	return Said{Logits: logits, Attention: α.As("α")} // decoder/α, as it is in Free
}

// Free returns the output of t steps for sources[b s], each after the model's own output before it,
// as feedback says.
func (m Seq2Seq) Free(source *graph.Node, t graph.Axis, feedback Feedback) Said {
	d, start := m.read(source)
	if !d.Output.W.IsValid() {
		return Said{Logits: d.Output.W}
	}
	defer d.Output.W.Graph().Scope("decoder")()
	axes := source.Shape().Axes()
	batch := axes[: len(axes)-1 : len(axes)-1]
	s, err := graph.NewShape(append(batch, build.Last(d.Table))...)
	if err != nil {
		return Said{Logits: graph.Of(source).Fail("Seq2Seq", err, source)}
	}
	y := ops.BroadcastTo(ops.Squeeze(ops.Slice(d.Table, 0, m.words(), m.words()+1), 0), s).As("y₀")
	free := loop(ops.Loop{Carry: append([]*graph.Node{y}, start...), Steps: t.Size, Axis: t.Name}, m.Unroll, func(carry, _, _ []*graph.Node) (next, out []*graph.Node) {
		next = d.Cell.Step(carry[0], carry[1:])
		logits, α := d.say(next[0])
		if out = []*graph.Node{logits}; α != nil {
			out = append(out, α)
		}
		return append([]*graph.Node{d.feed(logits, feedback)}, next...), out
	})
	said := Said{Logits: build.TimeInside(free.Out[0]).As("logits")}
	if len(free.Out) > 1 {
		said.Attention = build.TimeInside(free.Out[1]).As("α")
	}
	return said
}

// words returns the number of tokens; the row of that number is the start token's.
func (m Seq2Seq) words() int { return build.Last(m.Output.W).Size }

// read returns the decoder over the states of the encoder, and the state it begins with.
// After a mistake the decoder's output is invalid.
func (m Seq2Seq) read(source *graph.Node) (d decoder, start []*graph.Node) {
	g := graph.Of(source, m.Output.W)
	fail := func(format string, args ...any) (decoder, []*graph.Node) {
		return decoder{Output: nn.Linear{W: g.Fail("Seq2Seq", fmt.Errorf(format, args...), source)}}, nil
	}
	table := m.Target.Table
	switch {
	case !source.IsValid() || !table.IsValid() || !m.Source.Table.IsValid() || !m.Output.W.IsValid():
		return fail("%w", build.ErrNoOperand)
	case m.Encoder == nil || m.Cell == nil:
		return fail("want an encoder and a cell")
	case source.Rank() < 1 || table.Rank() != 2 || table.Dim(0) != m.words()+1:
		return fail("a target embedding %v for %d tokens: want a row for each, and one for the start", table.Shape(), m.words())
	}
	axes := source.Shape().Axes()
	if err := masksPlaces(m.mask, axes); err != nil {
		return fail("%w", err)
	}
	read := m.Encoder.Read
	if m.mask != nil {
		masked, ok := m.Encoder.(MaskedReader)
		if !ok {
			return fail("%T reads padding as it reads tokens: want a MaskedReader for sources with a mask", m.Encoder)
		}
		read = func(x *graph.Node) (*graph.Node, []*graph.Node) { return masked.ReadMasked(x, m.mask) }
	}
	end := g.Scope("encoder")
	h, final := read(build.Rows("Seq2Seq", m.Source.Table, source).As("x"))
	end()
	start = m.Cell.Start(axes[:len(axes)-1]...)
	for i, s := range final[:min(len(final), len(start))] {
		if s.IsValid() && build.Last(s).Size != build.Last(start[i]).Size {
			return fail("the encoder ends with %d features, the decoder has %d", build.Last(s).Size, build.Last(start[i]).Size)
		}
		start[i] = ops.Rename(s, -1, build.Last(start[i]).Name)
	}
	d = decoder{Cell: m.Cell, Output: m.Output, Table: table}
	if m.Score != nil {
		d.Score, d.Memory, d.Mask = m.Score, h, m.mask
	}
	return d, start
}

// decoder holds the nodes that a step of the decoder needs; [loop] sets its fields.
type decoder struct {
	Cell   Cell
	Score  attention.Score // nil for none
	Memory *graph.Node     // h[b s h]; nil without a score
	Mask   *graph.Node     // mask[b s] of Memory; nil for all
	Table  *graph.Node     // the embedding of the target
	Output nn.Linear
}

// say returns the logits[b w] of the next token in state s[b c], and α[b s], nil without a score;
// for states s[b t c] it returns logits[b t w] and α[b t s].
func (d decoder) say(s *graph.Node) (logits, α *graph.Node) {
	if d.Score == nil {
		return d.Output.Of(s).As("logits"), nil
	}
	a, α := attention.AttendStates(d.Score, s, d.Memory, d.Mask)
	name := "as"
	if d.Output.W.IsValid() {
		name = d.Output.W.Shape().Axis(0).Name
	}
	both := ops.Concat(-1, ops.Rename(a, -1, name), ops.Rename(s, -1, name)).As("[a; s]")
	return d.Output.Of(both).As("logits"), α
}

// feed returns the vector of the token that the next step reads after these logits.
func (d decoder) feed(logits *graph.Node, feedback Feedback) *graph.Node {
	if feedback == Likeliest {
		return build.Rows("Seq2Seq", d.Table, ops.ArgMax(logits, -1)).As("y")
	}
	words := ops.Rename(ops.Slice(d.Table, 0, 0, build.Last(logits).Size), 0, build.Last(logits).Name)
	return ops.MatMul(ops.Softmax(logits, -1).As("p"), words).As("y")
}
