package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// predicting holds the flags of predict.
type predicting struct {
	source
	out      string
	prompt   string
	tokens   int
	averaged bool
	mixed    bool
	int8     bool
	keep     []string
	save     string
	sampling infer.Sampling
}

// The flags of predict that apply to only one kind of model.
var (
	speakingFlags = []string{"prompt", "tokens", "temperature", "top-k", "top-p"}
	rowFlags      = []string{"data", "label", "ignore", "missing", "mixed", "int8", "keep", "save"}
)

func newPredict(o *options) *cobra.Command {
	var p predicting
	cmd := &cobra.Command{
		Use:   "predict CHECKPOINT",
		Short: "Use a trained model: predict for rows of data, or go on with a text",
		Long: `Reads a checkpoint, or the newest of a folder, that a training with --checkpoint or
train.Checkpoints wrote. It holds all that is needed: the values and the model.

With --data the model predicts for each row of a CSV file, of an array in a .npy file, of
several by name in a .npz file, or of an embedded data set. It prints them as CSV, as JSON
with --json, or writes --out FILE.csv, FILE.json or FILE.npy. Where the checkpoint names
classes, the likeliest comes first. A model that draws random numbers draws other ones for
each row, and the same again each time the command runs.

With --int8 products by weights are computed in integers of a byte, as package
infer/quantise does, from the ranges of their operands for the first rows, about a thousand.
What that loses for them is said on standard error. --save FILE writes a checkpoint that
predicts so, with a byte for each weight; for other data it has the same ranges.

With --prompt a language model goes on with a text.`,
		Example: "  tapestry predict runs/iris --data flowers.csv --out clusters.csv\n" +
			"  tapestry predict runs/digits --data digits --int8 --save digits.int8 --out digits.csv\n" +
			`  tapestry predict runs/gpt --prompt "We the People" -n 200 --temperature 0.8 --top-k 20 --seed 1`,
		Args: wants(1, "predict: want a checkpoint, or a folder of them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			speaks, reads := cmd.Flags().Changed("prompt"), cmd.Flags().Changed("data")
			switch {
			case speaks == reads:
				return usagef("predict: want either --data FILE or --prompt TEXT")
			case reads && changed(cmd, speakingFlags) != "":
				return usagef("--%s goes with --prompt, not with --data", changed(cmd, speakingFlags))
			case speaks && changed(cmd, rowFlags) != "":
				return usagef("--%s goes with --data, not with --prompt", changed(cmd, rowFlags))
			case p.int8 && p.mixed:
				return usagef("--int8: want no --mixed with it")
			case !p.int8 && (len(p.keep) > 0 || p.save != ""):
				return usagef("--%s: want --int8 with it", changed(cmd, []string{"keep", "save"}))
			case p.tokens < 0:
				return usagef("--tokens %d: want at least 0", p.tokens)
			}
			p.sampling.Seed = o.seed
			if err := p.sampling.Err(); err != nil {
				return usageError{err}
			}
			for _, path := range []string{p.out, p.save} {
				if err := checkOutput(path); err != nil {
					return err
				}
			}
			if reads {
				return p.rows(cmd, o, args[0])
			}
			return p.say(cmd, o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.name, "data", "", "a .csv, .npy or .npz file, or one of the embedded data sets iris, digits, wine, clusters")
	p.csvFlags(cmd)
	p.ways = []string{"mean", "median"} // every row is to have its prediction
	f.Lookup("label").Usage = "name of the label column of a CSV file, which is not read (default: found by its name or content)"
	f.Lookup("missing").Usage = "fill cells that are empty, NA, ? or NaN with the mean or the median: in training, if that was filled so, else of the file (default: an error)"
	f.StringVar(&p.prompt, "prompt", "", "the beginning of a text")
	f.IntVarP(&p.tokens, "tokens", "n", 200, "tokens to say, at most")
	f.Float64Var(&p.sampling.Temperature, "temperature", 1, "below 1 the likely becomes likelier; at 0 the likeliest is taken")
	f.IntVar(&p.sampling.TopK, "top-k", 0, "choose among so many of the likeliest tokens (default: all)")
	f.Float64Var(&p.sampling.TopP, "top-p", 0, "choose among the likeliest tokens that together have this probability (default: all)")
	f.BoolVar(&p.averaged, "averaged", false, "use the averages of the parameters that train --ema keeps")
	f.BoolVar(&p.mixed, "mixed", false, mixedUsage)
	f.BoolVar(&p.int8, "int8", false, "compute products by weights in integers of a byte")
	f.StringSliceVar(&p.keep, "keep", nil, "beginnings of paths of weights whose products stay float, with --int8")
	f.StringVar(&p.save, "save", "", "write the checkpoint in integers to this file, with --int8")
	f.StringVarP(&p.out, "out", "o", "", "write to a file instead of standard output")
	return cmd
}

// load loads a checkpoint file, or the newest complete checkpoint in a folder.
func (p *predicting) load(path string) (s *checkpoint.State, err error) {
	if info, failed := os.Stat(path); failed != nil || !info.IsDir() {
		s, err = checkpoint.Load(path)
	} else {
		s, _, err = checkpoint.Folder{Dir: path}.Latest()
	}
	if err == nil && p.averaged {
		var averages *tape.Store
		if averages, err = train.Averaged(s.Store); err != nil {
			return nil, fmt.Errorf("--averaged: %s has no averages of the parameters, as train --ema keeps them", s.Path)
		}
		s.Store = averages
	}
	return s, err
}

// explained adds to the error of a checkpoint that lacks the requested model what it has instead.
func explained(err error, s *checkpoint.State) error {
	switch {
	case !errors.Is(err, infer.ErrNoModel):
		return err
	case s.Meta[infer.MetaGenerator] != "":
		return fmt.Errorf("%w; it is of a language model: want --prompt TEXT", err)
	case s.Meta[infer.MetaNet] != "":
		return fmt.Errorf("%w; it predicts for rows: want --data FILE", err)
	}
	return err
}
