package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/internal/scaling"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// benchScaling says which trainings to predict on which ranks, and from what.
type benchScaling struct {
	on, quick      bool
	check, parts   bool   // what to print instead of predictions
	measured, keep string // files
	figure         string // file

	networks, schedules    []string
	latency                time.Duration
	bandwidth              float64 // Gb/s
	perNode, pod           int
	oversubscription       float64
	ranks                  []int
	lanes, batch, perRank  int
	shard, overlap         bool
	delay, tail, speed     float64
	failure, save, restart time.Duration
	critical               float64

	worker worker
}

// scalingFlags are those that mean something with --scaling alone.
var scalingFlags = []string{"check", "parts", "quick", "measured", "keep", "figure", "network", "schedule", "latency", "bandwidth", "per-node", "pod",
	"oversubscription", "ranks", "lanes", "batch", "rank-batch", "shard", "overlap", "delay", "delay-index", "speed",
	"node-failure", "save-time", "restart-time", "critical-batch"}

const scalingLong = `

With --scaling, it predicts steps of training on many ranks: the times of lanes, of
sums and of updates are measured, or read with --measured, and go into a model of a
network of the given latency, bandwidth and sharing, and of ranks that are late.
Nets for it are ` + "`mlp`, `chars-gpt`, `resnet18` and `gpt2-small`" + `. --batch gives the rows of a batch
however many ranks share it, --rank-batch those of each rank. --check trains on 1 to 4
ranks of this machine and sets what they take beside the prediction. docs/scaling.md
explains all of it.`

func (s *benchScaling) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.on, "scaling", false, "predict steps on many ranks instead")
	f.BoolVar(&s.check, "check", false, "with --scaling: train on 1 to 4 ranks here, and print what that takes beside the prediction")
	f.BoolVar(&s.parts, "parts", false, "with --scaling: print what was measured, and no prediction")
	f.BoolVar(&s.quick, "quick", false, "with --scaling: measure each thing but a few times")
	f.StringVar(&s.measured, "measured", "", "with --scaling: read what was measured from this file")
	f.StringVar(&s.keep, "keep", "", "with --scaling: write what was measured to this file")
	f.StringVar(&s.figure, "figure", "", "with --scaling: draw the curves to this SVG file")
	f.StringSliceVar(&s.networks, "network", []string{"ethernet-10"}, "with --scaling: networks, of "+strings.Join(append(scaling.Networks(), "loopback"), ", "))
	f.DurationVar(&s.latency, "latency", 0, "with --scaling: of a message, instead of the network's")
	f.Float64Var(&s.bandwidth, "bandwidth", 0, "with --scaling: of a node's link in Gb/s, instead of the network's, and of sockets")
	f.IntVar(&s.perNode, "per-node", 1, "with --scaling: ranks that share a node's link")
	f.IntVar(&s.pod, "pod", 0, "with --scaling: nodes below one switch; 0 for all")
	f.Float64Var(&s.oversubscription, "oversubscription", 1, "with --pod: how much more bandwidth its nodes' links have than its uplinks")
	f.StringSliceVar(&s.schedules, "schedule", []string{"tree"}, "with --scaling: how the sum is done, of "+strings.Join(scaling.Schedules(), ", "))
	f.IntSliceVar(&s.ranks, "ranks", []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, "with --scaling: numbers of ranks")
	f.IntVar(&s.lanes, "lanes", 0, "with --scaling: lanes in all; 0 for one a rank, and at least 8 of a --batch")
	f.IntVar(&s.batch, "batch", 0, "with --scaling: rows of a batch on all ranks; 0 for --rank-batch on each")
	f.IntVar(&s.perRank, "rank-batch", 0, "with --scaling: rows of a batch on each rank; 0 for the net's own number")
	f.BoolVar(&s.shard, "shard", false, "with --scaling: each rank keeps a part of the optimiser's states")
	f.BoolVar(&s.overlap, "overlap", false, "with --scaling: send gradients while others are still computed")
	f.Float64Var(&s.delay, "delay", -1, "with --scaling: by how much of its time a rank is late, on average; -1 for as much as measured")
	f.Float64Var(&s.tail, "delay-index", 3, "with --delay: how thin the tail of delays is, above 1")
	f.Float64Var(&s.speed, "speed", 1, "with --scaling: how many times as fast as a core measured a rank is")
	f.DurationVar(&s.failure, "node-failure", 0, "with --scaling: time between failures of a node; adds how much of the time is useful")
	f.DurationVar(&s.save, "save-time", 10*time.Second, "with --node-failure: to write a checkpoint")
	f.DurationVar(&s.restart, "restart-time", time.Minute, "with --node-failure: from a failure until the job computes again")
	f.Float64Var(&s.critical, "critical-batch", 0, "with --scaling: batch of twice the fewest steps; adds the gain in time of a whole training")
	s.worker.flags(cmd)
}

