package infer_test

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
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

const words = 7

// net is a language model of the builders.
type net interface {
	Of(tokens *graph.Node) *graph.Node
	Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step)
	Window() int
}

func gpt(window int, dt graph.DType) func(g *graph.Graph) net {
	return func(g *graph.Graph) net {
		b := attention.Blocks{Layers: 2, Heads: 2, Width: graph.Ax("m", 8), Hidden: graph.Ax("f", 12), Bias: true, Activation: ops.GELU}
		return builders.NewLanguageModel(g, dt, b, graph.Ax("w", words), attention.NewPositions(g, "places", dt, graph.Ax("t", window), b.Width))
	}
}

func lstm(dt graph.DType) func(g *graph.Graph) net {
	return func(g *graph.Graph) net {
		m, h := graph.Ax("m", 5), graph.Ax("h", 6)
		return builders.RecurrentLanguageModel{
			Tokens: nn.NewEmbedding(g, "embedding", dt, graph.Ax("w", words), m),
			Layers: []rnn.Recur{{Name: "lstm", Cell: rnn.NewLSTM(g, "lstm", dt, m, h)}},
			Output: nn.NewLinear(g, "output", dt, h, graph.Ax("w", words), initial.Normal(0, 3)),
		}
	}
}

// modelOf is a net in a graph of its own.
func modelOf(make func(g *graph.Graph) net) infer.Model {
	g := graph.New("generator")
	n := make(g)
	m := infer.Model{Token: g.Input("token", graph.I64, graph.Ax("b", 1)), Fresh: g.Scalar("fresh", 0), Window: n.Window()}
	m.Logits, m.Step = n.Next(m.Token, m.Fresh)
	return m
}

