package infer_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// One graph, two programs over one store: the first learns a text as a whole, the second
// says it token by token.
func Example() {
	const letters, text = " enotw", "one two one two one two one two one two "
	g := graph.New("echo")
	w, m, h := graph.Ax("w", len(letters)), graph.Ax("m", 8), graph.Ax("h", 16)
	net := builders.RecurrentLanguageModel{
		Tokens: nn.NewEmbedding(g, "embedding", graph.F32, w, m),
		Layers: []rnn.Recur{{Name: "gru", Cell: rnn.NewGRU(g, "gru", graph.F32, m, h)}},
		Output: nn.NewLinear(g, "output", graph.F32, h, w),
	}

	read := graph.Ax("t", len(text)-1)
	tokens, next := g.Input("tokens", graph.I64, graph.Ax("b", 1), read), g.Input("next", graph.I64, graph.Ax("b", 1), read)
	loss := nn.CrossEntropy(net.Of(tokens), next)
	prog, err := tape.Compile(g, tape.Do(train.Adam(0.02).Minimize(loss)))
	if err != nil {
		log.Fatal(err)
	}
	x, y := graph.NewValue(tokens.Type()), graph.NewValue(next.Type())
	for i := range x.Data {
		x.Data[i], y.Data[i] = float64(strings.IndexByte(letters, text[i])), float64(strings.IndexByte(letters, text[i+1]))
	}
	store := tape.NewStore(g, tape.Seed(1))
	vm, err := prog.NewVM(store)
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	ctx := context.Background()
	for range 100 {
		if err := vm.Run(ctx, tape.Feed{tokens: tape.Tensor(x), next: tape.Tensor(y)}); err != nil {
			log.Fatal(err)
		}
	}

	token, fresh := g.Input("token", graph.I64, graph.Ax("b", 1)), g.Scalar("fresh", 0)
	logits, step := net.Next(token, fresh)
	generator, err := infer.NewGenerator(ctx, infer.Model{Token: token, Fresh: fresh, Logits: logits, Step: step, Window: net.Window()}, store.Clone(), infer.Sampling{})
	if err != nil {
		log.Fatal(err)
	}
	defer generator.Close()
	fmt.Print("one ")
	err = generator.Generate(ctx, []int32{3, 2, 1, 0}, 16, func(token int32) bool {
		fmt.Print(letters[token : token+1])
		return true
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: one two one two one
}
