// Package ranktrain has small trainings for the tests of many ranks. Each transport's tests run the
// same ones, each rank in a goroutine or a process of its own, and compare what is left in the
// folder of checkpoints:
//
//	err := ranktrain.Job{Net: "mlp", Steps: 200, Folder: dir}.Run(ctx, ranks)
//	sum, err := ranktrain.Sum(dir) // the same for any number of ranks of a number of lanes
//
// The nets are mlp, digits with dropout; cnn and cnn-global, digits with batch norm of each lane
// and of the whole batch; and gpt, the characters of a text. Batches have 48 rows, but the last of
// an epoch of mlp has 33, which 24 lanes do not divide, and that of cnn 20, so that some have none.
package ranktrain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// rows is the size of a batch.
const rows = 48

// Job is a training. It goes on from what its folder holds.
type Job struct {
	Net     string // one of Nets
	Steps   int    // in all
	Workers int    // as those of train.Trainer
	Folder  string // of the checkpoints
	Every   int    // steps between two checkpoints; 0 for an epoch
	Measure int    // steps between two measurements, of which the best is kept; 0 for an epoch

	Observers []train.Observer `json:"-"`
}

// net is a model with its optimiser and its data: those to train on, and those to measure.
type net struct {
	name      string
	build     train.Build
	optimiser train.Optimiser
	rate      train.Schedule
	data      func() (fit, held data.Source, err error)
}

// Nets returns the names of the nets.
func Nets() []string {
	var names []string
	for _, n := range nets() {
		names = append(names, n.name)
	}
	return names
}

// Run trains on this rank.
func (j Job) Run(ctx context.Context, ranks *parallel.Ranks) error {
	all := nets()
	i := slices.IndexFunc(all, func(n net) bool { return n.name == j.Net })
	if i < 0 {
		return fmt.Errorf("ranktrain: no net %q: want one of %q", j.Net, Nets())
	}
	n := all[i]
	fit, held, err := n.data()
	if err != nil {
		return err
	}
	t := &train.Trainer{Build: n.build, Optimiser: n.optimiser, Seed: 5, Workers: j.Workers, Ranks: ranks}
	defer t.Close()
	return t.Fit(ctx, train.Plan{
		Data: fit, Steps: j.Steps, Rate: n.rate,
		Validate: func(ctx context.Context) (metric.Scores, error) {
			return t.Evaluate(ctx, held, metric.Accuracy("y"))
		},
		Every:       j.Measure,
		Checkpoints: train.Checkpoints{Dir: j.Folder, Every: j.Every},
		Resume:      j.Folder,
		Observers:   j.Observers,
	})
}

// Sum returns a hash of the newest checkpoint in a folder, and of its best: of all that they hold.
func Sum(folder string) (string, error) {
	s, damaged, err := checkpoint.Folder{Dir: folder}.Latest()
	switch {
	case err != nil:
		return "", err
	case damaged != nil:
		return "", damaged[0]
	}
	sum := sha256.New()
	for _, path := range []string{s.Path, folder + "/" + checkpoint.Best} {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
