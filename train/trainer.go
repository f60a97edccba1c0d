package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// Trainer trains a model, evaluates it and predicts with it. It compiles a program for each size of
// batch and each mode when it first comes, and runs all of them on one store.
//
//	t := &train.Trainer{Build: mlp, Optimiser: train.Adam(1e-3), Seed: 1}
//	defer t.Close()
//	err := t.Fit(ctx, train.Plan{Data: data.Shuffled(fit, 64, 1), Epochs: 30})
//	scores, err := t.Evaluate(ctx, data.InOrder(test, 0), metric.Accuracy("y"))
//
// Set the fields before the first call. A Trainer is for one goroutine; see [Trainer.With] for
// several.
type Trainer struct {
	Build Build
	// BuildSizes takes the place of Build where batches differ in more than their rows, as those of
	// [data.Buckets] do in the length of their sequences. All programs share parameters and states.
	BuildSizes BuildSizes
	Optimiser  Optimiser
	Seed       uint64 // of initial values and random draws
	Workers    int    // the most cores to use; 0 for all. Results do not depend on it
	// Engine makes the engine that runs training steps; nil stands for the tape, which evaluates
	// and predicts in any case.
	Engine NewEngine
	// Ranks share the steps of training out, in lanes: see package parallel. nil is one process
	// without lanes.
	Ranks *parallel.Ranks
	// LaneLosses lets a net with Ranks have a loss that is no mean over the rows of a batch, such as
	// one that compares rows with each other: what is trained is the mean of the lanes' losses.
	LaneLosses bool
	// CheckUpdates lets a step fail, before anything is committed, where it would make a parameter or
	// a state NaN or infinite, as every step does whose loss is: see [Diverged].
	CheckUpdates bool
	// Mixed computes large products and convolutions from operands rounded to bfloat16, in training
	// and in what is measured or predicted with the trainer: see [tape.Mixed]. An Engine and
	// optimisers that search along a line take none.
	Mixed bool

	store    *tape.Store
	counts   *tape.Store // its count of runs follows that of store; nil for none
	compiled *compiled   // shared with the trainers of With
	programs map[size]*program
	shards   *shards     // of the last engine of steps in lanes; nil where states are not shared out
	rows     int         // of the largest batch trained on
	sizes    attr.Ints   // of that batch
	pending  *validation // of a Fit that was interrupted
	measured *validation // of the last Fit
}

// size is the key of a program.
type size struct {
	rows  int
	sizes attr.Ints
	mode  Mode
	look  string // names of what is fetched instead of loss and output, separated by NULs; "" for none
	mute  bool   // the loss is not fetched, as predictions need no labels
	lanes bool   // the net has a step in lanes
}

// places returns the product of the rows and the sizes, by which batches are compared.
func (s size) places() float64 {
	n := float64(s.rows)
	for i := range s.sizes.Len() {
		n *= float64(s.sizes.At(i))
	}
	return n
}

// String says what a net is for: "3 rows", "3 rows and sizes [12]".
func (s size) String() string {
	if s.sizes.Len() == 0 {
		return fmt.Sprintf("%d rows", s.rows)
	}
	return fmt.Sprintf("%d rows and sizes %v", s.rows, s.sizes)
}

// compiled has the nets of a model that were built or compiled.
type compiled struct {
	sync.Mutex
	mean atomic.Bool // the loss was looked at by meanOverRows
	nets map[size]*compiledNet
}

// compiledNet is a net, and its program once it is compiled.
type compiledNet struct {
	net       *Net
	step      graph.Step
	prog      *tape.Program // nil before it is compiled
	inputs    []*graph.Node
	looked    []*graph.Node               // by size.look
	rate      *graph.Node                 // of the optimiser; nil while evaluating
	loss      *graph.Node                 // that training reports: the net's, or its sum over lanes
	of        map[*graph.Node]*graph.Node // by state of the optimiser: the parameter that it is kept for
	gradients map[*graph.Node]*graph.Node // by parameter: the sum over lanes
	checks    map[string]string           // what is checked besides the loss, by name: see checked
	cut       *cut                        // of a step in lanes; nil before it is made
}

