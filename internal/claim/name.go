package claim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/greek"
)

// index finds what the model's quantities are called: each by its name with any number of the
// scopes before it.
func (w *world) index() {
	w.names, w.whole = map[string][]*graph.Node{}, map[string]*graph.Node{}
	for _, n := range w.m.Graph.Nodes() {
		if p := n.Path(); p != "" {
			w.call(n, p)
			w.call(n, greek.Spelled(p))
		}
		for _, o := range n.Occurrences() {
			if o.Name == "" || n.Path() != "" || n.IsBackward() {
				continue
			}
			for _, scope := range []string{o.Scope, n.First().Scope} { // where it is named, and where it is made
				w.call(n, strings.TrimPrefix(scope+"/"+o.Name, "/"))
				w.call(n, strings.TrimPrefix(scope+"/"+greek.Spelled(o.Name), "/"))
			}
		}
	}
	for name, n := range map[string]*graph.Node{"loss": w.m.Loss, "output": w.m.Output} {
		if n != nil {
			w.names[name], w.whole[name] = []*graph.Node{n}, n
		}
	}
}

// call enters a node under a name and its suffixes. A whole name wins over suffixes of others.
func (w *world) call(n *graph.Node, whole string) {
	if other, there := w.whole[whole]; there && other != n {
		w.whole[whole] = nil // two of this name
	} else {
		w.whole[whole] = n
	}
	for name := whole; ; {
		if !slices.Contains(w.names[name], n) {
			w.names[name] = append(w.names[name], n)
		}
		_, rest, more := strings.Cut(name, "/")
		if !more {
			return
		}
		name = rest
	}
}

// longest returns the longest name of a quantity that a text begins with; "" if there is none.
func (w *world) longest(text string) string {
	best := ""
	for name := range w.names {
		if len(name) > len(best) && strings.HasPrefix(text, name) && ends(name, text[len(name):]) {
			best = name
		}
	}
	return best
}

// ends reports whether a name may end before the rest of the text.
func ends(name, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(name)
	next, _ := utf8.DecodeRuneInString(rest)
	return !inName(last) || !inName(next) || next == '\'' || next == '′'
}

// inName reports whether a character may stand within a name.
func inName(r rune) bool {
	return r == '_' || r == '\'' || r == '′' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// node returns the quantity of a name.
func (w *world) node(name string) (*graph.Node, error) {
	if n := w.whole[name]; n != nil {
		return n, nil
	}
	switch found := w.names[name]; len(found) {
	case 0:
		return nil, fmt.Errorf("%s has no quantity %s", w.under.model, name)
	case 1:
		return found[0], nil
	default:
		var all []string
		for _, n := range found {
			all = append(all, w.longName(n))
		}
		slices.Sort(all)
		return nil, fmt.Errorf("%s is the name of several quantities of %s: %s", name, w.under.model, strings.Join(all, ", "))
	}
}

// longName returns the name of a node with its scopes.
func (w *world) longName(n *graph.Node) string {
	if p := n.Path(); p != "" {
		return p
	}
	return strings.TrimPrefix(n.First().Scope+"/"+n.Name(), "/")
}

// quantity reads a quantity that a text begins with: ∂loss/∂r, a name, or a leaf with a prime for
// its value after a step. It returns the number of bytes read, 0 if there is none.
func (w *world) quantity(text string) (n *graph.Node, read int, err error) {
	if rest, ok := strings.CutPrefix(text, "∂"); ok {
		of := w.longest(rest)
		below, slash := strings.CutPrefix(rest[len(of):], "/∂")
		by := w.longest(below)
		if of == "" || !slash || by == "" {
			return nil, 0, fmt.Errorf("%s: want ∂A/∂B of two quantities of %s", text, w.under.model)
		}
		a, errA := w.node(of)
		b, errB := w.node(by)
		if err := cmp.Or(errA, errB); err != nil {
			return nil, 0, err
		}
		d, err := w.derivative(a, b)
		return d, len(text) - len(below) + len(by), err
	}
	name := w.longest(text)
	if name == "" || strings.HasPrefix(text[len(name):], "(") {
		return nil, 0, nil // none, or a function that is called as a quantity is
	}
	read = len(name)
	if n, err = w.node(name); err != nil {
		return nil, 0, err
	}
	for _, prime := range []string{"'", "′"} {
		if strings.HasPrefix(text[read:], prime) {
			n, err = w.next(n)
			return n, read + len(prime), err
		}
	}
	return n, read, nil
}

// derivative returns the node of ∂a/∂b.
func (w *world) derivative(a, b *graph.Node) (*graph.Node, error) {
	if a.Rank() != 0 {
		return nil, fmt.Errorf("%v is no number: only numbers have a derivative here", a)
	}
	d := grad.Of(a, b)[0]
	if err := w.m.Graph.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// next returns the value of a leaf after a step.
func (w *world) next(leaf *graph.Node) (*graph.Node, error) {
	for _, u := range w.step {
		if u.Target == leaf {
			return u.Value, nil
		}
	}
	return nil, fmt.Errorf("no step of %s changes %v: say by OPTIMISER(RATE)", w.under.model, leaf)
}
