package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// laned holds the flags of a step that is shown in lanes.
type laned struct {
	lanes, ranks int
	shard        bool
}

func (l *laned) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&l.lanes, "lanes", 0, "show the step in so many lanes, as train --lanes runs it: the program of a lane, the sum over lanes, the program of the update, and the memory of a rank")
	f.IntVar(&l.ranks, "of", 1, "with --lanes, on so many ranks, as the first of them has it")
	f.BoolVar(&l.shard, "shard", false, "with --lanes, each rank keeps the optimiser's states of a part of the parameters alone")
}

// check returns an error for flags that contradict each other, or have no effect on lanes.
func (l *laned) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("lanes") {
		return idle(cmd, "want --lanes, too", "of", "shard")
	}
	switch {
	case l.lanes < 1 || l.lanes > parallel.MaxLanes:
		return usagef("--lanes %d: want 1 to %d", l.lanes, parallel.MaxLanes)
	case l.ranks < 1 || l.lanes%l.ranks != 0:
		return usagef("--of %d: want a number of ranks that divides %d lanes", l.ranks, l.lanes)
	case l.shard && l.ranks == 1:
		return usagef("--shard: want --of, too: one rank keeps all states")
	}
	if l.ranks > 1 {
		if err := idle(cmd, "a step in lanes is measured on one rank: want no --of", "profile", "trace"); err != nil {
			return err
		}
	}
	return idle(cmd, "a step in lanes is shown as training compiles it: want no --lanes", "forward", "as-written", "fast-math", "mixed", "budget", "log", "phases")
}

// step compiles the step of a model in lanes, as the first rank has it, and measures what is asked
// for; the profile is nil if none is.
func (l *laned) step(ctx context.Context, m *builders.Model, o train.Optimiser, p *profiling, seed uint64) (*train.Lanes, *train.LanesProfile, error) {
	nets := fit.Nets(m)
	if err := lab.Divisible(m, nets); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Builder.Name, err)
	}
	ranks, err := l.join(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer ranks.Close()
	t := &train.Trainer{Build: nets, Optimiser: o, Seed: seed, Workers: p.threads, Ranks: ranks}
	defer t.Close()
	step, err := t.Lanes(ctx, lab.RowsOf(m))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Builder.Name, err)
	}
	profile, err := p.lanes(ctx, m, t, seed)
	return step, profile, err
}

// join returns the first of ranks within this process.
func (l *laned) join(ctx context.Context) (*parallel.Ranks, error) {
	joined, failed := make([]*parallel.Ranks, l.ranks), make([]error, l.ranks)
	var all sync.WaitGroup
	for r, transport := range parallel.Local(l.ranks) {
		all.Go(func() {
			joined[r], failed[r] = parallel.Join(ctx, transport, parallel.Config{Lanes: l.lanes, Shard: l.shard})
		})
	}
	all.Wait()
	return joined[0], errors.Join(failed...)
}

// print prints the step, or its profile if there is one.
func (l *laned) print(w io.Writer, o *options, m *builders.Model, s *train.Lanes, p *train.LanesProfile) error {
	if !o.json {
		text := s.String()
		if p != nil {
			text = p.String()
		}
		_, err := io.WriteString(w, text)
		return err
	}
	type bytes struct {
		Parameters int `json:"parameters"`
		States     int `json:"states"`
		Arenas     int `json:"arenas"`
		Buckets    int `json:"buckets"`
	}
	return printJSON(w, struct {
		Model  string      `json:"model"`
		Rows   []int       `json:"rows"` // by lane
		Ranks  int         `json:"ranks"`
		From   int         `json:"from"` // the first rank's lanes, and the one behind them
		To     int         `json:"to"`
		Sums   int         `json:"sums"`
		Bytes  int         `json:"sum_bytes"`
		Params []string    `json:"updates,omitempty"` // of the first rank, where states are shared out
		Memory bytes       `json:"memory"`
		Lane   programJSON `json:"lane"`
		Update programJSON `json:"update"`

		Profile *lanesProfileJSON `json:"profile,omitempty"`
	}{m.Builder.Name, s.Rows, s.Ranks, s.From, s.To, s.Sums, s.Bytes, s.Params, bytes(s.Memory), newProgramJSON(s.Lane), newProgramJSON(s.Update), newLanesProfileJSON(s, p)})
}
