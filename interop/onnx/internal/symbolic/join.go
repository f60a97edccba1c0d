package symbolic

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// At is a model as it is written at a size.
type At struct {
	Size  int
	Model *format.Model
}

// Join returns one model of those at four or more different sizes, in which the size is called symbol.
// It takes the first model apart.
func Join(symbol string, models []At) (*format.Model, error) {
	if len(models) < 4 {
		return nil, fmt.Errorf("%s: the model is given at %d sizes: want four or more", symbol, len(models))
	}
	j := &join{symbol: symbol, computed: map[string]string{}, taken: map[string]bool{}, used: map[string]bool{}}
	var graphs []*format.Graph
	for _, m := range models {
		if slices.Contains(j.sizes, m.Size) {
			return nil, fmt.Errorf("%s: the model is given twice at %d", symbol, m.Size)
		}
		j.sizes = append(j.sizes, m.Size)
		j.constants = append(j.constants, map[string]*format.Tensor{})
		j.names = append(j.names, map[string]string{})
		graphs = append(graphs, m.Model.Graph)
	}
	first := models[0].Model
	j.reserve(first.Graph)
	j.graph = first.Graph
	if err := j.values("input", inputs(graphs), true); err != nil {
		return nil, err
	}
	if err := j.weights(graphs); err != nil {
		return nil, err
	}
	j.chooseAxis(inputs(graphs))
	if err := j.walk(graphs); err != nil {
		return nil, err
	}
	if err := j.values("output", outputs(graphs), false); err != nil {
		return nil, err
	}
	if len(j.problems) > 0 {
		return nil, errors.New(strings.Join(j.problems, "\n"))
	}
	g := first.Graph
	g.Nodes = append(j.head, g.Nodes...)
	g.Init = append(slices.DeleteFunc(g.Init, func(t *format.Tensor) bool { return j.constants[0][t.Name] != nil && !j.used[t.Name] }), j.inits...)
	g.Infos = nil // of values whose sizes may have been numbers
	return first, nil
}

type join struct {
	symbol    string
	sizes     []int
	graph     *format.Graph               // the first one
	constants []map[string]*format.Tensor // of each model, by name; not those of its parameters
	names     []map[string]string         // what the values of each model are called in the first
	taken     map[string]bool             // names
	used      map[string]bool             // constants of the first that stay

	axis     *axis             // where the size is read; nil for nowhere
	size     string            // the value with it, once it is needed
	computed map[string]string // what stands for constants that differ, by their names in all models
	head     []*format.Node    // computes them
	inits    []*format.Tensor
	problems []string
}

// axis is an axis of an input whose size is scale·N + shift.
type axis struct {
	input        string
	place        int
	scale, shift int64
}

func inputs(graphs []*format.Graph) (lists [][]*format.Value) {
	for _, g := range graphs {
		lists = append(lists, g.Inputs)
	}
	return lists
}

func outputs(graphs []*format.Graph) (lists [][]*format.Value) {
	for _, g := range graphs {
		lists = append(lists, g.Outputs)
	}
	return lists
}

// reserve notes all names of a graph and of the graphs in it.
func (j *join) reserve(g *format.Graph) {
	for _, v := range g.Inputs {
		j.taken[v.Name] = true
	}
	for _, t := range g.Init {
		j.taken[t.Name] = true
	}
	for _, n := range g.Nodes {
		j.taken[n.Name] = true
		for _, out := range n.Outputs {
			j.taken[out] = true
		}
		for _, a := range n.Attrs {
			if a.Graph != nil {
				j.reserve(a.Graph)
			}
		}
	}
}

// name returns a free name below the symbol's.
func (j *join) name(what string) string {
	name := j.symbol + "/" + what
	for i := 2; j.taken[name]; i++ {
		name = fmt.Sprintf("%s/%s_%d", j.symbol, what, i)
	}
	j.taken[name] = true
	return name
}

