package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// checkpointExtension ends the names of checkpoints.
const checkpointExtension = ".safetensors"

// keeping holds the flags of train that compare does not have: of what is done to gradients and
// parameters, and the files written during training.
type keeping struct {
	clipNorm, ema float64
	decay, l1     float64 // decoupled weight decay, and the factor of the proximal L1
	dir, log      string
	resume        bool
	epochs        int
	patience      int
	transfer      transfer
	shared        *sharing
}

func (k *keeping) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	k.transfer.flags(cmd)
	k.gradientFlags(cmd)
	f.StringVar(&k.dir, "checkpoint", "", "folder to keep checkpoints in, for tapestry predict and for --resume")
	f.BoolVar(&k.resume, "resume", false, "go on from the newest in the folder of --checkpoint, if there is one")
	f.StringVar(&k.log, "log", "", "file to log the training to, as JSON lines")
	f.IntVar(&k.epochs, "epochs", 0, "train for so many passes over the data, instead of --steps")
	f.IntVar(&k.patience, "patience", 0, "end when so many epochs in a row have not lowered the loss on the rows held out, and go back to where it was lowest")
}

// gradientFlags adds the flags of what is done to gradients and parameters.
func (k *keeping) gradientFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&k.clipNorm, "clip-norm", 0, "shorten gradients to this length at most (default: as they are)")
	f.Float64Var(&k.decay, "weight-decay", 0, "shrink the parameters by this times the rate in each step, whatever the gradient (default: none; adamw 0.01)")
	f.Float64Var(&k.l1, "l1", 0, "add this times the sum of the absolute parameters to the loss, by the proximal step, which makes zeros (default: none)")
	f.Float64Var(&k.ema, "ema", 0, "keep averages of the parameters with this decay, as 0.99 (default: none)")
}

// parse reads --rate, and checks the other flags.
func (k *keeping) parse(t *training) error {
	if err := t.parseRate(); err != nil {
		return err
	}
	switch {
	case k.resume && k.dir == "":
		return usagef("--resume: want --checkpoint DIR, too")
	case isRegular(k.dir) || namesFile(k.dir):
		return usagef("--checkpoint %s: this is the name of a file: want a folder, in which every checkpoint becomes a file NUMBER%s", k.dir, checkpointExtension)
	case k.epochs < 0 || k.epochs == 0 && t.cmd.Flags().Changed("epochs"):
		return usagef("--epochs %d: want at least 1", k.epochs)
	case k.patience < 0:
		return usagef("--patience %d: want at least 0", k.patience)
	case k.patience > 0 && t.validation == 0:
		return usagef("--patience: want --validation, too: there is nothing to wait for")
	case k.epochs > 0 && t.stepsFlag != nil && t.stepsFlag.Changed:
		return usagef("--epochs and --steps exclude each other")
	}
	return k.checkGradients()
}

// checkGradients returns an error if the value of a flag of gradientFlags is impossible.
func (k *keeping) checkGradients() error {
	switch {
	case k.clipNorm < 0:
		return usagef("--clip-norm %v: want a positive number", k.clipNorm)
	case !(k.decay >= 0) || math.IsInf(k.decay, 0):
		return usagef("--weight-decay %v: want a finite number of at least 0", k.decay)
	case !(k.l1 >= 0) || math.IsInf(k.l1, 0):
		return usagef("--l1 %v: want a finite number of at least 0", k.l1)
	case k.ema < 0 || k.ema >= 1:
		return usagef("--ema %v: want a number from 0, and below 1", k.ema)
	}
	return nil
}

// stepsOf returns the steps of --epochs passes over the rows. What is too little for a batch comes
// in the next epoch.
func (k *keeping) stepsOf(rows, batch int) int { return (k.epochs*rows + batch - 1) / batch }

// namesFile reports whether a path looks like a file's and no folder is there: its name ends with
// an extension, which has a letter (runs/v1.2 has none).
func namesFile(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return false
	}
	base := filepath.Base(path)
	ext := filepath.Ext(base)
	return ext != base && strings.ContainsFunc(ext, unicode.IsLetter)
}

