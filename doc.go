// Package tapestry is the way into a differentiable programming framework. A model is written
// once, as a static graph; the graph is differentiated symbolically, compiled to a tape that a
// small VM runs, printed as formulas and drawn.
//
//	builders ──▶ graph (+ ops) ──▶ graph/grad ──▶ graph/rewrite ──▶ tape ──▶ VM ──▶ values
//	                │                  │               │             │               │
//	                └──────────────────┴──── viz: DOT, SVG, formulas, listing, HTML ─┘
//
// The package has no identifiers of its own. Importing it records in go.mod and go.sum what a
// program over any package of the tour below needs:
//
//	go get github.com/tapestry-ml/tapestry
//
// # Write, differentiate, run
//
// Five packages make the first program, the example Objective below:
//
//   - [graph] has the model: inputs, parameters and scalars with named axes. A mistake is
//     recorded with the line that made it, and all are reported together.
//   - [ops] has the operations that join them: sums, products, softmax, convolutions, loops.
//   - [grad] adds the derivatives to the same graph, as nodes of the same operations.
//   - [tape] compiles a graph, runs it and keeps the parameters.
//   - [viz] prints any node as a formula, and draws graphs and the difference of two.
//
// # Train
//
// The example Classifier below adds some of these:
//
//   - [nn] has layers, losses and masks; below it stand [attention], [rnn], [graphnet] and [augment].
//   - [initial] has the initialisers that parameters start with.
//   - [builders] has the models of the lecture notes, and a registry of them.
//   - [data] reads tables, splits them and makes batches; below it [array] reads NumPy and IDX,
//     [text] texts, [edges] networks, and [columns] any of these by column.
//   - [fit] joins any model to any data: which input reads which columns, and how large it is.
//   - [train] has optimisers, schedules and the Trainer, with validation, early stopping and
//     checkpoints from which a training goes on with the same bits.
//   - [metric] measures predictions; [watch] shows a training's progress and logs it;
//     [checkpoint] reads and writes the files.
//   - [infer] predicts with what was trained, from a checkpoint alone.
//
// # Find out why
//
//   - [check] compares a model or an operation of your own with its definition: values,
//     derivatives to second order, rewriting, fusion.
//   - [inspect] goes through a run value by value, forwards and back in time, names the cause of
//     the first NaN, and counts the digits that float32 loses.
//   - [lab] compares objectives over optimisers, start values and seeds, and says which
//     differences exceed the noise.
//   - [geometry] looks at the shape of a loss: curvature, symmetries, collapse, surfaces.
//   - [linear] has the solutions of least squares and principal components to measure by.
//   - [look] finds what there is to see in a trained model: attention, dead ReLUs, receptive fields.
//   - [chart] and [report] draw the results.
//
// # Go further
//
//   - [notation] reads an objective from a text file, so that nothing is compiled.
//   - [trait] is the protocol of an operation: what one of your own may implement.
//   - [attr] has types for the attributes of such an operation.
//   - [expr] has expressions as people write them, which formulas are made of.
//   - [vmap] turns the graph of one example into that of a batch.
//   - [rewrite] has the passes that make a graph stable and fast; tape runs them.
//
// One package needs a go get of its own: interop/gorgonia, which imports graphs of gorgonia's, and is a
// second engine for ours.
//
// The command does most of this without a program:
//
//	go install github.com/tapestry-ml/tapestry/cmd/tapestry@latest
//
// The tutorial, docs/tutorial.md, begins there and ends with a program.
//
// [graph]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph
// [ops]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/ops
// [grad]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/grad
// [tape]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/tape
// [viz]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/viz
// [nn]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/nn
// [attention]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/nn/attention
// [rnn]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/nn/rnn
// [graphnet]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/nn/graphnet
// [augment]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/nn/augment
// [attr]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/attr
// [trait]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/trait
// [expr]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/expr
// [initial]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/initial
// [builders]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/builders
// [data]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/data
// [array]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/data/array
// [text]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/data/text
// [edges]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/data/edges
// [columns]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/data/columns
// [fit]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/fit
// [train]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train
// [metric]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/metric
// [watch]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/watch
// [checkpoint]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train/checkpoint
// [infer]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/infer
// [check]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/check
// [inspect]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/inspect
// [lab]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/lab
// [geometry]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/lab/geometry
// [linear]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/lab/linear
// [look]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/lab/look
// [chart]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/viz/chart
// [report]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/viz/report
// [notation]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/notation
// [vmap]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/vmap
// [rewrite]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/graph/rewrite
package tapestry
