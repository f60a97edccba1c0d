package builders_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// talker is a language model that reads whole texts, or token by token.
type talker interface {
	Of(tokens *graph.Node) *graph.Node
	Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step)
	Window() int
}

const (
	talkers = 2 // texts in a batch
	window  = 6
	words   = 5
)

// talking is a talker's graph with a program for either way over one store.
type talking struct {
	t                    *testing.T
	dt                   graph.DType
	tokens, token, fresh *graph.Node
	all, each            *graph.Node
	whole, next          *tape.VM
}

func talk(t *testing.T, dt graph.DType, make func(g *graph.Graph) talker) *talking {
	t.Helper()
	g := graph.New("talk")
	b := graph.Ax("b", talkers)
	s := &talking{t: t, dt: dt, tokens: g.Input("tokens", graph.I64, b, graph.Ax("t", window)), token: g.Input("token", graph.I64, b), fresh: g.Scalar("fresh", 0)}
	m := make(g)
	s.all = m.Of(s.tokens)
	var step graph.Step
	s.each, step = m.Next(s.token, s.fresh)
	if err := graph.Verify(g); err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g, tape.Seed(3))
	for _, p := range g.Leaves(graph.RoleParam) { // biases too
		v := graph.NewValue(p.Type())
		for i := range v.Data {
			v.Data[i] = dt.Round(math.Sin(float64(i*i+len(p.Path()))) * 0.7)
		}
		if err := store.Set(p.Path(), tape.Tensor(v)); err != nil {
			t.Fatal(err)
		}
	}
	s.whole, s.next = s.vm(g, store, tape.Fetch(s.all)), s.vm(g, store, tape.Fetch(s.each), tape.Do(step))
	return s
}