func (j *join) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %s", j.symbol, fmt.Sprintf(format, args...))
}

// values makes sizes of inputs or outputs symbolic. Where they define names, these are matched.
func (j *join) values(what string, lists [][]*format.Value, define bool) error {
	for k, list := range lists {
		if len(list) != len(lists[0]) {
			return j.errorf("at %d there are %d %ss, at %d %d", j.sizes[0], len(lists[0]), what, j.sizes[k], len(list))
		}
	}
	for i, v := range lists[0] {
		same := make([]*format.Value, len(lists))
		for k, list := range lists {
			w := list[i]
			same[k] = w
			if define {
				j.names[k][w.Name] = v.Name
			}
			if (v.Type == nil) != (w.Type == nil) || v.Type != nil && (v.Type.Elem != w.Type.Elem || len(v.Type.Dims) != len(w.Type.Dims)) {
				return j.errorf("%s %v at %d is %v at %d", what, v, j.sizes[0], w, j.sizes[k])
			}
		}
		if v.Type == nil {
			continue
		}
		for place := range v.Type.Dims {
			p, ok := whole(j.sizes, sizesOf(same, place))
			switch {
			case !ok:
				return j.errorf("axis %d of %s %s has the sizes %v: want a function of %s", place, what, v.Name, sizesOf(same, place), j.symbol)
			case !p.constant():
				v.Type.Dims[place] = format.Dim{Size: -1, Symbol: p.in(j.symbol), Denotation: v.Type.Dims[place].Denotation}
			}
		}
	}
	return nil
}

func sizesOf(values []*format.Value, place int) []int64 {
	out := make([]int64, len(values))
	for k, v := range values {
		out[k] = v.Type.Dims[place].Size
	}
	return out
}

// chooseAxis finds where the size is read: from the first axis of that size; otherwise of one that it
// follows from. It is called after values have become symbolic in the first model.
func (j *join) chooseAxis(lists [][]*format.Value) {
	for i, v := range lists[0] {
		for place, d := range v.Type.Dims {
			if d.Symbol == "" {
				continue
			}
			n := make([]int64, len(lists))
			for k, list := range lists {
				if n[k] = list[i].Type.Dims[place].Size; k == 0 { // the first is symbolic already
					n[k] = int64(j.sizes[0])
				}
			}
			a := &axis{input: v.Name, place: place}
			switch {
			case d.Symbol == j.symbol:
				a.scale = 1
			default:
				// Of the others, two suffice: the first axis has been found to be a polynomial.
				n1, n2 := int64(j.sizes[1]), int64(j.sizes[2])
				a.scale = (n[2] - n[1]) / (n2 - n1)
				a.shift = n[1] - a.scale*n1
				if p := (polynomial{b: a.scale, c: a.shift, over: 1}); a.scale < 1 || p.in(j.symbol) != d.Symbol {
					continue
				}
			}
			if j.axis == nil || a.scale == 1 && a.shift == 0 && (j.axis.scale != 1 || j.axis.shift != 0) {
				j.axis = a
			}
		}
	}
}

// weights takes the initialisers that are parameters, states or defaults of inputs for what they are,
// by name, and notes the others.
func (j *join) weights(graphs []*format.Graph) error {
	all := map[string][]*format.Tensor{}
	for k, g := range graphs {
		for _, t := range g.Init {
			j.constants[k][t.Name] = t
			if !strings.HasPrefix(t.Name, constantPrefix) {
				all[t.Name] = append(all[t.Name], t)
			}
		}
	}
	for _, t := range graphs[0].Init {
		list := all[t.Name]
		if list == nil {
			continue
		}
		for k, w := range list {
			if !slices.Equal(w.Dims, t.Dims) || w.Type != t.Type {
				return j.errorf("%s is %v%v at %d and %v%v at %d: what is learnt cannot depend on %s", t.Name, t.Type, t.Dims, j.sizes[0], w.Type, w.Dims, j.sizes[k], j.symbol)
			}
		}
		if len(list) != len(graphs) {
			return j.errorf("%s is not in the models of all sizes", t.Name)
		}
		for k := range graphs {
			delete(j.constants[k], t.Name)
			j.names[k][t.Name] = t.Name
			delete(all, t.Name)
		}
	}
	for name := range all {
		return j.errorf("%s is not in the models of all sizes", name)
	}
	return nil
}

