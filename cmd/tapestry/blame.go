package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
)

// blaming has the flags of the check of every rule by itself.
type blaming struct {
	on  bool
	svg string
}

func (b *blaming) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&b.on, "blame", false, "check the derivative rule of every operation of the model by itself, and name the wrong ones")
	cmd.Flags().StringVar(&b.svg, "svg", "", "with --blame: draw the model with the findings to this file")
}

func (b *blaming) check(all bool) error {
	switch {
	case b.on && all:
		return usagef("--blame is for one model, --all for every")
	case b.svg != "" && !b.on:
		return usagef("--svg needs --blame")
	}
	return checkOutput(b.svg)
}

// run checks a model's rules and prints those that are not right; all of them in JSON.
func (b *blaming) run(cmd *cobra.Command, o *options, m modelOptions, name string) error {
	model, err := m.runnable(name, true)
	if err != nil {
		return err
	}
	options, err := blameOptions(model, o.seed)
	if err != nil {
		return err
	}
	found, err := check.Blame(cmd.Context(), model.Result(), options...)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if o.json {
		for _, f := range found {
			if err := printBlamed(w, name, f); err != nil {
				return err
			}
		}
	} else if _, err := io.WriteString(w, blameText(name, found)); err != nil {
		return err
	}
	if err := drawMarks(cmd.Context(), b.svg, w, []*graph.Node{model.Result()}, marks.Blame(found), marks.BlameColours); err != nil {
		return err
	}
	if n := len(inState(found, check.RuleWrong)); n > 0 {
		return fmt.Errorf("%s: %s", name, plural.Count(n, "wrong rule"))
	}
	return nil
}

// inState returns the nodes in a state.
func inState(found []check.Blamed, s check.BlameState) []check.Blamed {
	var out []check.Blamed
	for _, f := range found {
		if f.State == s {
			out = append(out, f)
		}
	}
	return out
}

// blameText lists the wrong rules, the undecided ones, and the nodes that inherit wrong
// derivatives. These may be most of a model, so only leaves are named.
func blameText(model string, found []check.Blamed) string {
	var b strings.Builder
	wrong, undecided, inherited := inState(found, check.RuleWrong), inState(found, check.Undecided), inState(found, check.Inherited)
	for _, f := range append(wrong, undecided...) {
		fmt.Fprintln(&b, f)
	}
	var leaves []string
	for _, f := range inherited {
		if f.Node.NumIn() == 0 {
			leaves = append(leaves, f.Node.Path())
		}
	}
	if len(inherited) > 0 {
		fmt.Fprintf(&b, "inherited by %s, of them %s\n", plural.Count(len(inherited), "node"), strings.Join(leaves, ", "))
	}
	fmt.Fprintf(&b, "%s: %s right, %d wrong, %d undecided, %d without anything to check\n", model, plural.Count(len(inState(found, check.RuleRight)), "rule"),
		len(wrong), len(undecided), len(inState(found, check.NothingToRule)))
	return b.String()
}

// blameOptions returns options that check a model on a batch of its examples.
func blameOptions(m *builders.Model, seed uint64) ([]check.Option, error) {
	options := []check.Option{check.Seed(seed)}
	if m.Examples == nil {
		return options, nil
	}
	examples, err := m.Draw(rand.New(rand.NewPCG(seed, 1)))
	return append(options, check.Feed(tape.Tensors(examples))), err
}

func printBlamed(w io.Writer, model string, f check.Blamed) error {
	first := f.Node.First()
	v := map[string]any{"model": model, "node": f.Node.Label(), "op": opName(f.Node), "pos": first.Pos.String(), "scope": first.Scope,
		"state": strings.ToLower(f.State.String()), "difference": jsonNumber(f.Diff)}
	if f.Note != "" {
		v["note"] = f.Note
	}
	if f.State == check.RuleWrong && f.Note == "" {
		v["operand"], v["index"], v["want"], v["got"] = f.Operand, f.Index, jsonNumber(f.Want), jsonNumber(f.Got)
	}
	var because []string
	for _, n := range f.Because {
		because = append(because, n.Label())
	}
	if because != nil {
		v["because"] = because
	}
	return printJSON(w, v)
}