// options returns the optimiser's options.
func (k *keeping) options() []train.Option {
	var out []train.Option
	if k.clipNorm > 0 {
		out = append(out, train.ClipNorm(k.clipNorm))
	}
	if k.decay > 0 {
		out = append(out, train.DecoupledDecay(k.decay))
	}
	if k.l1 > 0 {
		out = append(out, train.L1(k.l1))
	}
	if k.ema > 0 {
		out = append(out, train.EMA(k.ema))
	}
	return out
}

// check returns an error for flags that contradict each other.
func (k *keeping) check(clustering bool, seeds int) error {
	switch {
	case seeds > 1 && (k.log != "" || k.resume || k.dir != "" && !clustering):
		return usagef("--seeds %d: --log, --resume, and --checkpoint of a model that is no clustering, are of one training", seeds)
	}
	if err := k.transfer.check(clustering, k.resume); err != nil {
		return err
	}
	if !k.shared.first() {
		return nil
	}
	return checkOutput(k.log)
}

// job pairs a model with the examples that it is trained on.
type job struct {
	model  *builders.Model
	build  train.Build
	meta   map[string]string // for checkpoints
	fitted *fit.Fitted       // the model joined to the data; nil for examples of the model's own
	about  string            // said at the beginning of the log
	begins string            // what it begins with, where another training has learnt it

	measured []metric.Scores // final scores on the rows held out, by run
	stopped  []train.Best    // the best step of each run that patience ended; zero for other runs
}

// ownJob returns the job of training a model on examples of its own.
func ownJob(build func() (*builders.Model, error)) (*job, error) {
	m, err := build()
	if err != nil {
		return nil, err
	}
	return &job{model: m, build: fit.Nets(m)}, nil
}

// dataJob returns the job of training a model on data.
func dataJob(f *fit.Fitted) (*job, error) {
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	return &job{model: m, build: f.Build, meta: f.Meta(), fitted: f}, m.Room()
}

// measures returns the metrics, beside the loss, of the rows held out: the accuracy of a classifier.
func (j *job) measures() []metric.Metric {
	if j.fitted == nil || j.fitted.Classes() == nil {
		return nil
	}
	for _, b := range j.fitted.Bindings() {
		in := j.model.Graph.Lookup(b.Input)
		if in.DType().IsInt() && in.Rank() == 1 && len(b.Classes) > 0 && !slices.Contains(graph.Reachable(j.model.Output), in) {
			return []metric.Metric{metric.Accuracy(b.Input)}
		}
	}
	return nil
}

// learn trains with a schedule, checkpoints and a log, and measures the rows held out.
func (k *keeping) learn(cmd *cobra.Command, j *job, c lab.Config) (*lab.Learned, error) {
	var observers []train.Observer
	if w := raw(cmd.ErrOrStderr()); watch.IsTerminal(w) {
		observers = append(observers, watch.Bar(w))
	} else if k.shared.first() {
		observers = append(observers, passedOver(cmd.ErrOrStderr()))
	}
	if k.log != "" {
		file := k.logFile()
		defer file.Close()
		observers = append(observers, watch.JSONLines(file, watch.Timed(), watch.About(j.about), watch.With(chosen(cmd, j.model.Builder.Name)), watch.In(k.ranIn())))
	}
	kept := train.Event{} // the last checkpoint
	observers = append(observers, train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Saved {
			kept = e
		}
		return nil
	}))
	values, file, err := k.transfer.values(j.model)
	if err != nil {
		return nil, err
	}
	if len(values) > 0 {
		j.begins = fmt.Sprintf("begins with %s of %s", strings.Join(slices.Sorted(maps.Keys(values)), ", "), file)
	}
	if err := k.fits(cmd.ErrOrStderr(), j.model, chosen(cmd, j.model.Builder.Name)); err != nil {
		return nil, err
	}
	c.Build = j.build
	c.Plan = func(t *train.Trainer, p *train.Plan) error {
		if err := begin(t.Store(), values); err != nil {
			return err
		}
		p.Patience = k.patience
		p.Observers = append(p.Observers, observers...)
		if k.dir != "" {
			p.Checkpoints = train.Checkpoints{Dir: k.dir, Interval: 10 * time.Second, Meta: j.meta}
		}
		if k.resume {
			p.Resume = k.dir
		}
		return k.hold(cmd.Context(), j, t, p)
	}
	k.shared.begins = true
	saving(cmd.Context())
	l, err := lab.Learn(cmd.Context(), func() (*builders.Model, error) { return j.model, nil }, c)
	if errors.Is(err, context.Canceled) && kept.Path != "" {
		err = &keptError{err, kept.Step, kept.Path}
	}
	if changed := (*checkpoint.Changed)(nil); errors.As(err, &changed) {
		err = fmt.Errorf("%s, seed %d: resume: %w: repeat the command that began, or begin in another folder", j.model.Builder.Name, c.Seed, changed)
	}
	return l, k.unreadable(err)
}

