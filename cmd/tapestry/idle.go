package main

import (
	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// idle returns an error if one of the flags was given although it has no effect, with the reason:
// users would believe that an ignored flag was obeyed.
func idle(cmd *cobra.Command, why string, flags ...string) error {
	if name := changed(cmd, flags); name != "" {
		return usagef("--%s: %s", name, why)
	}
	return nil
}

// ownStep is why the flags of an optimiser have no effect on a model, or an algorithm, of a name.
func ownStep(name string) string { return name + " takes steps of its own, without an optimiser" }

// unused returns an error if a flag of training was given that affects none of the clusterings.
// Restarts says whether Lloyd's algorithm starts several times.
func unused(cmd *cobra.Command, restarts, gamma bool, clusterings ...builders.Builder) error {
	optimised, batches := false, false
	for _, b := range clusterings {
		m, err := b.Build(nil, graph.F32)
		if err != nil || m.Centres() == nil {
			return err
		}
		optimised = optimised || len(m.Step) == 0
		gamma = gamma || m.Gamma() != nil && !fixesTemperature(b)
		batches = batches || !m.OwnStep()
	}
	if !restarts {
		if err := idle(cmd, "Lloyd's algorithm alone has restarts, in train kmeans-lloyd and as a baseline of compare", "restarts"); err != nil {
			return err
		}
	}
	if !optimised {
		if err := idle(cmd, ownStep("Lloyd's algorithm"), "optimiser", "rate", "clip-norm", "weight-decay", "l1", "ema"); err != nil {
			return err
		}
	}
	if err := idle(cmd, "averages of parameters are for models that are no clusterings", "ema"); err != nil {
		return err
	}
	if !gamma {
		why := " has no temperature"
		if fixesTemperature(clusterings[0]) {
			why = " has one in braces"
		}
		if err := idle(cmd, clusterings[0].Name+why, "gamma"); err != nil {
			return err
		}
	}
	if !batches {
		return idle(cmd, clusterings[0].Name+" is trained on all rows at once", "batch")
	}
	return nil
}

// movesItself reports whether a clustering moves its centres by a step of its own, as Lloyd's
// algorithm does.
func movesItself(b builders.Builder) bool {
	m, err := b.Build(nil, graph.F32)
	return err == nil && m.OwnStep()
}
