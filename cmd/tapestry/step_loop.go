package main

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// entered is a place inside a loop.
type entered struct {
	*inspect.Iteration
	at int
}

// look shows the present place.
func (m *stepper) look() error {
	if n := len(m.loops); n > 0 {
		return m.view.inside(m.loops[n-1].Iteration, m.loops[n-1].at)
	}
	if m.written {
		return m.view.asWritten(m.ctx, m.session, m.node)
	}
	return m.view.load(m.ctx, m.session)
}

// present returns the node at the present place.
func (m *stepper) present() *graph.Node {
	if n := len(m.loops); n > 0 {
		return m.loops[n-1].Rows()[m.loops[n-1].at].Node
	}
	if m.written {
		return m.session.Written()[m.node]
	}
	return m.session.Rows()[m.session.At()].Node
}

// iteration returns iteration k of the loop at the present place, at the given depth.
func (m *stepper) iteration(depth, k int) (*inspect.Iteration, error) {
	if depth == 0 {
		return m.session.Enter(m.ctx, m.session.At(), k)
	}
	outer := m.loops[depth-1]
	return outer.Enter(m.ctx, outer.at, k)
}

// goInside enters the loop at the present place.
func (m *stepper) goInside() {
	it, err := m.iteration(len(m.loops), 0)
	if err != nil {
		m.status = plainError(err)
		return
	}
	m.loops = append(m.loops, entered{it, 0})
	m.load()
}

// insideKey handles a key inside a loop; it returns false for other keys.
func (m *stepper) insideKey(name string) bool {
	in := &m.loops[len(m.loops)-1]
	switch name {
	case "right", "l", "down", "j", "n":
		if in.at+1 == in.Len() {
			m.goTo(in.Number+1, 0)
			return true
		}
		in.at++
	case "left", "h", "up", "k", "N":
		if in.at == 0 {
			m.goTo(in.Number-1, in.Len()-1)
			return true
		}
		in.at--
	case "home":
		in.at = 0
	case "end":
		in.at = in.Len() - 1
	case "t":
		m.goTo(in.Number+1, in.at)
	case "T":
		m.goTo(in.Number-1, in.at)
	case "esc":
		m.loops = m.loops[:len(m.loops)-1]
	case "g", "b", "B", "c", "C":
		m.status = "esc goes out of the loop first"
		return true
	default:
		return false
	}
	m.load()
	return true
}

// goTo goes to an instruction in another iteration of the loop.
func (m *stepper) goTo(iteration, at int) {
	in := &m.loops[len(m.loops)-1]
	if iteration < 0 || iteration >= in.Of {
		m.status = fmt.Sprintf("the loop has iterations 0 to %d; esc goes out", in.Of-1)
		return
	}
	it, err := m.iteration(len(m.loops)-1, iteration)
	if err != nil {
		m.status = plainError(err)
		return
	}
	*in = entered{it, at}
	m.load()
}
