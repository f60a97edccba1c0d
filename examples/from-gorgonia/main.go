// From-gorgonia takes six of gorgonia's own example programs, imports the graphs that they build, and
// trains both: gorgonia as the program does, and the import on the tape, with the optimiser that
// stands for the program's solver. It compares their losses step by step, and their times.
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// program is one of gorgonia's examples: the graph that it builds, one step of its training, and what
// makes the same step here.
type program struct {
	name    string
	within  float64 // how far the losses may be apart, relative to the loss
	steps   int     // to train for
	drawn   bool    // whether the imported graph is drawn
	g       *G.ExprGraph
	loss    *G.Node
	learned G.Nodes
	step    func() (loss float64, err error)
	ours    func(m *gorgonia.Imported) graph.Step
	close   func() error
}

// builders builds the programs, each from numbers drawn by r. Of a quick run some are smaller.
func builders() []func(r *rand.Rand, quick bool) (program, error) {
	return []func(r *rand.Rand, quick bool) (program, error){
		linearRegression, iris, logisticRegression, autoencoder, charRNN, convnet,
	}
}

func main() { lesson.Main(run) }

func run(ctx context.Context, l *lesson.Lesson) error {
	if l.Workers > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(l.Workers))
	}
	fmt.Printf("%-20s %5s  %-25s %10s %10s %6s\n", "program", "steps", "loss, first and last", "gorgonia", "here", "times")
	for _, build := range builders() {
		p, err := build(rand.New(rand.NewPCG(l.Seed, 18)), l.Quick)
		if err != nil {
			return err
		}
		c, err := compare(ctx, p, l)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("%-20s %5d  %-25s %10s %10s %6.1f\n", p.name, len(c.ours), fmt.Sprintf("%.6g → %.6g", c.ours[0], c.ours[len(c.ours)-1]),
			rounded(c.theirTime), rounded(c.ourTime), c.theirTime.Seconds()/c.ourTime.Seconds())
		if err := l.AtMost("  losses apart by", c.apart(), p.within); err != nil {
			return err
		}
	}
	return nil
}

// rounded prints a time to three digits.
func rounded(d time.Duration) string {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}

// comparison is the losses of both, step by step, and the median times of a step.
type comparison struct {
	theirs, ours       []float64
	theirTime, ourTime time.Duration
}

// apart returns the largest difference of two losses, relative to the larger.
func (c comparison) apart() float64 {
	worst := 0.0
	for i := range c.ours {
		d := math.Abs(c.ours[i]-c.theirs[i]) / max(math.Abs(c.ours[i]), math.Abs(c.theirs[i]))
		if !(d <= worst) {
			worst = d
		}
	}
	return worst
}

// compare imports a program's graph before its first step, and trains both in turns.
func compare(ctx context.Context, p program, l *lesson.Lesson) (c comparison, err error) {
	defer func() {
		if p.close != nil {
			if e := p.close(); err == nil {
				err = e
			}
		}
	}()
	m, err := gorgonia.Import(p.g, gorgonia.Params(p.learned...))
	if err != nil {
		return c, err
	}
	feed, err := m.Feed()
	if err != nil {
		return c, err
	}
	loss := m.Node(p.loss)
	if p.drawn {
		if err := l.Draw(p.name+".svg", loss); err != nil {
			return c, err
		}
	}
	compiled, err := tape.Compile(m.Graph, tape.Fetch(loss), tape.Do(p.ours(m), m.Step))
	if err != nil {
		return c, err
	}
	vm, err := compiled.NewVM(m.Store, tape.Workers(l.Workers))
	if err != nil {
		return c, err
	}
	defer vm.Close()
	var theirs, ours []time.Duration
	for range l.Few(p.steps, 3) {
		begun := time.Now()
		v, err := p.step()
		if err != nil {
			return c, err
		}
		theirs = append(theirs, time.Since(begun))
		c.theirs = append(c.theirs, v)

		begun = time.Now()
		if err := vm.Run(ctx, feed); err != nil {
			return c, err
		}
		ours = append(ours, time.Since(begun))
		if v, err = vm.Float(loss); err != nil {
			return c, err
		}
		c.ours = append(c.ours, v)
	}
	c.theirTime, c.ourTime = median(theirs), median(ours)
	return c, nil
}

func median(t []time.Duration) time.Duration {
	slices.Sort(t)
	return t[len(t)/2]
}

// onTape is the step of the programs that have a TapeMachine and a solver.
func onTape(g *G.ExprGraph, loss *G.Node, solver G.Solver, learned G.Nodes) (step func() (float64, error), close func() error) {
	var v G.Value
	G.Read(loss, &v)
	machine := G.NewTapeMachine(g, G.BindDualValues(learned...))
	return func() (float64, error) {
		if err := machine.RunAll(); err != nil {
			return 0, err
		}
		now, err := number(v)
		if err != nil {
			return 0, err
		}
		if err := solver.Step(G.NodesToValueGrads(learned)); err != nil {
			return 0, err
		}
		machine.Reset()
		return now, nil
	}, machine.Close
}

// number reads a scalar.
func number(v G.Value) (float64, error) {
	switch x := v.Data().(type) {
	case float64:
		return x, nil
	case float32:
		return float64(x), nil
	}
	return 0, fmt.Errorf("the loss is a %T", v.Data())
}

// normal draws an array of normal numbers. The programs draw by gorgonia's initialisers, which take
// their seed from the clock.
func normal(r *rand.Rand, dt tensor.Dtype, std float64, sizes ...int) *tensor.Dense {
	n := tensor.Shape(sizes).TotalSize()
	if dt == tensor.Float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(std * r.NormFloat64())
		}
		return lesson.Array(v, sizes...)
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = std * r.NormFloat64()
	}
	return lesson.Array(v, sizes...)
}

// glorot draws as G.GlorotN does.
func glorot(r *rand.Rand, dt tensor.Dtype, sizes ...int) *tensor.Dense {
	field := 1
	for _, n := range sizes[2:] {
		field *= n
	}
	return normal(r, dt, math.Sqrt(2/float64((sizes[0]+sizes[1])*field)), sizes...)
}