var errNoTrainer = errors.New("train: the trainer is nil")

// Store returns the store of the parameters, the optimiser's states and the model's, by path. Its
// values may be changed between two calls of the trainer.
func (t *Trainer) Store() *tape.Store {
	if t.store == nil {
		t.store = tape.NewStore(nil, tape.Seed(t.Seed))
	}
	return t.store
}

// Close closes the programs and their workers. The store stays, and the trainer can be used again:
// it then compiles its programs anew, and must be closed again.
func (t *Trainer) Close() {
	for _, p := range t.programs {
		p.engine.Close()
	}
	t.programs, t.compiled = nil, nil
}

// program returns the program for a size, compiled at the first call.
func (t *Trainer) program(ctx context.Context, s size) (*program, error) {
	if p := t.programs[s]; p != nil {
		return p, nil
	}
	p := &program{feed: tape.Feed{}, scalar: map[*graph.Node]*tensor.Dense{}}
	var err error
	engine := t.Engine
	if t.Mixed && engine != nil {
		return nil, errors.New("train: Mixed is for the tape, and not for another engine: set either Mixed or Engine")
	}
	if s.mode == Training && t.Ranks != nil {
		if p.lanes, err = t.newLanes(ctx, s); err != nil {
			return nil, err
		}
		p.compiledNet, p.engine = p.lanes.kinds[0].compiledNet, p.lanes
		return t.keep(s, p), nil
	}
	if o := t.Optimiser; s.mode == Training && o.search != nil {
		if engine != nil {
			return nil, fmt.Errorf("train: %s searches along a line on the tape, and cannot on another engine", o.name)
		}
		if t.CheckUpdates {
			return nil, fmt.Errorf("train: %s searches along a line, and checks no updates", o.name)
		}
		if t.Mixed {
			return nil, fmt.Errorf("train: %s compares losses along a line, which takes all their digits: train it without Mixed", o.name)
		}
		engine = o.search(t.Workers)
	}
	if s.mode == Training && engine != nil {
		if p.compiledNet, err = t.net(s); err == nil {
			p.engine, err = engine(ctx, p.net.graph(), p.net.Loss, p.step, t.Store())
		}
	} else if p.compiledNet, err = t.compile(ctx, s); err == nil {
		p.vm, err = p.prog.NewVM(t.Store(), tape.Workers(t.Workers))
		p.engine = p.vm
	}
	if err != nil {
		return nil, err
	}
	return t.keep(s, p), nil
}

// keep keeps the program for a size.
func (t *Trainer) keep(s size, p *program) *program {
	if t.programs == nil {
		t.programs = map[size]*program{}
	}
	t.programs[s] = p
	if s.mode == Training && s.places() > (size{rows: t.rows, sizes: t.sizes}).places() {
		t.rows, t.sizes = s.rows, s.sizes
	}
	return p
}

// Program returns the tape's program for batches of so many rows, and of sizes for a trainer with
// BuildSizes, compiled at the first call: a step of training, or the loss and the output in
// evaluation. Trainers made by [Trainer.With] share it. Once ctx is done it compiles no further.
func (t *Trainer) Program(ctx context.Context, rows int, mode Mode, sizes ...int) (*tape.Program, error) {
	if t == nil {
		return nil, errNoTrainer
	}
	if ctx == nil {
		return nil, errors.New("train: the context is nil")
	}
	p, err := t.compile(ctx, size{rows: rows, sizes: attr.IntsOf(sizes...), mode: mode})
	if err != nil {
		return nil, err
	}
	return p.prog, nil
}

// shared returns the compiled nets that trainers of one model share.
func (t *Trainer) shared() *compiled {
	if t.compiled == nil {
		t.compiled = &compiled{nets: map[size]*compiledNet{}}
	}
	return t.compiled
}

// net returns the net for a size, built at the first call.
func (t *Trainer) net(s size) (*compiledNet, error) {
	c := t.shared()
	c.Lock()
	defer c.Unlock()
	return t.built(c, s)
}

