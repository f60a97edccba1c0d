package main

import (
	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/tape"
)

const (
	fastMathUsage = "distances from norms and products, faster and with fewer digits (see tape.FastMath)"
	mixedUsage    = "large products and convolutions from operands rounded to bfloat16 (see tape.Mixed)"
)

// arithmetic says what digits a program may give away for speed.
type arithmetic struct{ fast, mixed bool }

func (a *arithmetic) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.fast, "fast-math", false, fastMathUsage)
	cmd.Flags().BoolVar(&a.mixed, "mixed", false, mixedUsage)
}

// options returns the options of a program that is computed so.
func (a *arithmetic) options() (options []tape.Option) {
	if a.fast {
		options = append(options, tape.FastMath())
	}
	if a.mixed {
		options = append(options, tape.Mixed())
	}
	return options
}

// label names it: "" for the arithmetic that the model says.
func (a *arithmetic) label() string {
	switch {
	case a.fast && a.mixed:
		return "fast-mixed"
	case a.fast:
		return "fast"
	case a.mixed:
		return "mixed"
	}
	return ""
}
