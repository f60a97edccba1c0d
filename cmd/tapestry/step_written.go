package main

import (
	"fmt"
	"slices"
)

// toWritten shows the model as written, at the node that the instruction belongs to.
func (m *stepper) toWritten() {
	m.written = true
	nodes := m.session.Written()
	n, gradient := m.session.Owner(m.session.At())
	if at := slices.Index(nodes, n); at >= 0 {
		m.node = at
	}
	if ins := m.view.ins; gradient && ins.Owner.Gradient != nil {
		if at := slices.Index(nodes, ins.Owner.Gradient); at >= 0 {
			m.node = at
		}
	}
	m.load()
}

// toProgram shows the program again, at the first instruction of the node.
func (m *stepper) toProgram() {
	m.written = false
	if at := m.session.Instructions(m.session.Written()[m.node], false); len(at) > 0 {
		_ = m.session.Seek(at[0]) // it exists
	}
	m.load()
}

// writtenKey handles a key while the model is shown as written; it returns false for other keys.
func (m *stepper) writtenKey(name string) bool {
	last := len(m.session.Written()) - 1
	switch name {
	case "right", "l", "down", "j", "n":
		if m.node == last {
			m.status = "this is the last node: t trains a step"
			return true
		}
		m.node++
	case "left", "h", "up", "k", "N":
		if m.node == 0 {
			m.status = "this is the first node"
			return true
		}
		m.node--
	case "home":
		m.node = 0
	case "end":
		m.node = last
	case "u", "esc":
		m.toProgram()
		return true
	case "g", "b", "B", "c", "C", "enter":
		m.status = fmt.Sprintf("%s is of the program: u goes back to it", name)
		return true
	default:
		return false
	}
	m.load()
	return true
}
