package main

import (
	"context"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// profiling has the flags that say what to measure of a training step.
type profiling struct {
	on             bool
	steps, threads int
	trace          string // file
}

// tracedSteps is enough to see what repeats in each step and what does not.
const tracedSteps = 3

func (p *profiling) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.on, "profile", false, "run the step on examples and show where its time goes")
	f.IntVar(&p.steps, "steps", profiledSteps, "steps that --profile measures")
	f.IntVar(&p.threads, "threads", 0, "cores that a step may use (default: all)")
	f.StringVar(&p.trace, "trace", "", "write what each core did in a few steps to this file, for chrome://tracing or Perfetto")
}

// check returns an error if a flag's value is impossible.
func (p *profiling) check() error {
	switch {
	case p.steps < 1:
		return usagef("--steps %d: want at least 1", p.steps)
	case p.threads < 0:
		return usagef("--threads %d: want at least 1, or 0 for all", p.threads)
	case p.trace == "-":
		return usagef("--trace -: want a file; the table goes to standard output")
	}
	return checkOutput(p.trace)
}

// unused returns an error if a flag was given that has an effect only with a run of the step.
func (p *profiling) unused(cmd *cobra.Command) error {
	if p.on {
		return nil
	}
	if err := idle(cmd, "want --profile, too", "steps"); err != nil || p.trace != "" {
		return err
	}
	return idle(cmd, "want --profile or --trace, too", "threads")
}

// run measures what the flags say and returns the profile, nil if none was asked for.
func (p *profiling) run(ctx context.Context, m *builders.Model, prog *tape.Program, seed uint64) (*tape.Profile, error) {
	if !p.wanted() {
		return nil, nil
	}
	feed, err := profiledFeed(m, seed)
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(tape.NewStore(m.Graph, tape.Seed(seed)), tape.Workers(p.threads))
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	return measured(p,
		func(w io.Writer) error { return vm.Trace(ctx, feed, tracedSteps, w) },
		func() (*tape.Profile, error) { return vm.Profile(ctx, feed, p.steps) })
}

// lanes measures what the flags say of a trainer's step in lanes and returns the profile, nil if none
// was asked for.
func (p *profiling) lanes(ctx context.Context, m *builders.Model, t *train.Trainer, seed uint64) (*train.LanesProfile, error) {
	if !p.wanted() {
		return nil, nil
	}
	feed, err := profiledFeed(m, seed)
	if err != nil {
		return nil, err
	}
	batch := data.Batch{Rows: lab.RowsOf(m), Values: map[string]*tensor.Dense{}}
	for in, v := range feed {
		batch.Values[in.Path()] = v
	}
	return measured(p,
		func(w io.Writer) error { return t.TraceLanes(ctx, batch, tracedSteps, w) },
		func() (*train.LanesProfile, error) { return t.ProfileLanes(ctx, batch, p.steps) })
}

// wanted reports whether the step is to be run.
func (p *profiling) wanted() bool { return p.on || p.trace != "" }

// measured writes the trace and returns the profile, each if it was asked for.
func measured[P any](p *profiling, trace func(io.Writer) error, profile func() (*P, error)) (*P, error) {
	if p.trace != "" {
		if err := writeOutput(p.trace, nil, trace); err != nil {
			return nil, err
		}
	}
	if !p.on {
		return nil, nil
	}
	return profile()
}