// curve is one net on one network by one schedule, with more and more ranks.
type curve struct {
	net      *scaling.Net
	network  scaling.Network
	schedule scaling.Schedule
	steps    []scaling.Step
	alone    scaling.Step // one rank
	beyond   bool         // the last steps have more lanes than are allowed
}

// validate returns an error if the options contradict each other.
func (s *benchScaling) validate(cmd *cobra.Command) error {
	if !s.on {
		return idle(cmd, "it wants --scaling", scalingFlags...)
	}
	if err := idle(cmd, "--scaling predicts steps of float32 on ranks of one core", "gemm", "vec", "dtypes", "threads", "fast-math", "mixed", "label", "profile", "cpu-profile"); err != nil {
		return err
	}
	switch {
	case s.measured != "" && s.keep != "":
		return usagef("--measured and --keep: one reads what the other writes")
	case s.measured != "" && s.quick:
		return usagef("--measured and --quick: there is nothing to measure")
	case s.batch < 0 || s.perRank < 0 || s.batch > 0 && s.perRank > 0:
		return usagef("--batch %d and --rank-batch %d: want one of them, above 0", s.batch, s.perRank)
	case s.lanes < 0:
		return usagef("--lanes %d: want at least 1", s.lanes)
	case cmd.Flags().Changed("oversubscription") && s.pod == 0:
		return usagef("--oversubscription wants --pod")
	case !(s.failure >= 0) || s.save <= 0 || s.restart < 0:
		return usagef("--node-failure, --save-time and --restart-time: want durations above 0")
	case !(s.critical >= 0):
		return usagef("--critical-batch %v: want at least 0", s.critical)
	case !(s.speed > 0 && s.speed <= 1e6):
		return usagef("--speed %v: want above 0, at most 10⁶", s.speed)
	}
	for _, r := range s.ranks {
		if r < 1 || r > 1<<16 {
			return usagef("--ranks %d: want 1 to 65536", r)
		}
	}
	return checkOutput(s.figure)
}

// predictScaling measures, or reads, and predicts.
func (b *bench) predictScaling(ctx context.Context, cmd *cobra.Command) error {
	s := &b.scaling
	if s.worker.rank != "" {
		return s.worker.run(ctx, b.out)
	}
	if !cmd.Flags().Changed("workloads") {
		b.workloads = []string{"mlp", "resnet18", "gpt2-small"}
	}
	if err := knownNets(b.workloads); err != nil {
		return err
	}
	m, err := b.measurement(ctx)
	if err != nil {
		return err
	}
	if s.check || s.parts {
		return b.printMeasured(m)
	}
	curves, err := b.curves(m)
	if err != nil {
		return usagef("%w", err)
	}
	for i, c := range curves {
		if i > 0 && !b.json {
			fmt.Fprintln(b.out)
		}
		if err := b.printCurve(c); err != nil {
			return err
		}
	}
	if s.figure == "" {
		return nil
	}
	return writeOutput(s.figure, b.out, func(w io.Writer) error { return s.draw(w, curves) })
}

