// Package builders holds the models of the lecture notes, and their registry. They are made of the
// layers and losses of package nn and its sub-packages.
//
// A [Builder] of the registry ([All], by topic [Families]) makes a whole graph of given sizes, with
// an objective and a small task to learn:
//
//	m, err := builders.Build("transformer-gpt", builders.Settings{"layers": 2}, graph.F32)
//	values := m.Examples(rng) // of every input; tape.Tensors(values) is a feed
//
// Settings that are missing take the defaults of the builder's [Hyperparameter]s, which keep the
// graph small enough to be drawn and checked at once. A setting that does not exist, or whose value
// is out of range, is an error of Build. [Define] makes an entry of your own.
//
// The models themselves are structs and functions that any graph can use, in the notation of the
// notes (α, q, r̂): [SoftKMeans] and the other clusterings of points x[i d] around centres r[j d];
// [Ridge] and the other regressions; [Autoencoder], [ResNet], [UNet], [Transformer],
// [LanguageModel] and more, which are built like layers:
//
//	net := builders.NewResNet(g, graph.F32, graph.Ax("c", 3), graph.Ax("d", 16), graph.Ax("class", 10), 2)
//
// Mistakes, nil operands among them, are recorded in the graph at the caller's line; no call
// panics. A model's text form is that of its graph.
package builders
