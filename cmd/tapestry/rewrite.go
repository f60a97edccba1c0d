package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/firing"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// rewriting has the flags of rewrite.
type rewriting struct {
	model     modelOptions
	step      string // "" for none, "all", or a number
	number    int    // the parsed step, 0 for all
	svg, html string
	fastMath  bool
}

func newRewrite(o *options) *cobra.Command {
	var r rewriting
	cmd := &cobra.Command{
		Use:   "rewrite MODEL [--step[=N]]",
		Short: "Show which rewrite rules fire where, before and after, and check each numerically",
		Long: `Rewrites the training graph of a model (its loss and the derivatives by the trained
parameters) as compiling does, and lists the rules that fired with the mathematics of
each. With --step each firing is shown as a formula before and after. Every firing is
checked: both sides are computed by the definitions in float64 on a batch of the model's
examples, and with every operation rounded to float32; stabilising rules are also tested
on large values.`,
		Example: "  tapestry rewrite kmeans-softmax\n  tapestry rewrite attention-self --step\n  tapestry rewrite kmeans-goofy --step=3 --svg step.svg\n  tapestry rewrite kmeans-softmax --html history.html",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd, o, args[0])
		},
	}
	r.model.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&r.step, "step", "", "show each firing, or only the one with this number")
	f.Lookup("step").NoOptDefVal = "all"
	f.StringVar(&r.svg, "svg", "", "file.svg for the graph before and after, with --step=N what that firing changed; or a directory for a drawing of each firing")
	f.StringVar(&r.html, "html", "", "write a page with every firing, its formulas, drawing and check, to this file")
	f.BoolVar(&r.fastMath, "fast-math", false, "also use the rules that trade digits for speed")
	return cmd
}

func (r *rewriting) run(cmd *cobra.Command, o *options, name string) error {
	if r.step != "" && r.step != "all" {
		n, err := strconv.Atoi(r.step)
		if err != nil || n < 1 {
			return usagef("--step=%s: want the number of a firing, from 1", r.step)
		}
		r.number = n
	}
	if err := checkOutput(r.html); err != nil {
		return err
	}
	model, err := r.model.runnable(name, true)
	if err != nil {
		return err
	}
	t, err := r.traced(cmd.Context(), model, o.seed)
	if err != nil {
		return err
	}
	if r.number > len(t.history.Firings) {
		return usagef("--step=%d: %s fired", r.number, plural.Count(len(t.history.Firings), "rule"))
	}
	if r.svg != "" {
		if err := r.draw(cmd.Context(), t); err != nil {
			return err
		}
	}
	if r.html != "" {
		if err := writeOutput(r.html, cmd.OutOrStdout(), func(w io.Writer) error { return t.page(cmd.Context(), w) }); err != nil {
			return err
		}
	}
	if o.json {
		err = r.printJSON(cmd.OutOrStdout(), t)
	} else if !toStdout(r.html) || r.html == "" {
		err = r.print(cmd.OutOrStdout(), t)
	}
	if err != nil {
		return err
	}
	return t.failure()
}

// traced is the rewriting of a model with a check of each firing.
type traced struct {
	model   *builders.Model
	wanted  []*graph.Node
	history *rewrite.History
	checks  []rewrite.Check
	nodes   [2]int // number of nodes of the graph before and after
}

func (r *rewriting) traced(ctx context.Context, m *builders.Model, seed uint64) (*traced, error) {
	wrt, err := derivedBy(m, nil)
	if err != nil {
		return nil, err
	}
	t := &traced{model: m}
	if t.wanted, err = asDrawn(ctx, drawnRoots(m, wrt), viz.Ops); err != nil {
		return nil, err
	}
	passes := rewrite.Passes()
	if r.fastMath {
		passes = rewrite.FastMath()
	}
	if t.history, err = rewrite.TraceContext(ctx, m.Graph, t.wanted, passes...); err != nil {
		return nil, err
	}
	t.nodes = [2]int{len(graph.Reachable(t.wanted...)), len(graph.Reachable(t.after()...))}
	values, err := valuesOf(m, seed)
	if err != nil {
		return nil, err
	}
	t.checks, err = t.history.Check(ctx, values)
	return t, err
}

func (t *traced) after() []*graph.Node {
	out := make([]*graph.Node, len(t.wanted))
	for i, n := range t.wanted {
		out[i] = t.history.Node(n)
	}
	return out
}

