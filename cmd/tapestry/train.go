package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

func newTrain(o *options) *cobra.Command {
	var t training
	var l learning
	var shared sharing
	keep := keeping{shared: &shared}
	var watched watching
	var predict, out, engine, choose string
	var mixed bool
	trained := func(cmd *cobra.Command, name string, b builders.Builder) error {
		makeEngine, err := engineNamed(engine)
		if err != nil {
			return err
		}
		if !shared.first() {
			out, watched.svg = "", ""
		}
		if err := watched.check(makeEngine); err != nil {
			return err
		}
		if mixed && makeEngine != nil {
			return usagef("--mixed is for the native engine")
		}
		if err := checkOutput(out); err != nil {
			return err
		}
		if err := keep.parse(&t); err != nil {
			return err
		}
		t.options = keep.options()
		clustering := isClustering(b)
		if !cmd.Flags().Changed("seeds") {
			switch {
			case keep.log != "", keep.resume, keep.dir != "" && !clustering:
				t.seeds = 1
			case !clustering:
				t.seeds = 3
			}
		}
		if err := keep.check(clustering, t.seeds); err != nil {
			return err
		}
		if !clustering {
			return watched.report(cmd, o, name, l.train(cmd, o, &t, &keep, name, out, ways{makeEngine, watched.on, mixed}))
		}
		one := t.seeds == 1 && choose == "" && !movesItself(b)
		if !one {
			release, err := keep.openEmpty()
			if err != nil {
				return err
			}
			defer release()
		}
		c, err := t.config(o, name)
		if err != nil {
			return err
		}
		c.Engine, c.Ranks, c.CheckUpdates, c.Mixed = makeEngine, shared.ranks, watched.on, mixed
		m, err := c.Variant(name).Build(c.DType)
		if err != nil {
			return err
		}
		if t.notes.on {
			if err := t.chosen(&c, m, lab.DefaultRate(c.Table)); err != nil {
				return err
			}
		}
		t.taken = t.notes.taken(m, &c)
		ended, err := keep.clustering(cmd.Context(), &c, &t, name, one)
		if err != nil {
			return err
		}
		if one {
			saving(cmd.Context())
		}
		var fresh *data.Table
		if predict != "" {
			if fresh, err = t.alike(predict, c.Table).open(); err != nil {
				return err
			}
			if err := t.scale(fresh); err != nil {
				return err
			}
		}
		shared.begins = true
		bar := newProgress(cmd.ErrOrStderr())
		c.Progress, c.Stepped = bar.report(), bar.steps()
		var v lab.Clustering
		var tried []lab.Trial
		if choose != "" {
			var choice lab.Choice
			choice, err = chooseK(cmd.Context(), c, name, choose)
			v, tried = choice.Clustering, choice.Tried
		} else {
			v, err = c.Repeat(cmd.Context(), name)
		}
		bar.end()
		if err = ended(err); err != nil {
			return watched.report(cmd, o, name, err)
		}
		if !one {
			if err := keep.centres(c, v, &t); err != nil {
				return err
			}
		}
		if best := v.Best(); len(best.Loss) == 0 { // the checkpoint was of the last step
			return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
				return printDone(w, o, name, keep.dir, best.Steps)
			})
		}
		return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
			if err := printTrials(w, o, tried); err != nil {
				return err
			}
			return printTraining(cmd.Context(), w, o, c, v, &t, fresh)
		})
	}
	cmd := &cobra.Command{
		Use:   "train MODEL",
		Short: "Train a model on data, or on examples of its own",
		Long: `Trains a clustering on a CSV file or an embedded data set from several seeds, keeps
the best by the inertia of the hard assignment, and prints its centres. With
--predict the trained centres assign the rows of a second file.

Any other model that has a loss is trained on the rows of --data, and the course of its
loss is printed. --bind says which columns an input reads; without it the label, columns
of the inputs' names and what is left are found, and it says what each input reads. The
sizes of the model follow from the data: how wide an input is, how many classes there
are. Without --data the model has a small task of its own, from which every step draws
fresh examples. Examples and initial values depend on the seed alone. A model that
shows what plain gradient descent does, as regression-minimum-norm, is trained by it on one
data set, unless an optimiser is named.

With --validation rows are held out and measured, and with --standardise what a model
predicts from, or what is clustered, has mean 0 and deviation 1, by the rows to train on.
docs/crossing.md has what works with what.

With --checkpoint what was trained is kept, with the model: first after a second, then every
ten, and at the end; of several runs of a clustering the centres of the best one, when all are
done. tapestry predict uses it, and with --resume the same command goes on as if it had never
stopped. With --from another model begins with what was learnt, to keep it or to go on from it.

With --ranks the same command, given to several processes, trains one model: each takes some of
the lanes into which a batch is cut, and their gradients are added in an order that the lanes alone
decide. So any number of ranks gives the same bits, and --resume may have another number. Rank 0
prints and writes. In two terminals, or on a cluster:

  tapestry train mlp.tapestry --data digits --ranks tcp://127.0.0.1:7070 --rank 0/2
  tapestry train mlp.tapestry --data digits --ranks tcp://127.0.0.1:7070 --rank 1/2
  mpirun -n 4 tapestry train mlp.tapestry --data digits --ranks mpi --checkpoint runs/mlp --resume`,
		Example: "  tapestry train mine.tapestry --data houses.csv --bind x=area,rooms --bind y=price --validation 0.2 --standardise\n" +
			"  tapestry train kmeans-softmax --data flowers.csv --k 3 --gamma 0.5..60 --seeds 10\n" +
			"  tapestry train kmeans-lloyd --data digits --k 10\n" +
			"  tapestry train kmeans-lloyd --data wine --choose-k 2..8 --start groups\n" +
			"  tapestry train transformer-gpt --steps 500 --rate 0.003 --batches one\n" +
			"  tapestry train transformer-gpt --steps 2000 --rate 'warmup(50,cosine(0.003,1950))' --clip-norm 1 --checkpoint runs/gpt --resume",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.notes.check(args[0]); err != nil {
				return err
			}
			b, err := t.notes.lookup(args[0])
			if err != nil {
				return err
			}
			if err := foreign(cmd, b); err != nil {
				return err
			}
			if isClustering(b) {
				if err := unusedInTraining(cmd, b, choose); err != nil {
					return err
				}
			}
			if err := shared.wholeOnly(cmd, b); err != nil {
				return err
			}
			return shared.among(cmd, args, func() error { return trained(cmd, args[0], b) })
		},
	}
	t.flags(cmd)
	l.flags(cmd)
	keep.flags(cmd)
	watched.flags(cmd)
	shared.flags(cmd)
	cmd.Flags().BoolVar(&mixed, "mixed", false, mixedUsage)
	cmd.Flags().IntVar(&t.seeds, "seeds", 10, "runs, of which the best is kept; 3 of a model that is no clustering, unless given")
	cmd.Flags().StringVar(&predict, "predict", "", "CSV file whose rows the trained centres assign")
	cmd.Flags().StringVar(&choose, "choose-k", "", "numbers of clusters to try, as in 2..8: the one with the best mean silhouette is kept")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to a file instead of standard output")
	cmd.Flags().StringVar(&engine, "engine", "native", "native; gorgonia: run the same graph on gorgonia's TapeMachine; onnxruntime: as an ONNX model in ONNX Runtime (docs/onnx.md)")
	return cmd
}

// unusedInTraining returns an error for a flag that does not affect the training of a clustering.
func unusedInTraining(cmd *cobra.Command, b builders.Builder, choose string) error {
	lloyd := movesItself(b)
	if lloyd {
		if err := idle(cmd, "it is of one training, and Lloyd's algorithm begins --restarts times", "log", "resume"); err != nil {
			return err
		}
		if err := idle(cmd, "Lloyd's algorithm begins --restarts times, and goes on until nothing moves", "seeds", "steps", "epochs", "patience"); err != nil {
			return err
		}
	}
	if choose != "" {
		if err := idle(cmd, "--choose-k says which are tried", "k"); err != nil {
			return err
		}
		if err := idle(cmd, "it is of one training, and --choose-k trains for each number of clusters", "log", "resume", "patience"); err != nil {
			return err
		}
	}
	return unused(cmd, lloyd, false, b)
}
