// Package lesson is shared by all examples: it has their flags, a context that Ctrl-C ends, and a
// place for their drawings.
//
//	var epochs = lesson.Count("epochs", 1, 30, "passes over the data")
//
//	func main() {
//		lesson.Main(func(ctx context.Context, l *lesson.Lesson) error { … })
//	}
//
// Every example then has the flags -seed, -workers, -out, -quick, -log, -checkpoints and -resume,
// and shows its progress if standard error is a terminal, provided that it uses the lesson's plans:
//
//	t.Fit(ctx, l.Plan("mlp", train.Plan{…}))
package lesson

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/watch"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

// Lesson is one run of an example.
type Lesson struct {
	Seed    uint64 // the first
	Workers int    // cores to use at most; 0 for all
	Out     string // the directory that pictures go to; "" for none
	Quick   bool   // a fraction of the training, to see that it works

	Checkpoints string // the directory of those of the trainings; "" for none
	Resume      bool   // whether trainings go on from there

	log  *os.File // that trainings are logged to; nil for none
	kept bool     // whether a training wrote checkpoints, if there is a directory for them
}

// Main runs an example: it reads the flags, ends the context at Ctrl-C, and exits with 1
// and a line on standard error if f fails. A second Ctrl-C ends the program at once.
func Main(f func(ctx context.Context, l *Lesson) error) {
	l := &Lesson{}
	workers := Count("workers", 0, 0, "cores to use at most (0: all); results are the same for any number")
	flag.Uint64Var(&l.Seed, "seed", 0, "the first `seed`: everything random depends on it alone")
	flag.StringVar(&l.Out, "out", "", "`directory` to draw pictures into, over those of the same names (default: none are drawn)")
	flag.BoolVar(&l.Quick, "quick", false, "train for a moment only, to see that it works")
	logged := flag.String("log", "", "`file` to log the trainings to, as JSON lines, with -resume behind what is there: tapestry serve --log FILE draws them while they go on")
	flag.StringVar(&l.Checkpoints, "checkpoints", "", "`directory` for checkpoints of the trainings (default: none are written)")
	flag.BoolVar(&l.Resume, "resume", false, "go on from what is in -checkpoints, to the bit as if it had never stopped")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%q: want flags only; -help lists them\n", flag.Arg(0))
		os.Exit(2)
	}
	l.Workers = *workers
	fatal := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if l.Resume && l.Checkpoints == "" {
		fatal(errors.New("-resume: want -checkpoints DIR, too: where to go on from"))
	}
	if *logged != "" {
		var err error
		how := os.O_TRUNC
		if l.Resume { // behind the first part
			how = os.O_APPEND
		}
		l.log, err = os.OpenFile(*logged, os.O_CREATE|os.O_WRONLY|how, 0o666)
		fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	err := f(ctx, l)
	if err == nil && l.Checkpoints != "" && !l.kept {
		err = errors.New("-checkpoints: this example writes none")
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "interrupted")
			os.Exit(130) // as shells have it: 128 and the number of the signal
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Plan returns a plan with the additions that the flags ask for: the lesson's observers, and
// checkpoints, in a folder named after the training.
func (l *Lesson) Plan(name string, p train.Plan) train.Plan {
	p.Observers = append(slices.Clip(p.Observers), l.Observers()...)
	if l.Checkpoints != "" {
		l.kept = true
		p.Checkpoints.Dir = filepath.Join(l.Checkpoints, name)
		if l.Resume {
			p.Resume = p.Checkpoints.Dir
		}
	}
	return p
}

// Observers look on at a training: a progress bar on standard error, if that is a
// terminal, and the log that -log names, in which one training follows the other.
func (l *Lesson) Observers() []train.Observer {
	var out []train.Observer
	if watch.IsTerminal(os.Stderr) {
		out = append(out, watch.Bar(os.Stderr))
	}
	if l.log != nil {
		out = append(out, watch.JSONLines(l.log, watch.Timed()))
	}
	return out
}

// AtLeast prints a result beside the number that it must reach, and fails if it does not. A quick
// run is not judged, and it says so.
func (l *Lesson) AtLeast(what string, got, want float64) error {
	if l.Quick {
		return l.unjudged(what, got, "at least", want)
	}
	fmt.Printf("%s %.4g (at least %.4g)\n", what, got, want)
	if !(got >= want) {
		return fmt.Errorf("%s %.4g: want at least %.4g", what, got, want)
	}
	return nil
}

// AtMost is [Lesson.AtLeast] for numbers that must be small.
func (l *Lesson) AtMost(what string, got, want float64) error {
	if l.Quick {
		return l.unjudged(what, got, "at most", want)
	}
	fmt.Printf("%s %.4g (at most %.4g)\n", what, got, want)
	if !(got <= want) {
		return fmt.Errorf("%s %.4g: want at most %.4g", what, got, want)
	}
	return nil
}

// unjudged prints the result of a quick run.
func (l *Lesson) unjudged(what string, got float64, bar string, want float64) error {
	_, err := fmt.Printf("%s %.4g: a quick run is not judged (without -quick: %s %.4g)\n", what, got, bar, want)
	return err
}

// Few returns n, or in a quick run at most few.
func (l *Lesson) Few(n, few int) int {
	if l.Quick {
		return min(n, few)
	}
	return n
}

// Picture writes a file into the directory for pictures, if there is one.
func (l *Lesson) Picture(name string, write func(w io.Writer) error) (err error) {
	if l.Out == "" {
		return nil
	}
	if err := os.MkdirAll(l.Out, 0o777); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(l.Out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	return errors.Join(write(w), w.Flush())
}

// Draw draws the graph of a node into the directory for pictures, if there is one. It leaves out
// the lines of the program, so that a kept picture changes only with the model.
func (l *Lesson) Draw(name string, root *graph.Node, options ...viz.Option) error {
	return l.Picture(name, func(w io.Writer) error {
		return viz.SVG(w, []*graph.Node{root}, append(options, viz.WithoutLines())...)
	})
}

// Array is numbers, row-major, as an array of the given sizes; it shares their memory.
func Array[N float32 | float64 | int32](numbers []N, sizes ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(numbers))
}

// Converged is an observer that ends a training when its last four steps have lowered the loss by less than
// least.
func Converged(least float64) train.Observer {
	var losses []float64
	return train.ObserverFunc(func(e train.Event) error {
		if e.Kind != train.Stepped {
			return nil
		}
		losses = append(losses, e.Loss)
		if n := len(losses); n > 5 && losses[n-5]-e.Loss < least {
			return train.ErrStop
		}
		return nil
	})
}