// hold trains by the plan on the rows of the data, and measures the rows held out.
func (k *keeping) hold(ctx context.Context, j *job, t *train.Trainer, p *train.Plan) (err error) {
	if j.fitted == nil {
		return nil
	}
	if p.Data, err = j.fitted.Source(t.Seed); err != nil {
		return err
	}
	if _, held := j.fitted.Rows(); held == 0 {
		return nil
	}
	source, err := j.fitted.Held()
	if err != nil {
		return err
	}
	if k.patience == 0 && k.log == "" {
		p.Every = p.Steps // report only the end
	}
	p.Validate = func(ctx context.Context) (metric.Scores, error) { return t.Evaluate(ctx, source, j.measures()...) }
	p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
		if e.Kind != train.Ended || e.Err != nil {
			return nil
		}
		scores, err := p.Validate(ctx)
		if err != nil {
			return err
		}
		best := train.Best{}
		if k.patience > 0 {
			best, _ = t.Best()
		}
		j.measured, j.stopped = append(j.measured, scores), append(j.stopped, stoppedAt(best, e))
		return nil
	}))
	return nil
}

// logFile is a file that the first write opens. A training that is refused before it begins thus
// leaves the log of an earlier one as it is.
type logFile struct {
	path   string
	goesOn bool // append
	silent bool // it is that of another rank
	file   *os.File
}

// logFile returns the log of the training, which rank 0 alone writes.
func (k *keeping) logFile() *logFile {
	return &logFile{path: k.log, goesOn: k.resume, silent: !k.shared.first()}
}

// ranIn returns the folder in which the command runs, relative to that of the log, with slashes; or as
// it is, where neither leads to the other.
func (k *keeping) ranIn() string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	log, err := filepath.Abs(k.log)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	dir := filepath.Dir(log)
	if real, err := filepath.EvalSymlinks(log); err == nil { // of an earlier training
		dir = filepath.Dir(real)
	} else if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if relative, err := filepath.Rel(dir, here); err == nil {
		here = relative
	}
	return filepath.ToSlash(here)
}

// Write writes p, and opens the file first if it is not open.
func (l *logFile) Write(p []byte) (n int, err error) {
	if l.silent {
		return len(p), nil
	}
	if l.file == nil {
		how := map[bool]int{true: os.O_APPEND, false: os.O_TRUNC}[l.goesOn]
		l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|how, 0o666)
	}
	if err == nil {
		n, err = l.file.Write(p)
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w", l.path, cause(err))
	}
	return n, nil
}

// Close closes the file, if it was opened.
func (l *logFile) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// keptError is the error of a training that was interrupted and left a checkpoint.
type keptError struct {
	error
	step int
	path string
}

func (e *keptError) Unwrap() error { return e.error }

func (e *keptError) Error() string {
	return fmt.Sprintf("interrupted after %s, kept in %s: --resume goes on from there", plural.Count(e.step, "step"), e.path)
}
