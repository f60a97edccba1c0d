package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// exporting says what of a model is written as ONNX, and how.
type exporting struct {
	model     modelOptions
	training  training // the optimiser and its schedule
	keep      keeping  // the optimiser's options, and where weights come from
	out       string
	gradients bool
	wrt       []string
	step      bool
	symbol    string
	external  bool
	begin     string // file for the defaults
	draws     string
}

func newExport(o *options) *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export MODEL -o FILE.onnx",
		Short: "Write a model, its derivatives or its training step as ONNX",
		Long: `Writes a model as ONNX, which ONNX Runtime and others run: its output and its loss,
with --gradients also the derivatives of the loss, and with --step the whole training
step. What a step updates, which is parameters, the optimiser's state and the count of steps
that a schedule goes by, are inputs whose defaults are the values at the beginning, and
their new values are the outputs NAME.next: whoever feeds these back trains the model. The
metadata of the file says what belongs together.

Sizes are those of --set, or found from --data. With --symbolic N the file runs on any number of
rows. Weights are drawn by the seed, or with --from those of a training; if that had its
inputs standardised, the file wants them so, and the numbers are printed.`,
		Example: "  tapestry export transformer-gpt -o gpt.onnx\n" +
			"  tapestry export kmeans-softmax --gradients --wrt r --symbolic N -o soft.onnx\n" +
			"  tapestry export conv-2d --step --optimiser adamw --rate 'warmup(10,cosine(0.003,190))' -o train.onnx\n" +
			"  tapestry export mine.tapestry --data houses.csv --from runs/houses -o houses.onnx",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.check(cmd); err != nil {
				return err
			}
			return e.export(cmd, o, args[0])
		},
	}
	f := cmd.Flags()
	e.model.flags(cmd)
	e.model.rows = new(fitting)
	e.model.rows.flags(cmd, "")
	e.training.cmd = cmd
	f.StringVarP(&e.out, "out", "o", "", "file to write, FILE.onnx")
	f.BoolVar(&e.gradients, "gradients", false, "also the derivatives of the loss, by all parameters or by --wrt, as outputs grad/NAME")
	f.StringSliceVar(&e.wrt, "wrt", nil, "inputs, parameters or named quantities to differentiate by")
	f.BoolVar(&e.step, "step", false, "the whole training step: what it updates goes in as NAME and comes out as NAME.next")
	f.StringVar(&e.training.opt, "optimiser", "adam", "of the step: "+strings.Join(train.Names(), ", "))
	f.StringVar(&e.training.rateText, "rate", "", "learning rate of the step (default: 0.01), or a schedule of it, which follows a count of the steps: warmup(10,cosine(0.01,190))")
	f.StringVar(&e.training.gamma, "gamma", "", "γ of a clustering in the step, its inverse temperature: 2 for a constant, 0.1..50 to anneal")
	f.IntVar(&e.training.steps, "steps", 0, fmt.Sprintf("steps that a schedule from..to goes through (default: %d)", lab.OwnSteps))
	e.training.stepsFlag = f.Lookup("steps")
	e.keep.gradientFlags(cmd)
	e.keep.transfer.flags(cmd)
	f.StringVar(&e.symbol, "symbolic", "", "symbol for the number of rows, as N, which is then free")
	f.BoolVar(&e.external, "external-data", false, "write large arrays beside the model, to FILE.onnx.data")
	f.StringVar(&e.begin, "begin", "", "file to write the defaults of inputs to, as a model that gives them; then no input has one, as ONNX Runtime in browsers wants it")
	f.StringVar(&e.draws, "draws", "inputs", "random numbers are inputs, whose law the metadata says, or are drawn by the runtime: inputs or runtime")
	return cmd
}

// check returns an error for flags that contradict each other.
func (e *exporting) check(cmd *cobra.Command) error {
	switch {
	case e.out == "":
		return usagef("export: want -o FILE%s", onnx.Extension)
	case e.external && toStdout(e.out):
		return usagef("--external-data: want -o FILE%s, which the data lie beside", onnx.Extension)
	case e.begin == "-" || e.begin != "" && e.begin == e.out:
		return usagef("--begin %s: want a file of its own", e.begin)
	case e.draws != "inputs" && e.draws != "runtime":
		return usagef("--draws %q: want inputs or runtime", e.draws)
	case e.gradients && e.step:
		return usagef("--gradients and --step exclude each other: a step has the derivatives in it")
	case len(e.wrt) > 0 && !e.gradients:
		return usagef("--wrt: want --gradients, too")
	case strings.ContainsAny(e.symbol, " /²+−()") || strings.Trim(e.symbol, "0123456789") != e.symbol:
		return usagef("--symbolic %q: want a name such as N", e.symbol)
	}
	if !e.step {
		if err := idle(cmd, "want --step, too", "optimiser", "rate", "gamma", "steps", "clip-norm", "weight-decay", "l1", "ema"); err != nil {
			return err
		}
	}
	if err := e.keep.parse(&e.training); err != nil {
		return err
	}
	if err := e.keep.transfer.check(false, false); err != nil {
		return err
	}
	return cmp.Or(checkOutput(e.begin), checkOutput(e.out))
}