// valuesOf returns a batch of a model's examples and fresh values of parameters and states.
func valuesOf(m *builders.Model, seed uint64) (graph.Values, error) {
	values := graph.Values{}
	if m.Examples != nil {
		examples, err := m.Draw(rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			return nil, err
		}
		maps.Copy(values, examples)
	}
	store := tape.NewStore(m.Graph, tape.Seed(seed))
	for _, p := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		dense, err := store.Get(p.Path())
		if err != nil {
			continue // not used in training
		}
		a, err := tape.ArrayOf(p.Type(), dense)
		if err != nil {
			return nil, err
		}
		v := graph.NewValue(p.Type())
		for i := range v.Data {
			v.Data[i] = a.At(i)
		}
		values[p] = v
	}
	return values, nil
}

// failure returns an error if a firing changed values.
func (t *traced) failure() error {
	for i, c := range t.checks {
		if !firing.Right(c, t.model.Result().DType()) {
			return fmt.Errorf("firing %d, %q, changes values by %.3g", i+1, t.history.Firings[i].Rule, c.Difference)
		}
	}
	return nil
}

// firedRule is a row of the table of rules that fired.
type firedRule struct {
	Pass  string `json:"pass"`
	Rule  string `json:"rule"`
	Times int    `json:"times"`
	Why   string `json:"why"`
}

func (t *traced) rules() []firedRule {
	var rows []firedRule
	at := map[[2]string]int{}
	for _, f := range t.history.Firings {
		rule := f.Rule
		if f.Rederived() {
			rule = "derived again"
		}
		k, ok := at[[2]string{f.Pass, rule}]
		if !ok {
			k = len(rows)
			at[[2]string{f.Pass, rule}] = k
			rows = append(rows, firedRule{Pass: f.Pass, Rule: rule, Why: f.Why})
		}
		rows[k].Times++
	}
	return rows
}

func (r *rewriting) print(w io.Writer, t *traced) error {
	worst := 0.0
	for _, c := range t.checks {
		worst = max(worst, c.Difference)
	}
	fmt.Fprintf(w, "%s: %d nodes become %d; %s fired, both sides equal in float64 to %.2g\n\n",
		t.model.Builder.Name, t.nodes[0], t.nodes[1], plural.Count(len(t.checks), "rule"), worst)
	if r.step == "" {
		rows := t.rules()
		pass, rule := 0, 0
		for _, x := range rows {
			pass, rule = max(pass, len([]rune(x.Pass))), max(rule, len([]rune(x.Rule)))
		}
		for _, x := range rows {
			fmt.Fprintf(w, "%4d × %-*s  %-*s  %s\n", x.Times, pass, x.Pass, rule, x.Rule, x.Why)
		}
		return nil
	}
	for i := range t.checks {
		if r.number > 0 && r.number != i+1 {
			continue
		}
		s := t.shown(i)
		fmt.Fprintf(w, "%d. %s: %s%s\n", i+1, s.Pass, s.Rule, prefixed("  at ", s.Pos))
		fmt.Fprintf(w, "   why     %s\n   before  %s\n   after   %s\n   check   %s\n\n", s.Why, s.Before, s.After, s.Check)
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// shownFiring is a firing as printed.
type shownFiring struct {
	Number     int        `json:"number"`
	Pass       string     `json:"pass"`
	Rule       string     `json:"rule"`
	Why        string     `json:"why"`
	Pos        string     `json:"line,omitempty"`
	Before     string     `json:"before"`
	After      string     `json:"after"`
	Difference jsonNumber `json:"difference"`
	Check      string     `json:"check"`
}

func (t *traced) shown(i int) shownFiring {
	f, c := t.history.Firings[i], t.checks[i]
	s := shownFiring{Number: i + 1, Pass: f.Pass, Rule: f.Rule, Why: f.Why, Pos: f.Pos.String(), Difference: jsonNumber(c.Difference), Check: firing.Checked(c)}
	before, after := firing.Sides(f)
	s.Before, s.After = before.Text, after.Text
	return s
}

func (r *rewriting) printJSON(w io.Writer, t *traced) error {
	var firings []shownFiring
	for i := range t.checks {
		if r.step != "" && (r.number == 0 || r.number == i+1) {
			firings = append(firings, t.shown(i))
		}
	}
	return printJSON(w, struct {
		Model   string        `json:"model"`
		Nodes   [2]int        `json:"nodes"` // before and after
		Rules   []firedRule   `json:"rules"`
		Firings []shownFiring `json:"firings,omitempty"`
	}{t.model.Builder.Name, t.nodes, t.rules(), firings})
}