// constantPrefix begins the names of initialisers that are neither parameters nor states nor defaults.
const constantPrefix = "const/"

// walk goes through the nodes of all graphs at once.
func (j *join) walk(graphs []*format.Graph) error {
	first := graphs[0]
	for k, g := range graphs {
		for i, n := range first.Nodes {
			if i >= len(g.Nodes) || g.Nodes[i].Op != n.Op || g.Nodes[i].Domain != n.Domain || len(g.Nodes[i].Inputs) != len(n.Inputs) || len(g.Nodes[i].Outputs) != len(n.Outputs) {
				other := "nothing"
				if i < len(g.Nodes) {
					other = g.Nodes[i].Name + " (" + g.Nodes[i].Op + ")"
				}
				return j.errorf("the model is built otherwise at other sizes: %s (%s) at %d stands where %s stands at %d", n.Name, n.Op, j.sizes[0], other, j.sizes[k])
			}
		}
		if len(g.Nodes) > len(first.Nodes) {
			return j.errorf("the model is built otherwise at other sizes: %s at %d is not there at %d", g.Nodes[len(first.Nodes)].Name, j.sizes[k], j.sizes[0])
		}
	}
	nodes := make([]*format.Node, len(graphs))
	for i := range first.Nodes {
		for k, g := range graphs {
			nodes[k] = g.Nodes[i]
		}
		if err := j.node(nodes); err != nil {
			return err
		}
	}
	return nil
}

// node matches one node of all models.
func (j *join) node(nodes []*format.Node) error {
	n := nodes[0]
	for i := range n.Inputs {
		name, err := j.operand(nodes, i)
		if err != nil {
			return err
		}
		n.Inputs[i] = name
	}
	if err := j.attributes(nodes); err != nil {
		return err
	}
	for k, m := range nodes {
		for i, out := range m.Outputs {
			j.names[k][out] = n.Outputs[i]
		}
	}
	return nil
}

// operand returns what operand i of a node is called.
func (j *join) operand(nodes []*format.Node, i int) (string, error) {
	names := make([]string, len(nodes))
	constants := make([]*format.Tensor, len(nodes))
	of := 0
	for k, n := range nodes {
		names[k] = n.Inputs[i]
		if constants[k] = j.constants[k][names[k]]; constants[k] != nil {
			of++
		}
	}
	switch of {
	case 0:
		for k, name := range names {
			if want := names[0]; name != "" && j.names[k][name] != want || name == "" && want != "" {
				return "", j.errorf("the model is built otherwise at other sizes: operand %d of %s (%s) is %s at %d and %s at %d", i, nodes[0].Name, nodes[0].Op, names[0], j.sizes[0], name, j.sizes[k])
			}
		}
		return names[0], nil
	case len(nodes):
		return j.constant(names, constants, nodes[0], i)
	}
	return "", j.errorf("the model is built otherwise at other sizes: operand %d of %s (%s) is a constant at some sizes only", i, nodes[0].Name, nodes[0].Op)
}

