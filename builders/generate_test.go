package builders_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestGenerateIsForcedByItself: what a language model says token by token is what it finds
// likeliest at every place when all that is said is shown to it at once. So generation and
// training are the same net.
func TestGenerateIsForcedByItself(t *testing.T) {
	const prompt, more = 2, 4
	g := graph.New("generate")
	b := small(2)
	places := attention.Sinusoidal(g, graph.F64, graph.Ax("t", prompt+more), b.Width)
	l := builders.NewLanguageModel(g, graph.F64, b, graph.Ax("w", 7), places)
	begin := g.Input("prompt", graph.I64, graph.Ax("b", 3), graph.Ax("t", prompt))
	said := l.Generate(begin, more)
	best := ops.ArgMax(l.Of(said), -1)
	feed := graph.Values{begin: layertest.ValueOf(begin, 1, 2, 6, 0, 3, 3), l.Output.B: graph.NewValue(l.Output.B.Type()), l.Tokens.Table: vectors(l.Tokens.Table)}
	out := layertest.BothWays(t, feed, said, best)
	text, likeliest := out[0].Data, out[1].Data
	const length = prompt + more
	for i := range 3 {
		if got, want := text[i*length:][:prompt], feed[begin].Data[i*prompt:][:prompt]; !slices.Equal(got, want) {
			t.Errorf("text %d begins with %v, want the prompt %v", i, got, want)
		}
		if got, want := text[i*length+prompt:][:more], likeliest[i*length+prompt-1:][:more]; !slices.Equal(got, want) {
			t.Errorf("text %d goes on with %v, likeliest are %v", i, got, want)
		}
	}
	if slices.Max(likeliest) == slices.Min(likeliest) {
		t.Error("all tokens are equal: this shows nothing")
	}
	if none := l.Generate(begin, 0); none.Shape().String() != begin.Shape().String() {
		t.Errorf("0 tokens more: %v", none.Shape())
	}
}

// TestTransformerGenerates the target that it finds likeliest when it is forced to say it.
func TestTransformerGenerates(t *testing.T) {
	for _, levels := range []bool{false, true} {
		g := graph.New("generate")
		b := small(2)
		read, written := attention.Sinusoidal(g, graph.F64, graph.Ax("s", 3), b.Width), attention.Sinusoidal(g, graph.F64, graph.Ax("t", 4), b.Width)
		m := builders.NewTransformer(g, graph.F64, b, graph.Ax("w", 7), read, written)
		m.Levels = levels
		source := g.Input("source", graph.I64, graph.Ax("b", 4), graph.Ax("s", 3))
		said := m.Generate(source, 4)
		best := ops.ArgMax(m.Of(source, said), -1)
		feed := graph.Values{
			source:         layertest.ValueOf(source, 0, 1, 2, 3, 4, 5, 6, 6, 6, 2, 1, 0),
			m.Output.B:     graph.NewValue(m.Output.B.Type()),
			m.Target.Table: vectors(m.Target.Table),
		}
		out := layertest.BothWays(t, feed, said, best)
		if got, want := out[0].Data, out[1].Data; len(got) != 16 || !slices.Equal(got, want) {
			t.Errorf("levels %v: said %v, likeliest are %v", levels, got, want)
		}
		if slices.Max(out[0].Data) == slices.Min(out[0].Data) {
			t.Error("all tokens are equal: this shows nothing")
		}
	}
}

func TestGenerateMistakes(t *testing.T) {
	net := func(g *graph.Graph) (builders.LanguageModel, builders.Transformer, *graph.Node) {
		b := small(1)
		places := attention.Sinusoidal(g, graph.F64, graph.Ax("t", 3), b.Width)
		return builders.NewLanguageModel(g, graph.F64, b, graph.Ax("w", 5), places),
			builders.NewTransformer(g, graph.F64, b, graph.Ax("w", 5), places, places),
			g.Input("x", graph.I64, graph.Ax("b", 1), graph.Ax("t", 2))
	}
	for name, call := range map[string]func(l builders.LanguageModel, m builders.Transformer, x *graph.Node){
		"too far":           func(l builders.LanguageModel, _ builders.Transformer, x *graph.Node) { l.Generate(x, 3) },
		"backwards":         func(l builders.LanguageModel, _ builders.Transformer, x *graph.Node) { l.Generate(x, -1) },
		"no prompt":         func(l builders.LanguageModel, _ builders.Transformer, _ *graph.Node) { l.Generate(nil, 1) },
		"too long a target": func(_ builders.LanguageModel, m builders.Transformer, x *graph.Node) { m.Generate(x, 4) },
		"no target":         func(_ builders.LanguageModel, m builders.Transformer, x *graph.Node) { m.Generate(x, 0) },
		"no source":         func(_ builders.LanguageModel, m builders.Transformer, _ *graph.Node) { m.Generate(nil, 1) },
	} {
		g := graph.New(name)
		l, m, x := net(g)
		if call(l, m, x); g.Err() == nil {
			t.Errorf("%s: no mistake", name)
		}
	}
}

// vectors are so long that what is said depends on the token before.
func vectors(table *graph.Node) graph.Value {
	return layertest.Random(rand.New(rand.NewPCG(2, 2)), table.Type(), 5)
}
