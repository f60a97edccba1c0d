// Package infer uses trained models: it predicts for rows of data, and lets a language model
// speak. It takes nets and a store with trained values, or a checkpoint, which holds both.
//
// # Rows
//
// A [Predictor] takes nets for some numbers of rows that share the store, commonly one for a
// whole batch and one for a single row, and predicts for any number:
//
//	s, err := checkpoint.Load("runs/digits/best.safetensors")
//	p, err := infer.LoadPredictor(ctx, s, 0)
//	…
//	defer p.Close()
//	output, err := p.Predict(ctx, set) // an array whose first axis is the rows of the set
//
// # Texts
//
// A [Generator] takes a model that reads one token a run, as Next of builders.LanguageModel and of
// builders.RecurrentLanguageModel makes it, and a store with trained values, and gives
// tokens. The parameters are those of the graph that was trained, found by path:
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
// Of a checkpoint that holds the texts of [GeneratorMeta], [LoadGenerator] makes one.
//
// How a token is chosen is a [Sampling], whose text form is
//
//	temperature 0.8, top 10, seed 1
//
// and whose zero value always takes the likeliest. A [Sampler] chooses from logits that
// come from anywhere.
//
// # Text forms
//
// A [Forward] and a [Model] have text forms, which checkpoints hold: a line that says which node
// is which, and the graph.
//
//	predict rows 16 output %57
//	speak token %38 fresh %39 logits %222 window 64
//
// # One store
//
// A tape.Store is for one running VM at a time. A predictor changes nothing of it but the count
// of runs, and that only where its nets draw random numbers, as for Monte-Carlo dropout; a
// training that shares the store is not changed by it. A generator works on the store that it is
// given: the caches of the model are states there, and each token that is read is a step
// of the store's counter, on which random draws depend. So a generator that shares a store
// with a training must not speak while a step runs, and changes the noise of those that
// follow. On a Clone it does neither, and what was learnt since is brought over by
//
//	err := clone.CopyFrom(store, "", "")
//
// # The end of the window
//
// A transformer has room for so many tokens. When it is full, the generator begins afresh
// and reads the last half of them again, so that each token after the first window is
// chosen in view of at least half a window, at the cost of reading all tokens about twice.
//
// # Promises
//
// The same model, values and rows give the same predictions, the same prompts and seed the
// same tokens, for any number of workers. Of a net that draws random numbers that is so for the
// same store, seed and number of calls before; each call draws anew, and a checkpoint that is
// loaded again begins again. What a row is predicted may differ in the last
// bits between a batch and a single row, whose programs add in another order. A token costs
// no allocation. A mistake of the caller is an error that says
// what was wanted, before anything is read; logits that are no distribution (NaN, +∞,
// all −∞) are an error that says where, never a token.
package infer