func generator(t testing.TB, m infer.Model, store *tape.Store, s infer.Sampling) *infer.Generator {
	t.Helper()
	r, err := infer.NewGenerator(t.Context(), m, store, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func say(t testing.TB, s *infer.Generator, n int, prompt ...int32) (text []int32) {
	t.Helper()
	if err := s.Generate(context.Background(), prompt, n, func(token int32) bool { text = append(text, token); return true }); err != nil {
		t.Fatal(err)
	}
	return text
}

// likeliest returns the token of the largest logit after a text, the first among equals, by the
// whole model.
func likeliest(t *testing.T, make func(g *graph.Graph) net, store *tape.Store, text []int32) int32 {
	t.Helper()
	g := graph.New("whole")
	tokens := g.Input("tokens", graph.I64, graph.Ax("b", 1), graph.Ax("t", len(text)))
	n := make(g)
	if l, ok := n.(builders.LanguageModel); ok {
		l.Places = ops.Slice(l.Places, 0, 0, len(text))
		n = l
	}
	logits := n.Of(tokens)
	prog, err := tape.Compile(g, tape.Fetch(logits))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	v := graph.NewValue(tokens.Type())
	for i, w := range text {
		v.Data[i] = float64(w)
	}
	if err := vm.Run(context.Background(), tape.Feed{tokens: tape.Tensor(v)}); err != nil {
		t.Fatal(err)
	}
	out, err := vm.Value(logits)
	if err != nil {
		t.Fatal(err)
	}
	z := reftest.Value(logits.Type(), out).Data
	z = z[len(z)-words:]
	return int32(slices.Index(z, slices.Max(z)))
}

// TestSaysTheLikeliest: without temperature, each token is the most probable one by the whole model
// on the tokens in the window: all, or since it began again with its last half.
func TestSaysTheLikeliest(t *testing.T) {
	for name, c := range map[string]struct {
		window int
		make   func(g *graph.Graph) net
	}{
		"f32, window 8":    {8, gpt(8, graph.F32)},
		"f64, window 5":    {5, gpt(5, graph.F64)},
		"f64, window 1":    {1, gpt(1, graph.F64)},
		"f32, window 64":   {64, gpt(64, graph.F32)},
		"f32 without end":  {0, lstm(graph.F32)},
		"f64, without end": {0, lstm(graph.F64)},
	} {
		t.Run(name, func(t *testing.T) {
			m := modelOf(c.make)
			store := tape.NewStore(m.Token.Graph(), tape.Seed(5))
			s := generator(t, m, store, infer.Sampling{})
			for _, prompt := range [][]int32{{3}, {0, 1, 2}, {6, 6, 0, 1, 5, 4, 2, 2, 3, 1, 0, 6, 1}} {
				got := say(t, s, 10, prompt...)
				var view, want []int32
				see := func(token int32) {
					if c.window > 0 && len(view) == c.window {
						view = slices.Clone(view[c.window-c.window/2:])
					}
					view = append(view, token)
				}
				for _, w := range prompt {
					see(w)
				}
				for range 10 {
					w := likeliest(t, c.make, store, view)
					want = append(want, w)
					see(w)
				}
				if !slices.Equal(got, want) {
					t.Errorf("after %v: %v, want %v", prompt, got, want)
				}
			}
		})
	}
}

// TestSeedsOfGenerators: the seed determines all texts of a generator.
func TestSeedsOfGenerators(t *testing.T) {
	m := modelOf(gpt(8, graph.F32))
	texts := func(seed uint64) (all [2][]int32) {
		s := generator(t, m, tape.NewStore(m.Token.Graph(), tape.Seed(5)), infer.Sampling{Temperature: 1.5, TopK: 5, Seed: seed})
		for i := range all {
			all[i] = say(t, s, 20, 1, 2)
		}
		return all
	}
	a, b, c := texts(1), texts(1), texts(2)
	if !slices.Equal(a[0], b[0]) || !slices.Equal(a[1], b[1]) {
		t.Errorf("%v, then %v", a, b)
	}
	if slices.Equal(a[0], a[1]) || slices.Equal(a[0], c[0]) {
		t.Errorf("texts are the same: %v, %v", a, c)
	}
}

// TestTokensCostNothing: a token allocates nothing, over several windows.
func TestTokensCostNothing(t *testing.T) {
	for _, make := range []func(g *graph.Graph) net{gpt(8, graph.F32), lstm(graph.F64)} {
		m := modelOf(make)
		s := generator(t, m, tape.NewStore(nil), infer.Sampling{Temperature: 1, TopK: 4, TopP: 0.9})
		prompt, ctx, yield := []int32{1}, context.Background(), func(int32) bool { return true }
		few := testing.AllocsPerRun(20, func() { s.Generate(ctx, prompt, 1, yield) })
		many := testing.AllocsPerRun(20, func() { s.Generate(ctx, prompt, 50, yield) })
		if many != few || many > 0 {
			t.Errorf("a text of one token allocates %v times, one of 50 %v", few, many)
		}
	}
}

// TestClonesAreApart: a generator on a clone does not change the training's store, and uses newly
// trained values once they are copied.
func TestClonesAreApart(t *testing.T) {
	m := modelOf(lstm(graph.F32))
	g := m.Token.Graph()
	store := tape.NewStore(g, tape.Seed(5))
	clone := store.Clone()
	s := generator(t, m, clone, infer.Sampling{})
	say(t, s, 10, 1)
	for _, p := range store.Paths() {
		if v, _ := store.Get(p); strings.Contains(p, "/state/") && slices.ContainsFunc(v.Float32s(), func(x float32) bool { return x != 0 }) {
			t.Errorf("%s has changed", p)
		}
	}
	if store.Step() != 0 || clone.Step() != 10 {
		t.Errorf("%d steps of the store, %d of its clone", store.Step(), clone.Step())
	}
	b := g.Lookup("output/b")
	v := graph.NewValue(b.Type())
	v.Data[4] = 1000
	if err := store.Set(b.Path(), tape.Tensor(v)); err != nil {
		t.Fatal(err)
	}
	if err := func() error { _, err := clone.CopyFrom(store, "", ""); return err }(); err != nil {
		t.Fatal(err)
	}
	if got := say(t, s, 3, 1); !slices.Equal(got, []int32{4, 4, 4}) {
		t.Errorf("it says %v", got)
	}
}

// TestEndsOfTexts: a text ends when yield returns false or the context is done, and the next begins
// anew.
func TestEndsOfTexts(t *testing.T) {
	m := modelOf(gpt(4, graph.F64))
	s := generator(t, m, tape.NewStore(nil), infer.Sampling{})
	want := say(t, s, 12, 2, 3)
	for stop := range 12 {
		var got []int32
		if err := s.Generate(context.Background(), []int32{2, 3}, 12, func(w int32) bool { got = append(got, w); return len(got) <= stop }); err != nil || !slices.Equal(got, want[:stop+1]) {
			t.Errorf("stopped at %d: %v, %v", stop, got, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		got = nil
		err := s.Generate(ctx, []int32{2, 3}, 12, func(w int32) bool {
			if got = append(got, w); len(got) > stop {
				cancel()
			}
			return true
		})
		if cancel(); !slices.Equal(got, want[:stop+1]) || errors.Is(err, context.Canceled) != (stop < 11) {
			t.Errorf("cancelled at %d: %v, %v", stop, got, err)
		}
	}
	if got := say(t, s, 0, 1); got != nil {
		t.Errorf("of 0 tokens: %v", got)
	}
	if got := say(t, s, 12, 2, 3); !slices.Equal(got, want) {
		t.Errorf("after all that %v, want %v", got, want)
	}
}

func TestGeneratorMistakes(t *testing.T) {
	g := graph.New("g")
	token, two := g.Input("token", graph.I64, graph.Ax("b", 1)), g.Input("two", graph.I64, graph.Ax("b", 2))
	good := modelOf(gpt(4, graph.F32))
	bad := graph.New("bad")
	bad.Input("", graph.I64)
	for want, change := range map[string]func(m *infer.Model, s *infer.Sampling){
		"generator: Token is nil: want an input of one whole number, as i64[b=1]":                func(m *infer.Model, _ *infer.Sampling) { m.Token = nil },
		"generator: Token is the input two[b=2]: want an input of one whole number, as i64[b=1]": func(m *infer.Model, _ *infer.Sampling) { m.Token = two },
		"generator: Fresh is the input token[b=1]: want a scalar input":                          func(m *infer.Model, _ *infer.Sampling) { m.Fresh = token },
		"generator: Logits is the input token[b=1]: want floats, as f32[b=1 w=50]":               func(m *infer.Model, _ *infer.Sampling) { m.Logits = token },
		"generator: the step is empty, so that the model would forget what it reads":             func(m *infer.Model, _ *infer.Sampling) { m.Step = nil },
		"generator: a window of -1 tokens: want at least 1, or 0 for no end":                     func(m *infer.Model, _ *infer.Sampling) { m.Window = -1 },
		"sampling: top k = -2: want at least 1, or 0 for all":                                    func(_ *infer.Model, s *infer.Sampling) { s.TopK = -2 },
		`fetch: logits[b=1 w=7] is no node of graph "g"`:                                         func(m *infer.Model, _ *infer.Sampling) { m.Token = token },
	} {
		m, s := good, infer.Sampling{}
		change(&m, &s)
		if _, err := infer.NewGenerator(t.Context(), m, tape.NewStore(nil), s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	store := tape.NewStore(good.Token.Graph())
	s := generator(t, good, store, infer.Sampling{})
	yield := func(int32) bool { return true }
	var none context.Context
	for want, say := range map[string]func() error{
		"generate: the prompt is empty: want at least one token": func() error { return s.Generate(context.Background(), nil, 1, yield) },
		"generate: -1 tokens: want at least 0":                   func() error { return s.Generate(context.Background(), []int32{1}, -1, yield) },
		"generate: yield is nil":                                 func() error { return s.Generate(context.Background(), []int32{1}, 1, nil) },
		"generate: token 1 of the prompt is 7: want 0 to 6":      func() error { return s.Generate(context.Background(), []int32{1, 7}, 1, yield) },
		"generate: token 0 of the prompt is -1: want 0 to 6":     func() error { return s.Generate(context.Background(), []int32{-1}, 1, yield) },
		"generate: the context is nil":                           func() error { return s.Generate(none, []int32{1}, 1, yield) },
	} {
		if err := say(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	long := good
	long.Window = 0 // more than there is room for
	err := generator(t, long, tape.NewStore(nil), infer.Sampling{}).Generate(context.Background(), []int32{1, 2}, 9, yield)
	if want := "is 4: want an index from 0 to 3: nothing was committed"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	v := graph.NewValue(good.Token.Graph().Lookup("output/b").Type())
	v.Data[3] = math.NaN()
	if err := store.Set("output/b", tape.Tensor(v)); err != nil {
		t.Fatal(err)
	}
	err = s.Generate(context.Background(), []int32{1, 2}, 9, yield)
	if want := "generate: after 2 tokens: sampling: the logit of token 3 is NaN: want finite numbers or -Inf"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	s.Close()
	if err := s.Generate(context.Background(), []int32{1}, 1, yield); fmt.Sprint(err) != "generate: the VM is closed" {
		t.Errorf("after Close: %v", err)
	}
}
