package tape_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestPhasesOfEveryModel compiles every registered model, in training and in evaluation, with every
// form of its programs checked, and holds their listings to be closed.
func TestPhasesOfEveryModel(t *testing.T) {
	ways := []struct {
		name    string
		options func(m *builders.Model, p *tape.Program) []tape.Option
	}{
		{"unfused", func(*builders.Model, *tape.Program) []tape.Option { return []tape.Option{tape.Unfused()} }},
		{"fine", func(*builders.Model, *tape.Program) []tape.Option { return []tape.Option{tape.Fine()} }},
		{"fast", func(*builders.Model, *tape.Program) []tape.Option { return []tape.Option{tape.FastMath()} }},
		{"watched", func(m *builders.Model, _ *tape.Program) (options []tape.Option) {
			for i, n := range graph.Reachable(m.Result()) {
				if i%3 == 1 && n.Role() == graph.RoleOp {
					options = append(options, tape.Watch(n))
				}
			}
			return options
		}},
		{"within a budget", func(_ *builders.Model, p *tape.Program) []tape.Option {
			return []tape.Option{tape.Budget(p.Arena() * 9 / 10)}
		}},
	}
	for i, b := range builders.All() {
		for _, eval := range []bool{false, true} {
			settings := builders.Settings{}
			if eval {
				settings, _ = b.Evaluated(settings)
			}
			m, err := b.Build(settings, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			options := []tape.Option{tape.Debug(nil), tape.Fetch(m.Result())}
			if !eval {
				options = append(options, tape.Do(descent(m)))
			}
			name := fmt.Sprintf("%s, evaluated %v", b.Name, eval)
			p := compile(t, m.Graph, options...)
			closed(t, name, p)
			way := ways[i%len(ways)]
			q, err := tape.Compile(m.Graph, append(options, way.options(m, p)...)...)
			if err == nil {
				closed(t, name+", "+way.name, q)
			} else if !strings.HasPrefix(err.Error(), "tape: budget of") {
				t.Errorf("%s, %s: %v", name, way.name, err)
			}
		}
	}
}

// descent is a step of gradient descent, and what the model updates by itself.
func descent(m *builders.Model) graph.Step {
	step := slices.Clone(m.Step)
	if m.Loss == nil || len(m.Step) > 0 && m.Centres() != nil {
		return step
	}
	params := m.Params()
	for i, d := range grad.Of(m.Loss, params...) {
		step = append(step, m.Graph.Assign(params[i], ops.Sub(params[i], ops.Scale(d, 0.01))))
	}
	return step
}

// view is an operation, with its attributes, around what it views.
var view = regexp.MustCompile(`^[A-Z]\w*(\{[^(]*\})?\((.*)\)$`)

// closed reports an operand that no row makes and that is no leaf, nor a view of one of these, and
// two results of different making that have one name.
func closed(t *testing.T, name string, p *tape.Program) {
	t.Helper()
	known, made := map[string]bool{}, map[string]tape.Row{}
	for _, n := range p.Graph().Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		known[n.Label()] = true
	}
	plain := func(s string, n *graph.Node) string { return strings.TrimSuffix(s, n.Shape().String()) }
	for _, r := range p.Rows() {
		label := plain(r.Result, r.Node)
		turned := func(r tape.Row) bool { return r.Op == "Turn" } // what a group has made, for others
		if o, has := made[label]; has && o.Node == r.Node && o.Op != r.Op && !turned(o) && !turned(r) {
			t.Errorf("%s: %s is the result of %s and of %s", name, r.Result, o.Op, r.Op)
		}
		known[label], made[label] = true, r
	}
	for i, r := range p.Rows() {
		for k, in := range r.In {
			base := plain(in, r.Of[k])
			for inner := view.FindStringSubmatch(base); inner != nil; inner = view.FindStringSubmatch(base) {
				base = inner[2]
			}
			if !known[base] && !strings.HasPrefix(base, "{") && !number.MatchString(base) {
				t.Errorf("%s: row %d reads %s, which comes from nowhere\n%v", name, i, in, p)
				return
			}
		}
		if r.Body != nil {
			closed(t, name+", a loop", r.Body)
		}
	}
}

var number = regexp.MustCompile(`^(-?[0-9.]+(e[-+][0-9]+)?|[-+]?Inf|NaN)$`)