// profiledFeed returns a batch of the model's examples. For a clustering these are points in [−½,
// ½): larger distances would make weights so small that they are subnormal, on which processors
// are slow.
func profiledFeed(m *builders.Model, seed uint64) (tape.Feed, error) {
	if err := m.Room(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	feed := tape.Feed{}
	if m.Centres() == nil {
		if m.Examples != nil { // otherwise the run reports the missing input
			examples, err := m.Draw(rng)
			if err != nil {
				return nil, err
			}
			feed = tape.Tensors(examples)
		}
		return feed, nil
	}
	v := graph.NewValue(m.Points().Type())
	for i := range v.Data {
		v.Data[i] = rng.Float64() - 0.5
	}
	feed[m.Points()] = tape.Tensor(v)
	return feed, nil
}

// The JSON of a profile. Times are in nanoseconds per run, rates per second and core.
type (
	profileJSON struct {
		Graph        string       `json:"graph"`
		Runs         int          `json:"runs"`
		Workers      int          `json:"workers"`
		Wall         int64        `json:"ns"`
		Unseen       int64        `json:"ns_unseen"`
		Other        int64        `json:"ns_outside_instructions"`
		Roofline     rooflineJSON `json:"roofline"`
		Instructions []timingJSON `json:"instructions"`
		Lines        []partJSON   `json:"lines"`
		Scopes       []partJSON   `json:"scopes"`
		Quantities   []partJSON   `json:"quantities"`
	}
	rooflineJSON struct {
		F32     float64      `json:"f32_flop_per_second"`
		F64     float64      `json:"f64_flop_per_second"`
		Streams []streamJSON `json:"streams"`
	}
	streamJSON struct {
		Bytes int     `json:"bytes"`
		Rate  float64 `json:"bytes_per_second"`
	}
	timingJSON struct {
		Op             string   `json:"op"`
		Result         string   `json:"result"`
		In             []string `json:"in"`
		Stage          int      `json:"stage"`
		Rows           int      `json:"rows"`
		Block          int      `json:"block"`
		Parts          int      `json:"parts"`
		Time           int64    `json:"ns"`
		Busy           int64    `json:"ns_busy"`
		Least          int64    `json:"ns_least"`
		Calls          int64    `json:"calls"`
		FLOPs          int64    `json:"flops"`
		Traffic        int64    `json:"traffic_bytes"`
		ScratchTraffic int64    `json:"scratch_traffic_bytes"`
		FLOPRate       float64  `json:"flop_per_second"`
		ByteRate       float64  `json:"bytes_per_second"`
		ScratchRate    float64  `json:"scratch_bytes_per_second"`
		Roof           float64  `json:"share_of_roofline"`
		Gradient       bool     `json:"gradient"`
		Pos            string   `json:"pos"`
		Scope          string   `json:"scope"`
		Steps          int64    `json:"steps,omitempty"` // of a loop: those that were run

		Body []timingJSON `json:"body,omitempty"` // of a loop, with the figures of all its steps
	}
	partJSON struct {
		Label    string `json:"label"`
		Pos      string `json:"pos,omitempty"`
		Time     int64  `json:"ns"`
		Gradient int64  `json:"ns_gradient"`
		FLOPs    int64  `json:"flops"`
		Traffic  int64  `json:"traffic_bytes"`
	}
)

// lanesProfileJSON is the JSON of the profile of a step in lanes.
type lanesProfileJSON struct {
	Runs    int          `json:"runs"`
	Time    int64        `json:"ns"`
	Terms   int64        `json:"ns_lanes"`
	Sum     int64        `json:"ns_sum"`
	Updates int64        `json:"ns_update"`
	Lane    *profileJSON `json:"lane"`
	Update  *profileJSON `json:"update"`
}

func newLanesProfileJSON(s *train.Lanes, p *train.LanesProfile) *lanesProfileJSON {
	if p == nil {
		return nil
	}
	return &lanesProfileJSON{
		p.Runs, int64(p.Time()), int64(p.Terms), int64(p.Sum), int64(p.Updates),
		newProfileJSON(s.Lane, p.Lane), newProfileJSON(s.Update, p.Update),
	}
}

func newProfileJSON(prog *tape.Program, p *tape.Profile) *profileJSON {
	if p == nil {
		return nil
	}
	v := &profileJSON{
		Graph: p.Graph, Runs: p.Runs, Workers: p.Workers,
		Wall: int64(p.Wall), Unseen: int64(p.Unseen), Other: int64(p.Other),
		Roofline: rooflineJSON{F32: p.Roofline.F32, F64: p.Roofline.F64},
		Lines:    newPartsJSON(p.Lines()), Scopes: newPartsJSON(p.Scopes()), Quantities: newPartsJSON(p.Nodes()),
	}
	for _, s := range p.Roofline.Streams {
		v.Roofline.Streams = append(v.Roofline.Streams, streamJSON{s.Bytes, s.Rate})
	}
	v.Instructions = newTimingsJSON(prog, p.Rows)
	return v
}

// newTimingsJSON returns the rows of a program, loops with those of their bodies.
func newTimingsJSON(prog *tape.Program, rows []tape.Timing) (out []timingJSON) {
	stages := prog.Stages()
	for _, t := range rows {
		s := stages[t.Stage]
		v := timingJSON{
			Op: t.Op, Result: t.Result, In: t.In, Stage: t.Stage, Rows: s.Rows, Block: s.Block, Parts: s.Parts,
			Time: int64(t.Time), Busy: int64(t.Busy), Least: int64(t.Least), Calls: t.Calls,
			FLOPs: t.FLOPs, Traffic: t.Traffic, ScratchTraffic: t.ScratchTraffic,
			FLOPRate: t.FLOPRate(), ByteRate: t.ByteRate(), ScratchRate: t.ScratchRate(), Roof: t.Roof(),
			Gradient: t.Node.IsBackward(), Pos: t.Pos.String(), Scope: t.Scope, Steps: t.Steps,
		}
		if t.Within != nil {
			v.Body = newTimingsJSON(t.Body, t.Within)
		}
		out = append(out, v)
	}
	return out
}

func newPartsJSON(parts []tape.Part) []partJSON {
	out := make([]partJSON, len(parts))
	for i, p := range parts {
		out[i] = partJSON{p.Label, p.Pos.String(), int64(p.Time), int64(p.Gradient), p.FLOPs, p.Traffic}
	}
	return out
}