func (s *talking) vm(g *graph.Graph, store *tape.Store, options ...tape.Option) *tape.VM {
	s.t.Helper()
	p, err := tape.Compile(g, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	vm := tapetest.VM(s.t, p, store)
	s.t.Cleanup(vm.Close)
	return vm
}

func (s *talking) run(vm *tape.VM, feed tape.Feed, of *graph.Node) []float64 {
	s.t.Helper()
	if err := vm.Run(context.Background(), feed); err != nil {
		s.t.Fatal(err)
	}
	v, err := vm.Value(of)
	if err != nil {
		s.t.Fatal(err)
	}
	return reftest.Value(of.Type(), v).Data
}

// read gives the logits of one token of each text.
func (s *talking) read(fresh bool, tokens ...float64) []float64 {
	s.t.Helper()
	feed := tape.Feed{s.token: tape.Tensor(graph.Value{Type: s.token.Type(), Data: tokens})}
	if fresh {
		feed[s.fresh] = tape.Scalar(graph.F32, 1)
	}
	return s.run(s.next, feed, s.each)
}

// refuse reads tokens that the model has no place for.
func (s *talking) refuse(want string, tokens ...float64) {
	s.t.Helper()
	err := s.next.Run(context.Background(), tape.Feed{s.token: tape.Tensor(graph.Value{Type: s.token.Type(), Data: tokens})})
	if outside := new(trait.IndexError); !errors.As(err, &outside) || !strings.Contains(err.Error(), want) {
		s.t.Errorf("tokens %v: %v, want %s", tokens, err, want)
	}
}

// spoil makes all that is kept of a text NaN.
func (s *talking) spoil() {
	s.t.Helper()
	for _, kept := range s.token.Graph().Leaves(graph.RoleState) {
		v := graph.NewValue(kept.Type())
		for i := range v.Data {
			if kept.DType().IsFloat() {
				v.Data[i] = math.NaN()
			}
		}
		if err := s.next.Store().Set(kept.Path(), tape.Tensor(v)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// agree compares both ways on texts that follow from a number.
func (s *talking) agree(what string, from, length int) {
	s.t.Helper()
	v := graph.NewValue(s.tokens.Type())
	for i := range v.Data {
		v.Data[i] = float64((i*i + from*i + from) % words)
	}
	want := s.run(s.whole, tape.Feed{s.tokens: tape.Tensor(v)}, s.all)
	tolerance := map[graph.DType]float64{graph.F32: 1e-5, graph.F64: 1e-12}[s.dt]
	for at := range length {
		var now, right []float64
		for b := range talkers {
			now = append(now, v.Data[b*window+at])
			right = append(right, want[(b*window+at)*words:][:words]...)
		}
		if err := reftest.Near(s.read(at == 0, now...), right, tolerance*max(1, reftest.Largest(right))); err != nil {
			s.t.Fatalf("%s: token %d: %v", what, at, err)
		}
	}
}

func everyTalker(dt graph.DType) map[string]func(g *graph.Graph) talker {
	w, m, h := graph.Ax("w", words), graph.Ax("m", 4), graph.Ax("h", 3)
	list := map[string]func(g *graph.Graph) talker{}
	for name, set := range map[string]func(b *attention.Blocks){
		"pre-norm":   func(*attention.Blocks) {},
		"post-norm":  func(b *attention.Blocks) { b.Post = true },
		"shared":     func(b *attention.Blocks) { b.Shared = true },
		"biases":     func(b *attention.Blocks) { b.Bias, b.Activation = true, ops.GELU },
		"query norm": func(b *attention.Blocks) { b.QueryNorm, b.Bias = true, true },
		"key norm":   func(b *attention.Blocks) { b.QueryNorm, b.KeyNorm = true, true },
		"one head":   func(b *attention.Blocks) { b.Heads, b.Layers = 1, 1 },
		"no blocks":  func(b *attention.Blocks) { b.Layers = 0 },
	} {
		for _, learnt := range []bool{true, false} {
			list[fmt.Sprintf("%s, learnt places %v", name, learnt)] = func(g *graph.Graph) talker {
				b := small(2)
				set(&b)
				t := graph.Ax("t", window)
				places := attention.Sinusoidal(g, dt, t, b.Width)
				if learnt {
					places = attention.NewPositions(g, "places", dt, t, b.Width)
				}
				return builders.NewLanguageModel(g, dt, b, w, places)
			}
		}
	}
	for name, heads := range map[string]int{"rotary": 2, "rotary with scaled queries and keys": 1} {
		list[name] = func(g *graph.Graph) talker {
			b := small(2)
			b.Rotary, b.Heads, b.QueryNorm, b.KeyNorm = true, heads, heads == 1, heads == 1
			return builders.NewLanguageModel(g, dt, b, w, g.Constant(dt, []float64{0, 1, 2, 3, 4, 5}, graph.Ax("t", window)))
		}
	}
	list["places beside tokens"] = func(g *graph.Graph) talker {
		b := small(2)
		return builders.NewLanguageModel(g, dt, b, w, attention.NewPositions(g, "places", dt, graph.Ax("t", window), graph.Ax("m", 3)))
	}
	recurrent := func(cells func(g *graph.Graph) []rnn.Recur) func(g *graph.Graph) talker {
		return func(g *graph.Graph) talker {
			return builders.RecurrentLanguageModel{Tokens: nn.NewEmbedding(g, "embedding", dt, w, m), Layers: cells(g), Output: nn.NewLinear(g, "output", dt, h, w)}
		}
	}
	list["Elman"] = recurrent(func(g *graph.Graph) []rnn.Recur {
		return []rnn.Recur{{Name: "r", Cell: rnn.NewRNN(g, "r", dt, m, h)}}
	})
	list["LSTM"] = recurrent(func(g *graph.Graph) []rnn.Recur {
		return []rnn.Recur{{Name: "r", Cell: rnn.NewLSTM(g, "r", dt, m, h)}}
	})
	list["norms inside, horizontal skips"] = recurrent(func(g *graph.Graph) []rnn.Recur {
		return []rnn.Recur{{Name: "r", Cell: rnn.HorizontalSkip{Cell: rnn.LSTM{Gates: rnn.NewLSTM(g, "r", dt, m, h).NormedInside("r")}}}}
	})
	list["two layers with norms"] = recurrent(func(g *graph.Graph) []rnn.Recur {
		return []rnn.Recur{
			{Name: "r1", Cell: rnn.NewGRU(g, "r1", dt, m, h)},
			{Name: "r2", Cell: rnn.LSTM{Gates: rnn.NewLSTM(g, "r2", dt, h, h).Normed("r2", true, true)}, Unroll: true},
		}
	})
	return list
}

// TestTokenByToken: a text that is read token by token gives the logits of the whole, also
// after an earlier text, and of NaN.
func TestTokenByToken(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for name, make := range everyTalker(dt) {
			t.Run(fmt.Sprint(dt, " ", name), func(t *testing.T) {
				s := talk(t, dt, make)
				s.agree("the first text", 1, window)
				s.agree("a shorter text", 2, 2)
				s.agree("a text after an unfinished one", 3, window)
				s.read(true, 0, 1)
				s.refuse("Embedding: token[b=0] is 5: want an index from 0 to 4", words, -1)
				s.spoil()
				s.agree("a text after NaN", 4, window)
			})
		}
	}
}

// TestCacheIsFull: past the last place a token is refused, until a text begins.
func TestCacheIsFull(t *testing.T) {
	var m talker
	s := talk(t, graph.F32, func(g *graph.Graph) talker {
		m = everyTalker(graph.F32)["pre-norm, learnt places true"](g)
		return m
	})
	if m.Window() != window {
		t.Fatalf("the window is %d", m.Window())
	}
	s.agree("a full text", 1, window)
	for range 2 {
		s.refuse("is 6: want an index from 0 to 5", 1, 2)
	}
	s.agree("the next text", 2, window)
}

// TestTextsAreApart: what is kept of one text does not depend on the text beside it.
func TestTextsAreApart(t *testing.T) {
	s := talk(t, graph.F64, everyTalker(graph.F64)["biases, learnt places true"])
	var alone [2][]float64
	for i := range alone {
		for at := range 4 {
			alone[i] = append(alone[i], s.read(at == 0, float64(at), float64((at*i+i)%words))[:words]...)
		}
	}
	if !slices.Equal(alone[0], alone[1]) {
		t.Errorf("beside another text the logits are %v, not %v", alone[1], alone[0])
	}
}

// TestStatesOfTalkers: where the states stand, and that parameters are those of Of.
func TestStatesOfTalkers(t *testing.T) {
	for name, want := range map[string]string{
		"pre-norm, learnt places true": "cache/place decoder/block1/self-attention/cache/k decoder/block1/self-attention/cache/v decoder/block2/self-attention/cache/k decoder/block2/self-attention/cache/v",
		"shared, learnt places true":   "cache/place decoder/block1/self-attention/cache/k decoder/block1/self-attention/cache/v decoder/block2/self-attention/cache/k decoder/block2/self-attention/cache/v",
		"two layers with norms":        "r1/state/h r2/state/h r2/state/c",
	} {
		g := graph.New(name)
		m := everyTalker(graph.F32)[name](g)
		params := len(g.Leaves(graph.RoleParam))
		_, step := m.Next(g.Input("token", graph.I32, graph.Ax("b", 1)), g.Scalar("fresh", 0))
		var states []string
		for _, n := range g.Leaves(graph.RoleState) {
			states = append(states, n.Path())
		}
		if got := strings.Join(states, " "); got != want || len(step) != len(states) {
			t.Errorf("%s keeps %s in %d updates, want %s", name, got, len(step), want)
		}
		if n := len(g.Leaves(graph.RoleParam)); n != params {
			t.Errorf("%s: %d parameters, %d of them for Next", name, n, n-params)
		}
	}
}

// TestCharacterModels: as many numbers as PyTorch's modules of the same sizes have, which
// give an LSTM a second bias beside the first.
func TestCharacterModels(t *testing.T) {
	const v, d = 74, 64
	w := graph.Ax("w", v)
	for _, c := range []struct {
		name string
		of   func(g *graph.Graph) talker
		want int
	}{
		{"GPT", func(g *graph.Graph) talker { return builders.CharacterGPT(g, graph.F32, w, graph.Ax("t", 64)) },
			v*d + 64*d + 2*(4*(d*d+d)+2*4*d*d+4*d+d+4*d) + 2*d + d*v + v},
		{"LSTM", func(g *graph.Graph) talker { return builders.CharacterLSTM(g, graph.F32, w) },
			v*d + 4*128*(d+128+1) + 128*v + v},
	} {
		g, n := graph.New(c.name), 0
		logits := c.of(g).Of(g.Input("x", graph.I64, graph.Ax("b", 2), graph.Ax("t", 64)))
		for _, p := range g.Leaves(graph.RoleParam) {
			n += p.Shape().Len()
		}
		if err := g.Err(); err != nil || n != c.want || logits.Shape().String() != "[b=2 t=64 w=74]" {
			t.Errorf("%s: %d numbers, want %d; logits %v, %v", c.name, n, c.want, logits.Shape(), err)
		}
	}
}

func TestTalkerMistakes(t *testing.T) {
	w, m, h := graph.Ax("w", 5), graph.Ax("m", 4), graph.Ax("h", 3)
	gpt := func(g *graph.Graph) builders.LanguageModel {
		return builders.NewLanguageModel(g, graph.F32, small(1), w, attention.NewPositions(g, "p", graph.F32, graph.Ax("t", 3), m))
	}
	lstm := func(g *graph.Graph) rnn.Recur {
		return rnn.Recur{Name: "r", Cell: rnn.NewLSTM(g, "r", graph.F32, m, h)}
	}
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("b", 2), m), map[string]func(g *graph.Graph, x *graph.Node){
		"empty":        func(_ *graph.Graph, x *graph.Node) { builders.LanguageModel{}.Next(x, x) },
		"empty layers": func(_ *graph.Graph, x *graph.Node) { builders.RecurrentLanguageModel{}.Next(x, x) },
		"empty whole":  func(_ *graph.Graph, x *graph.Node) { builders.RecurrentLanguageModel{}.Of(x) },
		"no token":     func(g *graph.Graph, _ *graph.Node) { gpt(g).Next(nil, g.Scalar("fresh", 0)) },
		"no fresh":     func(g *graph.Graph, _ *graph.Node) { gpt(g).Next(g.Input("token", graph.I64, graph.Ax("b", 1)), nil) },
		"no whole":     func(g *graph.Graph, x *graph.Node) { gpt(g).Next(x, g.Scalar("fresh", 0)) },
		"many fresh":   func(g *graph.Graph, x *graph.Node) { gpt(g).Next(g.Input("token", graph.I64, graph.Ax("b", 2)), x) },
		"twice": func(g *graph.Graph, _ *graph.Node) {
			l, i := gpt(g), g.Input("token", graph.I64, graph.Ax("b", 1))
			l.Next(i, g.Scalar("f", 0))
			l.Next(i, g.Scalar("f2", 0))
		},
		"no cell": func(g *graph.Graph, x *graph.Node) { rnn.Recur{}.Next(x, g.Scalar("fresh", 0)) },
		"empty cell": func(g *graph.Graph, x *graph.Node) {
			rnn.Recur{Cell: rnn.RNN{}}.Next(x, g.Scalar("fresh", 0))
		},
		"no input":    func(g *graph.Graph, _ *graph.Node) { lstm(g).Next(nil, g.Scalar("fresh", 0)) },
		"never fresh": func(g *graph.Graph, x *graph.Node) { lstm(g).Next(x, nil) },
		"other width": func(g *graph.Graph, x *graph.Node) { lstm(g).Next(g.Input("y", graph.F32, w), g.Scalar("fresh", 0)) },
		"backwards":   func(g *graph.Graph, x *graph.Node) { r := lstm(g); r.Reverse = true; r.Next(x, g.Scalar("fresh", 0)) },
		"no bias":     func(_ *graph.Graph, x *graph.Node) { attention.MultiHead{}.WithBias().Of(x, x, nil) },
	})
	for want, call := range map[string]func(g *graph.Graph, x *graph.Node){
		"Recur: a layer that runs from the last time to the first cannot read as it goes: x[b=2 m=4], in r": func(g *graph.Graph, x *graph.Node) {
			r := lstm(g)
			r.Reverse = true
			r.Next(x, g.Scalar("fresh", 0))
		},
		"LanguageModel: want vectors of places p[t m], or their times: nil (give what NewPositions or Sinusoidal makes)": func(g *graph.Graph, x *graph.Node) {
			builders.LanguageModel{}.Next(x, g.Scalar("fresh", 0))
		},
		"fresh: it has shape [b=2 m=4]: x[b=2 m=4], in r/state (want a scalar, of which 1 begins new texts)": func(g *graph.Graph, x *graph.Node) { lstm(g).Next(x, x) },
	} {
		g := graph.New("mistake")
		call(g, g.Input("x", graph.F32, graph.Ax("b", 2), m))
		if err := g.Err(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