func (t *Trainer) built(c *compiled, s size) (*compiledNet, error) {
	s.lanes = s.mode == Training && t.Ranks != nil
	if p := c.nets[s]; p != nil {
		return p, nil
	}
	p, err := t.build(s)
	if err != nil {
		return nil, err
	}
	p.inputs = p.net.graph().Leaves(graph.RoleInput)
	c.nets[s] = p
	return p, nil
}

// arithmetic returns the options that say how all programs of the trainer compute.
func (t *Trainer) arithmetic() []tape.Option {
	if t.Mixed {
		return []tape.Option{tape.Mixed()}
	}
	return nil
}

// compile returns the compiled net for a size; another trainer that shares it may have compiled it.
func (t *Trainer) compile(ctx context.Context, s size) (*compiledNet, error) {
	c := t.shared()
	c.Lock()
	defer c.Unlock()
	p, err := t.built(c, s)
	if err != nil || p.prog != nil {
		return p, err
	}
	options := t.arithmetic()
	switch {
	case s.look != "":
		if p.looked, err = find(p.net.graph(), strings.Split(s.look, "\x00")); err != nil {
			return nil, err
		}
		options = append(options, tape.Fetch(p.looked...))
	case s.mode == Training:
		check, names := checked(p.loss, p.step, t.CheckUpdates)
		p.checks = names
		options = append(options, tape.Fetch(p.loss), tape.Do(p.step), check)
	default:
		for _, n := range []*graph.Node{p.net.Loss, p.net.Output} {
			if n != nil && !(s.mute && n == p.net.Loss && p.net.Output != nil) {
				options = append(options, tape.Fetch(n))
			}
		}
	}
	p.prog, err = tape.CompileContext(ctx, p.net.graph(), options...)
	return p, err
}

// build makes the net for a size, and for training the step. The mistakes recorded in its graph are
// its error.
func (t *Trainer) build(s size) (*compiledNet, error) {
	p := &compiledNet{}
	switch {
	case t.Build == nil && t.BuildSizes == nil:
		return nil, errors.New("train: no model: Build is nil")
	case t.Build != nil && t.BuildSizes != nil:
		return nil, errors.New("train: two models: set either Build or BuildSizes")
	case t.Build != nil && s.sizes.Len() > 0:
		return nil, fmt.Errorf("train: batches of %v: a net that depends on sizes is built by BuildSizes", s)
	case t.Build != nil:
		p.net = t.Build(s.rows, s.mode)
	default:
		p.net = t.BuildSizes(s.rows, s.sizes, s.mode)
	}
	g := p.net.graph()
	if g == nil {
		return nil, fmt.Errorf("train: the net for %v has neither a loss nor an output", s)
	}
	if p.net.Loss != nil && p.net.Output != nil && p.net.Loss.Graph() != p.net.Output.Graph() {
		return nil, fmt.Errorf("train: the net for %v has its loss in one graph and its output in another", s)
	}
	if s.mode == Training {
		if p.net.Loss == nil {
			return nil, fmt.Errorf("train: %s has no loss", g.Name())
		}
		p.loss = p.net.Loss
		trains := p.net.Params == nil || len(p.net.Params) > 0
		if trains {
			if t.Optimiser.Rate(g) != nil {
				return nil, fmt.Errorf("train: %s has a step already: want a new graph, without Minimize, from each call of Build", g.Name())
			}
			if t.Optimiser.IsZero() {
				return nil, errors.New("train: no optimiser: set Trainer.Optimiser to one such as train.Adam(0.001), or to one of your own by train.Custom; a net that its Step alone trains has Params that are empty and not nil")
			}
		}
		switch {
		case t.Ranks != nil:
			if err := p.inLanes(t.Optimiser); err != nil {
				return nil, err
			}
		case trains:
			p.step = append(t.Optimiser.Minimize(p.net.Loss, p.net.Params...), p.net.Step...)
		default:
			p.step = slices.Clone(p.net.Step)
		}
		if len(p.step) == 0 && g.Err() == nil {
			return nil, fmt.Errorf("train: %s has nothing to train: neither parameters nor a step of its own", g.Name())
		}
		p.rate = t.Optimiser.Rate(g)
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	return p, nil
}
