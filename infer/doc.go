// Package infer uses trained models: it predicts for rows of data, and generates texts with a
// language model. It takes nets and a store with trained values, or a checkpoint, which holds both.
//
// # Rows
//
// A [Predictor] takes nets for fixed numbers of rows that share the store, commonly one for a batch
// and one for a single row, and predicts for any number:
//
//	s, err := checkpoint.Load("runs/digits/best.safetensors")
//	p, err := infer.LoadPredictor(ctx, s, 0)
//	…
//	defer p.Close()
//	output, err := p.Predict(ctx, set) // an array whose first axis is the rows of the set
//
// # Texts
//
// A [Generator] takes a model that reads one token per run, as Next of builders.LanguageModel and
// of builders.RecurrentLanguageModel does, and a store with trained values, and generates tokens.
// It finds the parameters of the trained graph by their paths:
//
//	g := graph.New("generator")
//	net := builders.CharacterGPT(g, graph.F32, graph.Ax("w", vocabulary.Len()), graph.Ax("t", 64))
//	token, fresh := g.Input("token", graph.I64, graph.Ax("b", 1)), g.Scalar("fresh", 0)
//	logits, step := net.Next(token, fresh)
//	m := infer.Model{Token: token, Fresh: fresh, Logits: logits, Step: step, Window: net.Window()}
//	generator, err := infer.NewGenerator(ctx, m, store.Clone(), infer.Sampling{Temperature: 0.8, TopK: 10, Seed: 1})
//	…
//	defer generator.Close()
//	prompt, err := vocabulary.Encode("We the People")
//	err = generator.Generate(ctx, prompt, 200, func(code int32) bool {
//		character, err := vocabulary.Token(int(code))
//		fmt.Print(character)
//		return err == nil
//	})
//
// [LoadGenerator] makes one from a checkpoint that holds the texts of [GeneratorMeta].
//
// A [Sampling] says how tokens are chosen. Its text form is
//
//	temperature 0.8, top 10, seed 1
//
// and its zero value always chooses the most probable token. A [Sampler] chooses from any logits.
//
// # Text forms
//
// A [Forward] and a [Model] have text forms, which checkpoints hold: a line with the numbers of
// their nodes, and the graph.
//
//	predict rows 16 output %57
//	speak token %38 fresh %39 logits %222 window 64
//
// # One store
//
// Only one VM may run on a tape.Store at a time. A predictor changes nothing in the store, except
// for the count of runs if its nets draw random numbers, as for Monte-Carlo dropout; a training
// that shares the store is not affected. A generator does change its store: the caches of the model
// are states there, and each token that is read advances the counter of steps, on which random
// draws depend. So a generator that shares a store with a training must not run during a step, and
// changes the random draws of later steps. With a Clone of the store, neither is the case; to copy
// the parameters that were trained since, call
//
//	_, err := clone.CopyFrom(store, "", "")
//
// # The end of the window
//
// A transformer has room for a fixed number of tokens, its window. When the window is full, the
// generator starts it anew with the last half of the tokens, which it reads again. So each token
// after the first window is chosen from at least half a window of context, and tokens are read
// twice on average.
//
// # Promises
//
// Equal models, values and rows give equal predictions, and equal prompts and seeds equal tokens,
// for any number of workers. With a net that draws random numbers, this needs an equal store, seed
// and number of earlier calls: each call draws anew, and a checkpoint that is loaded again begins
// again. The prediction for a row may differ in the last bits between a batch and a single row,
// whose programs add in another order. A token costs no allocation. A mistake of the caller is an
// error that says what is expected, before anything runs. Logits that do not make a distribution
// (NaN, +∞, all −∞) are an error that says which, never a token.
package infer
