// Package fit joins models and data: it finds which columns each input of a model reads, sizes the
// model accordingly, and divides the rows into batches, so that any model can be trained on, and
// compared by, anyone's tables and arrays.
//
//	houses, err := columns.Open("houses.csv")
//	f, err := fit.To(builder, nil, graph.F64, houses, fit.Options{
//		Bind:        []fit.Binding{{Input: "y", Columns: []string{"price"}}},
//		Validation:  0.2,
//		Standardise: true,
//	})
//	fmt.Print(f)
//
// The text form shows what each input reads, and its size:
//
//	houses.csv: 506 rows, 405 to train on, 101 held out
//	  x[i=405 p=3]  reads  area, rooms, age, standardised
//	  y[i=405]      reads  price
//
// A model is any [builders.Builder]: one of the registry, a file in the notation, or a function of
// the user's ([builders.Define]). It declares nothing: To raises one setting at a time to find the
// one that counts the rows, and those on which the widths of inputs and the number of classes
// depend.
//
// [Fitted.Builder] returns the model with the data as its examples, for package lab and the
// commands. [Fitted.Build], [Fitted.Source] and [Fitted.Held] are for a train.Trainer:
//
//	rows, err := f.Source(1)
//	t := &train.Trainer{Build: f.Build, Optimiser: train.Adam(0.01), Seed: 1}
//	err = t.Fit(ctx, train.Plan{Data: rows, Epochs: 200, Checkpoints: train.Checkpoints{Dir: dir, Meta: f.Meta()}})
//
// [Fitted.Meta] records in a checkpoint how its rows are read; with the bindings that [Parse] reads
// there, [Binding.Read] prepares other data in the same way.
//
// Promises:
//
//   - What is taken from the data before training (means, deviations, substitutes for missing
//     values) is taken from the rows to train on alone. The names of classes are those of all rows.
//   - The same seed gives the same rows in every step.
//   - The error for a model that does not fit shows the inputs beside the columns.
package fit