// measurement measures the workloads, or reads what was measured.
func (b *bench) measurement(ctx context.Context) (*scaling.Measurement, error) {
	s := &b.scaling
	if s.measured != "" {
		f, err := os.Open(s.measured)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		m, err := scaling.ReadMeasurement(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.measured, err)
		}
		return m, nil
	}
	m, err := s.measure(ctx, b.workloads, b.duration())
	if err != nil || s.keep == "" {
		return m, err
	}
	return m, writeOutput(s.keep, nil, m.Write)
}

// curves predicts every net on every network by every schedule.
func (b *bench) curves(m *scaling.Measurement) (list []curve, err error) {
	s := &b.scaling
	for _, name := range b.workloads {
		net, err := m.Net(name)
		if err != nil {
			return nil, err
		}
		for _, name := range s.networks {
			network, err := s.network(name, m)
			if err != nil {
				return nil, err
			}
			for _, name := range s.schedules {
				schedule, err := scaling.ScheduleOf(name)
				if err != nil {
					return nil, err
				}
				c := curve{net: net, network: network, schedule: schedule}
				if err := s.predict(&c, m); err != nil {
					return nil, err
				}
				list = append(list, c)
			}
		}
	}
	return list, nil
}

// network returns a network as the flags change it. No socket is faster than on the loopback.
func (s *benchScaling) network(name string, m *scaling.Measurement) (scaling.Network, error) {
	if name == "loopback" {
		return m.Network(), nil
	}
	n, err := scaling.NetworkOf(name)
	if err != nil {
		return n, err
	}
	if n.Sockets {
		n.Most = scaling.SocketRate(m.Loopback)
	}
	if s.latency > 0 {
		n.Between.Latency = s.latency.Seconds()
	}
	if s.bandwidth > 0 {
		n.Between.Bandwidth, n.Most = s.bandwidth*1e9/8, 0
	}
	n.PerNode, n.Pod, n.Oversubscription = s.perNode, s.pod, s.oversubscription
	return n, nil
}

// predict fills in the steps of a curve.
func (s *benchScaling) predict(c *curve, m *scaling.Measurement) error {
	j := scaling.Job{Net: c.net, Network: c.network, Schedule: c.schedule, Shard: s.shard, Overlap: s.overlap, Speed: s.speed, Cache: m.Cache, Add: m.Add,
		Noise: m.Noise, Seed: 1}
	if s.delay >= 0 {
		j.Noise = scaling.Noise{Mean: s.delay, Index: s.tail}
	}
	share := func(ranks int) {
		j.Ranks, j.Lanes, j.Rows = ranks, s.lanes, s.batch
		switch {
		case s.batch == 0 && s.perRank > 0:
			j.Rows = ranks * s.perRank
		case s.batch == 0:
			j.Rows = ranks * c.net.Rows
		}
		switch {
		case s.lanes == 0 && s.batch == 0:
			j.Lanes = ranks
		case s.lanes == 0:
			j.Lanes = (max(parallel.DefaultLanes, ranks) + ranks - 1) / ranks * ranks
		}
	}
	share(1)
	var err error
	if c.alone, err = j.Step(); err != nil {
		return err
	}
	for _, ranks := range slices.Sorted(slices.Values(s.ranks)) {
		share(ranks)
		if j.Rows < j.Lanes && ranks > 1 && len(c.steps) > 0 {
			break // more ranks than rows
		}
		step, err := j.Step()
		if err != nil {
			return err
		}
		c.steps = append(c.steps, step)
		c.beyond = c.beyond || j.Beyond()
	}
	return nil
}

// knownNets is an error for a net that there is not.
func knownNets(names []string) error {
	for _, name := range names {
		if _, err := workload.NetOf(name); err != nil {
			return usagef("--workloads: %w", err)
		}
	}
	return nil
}
