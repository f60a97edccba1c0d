package importer

import "github.com/tapestry-ml/tapestry/interop/onnx/internal/format"

// deepest is how many functions of a model may call each other, one in the other.
const deepest = 64

// function adds the nodes of a function of the model, in a scope of its name.
func (c *call) function(f *format.Function) []value {
	if c.calls == deepest {
		c.fail("functions call each other %d deep", deepest)
	}
	c.calls++
	defer func() { c.calls-- }()
	s := &names{values: map[string]value{}, opsets: c.names.opsets, attrs: map[string]*format.Attr{}}
	if len(f.Opsets) > 0 {
		s.opsets = f.Opsets
	}
	_, called := split(c.n.Name)
	if called == "" {
		called = cut(f.Name)
	}
	s.scope = within(within(c.names.scope, scopeOf(c.n)), called)
	for _, a := range c.n.Attrs {
		s.attrs[a.Name] = c.attr(a.Name)
	}
	for i, name := range f.Inputs {
		s.values[name] = value{kind: absent}
		if i < len(c.in) {
			s.values[name] = c.in[i]
		}
	}
	for _, n := range f.Nodes {
		c.node(n, s)
	}
	out := make([]value, len(f.Outputs))
	for i, name := range f.Outputs {
		v, ok := s.find(name)
		if !ok {
			c.fail("the function gives no %q", cut(name))
		}
		out[i] = v
	}
	return out
}
