package claim

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/notation"
)

// Checker checks claims. It keeps the models that it has built and trained; the zero Checker has
// none. It is for one goroutine.
type Checker struct {
	worlds map[string]*world
	tests  map[string][]test // of the module, by name
}

// Check returns nil if a claim holds, and otherwise an error that says what the model has instead.
func (c *Checker) Check(ctx context.Context, cl Claim) error {
	if cl.Kind == Tested {
		return c.tested(cl)
	}
	k := &checking{Checker: c, ctx: ctx, claim: cl, sizes: map[string]int{}, defined: map[string]bool{}}
	if err := k.run(); err != nil {
		return fmt.Errorf("%s\n    %w", cl.Text, err)
	}
	return nil
}

// world returns the model under the conditions.
func (c *Checker) world(ctx context.Context, under conditions) (*world, error) {
	key := under.key()
	if w := c.worlds[key]; w != nil {
		return w, nil
	}
	w, err := newWorld(ctx, under)
	if err != nil {
		return nil, err
	}
	if c.worlds == nil {
		c.worlds = map[string]*world{}
	}
	c.worlds[key] = w
	return w, nil
}

// checking is the check of one claim: a file in the notation, whose inputs are the quantities that
// the claim names.
type checking struct {
	*Checker
	ctx      context.Context
	claim    Claim
	sizes    map[string]int  // of the indices
	defined  map[string]bool // what the claim defines
	inputs   []input
	lines    []string
	verdicts []verdict
}

// input is a reference, an index or a number under the name that the file has for it.
type input struct {
	name   string
	ref    reference // without a node for the others
	index  string    // whose numbers it is; "" for none
	number float64
}

// indices are the indices of its axes.
func (in input) indices() []string {
	if in.index != "" {
		return []string{in.index}
	}
	return in.ref.indices()
}

// values returns its elements by index.
func (in input) values(sizes map[string]int) ([]float64, error) {
	switch {
	case in.ref.n != nil:
		return in.ref.values(sizes)
	case in.index == "":
		return []float64{in.number}, nil
	case sizes[in.index] == 0:
		return nil, fmt.Errorf("nothing says how large index %s is: it never stands alone", in.index)
	}
	out := make([]float64, sizes[in.index])
	for i := range out {
		out[i] = float64(i)
	}
	return out, nil
}

// verdict compares two quantities of the file.
type verdict struct {
	statement   string
	left, right string
	by          string      // a sign of comparisons, or =
	node        *graph.Node // of an equation: what the left side is, if it is one node
	indices     []string    // of an equation
}

// run reads the statements, evaluates their sides and compares them.
func (k *checking) run() error {
	main, err := k.world(k.ctx, k.claim.under)
	if err != nil {
		return err
	}
	for _, s := range k.claim.statements {
		if err := k.statement(main, s); err != nil {
			return err
		}
	}
	if len(k.verdicts) == 0 {
		return errors.New("nothing is claimed: only names are defined that the model does not have")
	}
	values, err := k.evaluate()
	if err != nil {
		return err
	}
	for _, v := range k.verdicts {
		if err := k.judge(v, values[v.left], values[v.right]); err != nil {
			return err
		}
	}
	return nil
}

// statement adds the lines of a statement.
func (k *checking) statement(w *world, s string) error {
	signs, sides := cut(s)
	if len(signs) == 0 {
		return fmt.Errorf("%q states nothing: want an equation or a comparison", s)
	}
	if slices.Equal(signs, []string{"="}) {
		return k.equation(w, s, sides[0], sides[1])
	}
	var names []string
	for _, side := range sides {
		text, _, err := k.expression(w, side)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("side_%d", len(k.lines))
		k.lines = append(k.lines, name+" = "+text)
		names = append(names, name)
	}
	for i, sign := range signs {
		k.verdicts = append(k.verdicts, verdict{statement: s, left: names[i], right: names[i+1], by: sign})
	}
	return nil
}

var definition = regexp.MustCompile(`^([\p{L}_][\p{L}\p{Mn}\d_]*)\s*(\[[^\]]*\])?$`)

