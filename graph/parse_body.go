package graph

import (
	"fmt"
	"strconv"
)

// parseBody returns the parser for the body that begins.
func (p *parser) parseBody(t *tokens) (*parser, error) {
	next := len(p.g.bodies) + 1
	id, err := strconv.Atoi(t.next())
	switch {
	case err != nil || id != next || len(p.g.nodes) > 0:
		return p, fmt.Errorf("body: want number %d, before the nodes", next)
	case p.depth == maxParsedDeep:
		return p, fmt.Errorf("body: more than %d within each other", maxParsedDeep)
	}
	return &parser{ops: p.ops, outer: p, depth: p.depth + 1}, t.end()
}

// parseEnd adds the body, which has been read, to the graph around it.
func (p *parser) parseEnd() error {
	b := &Body{graph: p.g, in: p.in, out: p.out}
	if err := p.finish(); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	b.form = b.content()
	if id := p.outer.g.held(b); id != 0 {
		return fmt.Errorf("body: equals body %d", id)
	}
	p.outer.g.AddBody(b)
	return nil
}

// parseList reads a list of nodes: a body's inputs or results.
func (p *parser) parseList(t *tokens) (list []*Node, err error) {
	for s := t.next(); s != ""; s = t.next() {
		n, err := p.node(s)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}
