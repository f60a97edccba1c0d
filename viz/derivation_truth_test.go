package viz

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand"
	randv2 "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/subscript"
	"github.com/tapestry-ml/tapestry/ops"
)

// checkDerivation evaluates every equation of a derivation with the values that the definitions
// give, and reports how many it could read. It skips equations of matrices without indices and
// functions that the reader lacks.
func checkDerivation(t *testing.T, d Derivation, feed graph.Values) (read, all int) {
	t.Helper()
	eqs := slices.Clone(d.Given)
	for _, s := range d.Steps {
		eqs = append(eqs, s.Equation)
	}
	eqs = append(eqs, d.Closed...)
	called := map[string]*graph.Node{}
	var nodes []*graph.Node
	for _, e := range eqs {
		if nodes = append(nodes, e.Node); e.Node.Graph() != eqs[0].Node.Graph() {
			nodes = nodes[:len(nodes)-1]
		}
	}
	rows := traces(t, nodes, feed)
	for n, name := range nameAll(withForward(graph.Reachable(nodes...))) {
		called[name] = n
	}
	for _, e := range eqs {
		if e.Node.Graph() != nodes[0].Graph() {
			continue
		}
		if n, ok := called[e.Left.Text]; ok && n != e.Node {
			t.Errorf("two quantities are called %s: %v and %v", e.Left.Text, n, e.Node)
		}
		called[e.Left.Text] = e.Node
	}
	values := graph.Values{}
	var list []*graph.Node
	for _, n := range called {
		list = append(list, n)
	}
	computed, err := ref.Eval(trait.Env{}, feed, list...)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range list {
		values[n] = computed[i]
	}
	for _, e := range eqs {
		all++
		if checkEquation(t, e, called, values, rows) {
			read++
		}
	}
	return read, all
}

func checkEquation(t *testing.T, e Equation, called map[string]*graph.Node, values graph.Values, rows map[string]quantity) (read bool) {
	t.Helper()
	axes := longAxes(e.Node)
	trace, inStep := rows[e.Left.Text]
	if !inStep && len(axes) != len(e.Left.Subs) || slices.ContainsFunc(e.Left.Subs, func(s string) bool { return len(subscript.Names(s)) != 1 }) {
		return false
	}
	r := &reader{quantity: map[string]quantity{}, size: map[string]int{}, index: map[string]int{}}
	for name, n := range called {
		r.quantity[name] = quantity{node: n, value: values[n]}
	}
	defer func() {
		if p := recover(); p != nil {
			text := fmt.Sprint(p)
			symbol, foreign := strings.CutPrefix(text, "unknown symbol ")
			if !strings.HasPrefix(text, "cannot read") && !(foreign && len(rows) > 0 && strings.Contains(symbol, "t")) && !strings.HasPrefix(text, "unknown symbol []") {
				t.Errorf("%v: %v", e, p)
			}
			read = false
		}
	}()
	for name, q := range rows {
		r.quantity[name] = q
	}
	if inStep {
		return readStep(t, r, e, trace)
	}
	if _, known := values[e.Node]; !known {
		return false
	}
	for i, s := range e.Left.Subs {
		r.size[s] = axes[i].Size
	}
	return readTrue(t, r, e.Node, e.Right, values[e.Node], e.Left.Subs, r.size)
}

// traces has the values that loops carry and return, by name.
func traces(t *testing.T, nodes []*graph.Node, feed graph.Values) map[string]quantity {
	t.Helper()
	u := newUnfolder(nodes, true)
	out := map[string]quantity{}
	for _, l := range u.loops {
		v, err := ref.Eval(trait.Env{}, feed, l.node)
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range l.Parts(l.body)[:l.Carries] {
			n := l.body.Out()[k]
			q := quantity{first: -l.shift, trace: true}
			q.node = graph.New("").Input("trace", graph.F64, append(graph.Dims(p.Rows), n.Shape().Axes()...)...)
			q.value = graph.Value{Type: q.node.Type(), Data: v[0].Data[p.At:][:p.Rows*p.Size]}
			out[u.names[n]] = q
		}
	}
	return out
}

