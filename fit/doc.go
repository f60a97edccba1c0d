// Package fit joins models and data: it finds which input of a model reads which columns, sizes the
// model to them, and cuts the rows into batches, so that whatever trains, compares or looks into a
// model does so on tables and arrays of anyone's.
//
//	houses, err := columns.Open("houses.csv")
//	f, err := fit.To(builder, nil, graph.F64, houses, fit.Options{
//		Bind:        []fit.Binding{{Input: "y", Columns: []string{"price"}}},
//		Validation:  0.2,
//		Standardise: true,
//	})
//	fmt.Print(f)
//
// Its text form says what is read, and how large the model is for it:
//
//	houses.csv: 506 rows, 405 to train on, 101 held out
//	  x[i=405 p=3]  reads  area, rooms, age, standardised
//	  y[i=405]      reads  price
//
// A model is any [builders.Builder]: one of the registry, a file in the notation, or a function of
// one's own ([builders.Define]). Nothing is declared for it: which setting counts its rows, and
// which settings the widths of its inputs and the number of its classes depend on, is found by
// raising one setting at a time.
//
// What the result gives goes where models and trainers go. [Fitted.Builder] is the model with the
// data as its examples, for package lab and all commands; [Fitted.Build], [Fitted.Source] and
// [Fitted.Held] are what a train.Trainer wants:
//
//	rows, err := f.Source(1)
//	t := &train.Trainer{Build: f.Build, Optimiser: train.Adam(0.01), Seed: 1}
//	err = t.Fit(ctx, train.Plan{Data: rows, Epochs: 200, Checkpoints: train.Checkpoints{Dir: dir, Meta: f.Meta()}})
//
// and [Fitted.Meta] tells a checkpoint how its rows are read: [Parse] makes of it what prepares
// other data in the same way.
//
// Promises: what was learnt of the data before training (means, deviations, what stands for missing
// values, names of classes) is that of the rows to train on; the same seed gives the same rows in
// every step, wherever they are asked for; an error shows the inputs beside the columns.
package fit
