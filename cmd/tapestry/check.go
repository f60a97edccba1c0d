package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

func newCheck(o *options) *cobra.Command {
	var m modelOptions
	var all bool
	var blame blaming
	var engine string
	cmd := &cobra.Command{
		Use:     "check MODEL | --all",
		Short:   "Check derivatives, tape and rewrites against the definitions",
		Long:    checkText(),
		Example: "  tapestry check kmeans-softmax\n  tapestry check kmeans-softmax --blame --svg blame.svg\n  tapestry check --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			names := args
			if all {
				names = builders.Names()
			}
			if len(args) > 1 || all == (len(args) == 1) {
				return usagef("check: want a model, or --all (tapestry list shows the models)")
			}
			if err := blame.check(all); err != nil {
				return err
			}
			var runtime *onRuntime
			switch engine {
			case "gorgonia":
			case "onnxruntime":
				rt, err := openRuntime()
				if err != nil {
					return err
				}
				runtime = &onRuntime{rt}
			default:
				return usagef("--engine %q: want gorgonia or onnxruntime", engine)
			}
			m.dtype = "f64"
			if blame.on {
				return blame.run(cmd, o, m, args[0])
			}
			defer check.Cores()()
			t := tally{w: cmd.OutOrStdout(), json: o.json, width: 16}
			if runtime != nil {
				t.checks = len("onnxruntime")
			}
			for _, name := range names {
				t.width = max(t.width, len(name))
			}
			for _, name := range names {
				model, err := m.runnable(name, true)
				if err != nil {
					return err
				}
				verdicts, err := checkModel(cmd.Context(), model, o.seed)
				if err != nil {
					return err
				}
				if runtime != nil {
					narrow := m
					narrow.dtype = "f32"
					model, err := narrow.runnable(name, true)
					if err != nil {
						return err
					}
					more, err := checkOnRuntime(cmd.Context(), *runtime, model, o.seed)
					if err != nil {
						return err
					}
					verdicts = append(verdicts, more...)
				}
				for _, v := range verdicts {
					if err := t.add(name, "model", v); err != nil {
						return err
					}
				}
				t.models++
			}
			if all {
				for _, op := range ops.List() {
					v := check.Verdict{Check: "cases", Err: check.Op(op, op.Cases()...)}
					if err := t.add("op "+op.Name(), "op", v); err != nil {
						return err
					}
					t.ops++
				}
			}
			return t.end()
		},
	}
	cmd.Flags().StringSliceVar(&m.set, "set", nil, "sizes of the model: n=150,k=3")
	blame.flags(cmd)
	cmd.Flags().StringVar(&engine, "engine", "gorgonia", "onnxruntime: compare with ONNX Runtime, too, in float32, and a step of training")
	cmd.Flags().BoolVar(&all, "all", false, "check every model, and every operation on its cases")
	return cmd
}

// checkText explains the checks, first those of package check.
func checkText() string {
	var b strings.Builder
	b.WriteString("Checks a model in float64, on a batch of its examples and parameters around their fresh values:\n\n")
	names, docs := check.Kinds()
	for i, name := range names {
		fmt.Fprintf(&b, "  %-10s %s\n", name, docs[i])
	}
	b.WriteString("  gorgonia   the same graph on gorgonia's TapeMachine, where it has the operations\n")
	b.WriteString("\nWith --engine onnxruntime, the same graph as an ONNX model in ONNX Runtime too, in float32: result, derivatives\nand a step of training. That takes a program built with -tags onnxruntime, and the library (docs/onnx.md).\n")
	b.WriteString("\nWith --blame, the derivative rule of every operation by itself, at the values that its operands\nhave in the model: so that a wrong one is found among the many of a model.\n")
	b.WriteString("\nWith --all, every operation too, on each of its cases in both float types.")
	return b.String()
}

// checkModel checks the loss, or the output of a model without one, and compares the output and
// the updates with the definition.
func checkModel(ctx context.Context, m *builders.Model, seed uint64) ([]check.Verdict, error) {
	options, err := blameOptions(m, seed)
	if err != nil {
		return nil, err
	}
	options = append(options, check.Do(m.Step), check.On("gorgonia", byGorgonia))
	if m.Output != nil && m.Output != m.Result() {
		options = append(options, check.Also(m.Output))
	}
	return check.Graph(ctx, m.Result(), options...), nil
}

// byGorgonia is a [check.Engine]: it computes nodes on gorgonia's TapeMachine.
func byGorgonia(ctx context.Context, g *graph.Graph, feed tape.Feed, store *tape.Store, nodes []*graph.Node) ([]*tensor.Dense, error) {
	m, err := gorgonia.Compile(g, gorgonia.Fetch(nodes...))
	if u := new(gorgonia.Unsupported); errors.As(err, &u) {
		return nil, check.Inapplicable(errors.New(firstLine(err)))
	} else if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.Run(ctx, feed, store); err != nil {
		return nil, err
	}
	return results(m, nodes)
}

// results returns the values of nodes after a run of an engine.
func results(m interface {
	Value(n *graph.Node) (*tensor.Dense, error)
}, nodes []*graph.Node) (out []*tensor.Dense, err error) {
	out = make([]*tensor.Dense, len(nodes))
	for i, n := range nodes {
		if out[i], err = m.Value(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tally prints verdicts, a line each, and counts them.
type tally struct {
	w                       io.Writer
	json                    bool
	width                   int // width of the column of subjects
	checks                  int // width of the column of checks, 9 at least
	models, ops             int
	passed, skipped, failed int
}

// add prints a verdict on a model or an operation.
func (t *tally) add(subject, kind string, v check.Verdict) error {
	switch {
	case v.Skipped:
		t.skipped++
	case v.Err != nil:
		t.failed++
	default:
		t.passed++
	}
	if t.json {
		return printJSON(t.w, map[string]any{kind: strings.TrimPrefix(subject, "op "), "check": v.Check, "status": v.Status(),
			"difference": jsonNumber(v.Diff), "allowed": v.Limit, "detail": v.Detail()})
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf("%-*s %-*s %-6s %s", t.width, subject, max(9, t.checks), v.Check, v.Status(), v.Detail()), " "))
	return err
}

// end prints the counts. It returns an error if checks failed.
func (t *tally) end() error {
	if !t.json {
		subjects := plural.Count(t.models, "model")
		if t.ops > 0 {
			subjects += " and " + plural.Count(t.ops, "operation")
		}
		if _, err := fmt.Fprintf(t.w, "%s: %s ok, %d not applicable, %d failed\n", subjects, plural.Count(t.passed, "check"), t.skipped, t.failed); err != nil {
			return err
		}
	}
	if t.failed > 0 {
		return fmt.Errorf("%s failed", plural.Count(t.failed, "check"))
	}
	return nil
}