// equation adds the lines of an equation, which is a definition if nothing has the name on its left
// yet.
func (k *checking) equation(w *world, s, left, right string) error {
	text, refs, err := k.expression(w, left)
	if err != nil {
		return err
	}
	if whole := len(refs) == 1 && text == k.inputs[refs[0]].name; !whole {
		m := definition.FindStringSubmatch(left)
		if m == nil || len(refs) > 0 {
			return fmt.Errorf("%q: the left side of an equation is one quantity; two expressions are compared by their difference: max(abs(a − b)) < 1e-9", s)
		}
		text, _, err := k.expression(w, right)
		if err != nil {
			return err
		}
		name := m[1]
		if !k.defined[name] {
			k.defined[name] = true
			k.lines = append(k.lines, fmt.Sprintf("%s%s = %s", name, m[2], text))
			return nil
		}
		claimed := fmt.Sprintf("claim_%d", len(k.lines))
		k.lines = append(k.lines, fmt.Sprintf("%s%s = %s", claimed, m[2], text))
		k.verdicts = append(k.verdicts, verdict{statement: s, left: name, right: claimed, by: "="})
		return nil
	}
	l := k.inputs[refs[0]]
	if l.ref.n == nil {
		return fmt.Errorf("%q: the left side is a number, which is compared by ==, ≈, < or >", s)
	}
	if l.ref.n.Role() != graph.RoleOp {
		return fmt.Errorf("%q: %v is no computed quantity", s, l.ref.n)
	}
	text, others, err := k.expression(w, right)
	if err != nil {
		return err
	}
	for _, i := range others {
		if r := k.inputs[i].ref; r.same(l.ref) {
			return fmt.Errorf("%q: both sides have %s", s, r.text)
		}
	}
	claimed := fmt.Sprintf("claim_%d", len(k.lines))
	indices := l.ref.indices()
	k.lines = append(k.lines, fmt.Sprintf("%s[%s] = %s", claimed, strings.Join(indices, ","), text))
	k.verdicts = append(k.verdicts, verdict{statement: s, left: l.name, right: claimed, by: "=", node: l.ref.n, indices: indices})
	return nil
}

// evaluate evaluates the file, and returns its quantities by name.
func (k *checking) evaluate() (map[string]graph.Value, error) {
	var text strings.Builder
	sized := map[string]bool{}
	data := map[string][]float64{}
	for _, in := range k.inputs {
		v, err := in.values(k.sizes)
		if err != nil {
			return nil, err
		}
		data[in.name] = v
		var axes []string
		for _, x := range in.indices() {
			if !sized[x] {
				sized[x] = true
				x = fmt.Sprintf("%s=%d", x, k.sizes[x])
			}
			axes = append(axes, x)
		}
		list := ""
		if len(axes) > 0 {
			list = "[" + strings.Join(axes, ", ") + "]"
		}
		if in.ref.n != nil && in.ref.n.DType().IsInt() {
			fmt.Fprintf(&text, "index %s%s ~ integers(%d)\n", in.name, list, 1+int(slices.Max(v)))
		} else {
			fmt.Fprintf(&text, "input %s%s\n", in.name, list)
		}
	}
	for _, l := range k.lines {
		text.WriteString(l + "\n")
	}
	f, err := notation.Parse("claim", strings.NewReader(text.String()))
	if err != nil {
		return nil, err
	}
	m, err := f.Build(nil, graph.F64)
	if err != nil {
		return nil, err
	}
	feed := graph.Values{}
	for name, v := range data {
		n := m.Graph.Lookup(name)
		feed[n] = graph.Value{Type: n.Type(), Data: v}
	}
	out := map[string]graph.Value{}
	for _, v := range k.verdicts {
		for _, name := range []string{v.left, v.right} {
			got, err := ref.Eval(trait.Env{Seed: seed}, feed, m.Graph.Lookup(name))
			if err != nil {
				return nil, err
			}
			out[name] = got[0]
		}
	}
	return out, nil
}