// export builds the model and writes it.
func (e *exporting) export(cmd *cobra.Command, o *options, name string) error {
	e.model.seed = o.seed
	m, err := e.model.build(name)
	if err != nil {
		return err
	}
	e.training.notes, e.training.options = e.model.notes, e.keep.options()
	store, err := e.store(m, o.seed)
	if err != nil {
		return err
	}
	var what string
	var beside []onnx.Option // other files, which are written before the model is complete
	write := func() error {
		return writeOutput(e.out, raw(cmd.OutOrStdout()), func(w io.Writer) error {
			what, err = e.write(w, m, store, beside...)
			return err
		})
	}
	also := func(path string, option func(io.Writer) onnx.Option) {
		inner := write
		write = func() error {
			return writeOutput(path, nil, func(w io.Writer) error {
				beside = append(beside, option(w))
				return inner()
			})
		}
	}
	if e.external {
		also(e.out+".data", func(w io.Writer) onnx.Option { return onnx.ExternalData(w, filepath.Base(e.out)+".data") })
	}
	if e.begin != "" {
		also(e.begin, onnx.Begin)
	}
	err = write()
	if err != nil || toStdout(e.out) {
		return err
	}
	return e.print(cmd.OutOrStdout(), o, m, what)
}

// store returns the values of parameters and states: fresh ones, or those of a training.
func (e *exporting) store(m *builders.Model, seed uint64) (*tape.Store, error) {
	store, err := lab.NewStore(m, seed)
	if err != nil {
		return nil, err
	}
	values, _, err := e.keep.transfer.values(m)
	if err != nil {
		return nil, err
	}
	return store, begin(store, values)
}

// standardised returns how the training that weights come from read its inputs, of those that it
// standardised.
func (e *exporting) standardised() (out []fit.Binding, err error) {
	s, err := e.keep.transfer.state()
	if s == nil || err != nil || s.Meta[fit.MetaBindings] == "" {
		return nil, err
	}
	all, err := fit.Parse(s.Meta)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	for _, b := range all {
		if b.Mean != nil {
			out = append(out, b)
		}
	}
	return out, nil
}

// write writes the model, for any number of rows if that has a symbol, and says what of it.
func (e *exporting) write(w io.Writer, m *builders.Model, store *tape.Store, options ...onnx.Option) (what string, err error) {
	if e.draws == "runtime" {
		options = append(options, onnx.Draws(onnx.FromRuntime))
	}
	if e.symbol == "" {
		what, more, err := e.wanted(m)
		if err != nil {
			return "", err
		}
		return what, onnx.Write(w, m.Graph, store, append(options, more...)...)
	}
	setting := fit.RowSetting(m)
	if setting == "" {
		return "", usagef("--symbolic %s: no setting of %s counts its rows", e.symbol, m.Builder.Name)
	}
	return what, onnx.WriteSymbolic(w, e.symbol, store, func(size int) (*graph.Graph, []onnx.Option, error) {
		s := maps.Clone(m.Settings)
		s[setting] = float64(size)
		sized, err := m.Builder.Build(s, m.Result().DType())
		if err != nil {
			return nil, nil, err
		}
		var more []onnx.Option
		what, more, err = e.wanted(sized)
		return sized.Graph, append(slices.Clone(options), more...), err
	})
}

// wanted returns what of a model is written.
func (e *exporting) wanted(m *builders.Model) (what string, options []onnx.Option, err error) {
	if e.step {
		return e.stepOf(m)
	}
	var parts []string
	if m.Output != nil && m.Output != m.Loss {
		options, parts = append(options, onnx.Output(m.Output)), append(parts, "output")
	}
	if m.Loss != nil {
		options, parts = append(options, onnx.Loss(m.Loss)), append(parts, "loss")
	}
	if e.gradients {
		by, err := derivedBy(m, e.wrt)
		if err != nil {
			return "", nil, err
		}
		if len(by) == 0 {
			return "", nil, usagef("the loss of %s has no derivative by a parameter or an input", m.Builder.Name)
		}
		options, parts = append(options, onnx.Fetch(grad.Of(m.Loss, by...)...)), append(parts, "derivatives")
	}
	if len(options) == 0 {
		return "", nil, fmt.Errorf("%s has neither an output nor a loss", m.Builder.Name)
	}
	return strings.Join(parts, ", "), options, m.Graph.Err()
}

