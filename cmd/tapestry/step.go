package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
)

// stepping has the flags of step.
type stepping struct {
	training
	learning
	at         int
	node, stop string
	trained    int
	back       bool
	values     string
	iteration  string
	why        string
	written    bool
	print      bool
	memory     byteSize
}

// farthest is the number of training steps after which continuing stops without a break.
const farthest = 1000

func newStep(o *options) *cobra.Command {
	var s stepping
	cmd := &cobra.Command{
		Use:   "step MODEL",
		Short: "Step through the training program, forwards and back in time, and see every value",
		Long: `Steps through the compiled training program instruction by instruction, or by the
model's own quantities, forwards and backwards, within a training step and from step
to step. It shows operands, result, the derivative of the loss by each, statistics, and
the values with named axes. The training is the one that tapestry train runs.

In a terminal it is interactive (? shows the keys). With --print, --json, or if the
output is not a terminal, only the place that the flags name is printed.

Breaks: ` + inspect.Wants + `. A bound
holds if an element is in it; |any| bounds every result.`,
		Example: "  tapestry step kmeans-softmax\n" +
			"  tapestry step kmeans-softmax --train 20 --node alpha --print\n" +
			"  tapestry step kmeans-softmax --train 20 --why 'alpha[5,1]'\n" +
			"  tapestry step transformer-gpt --rate 5 --optimiser sgd --dtype f32 --break nan --print",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, o, args[0]) },
	}
	s.training.flags(cmd)
	s.learning.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&s.at, "at", 0, "begin before the instruction with this number")
	f.StringVar(&s.node, "node", "", "begin at the first instruction of a quantity: alpha, ∂loss/∂r")
	f.IntVar(&s.trained, "train", 0, "begin after this number of training steps")
	f.StringVar(&s.stop, "break", "", "go on to the first place where this holds: "+inspect.Wants)
	f.BoolVar(&s.back, "back", false, "go back to it instead")
	f.StringVar(&s.values, "values", "", "indices at which the printed values begin, one for each axis: 100,2")
	f.StringVar(&s.iteration, "iteration", "", "print an iteration of a loop, or an instruction of its body in that iteration: 3 or 3:2")
	f.StringVar(&s.why, "why", "", "print what an element is made of, what is behind it, and what it contributes: alpha[5,1]")
	f.BoolVar(&s.written, "written", false, "print the model as written, at the node that the instruction belongs to")
	f.BoolVar(&s.print, "print", false, "print the place and exit")
	f.Var(&s.memory, "memory", "memory for values, as in 512MiB; less is slower")
	for _, name := range []string{"restarts"} {
		_ = f.MarkHidden(name) // the flag exists
	}
	return cmd
}

func (s *stepping) run(cmd *cobra.Command, o *options, name string) error {
	if cmd.Flags().Changed("at") && s.node != "" {
		return usagef("--at and --node exclude each other")
	}
	if s.trained < 0 {
		return usagef("--train %d: want 0 or more", s.trained)
	}
	if s.back && s.stop == "" {
		return usagef("--back needs --break")
	}
	if s.iteration != "" && s.written {
		return usagef("--iteration and --written exclude each other")
	}
	if s.why != "" {
		if err := idle(cmd, "--why prints an element", "written", "iteration", "values", "print"); err != nil {
			return err
		}
	}
	from, err := parseIndices(s.values)
	if err != nil {
		return err
	}
	if o.json {
		if err := idle(cmd, "--json has all values", "values"); err != nil {
			return err
		}
	}
	session, title, err := s.open(cmd, o, name)
	if err != nil {
		return err
	}
	defer session.Close()
	note, err := s.seek(cmd.Context(), session)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if s.why != "" {
		r, err := why(cmd.Context(), session, s.why)
		if err != nil {
			return err
		}
		if o.json {
			return printJSON(out, r.json(name, session.Step()))
		}
		return r.print(out, title, session.Step())
	}
	screen := checkedOutput(raw(out))
	if s.print || o.json || s.iteration != "" || s.written || !isTerminal(screen) {
		v := stepView{title: title, note: note, taken: s.taken}
		v.window.From = from
		if err := s.look(cmd.Context(), session, &v); err != nil {
			return err
		}
		if err := v.begins(from); err != nil {
			return err
		}
		if o.json {
			return stepJSON(out, name, &v)
		}
		_, err := io.WriteString(out, v.page())
		return err
	}
	m := newStepper(cmd.Context(), session, title)
	m.status = note
	_, err = tea.NewProgram(m, tea.WithContext(cmd.Context()), tea.WithAltScreen(), tea.WithOutput(screen)).Run()
	return err
}

// checkedOutput returns the writer below one that remembers errors.
func checkedOutput(w io.Writer) io.Writer {
	if c, ok := w.(*checkedWriter); ok {
		return c.Writer
	}
	return w
}

// steady explains why the number of steps, over which γ is annealed, has no effect on a session.
const steady = "nothing of this training depends on how long it lasts; --train says where to begin"

