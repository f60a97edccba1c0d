package gorgonia

import (
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	G "gorgonia.org/gorgonia"
)

// family is a function of gorgonia's that is called with drawn shapes and settings.
type family struct {
	name string
	draw func(r *rand.Rand) (how string, o own)
}

// trials are the calls of each family.
const trials = 50

// drawn is the row of a family: how many of its calls give the value and the gradient of a
// weighted sum of it, and one that does not. Ours are held to difference quotients.
func (f family) drawn(t *testing.T) string {
	t.Helper()
	var value, gradient outcomes
	log.SetOutput(io.Discard) // where GroupNorm writes
	defer log.SetOutput(os.Stderr)
	r := rand.New(rand.NewPCG(3, 5))
	for range trials {
		how, o := f.draw(r)
		s := newSetting(o)
		y, first, _ := s.mine(t)
		if err := s.slope(t, first); err != nil {
			t.Errorf("%s, %s: %v", f.name, how, err)
		}
		value.add(how, s.judged(t, 0, y))
		gradient.add(how, s.judged(t, 1, first))
	}
	return fmt.Sprintf("| %s | %s | %s |\n", f.name, value, gradient)
}

// judged compares gorgonia's value (0), gradients (1) or second derivatives (2) with what is
// right. Wrong values and gradients are run on its TapeMachine, too, and are wrong there.
func (s setting) judged(t *testing.T, order int, want []float64) verdict {
	t.Helper()
	got, err := s.their(order)
	v := judge(got, err, slices.Clone(want))
	if v == refuses && !slices.ContainsFunc(want, func(w float64) bool { return w != 0 }) {
		return zero
	}
	if order > 1 || !strings.HasPrefix(string(v), "wrong") {
		return v
	}
	got, err = guard(func() ([]float64, error) { return s.onMachine(order) })
	if judge(got, err, slices.Clone(want)) == right {
		t.Errorf("%s %v: %s, but its machine is right", s.op, s.sizes, v)
	}
	return v
}

// onMachine gives gorgonia's value (0) or gradients (1) by its TapeMachine.
func (s setting) onMachine(order int) ([]float64, error) {
	h, err := s.build()
	if err != nil {
		return nil, err
	}
	of := G.Nodes{h.y}
	if order == 1 {
		if of, err = G.Grad(h.loss, h.x...); err != nil {
			return nil, err
		}
	}
	read := make([]G.Value, len(of))
	for i, n := range of {
		G.Read(n, &read[i])
	}
	vm := G.NewTapeMachine(h.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	var all []float64
	for _, v := range read {
		d, err := numbers(v)
		if err != nil {
			return nil, err
		}
		all = append(all, d...)
	}
	return all, nil
}

// outcomes counts what calls give.
type outcomes struct {
	of    map[string]int
	first string // of the calls that are not right, with how it was made
}

func (a *outcomes) add(how string, v verdict) {
	kind, _, _ := strings.Cut(string(v), ":")
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.of[kind]++
	if v != right && v != zero && a.first == "" {
		a.first = how + strings.TrimPrefix(string(v), kind)
	}
}

func (a outcomes) String() string {
	if a.of[string(right)]+a.of[string(zero)] == trials {
		if a.of[string(zero)] == trials {
			return string(zero)
		}
		return string(right)
	}
	var said []string
	for _, kind := range []verdict{"wrong", refuses, panics} {
		switch n := a.of[string(kind)]; n {
		case 0:
		case trials:
			said = append(said, fmt.Sprintf("%s in all", kind))
		default:
			said = append(said, fmt.Sprintf("%s in %d of %d", kind, n, trials))
		}
	}
	return fmt.Sprintf("%s, as %s", strings.Join(said, ", "), a.first)
}

// slope holds our gradient to a difference quotient of fourth order along one direction.
func (s setting) slope(t *testing.T, first []float64) error {
	t.Helper()
	const h = 1e-4
	moved := setting{own: s.own, data: make([][]float64, len(s.data))}
	at := func(step float64) float64 {
		for i := range s.data {
			moved.data[i] = slices.Clone(s.data[i])
			for k := range moved.data[i] {
				moved.data[i][k] += step * s.along[i][k]
			}
		}
		sum := 0.0
		for p, v := range moved.value(t) {
			sum += float64(s.weights[p] * v)
		}
		return sum
	}
	got, p := 0.0, 0
	for _, along := range s.along {
		for _, u := range along {
			got += float64(first[p] * u)
			p++
		}
	}
	want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
	if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
		return fmt.Errorf("our slope is %v, want %v", got, want)
	}
	return nil
}

// value is the function's by the reference.
func (s setting) value(t *testing.T) []float64 {
	t.Helper()
	g := graph.New(s.op)
	feed := graph.Values{}
	var x []*graph.Node
	for i, size := range s.sizes {
		x = append(x, g.Input(fmt.Sprint("x", i), graph.F64, graph.Dims(size...)...))
		feed[x[i]] = graph.Value{Type: x[i].Type(), Data: s.data[i]}
	}
	out, err := ref.Eval(trait.Env{}, feed, s.ours(x))
	if err != nil {
		t.Fatal(err)
	}
	return out[0].Data
}
