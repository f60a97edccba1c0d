package gorgonia

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

var update = flag.Bool("update", false, "write docs/gorgonia.md anew")

const document = "../../docs/gorgonia.md"

const preface = `# Gorgonia as a second engine

Written by a test (` + "`go test ./interop/gorgonia -run TestDocument -update`" + `), which fails when it is out of date.

Package ` + "`interop/gorgonia`" + ` runs our graphs, derivatives included, on gorgonia's TapeMachine. The first table says of every
operation whether it can, and whether what comes out is the definition's (float64 to 1e-9, float32 to 1e-4, relative to the
largest element), in the value and in the derivative that our rules make of gorgonia's operations.

| operation | runs there | values | our gradient there | why not |
|---|---|---|---|---|
`

const between = `
The second table leaves gorgonia on its own: its function of that name on float64 arrays, differentiated by its own ` + "`Grad`" + `, of a
sum of the result's elements with fixed weights, then of that gradient's product with a fixed direction, and the latter again for
the elements' squares. *Wrong* shows the element that is farthest off and what it should be; *refuses* is an error, *panics* a
panic that a program has to recover from; *zero* marks what is 0 and refused. All of ours are right here: the same test
holds them to difference quotients.

| function | value | gradient | second derivative | second derivative of the squares |
|---|---|---|---|---|
`

const ways = `
The third table calls its functions in more ways, by axes, broadcasting and windows, and looks at values and gradients. Padding of
four elements is read as above, below, left and right, as the shape of the result has it.

| function | value | gradient |
|---|---|---|
`

const random = `
The fourth calls functions with 50 drawn shapes and settings each, sizes from 1 to 4 and images up to 6 × 6, and counts; what stands after
*as* is the first call that is not right. Ours are held to difference quotients in each.

| function | value | gradient |
|---|---|---|
`

const formulas = `
The fifth compares its solvers with the formulas of the optimisers of the same names in package ` + "`train`" + `, after three steps at one rate, β and
ε, which is large (0.5), so that its place shows.

| solver | ours | gorgonia's |
|---|---|---|
`

const closing = `
What to take from it: of its values and gradients, all of the above are right but these:

%s
Of second derivatives, none is right once a node is used twice. That is why our graphs are differentiated by us, on either engine.
`

// faults are the rows of tables whose value or gradient is not right, as a list.
func faults(rows string) string {
	var b strings.Builder
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, " | ")
		if len(cells) < 3 {
			continue
		}
		value, gradient := strings.TrimSuffix(cells[1], " |\n"), strings.TrimSuffix(cells[2], " |\n")
		bad := func(v string) bool { return v != string(right) && v != string(zero) }
		switch name := strings.TrimPrefix(cells[0], "| "); {
		case bad(value) && bad(gradient):
			fmt.Fprintf(&b, "* %s: value and gradient (%s; %s)\n", name, value, gradient)
		case bad(value):
			fmt.Fprintf(&b, "* %s: value (%s)\n", name, value)
		case bad(gradient):
			fmt.Fprintf(&b, "* %s: gradient (%s)\n", name, gradient)
		}
	}
	return b.String()
}

// TestDocument holds the tables to what gorgonia does.
func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(preface)
	for _, op := range ops.All() {
		b.WriteString(here(t, op))
	}
	b.WriteString(between)
	rows := ""
	for _, o := range owns() {
		a := onItsOwn(t, o)
		rows += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", o.op, a.value, a.first, a.second, a.square)
	}
	b.WriteString(rows)
	b.WriteString(ways)
	more := ""
	for _, o := range sweeps() {
		more += swept(t, o)
	}
	more += dropped(t)
	b.WriteString(more)
	b.WriteString(random)
	for _, f := range families() {
		row := f.drawn(t)
		b.WriteString(row)
		more += row
	}
	b.WriteString(formulas)
	for _, s := range solvers() {
		b.WriteString(solved(t, s))
	}
	fmt.Fprintf(&b, closing, faults(rows+more))
	if *update {
		if err := os.WriteFile(document, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	now, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "WRONG") {
		t.Error("what is translated must be right")
	}
	if string(now) != b.String() {
		t.Errorf("docs/gorgonia.md is out of date: run this test with -update. It should read:\n%s", b.String())
	}
}

// tally counts the outcomes of cases for each float type.
type tally map[graph.DType]map[verdict]int

func (a tally) add(dt graph.DType, v verdict) {
	if a[dt] == nil {
		a[dt] = map[verdict]int{}
	}
	a[dt][v]++
}

// here is an operation's row: its cases, and their derivatives, on gorgonia.
func here(t *testing.T, op ops.Op) string {
	t.Helper()
	values, gradients := tally{}, tally{}
	var why []string
	because := func(reason string) {
		if reason != "" && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	for i, c := range op.Cases() {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			g := graph.New("case")
			in := operands(t, g, c, dt)
			r := rand.New(rand.NewPCG(1, uint64(i)))
			feed := ref.Feed{}
			var wrt []*graph.Node
			for k, x := range in {
				feed[x] = draw(r, x.Type(), c.Operands[k].Domain)
				if x.DType().IsFloat() {
					wrt = append(wrt, x)
				}
			}
			y := c.Make(in)
			v, reason := agrees(t, feed, y)
			because(reason)
			values.add(dt, v)
			if !y.DType().IsFloat() || len(wrt) == 0 || v != right {
				continue
			}
			d := grad.OrZero(ops.Sum(ops.Square(y)), wrt...)
			v, reason = agrees(t, feed, d...)
			if reason != "" {
				because("in the gradient, " + reason)
			}
			gradients.add(dt, v)
		}
	}
	runs := map[string]string{"–": "no", "agree": "yes"}[values.words()]
	if runs == "" {
		runs = "in part"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", op.Name(), runs, values.words(), gradients.words(), strings.Join(why, "; "))
}

// words says for which types all cases agree, or how many.
func (a tally) words() string {
	var good []string
	some := 0
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for v, n := range a[dt] {
			if v != right && v != refuses {
				return fmt.Sprintf("%d WRONG in %v", n, dt)
			}
		}
		if n := a[dt][right]; n > 0 && a[dt][refuses] == 0 {
			good = append(good, dt.String())
		} else {
			some += n
		}
	}
	switch {
	case len(good) == 2:
		return "agree"
	case len(good) == 1:
		return "agree in " + good[0]
	case some > 0:
		return "agree where they run"
	}
	return "–"
}

// agrees runs nodes and compares; the reason is why they cannot be run.
func agrees(t *testing.T, feed ref.Feed, nodes ...*graph.Node) (v verdict, reason string) {
	t.Helper()
	if err := nodes[0].Graph().Err(); err != nil {
		t.Fatal(err)
	}
	got, err := evaluate(t, feed, nodes...)
	if u := new(Unsupported); errors.As(err, &u) {
		return refuses, u.Reason
	} else if err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(graph.Env{}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		if differs(got[i], want[i], tolerance(nodes[i].DType())) != "" {
			return "wrong", ""
		}
	}
	return right, ""
}