// stepOf returns the training step of a model.
func (e *exporting) stepOf(m *builders.Model) (what string, options []onnx.Option, err error) {
	name, g, t := m.Builder.Name, m.Graph, &e.training
	if m.OwnStep() {
		if err := idle(t.cmd, ownStep(name), "optimiser", "rate", "clip-norm", "weight-decay", "l1", "ema"); err != nil {
			return "", nil, err
		}
	}
	var c lab.Config
	if err := t.chosen(&c, m, ownRate); err != nil {
		return "", nil, err
	}
	opt := c.Optimisers[0]
	step, err := graphStep(m, opt)
	if err != nil {
		return "", nil, err
	}
	options = append(options, onnx.Loss(m.Loss), onnx.Do(step))
	if m.Output != nil && m.Output != m.Loss && m.Loss.DependsOn(m.Output) {
		options = append(options, onnx.Output(m.Output))
	}
	what = "the step of " + opt.Under(c.Rate)
	if m.OwnStep() {
		what = "the step"
	}
	scheduled := map[*graph.Node]train.Schedule{}
	if rate := opt.Rate(g); rate != nil && !c.Rate.IsZero() {
		scheduled[rate] = c.Rate
	}
	if t.gamma != "" {
		γ, err := train.ParseSchedule(t.gamma)
		if err != nil {
			return "", nil, usagef("--gamma: %w", err)
		}
		if m.Gamma() == nil {
			return "", nil, usagef("--gamma: %s has no temperature", name)
		}
		scheduled[m.Gamma()] = γ
		what += ", γ " + γ.String()
	}
	if len(scheduled) == 0 {
		if err := idle(t.cmd, "want a schedule, --rate or --gamma, which goes by it", "steps"); err != nil {
			return "", nil, err
		}
	}
	return what, append(options, follow(g, scheduled, t.stepsOr(lab.OwnSteps))...), g.Err()
}

// follow makes scalars follow their schedules by a count of steps, which is a state.
func follow(g *graph.Graph, scheduled map[*graph.Node]train.Schedule, steps int) []onnx.Option {
	if len(scheduled) == 0 {
		return nil
	}
	defer g.Scope("schedule")()
	count := g.State("step", graph.I64)
	t := ops.Cast(count, graph.F64)
	options := []onnx.Option{onnx.Do(graph.Step{g.Assign(count, ops.Shift(count, 1))})}
	for _, n := range g.Leaves(graph.RoleInput) {
		if s, ok := scheduled[n]; ok {
			options = append(options, onnx.Let(n, ops.Cast(s.Node(t, steps), n.DType())))
		}
	}
	return options
}

// print says what was written.
func (e *exporting) print(w io.Writer, o *options, m *builders.Model, what string) error {
	file, err := onnx.Open(e.out)
	if err != nil {
		return err
	}
	defer file.Close()
	standardised, err := e.standardised()
	if err != nil {
		return err
	}
	size, data := sizeOf(e.out), int64(0)
	if e.external {
		if data = sizeOf(e.out + ".data"); data == 0 {
			os.Remove(e.out + ".data")
		}
	}
	if o.json {
		type value struct {
			Name    string `json:"name"`
			Type    string `json:"type"`
			Default bool   `json:"default,omitempty"`
		}
		v := struct {
			Model        string        `json:"model"`
			File         string        `json:"file"`
			What         string        `json:"what"`
			Bytes        int64         `json:"bytes"`
			Data         int64         `json:"dataBytes,omitempty"`
			Inputs       []value       `json:"inputs"`
			Outputs      []value       `json:"outputs"`
			Standardised []fit.Binding `json:"standardised,omitempty"`
		}{m.Builder.Name, filepath.ToSlash(e.out), what, size, data, []value{}, []value{}, standardised}
		for _, x := range file.Inputs() {
			v.Inputs = append(v.Inputs, value(x))
		}
		for _, y := range file.Outputs() {
			v.Outputs = append(v.Outputs, value(y))
		}
		return printJSON(w, v)
	}
	fmt.Fprintf(w, "%s: %s of %s, %s", e.out, what, m.Builder.Name, plural.Count(int(size), "byte"))
	switch {
	case data > 0:
		fmt.Fprintf(w, ", and %s in %s.data", plural.Count(int(data), "byte"), e.out)
	case e.external:
		fmt.Fprint(w, "; no array is large enough to lie beside it")
	}
	fmt.Fprintln(w)
	rows := [][]string{}
	for _, x := range file.Inputs() {
		rows = append(rows, []string{map[bool]string{false: "input", true: "default"}[x.Default], x.Name, x.Type})
	}
	for _, y := range file.Outputs() {
		rows = append(rows, []string{"output", y.Name, y.Type})
	}
	tabulate(w, rows, 3)
	for _, b := range standardised {
		fmt.Fprintf(w, "%s wants %s less %s, over %s, as the training standardised them\n", b.Input, strings.Join(b.Columns, ", "), numbers(b.Mean), numbers(b.Std))
	}
	return nil
}

// numbers lists numbers to all their digits in float32.
func numbers(v []float64) string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = fmt.Sprint(float32(x))
	}
	return strings.Join(out, ", ")
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