// readStep reads the equation of a carry at every time, and of its beginning.
func readStep(t *testing.T, r *reader, e Equation, q quantity) bool {
	t.Helper()
	time := subscript.Names(e.Left.Subs[0])
	for step := range q.node.Dim(0) - 1 {
		for p := range e.Node.Shape().Len() {
			r.index = map[string]int{}
			if len(time) == 1 {
				r.index[time[0]], r.size[time[0]] = step, q.node.Dim(0)-1
			}
			rest, left := p, e.Left.Subs[1:]
			for i, a := range slices.Backward(longAxes(e.Node)) {
				r.index[left[i]], r.size[left[i]] = rest%a.Size, a.Size
				rest /= a.Size
			}
			if want, got := r.symbol(e.Left), r.eval(e.Right); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%v at %v is %v, want %v", e, r.index, got, want)
				return false
			}
		}
	}
	return true
}

// TestDerivationsAreTrue: every equation that a derivation shows holds for the numbers.
func TestDerivationsAreTrue(t *testing.T) {
	read, all := 0, 0
	for _, b := range builders.All() {
		if testing.Short() && !strings.HasPrefix(b.Name, "kmeans-") && !strings.HasPrefix(b.Name, "attention-") {
			continue
		}
		m, err := b.Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Params()) == 0 || len(m.Step) > 0 {
			continue
		}
		feed := graph.Values{}
		for n, v := range m.Examples(randv2.New(randv2.NewPCG(1, 2))) {
			feed[n] = v
		}
		rnd := rand.New(rand.NewSource(1))
		for _, p := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
			feed[p] = fill(rnd, p)
		}
		d, err := Derive(grad.OrZero(m.Loss, m.Params()[0])...)
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		t.Log(b.Name)
		wantWellFormed(t, d)
		r, n := checkDerivation(t, d, feed)
		read, all = read+r, all+n
	}
	t.Logf("%d of %d equations read", read, all)
	if read < all*3/4 {
		t.Errorf("only %d of %d equations can be read", read, all)
	}
}

// wantWellFormed checks that LaTeX's braces and environments are balanced, the HTML is XML, and
// no value is called by its number.
func wantWellFormed(t *testing.T, d Derivation) {
	t.Helper()
	tex := d.LaTeX()
	depth := 0
	for i := 0; i < len(tex); i++ {
		switch tex[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if left, right := strings.Count(tex, `\left`), strings.Count(tex, `\right`); depth != 0 || left-strings.Count(tex, `\leftarrow`) != right-strings.Count(tex, `\rightarrow`) ||
		strings.Count(strings.ReplaceAll(tex, `\$`, ""), "$")%2 != 0 {
		t.Errorf("not balanced:\n%s", tex)
	}
	for dec := xml.NewDecoder(strings.NewReader(d.HTML())); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Errorf("%v in\n%s", err, d.HTML())
			break
		}
	}
	if text := d.String(); strings.Contains(text, "%") {
		t.Errorf("a quantity without a name in\n%s", text)
	}
}

// TestRandomDerivationsAreTrue does the same for graphs that nobody wrote.
func TestRandomDerivationsAreTrue(t *testing.T) {
	read, all := 0, 0
	for seed := range 200 {
		rnd := rand.New(rand.NewSource(int64(seed)))
		g, pool := randomGraph(rnd)
		loss := ops.Sum(over(pool[len(pool)-1], []string{"i", "j", "d"}))
		feed := graph.Values{}
		var wrt []*graph.Node
		for _, l := range g.Leaves(graph.RoleParam) {
			feed[l] = fill(rnd, l)
			if loss.DependsOn(l) {
				wrt = append(wrt, l)
			}
		}
		if len(wrt) == 0 {
			continue
		}
		d, err := Derive(grad.Of(loss, wrt...)...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, n := checkDerivation(t, d, feed)
		read, all = read+r, all+n
		if t.Failed() {
			t.Fatalf("seed %d\n%v", seed, d)
		}
	}
	t.Logf("%d of %d equations read", read, all)
	if read < all/2 {
		t.Errorf("only %d of %d equations can be read", read, all)
	}
}

// TestEverySymbolIsDefined checks that values that a derivative uses and the loss does not, such
// as which centre is nearest, are defined, both step by step and in short.
func TestEverySymbolIsDefined(t *testing.T) {
	b, err := builders.Lookup("kmeans-lloyd")
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	d := grad.Of(m.Loss, m.Centres())[0]
	given, _, _ := Chain(d)
	derived, err := Derive(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, eqs := range [][]Equation{given, derived.Given} {
		var all []string
		for _, e := range eqs {
			all = append(all, e.String())
		}
		if !slices.Contains(all, "memberᵢⱼ = [j = aᵢ]") || !slices.Contains(all, "aᵢ = argminⱼ Dᵢⱼ") {
			t.Errorf("given: %q", all)
		}
	}
}