// constant returns the name of what stands for a constant.
func (j *join) constant(names []string, t []*format.Tensor, reader *format.Node, i int) (string, error) {
	key := strings.Join(names, "\x00")
	if name, ok := j.computed[key]; ok {
		return name, nil
	}
	same := true
	for _, w := range t {
		if w.Type != t[0].Type {
			return "", j.errorf("operand %d of %s (%s) has elements of %v at some sizes and %v at others", i, reader.Name, reader.Op, t[0].Type, w.Type)
		}
		if w == t[0] {
			continue
		}
		equal := slices.Equal(w.Dims, t[0].Dims)
		if equal {
			a, err := t[0].Raw.Read()
			if err != nil {
				return "", err
			}
			b, err := w.Raw.Read()
			if err != nil {
				return "", err
			}
			equal = bytes.Equal(a, b)
		}
		same = same && equal
	}
	name := names[0]
	if same {
		j.used[name] = true
	} else {
		if reader.Op == "Reshape" && i == 1 {
			if free, ok, err := j.inferred(t); err != nil || ok {
				return free, err // not for others that read the constant
			}
		}
		var err error
		if name, err = j.compute(t); err != nil {
			j.problems = append(j.problems, j.errorf("operand %d of %s (%s) cannot be computed from %s: %v", i, reader.Name, reader.Op, j.symbol, err).Error())
		}
	}
	j.computed[key] = name
	return name, nil
}

// attributes matches the attributes of a node, and walks through its graphs.
func (j *join) attributes(nodes []*format.Node) error {
	n := nodes[0]
	var dropped []string
	for _, a := range n.Attrs {
		var bodies []*format.Graph
		for k, m := range nodes {
			b := m.Attr(a.Name)
			if b == nil || len(m.Attrs) != len(n.Attrs) || b.Type != a.Type {
				return j.errorf("the model is built otherwise at other sizes: %s (%s) has other attributes at %d and %d", n.Name, n.Op, j.sizes[0], j.sizes[k])
			}
			if a.Graph != nil {
				bodies = append(bodies, b.Graph)
				continue
			}
			if equal, err := equalAttrs(a, b); err != nil {
				return err
			} else if equal {
				continue
			}
			if a.Name == "kernel_shape" && strings.HasPrefix(n.Op, "Conv") {
				dropped = append(dropped, a.Name) // it is that of the kernel
				continue
			}
			j.problems = append(j.problems, j.errorf("attribute %s of %s (%s) differs at %d and %d, and ONNX cannot compute attributes", a.Name, n.Name, n.Op, j.sizes[0], j.sizes[k]).Error())
			break
		}
		if bodies == nil {
			continue
		}
		if err := j.values("input of "+n.Name+",", inputs(bodies), true); err != nil {
			return err
		}
		for k, g := range bodies {
			for _, t := range g.Init {
				j.constants[k][t.Name] = t
				if k == 0 {
					j.used[t.Name] = true // it is not at the top, where what is unused goes
				}
			}
		}
		if err := j.walk(bodies); err != nil {
			return err
		}
		if err := j.values("output of "+n.Name+",", outputs(bodies), false); err != nil {
			return err
		}
		bodies[0].Infos = nil
		for k, g := range bodies {
			for i, out := range g.Outputs {
				if j.names[k][out.Name] != bodies[0].Outputs[i].Name {
					return j.errorf("the model is built otherwise at other sizes: output %d of a graph of %s (%s)", i, n.Name, n.Op)
				}
			}
		}
	}
	n.Attrs = slices.DeleteFunc(n.Attrs, func(a *format.Attr) bool { return slices.Contains(dropped, a.Name) })
	return nil
}

func equalAttrs(a, b *format.Attr) (bool, error) {
	if a.Tensor != nil {
		if a.Tensor.Type != b.Tensor.Type || !slices.Equal(a.Tensor.Dims, b.Tensor.Dims) {
			return false, nil
		}
		x, err := a.Tensor.Raw.Read()
		if err != nil {
			return false, err
		}
		y, err := b.Tensor.Raw.Read()
		return bytes.Equal(x, y), err
	}
	return a.Float == b.Float && a.Int == b.Int && a.String == b.String && slices.Equal(a.Floats, b.Floats) &&
		slices.Equal(a.Ints, b.Ints) && slices.Equal(a.Strings, b.Strings), nil
}
