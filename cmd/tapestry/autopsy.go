package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz"
)

func newAutopsy(o *options) *cobra.Command {
	var at moment
	var svg string
	cmd := &cobra.Command{
		Use:   "autopsy MODEL",
		Short: "Find the first value of a training step that is not finite, and why",
		Long: `Runs a training step as the model is written and finds the first value that is NaN or
infinite. It shows the element and what it was computed from, where the bad number came
from, the forward value that it is a derivative of, and the line of the model. It also
tries whether a stabilising rewrite helps. With --step the model is first trained for
that many steps. To watch a whole training, see train --watch-nan.

Fails if a result (the loss, or an updated parameter or state) is not finite.`,
		Example: "  tapestry autopsy kmeans-softmax\n  tapestry autopsy transformer-gpt --optimiser sgd --rate 1000 --step 3 --svg autopsy.svg",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(svg); err != nil {
				return err
			}
			s, err := at.run(cmd.Context(), o, args[0])
			if err != nil {
				return err
			}
			f, err := s.autopsy(cmd.Context())
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if f == nil {
				if o.json {
					return printJSON(w, map[string]any{"model": args[0], "step": s.store.Step(), "finite": true})
				}
				_, err := fmt.Fprintf(w, "%s, step %d: every value of %s is finite\n", args[0], s.store.Step(), plural.Count(len(graph.Reachable(s.roots...)), "node"))
				return err
			}
			if err := printFinding(w, o, args[0], "", f); err != nil {
				return err
			}
			if err := drawMarks(cmd.Context(), svg, w, s.drawn(f.At.Node), marks.Autopsy(f), marks.AutopsyColours); err != nil {
				return err
			}
			if f.Harmless() {
				return nil
			}
			return fmt.Errorf("%s, step %d: %s", args[0], f.Step, f.Cause)
		},
	}
	at.flags(cmd)
	cmd.Flags().StringVar(&svg, "svg", "", "draw how the bad values spread to this file")
	return cmd
}

// printFinding prints the result of an autopsy, of a lane if one is named.
func printFinding(w io.Writer, o *options, model, lane string, f *inspect.Finding) error {
	if !o.json {
		if _, err := io.WriteString(w, f.String()); err != nil {
			return err
		}
		if f.Cure != nil {
			for _, r := range f.Cure.Rules {
				after := viz.Formula(r.After)
				if viz.Unicode(viz.Expr(r.After)) == viz.Unicode(viz.Expr(r.Before)) {
					after += ", as one operation: " + r.After.Op().Name()
				}
				if _, err := fmt.Fprintf(w, "  %-9s %s\n  %-9s %s\n", "before", viz.Formula(r.Before), "after", after); err != nil {
					return err
				}
			}
		}
		return nil
	}
	type rule struct {
		Rule   string `json:"rule"`
		Why    string `json:"why"`
		Before string `json:"before"`
		After  string `json:"after"`
	}
	type cure struct {
		Works bool       `json:"works"`
		Left  *jsonEntry `json:"left,omitempty"`
		After jsonNumber `json:"result_after"`
		Rules []rule     `json:"rules"`
	}
	v := struct {
		Model    string        `json:"model"`
		Step     uint64        `json:"step"`
		Lane     string        `json:"lane,omitempty"` // of a step in lanes: where it was not finite first
		Finite   bool          `json:"finite"`
		Harmless bool          `json:"harmless"`
		Cause    string        `json:"cause"`
		At       jsonEntry     `json:"at"`
		Witness  []jsonOperand `json:"witness"`
		Path     []jsonEntry   `json:"path"`
		Carried  []jsonEntry   `json:"carried"`
		Forward  *jsonEntry    `json:"forward,omitempty"`
		Spread   []string      `json:"not_finite"`
		Cure     *cure         `json:"cure,omitempty"`
	}{Model: model, Step: f.Step, Lane: lane, Harmless: f.Harmless(), Cause: f.Cause, At: newJSONEntry(f.At), Witness: jsonOperands(f.Witness),
		Path: jsonEntries(f.Path), Carried: jsonEntries(f.Carried)}
	if f.Twin != nil {
		e := newJSONEntry(*f.Twin)
		v.Forward = &e
	}
	for _, n := range f.NotFinite {
		v.Spread = append(v.Spread, n.Label())
	}
	if c := f.Cure; c != nil {
		v.Cure = &cure{Works: c.Works, After: jsonNumber(c.After)}
		if c.Left != nil {
			e := newJSONEntry(c.Left.At)
			v.Cure.Left = &e
		}
		for _, r := range c.Rules {
			v.Cure.Rules = append(v.Cure.Rules, rule{r.Rule, r.Why, viz.Formula(r.Before), viz.Formula(r.After)})
		}
	}
	return printJSON(w, v)
}

// jsonEntry is an element of a node's value in JSON.
type jsonEntry struct {
	Node  string     `json:"node"`
	Op    string     `json:"op"`
	Pos   string     `json:"pos"`
	Scope string     `json:"scope,omitempty"`
	Index []int      `json:"index"`
	Value jsonNumber `json:"value"` // null if not finite
	Text  string     `json:"text"`
}

func newJSONEntry(e inspect.Entry) jsonEntry {
	first := e.Node.First()
	return jsonEntry{e.Node.Label(), opName(e.Node), first.Pos.String(), first.Scope, append([]int{}, e.Index...), jsonNumber(e.Value), e.String()}
}

// opName returns the name of a node's operation, or the role of a leaf.
func opName(n *graph.Node) string {
	if n.Role() == graph.RoleOp {
		return n.Op().Name()
	}
	return n.Role().String()
}

func jsonEntries(entries []inspect.Entry) []jsonEntry {
	out := make([]jsonEntry, len(entries))
	for i, e := range entries {
		out[i] = newJSONEntry(e)
	}
	return out
}

// jsonOperand has the elements of an operand that a result is computed from.
type jsonOperand struct {
	Number  int         `json:"operand"`
	Of      int         `json:"elements"`
	Entries []jsonEntry `json:"largest"`
}

func jsonOperands(operands []inspect.Operand) []jsonOperand {
	out := make([]jsonOperand, len(operands))
	for i, p := range operands {
		out[i] = jsonOperand{p.Number, p.Of, jsonEntries(p.Entries)}
	}
	return out
}

// drawMarks draws what some nodes depend on, with marks, to a file if one is named.
func drawMarks(ctx context.Context, path string, stdout io.Writer, roots []*graph.Node, marks map[*graph.Node]viz.Mark, colours string) error {
	if path == "" {
		return nil
	}
	f, err := viz.Draw(roots, viz.At(viz.Primitive), viz.Overlay(marks), viz.HeatScale(colours))
	if err != nil {
		return err
	}
	return writeOutput(path, stdout, func(w io.Writer) error { return f.SVGContext(ctx, w) })
}