// open returns a session of the training that train would run.
func (s *stepping) open(cmd *cobra.Command, o *options, name string) (*inspect.Session, string, error) {
	if err := errors.Join(s.notes.check(name), s.parseRate()); err != nil {
		return nil, "", err
	}
	b, err := s.notes.lookup(name)
	if err != nil {
		return nil, "", err
	}
	if err := foreign(cmd, b); err != nil {
		return nil, "", err
	}
	s.seeds = 1
	var c lab.Config
	var m *builders.Model
	if isClustering(b) {
		if err := unused(cmd, false, false, b); err != nil {
			return nil, "", err
		}
		if movesItself(b) {
			if err := idle(cmd, steady, "steps"); err != nil {
				return nil, "", err
			}
		}
		if c, err = s.training.config(o, name); err != nil {
			return nil, "", err
		}
		if m, err = c.Variant(name).Build(c.DType); err == nil && s.notes.on {
			err = s.training.chosen(&c, m, lab.DefaultRate(c.Table))
			s.taken = s.notes.taken(m, &c)
		}
	} else {
		if err := idle(cmd, steady, "steps"); err != nil {
			return nil, "", err
		}
		if c, err = s.learning.config(o, &s.training); err != nil {
			return nil, "", err
		}
		if m, err = s.build(&s.training, name, o.seed)(); err == nil {
			err = s.learning.chosen(&c, &s.training, m)
		}
	}
	if err != nil {
		return nil, "", err
	}
	if o := c.Optimisers; len(o) > 0 && o[0].Searches() {
		return nil, "", usagef("--optimiser %s finds the length of each step by a line search, which step does not walk through: choose another, or train", o[0].Name())
	}
	task, err := c.Task(m, o.seed)
	if err != nil {
		return nil, "", err
	}
	wanted := []*graph.Node{m.Result()}
	if wrt := lab.Wrt(m); len(task.Step) == 0 && m.Loss != nil && len(wrt) > 0 {
		wanted = append(wanted, grad.Of(m.Loss, wrt...)...)
	}
	var limit []inspect.Option
	if s.memory.text != "" {
		limit = append(limit, inspect.Limit(s.memory.bytes))
	}
	title := m.Builder.Title
	if s.notes.on {
		title += ", " + notesText(s.taken)
	}
	session, err := inspect.Open(cmd.Context(), inspect.Subject{Graph: m.Graph, Wanted: wanted, Step: task.Step, Feed: task.Feed, Store: task.Store}, limit...)
	return session, title, err
}

// seek goes to the place that the flags name. The note says how that went, if there is anything
// to say.
func (s *stepping) seek(ctx context.Context, session *inspect.Session) (note string, err error) {
	if err := session.Train(ctx, s.trained); err != nil {
		return "", err
	}
	if err := session.Seek(s.at); err != nil {
		return "", usagef("--at: %w", err)
	}
	if s.node != "" {
		if err := seekText(session, s.node); err != nil {
			return "", usagef("--node: %w", err)
		}
	}
	if s.stop == "" {
		return "", nil
	}
	b, err := session.ParseBreak(s.stop)
	if err != nil {
		return "", usagef("--break: %w", err)
	}
	return goOn(ctx, session, s.back, b)
}

// goOn continues to a break and returns what happened.
func goOn(ctx context.Context, session *inspect.Session, back bool, breaks ...inspect.Break) (note string, err error) {
	var hit inspect.Break
	var ok bool
	if back {
		hit, ok, err = session.ContinueBack(ctx, breaks...)
	} else {
		hit, ok, err = session.Continue(ctx, session.Step()+farthest, breaks...)
	}
	switch {
	case err != nil:
		return "", err
	case ok:
		return "stopped: " + hit.String(), nil
	case back:
		return "no break holds before here", nil
	}
	return fmt.Sprintf("no break holds up to training step %d", session.Step()), nil
}

// look shows the present place, or the inside of the loop there.
func (s *stepping) look(ctx context.Context, session *inspect.Session, v *stepView) error {
	if s.written {
		n, _ := session.Owner(session.At())
		return v.asWritten(ctx, session, max(0, slices.Index(session.Written(), n)))
	}
	if s.iteration == "" {
		return v.load(ctx, session)
	}
	var iteration, at int
	if n, err := fmt.Sscanf(s.iteration+"\n", "%d:%d\n", &iteration, &at); n != 2 || err != nil {
		at = 0
		if n, err := fmt.Sscanf(s.iteration+"\n", "%d\n", &iteration); n != 1 || err != nil {
			return usagef("--iteration %q: want its number, and perhaps that of an instruction, as in 3 or 3:2", s.iteration)
		}
	}
	it, err := session.Enter(ctx, session.At(), iteration)
	if err != nil {
		return usagef("--iteration: %w", err)
	}
	if err := v.inside(it, at); err != nil {
		return usagef("--iteration: %w", err)
	}
	return nil
}

// seekText goes to an instruction by its number or by the name of its result.
func seekText(session *inspect.Session, text string) error {
	var i int
	if n, err := fmt.Sscanf(text+"\n", "%d\n", &i); n == 1 && err == nil {
		return session.Seek(i)
	}
	b, err := session.ParseBreak(text)
	if err != nil {
		return err
	}
	if i := session.First(b); i >= 0 {
		return session.Seek(i)
	}
	return fmt.Errorf("%q is not a quantity of the program", text)
}

// begins returns an error if no printed value has the indices.
func (v *stepView) begins(from []int) error {
	if len(from) == 0 {
		return nil
	}
	q := v.seen[v.shown]
	shape := q.value.Type.Shape
	if len(from) != shape.Rank() {
		return usagef("--values: want an index for each axis of %s, not %d", q.label, len(from))
	}
	for i, at := range from {
		if at >= shape.Dim(i) {
			return usagef("--values: there is no index %d along axis %d of %s", at, i+1, q.label)
		}
	}
	return nil
}

// parseIndices reads 100,2.
func parseIndices(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var out []int
	for _, f := range strings.Split(text, ",") {
		var i int
		if n, err := fmt.Sscanf(strings.TrimSpace(f)+"\n", "%d\n", &i); n != 1 || err != nil || i < 0 || len(out) == graph.MaxRank {
			return nil, usagef("--values %q: want an index for each axis, as in 100,2", text)
		}
		out = append(out, i)
	}
	return out, nil
}
