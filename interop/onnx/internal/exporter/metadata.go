package exporter

import (
	"encoding/json"

	"github.com/tapestry-ml/tapestry/graph"
)

// The keys of a model's metadata, by which a reader finds what the graph alone does not say.
const (
	KeyFormat      = "tapestry.format"      // the version of these keys: 1
	KeyGraph       = "tapestry.graph"       // the name of the graph
	KeyDType       = "tapestry.dtype"       // its float type: f32
	KeyOutput      = "tapestry.output"      // the name of the model's output
	KeyLoss        = "tapestry.loss"        // the name of the loss
	KeyParams      = "tapestry.params"      // a record for each parameter, by the name of its initialiser
	KeyStates      = "tapestry.states"      // the same of states
	KeyDraws       = "tapestry.draws"       // the law of each input that stands for random numbers
	KeyUpdates     = "tapestry.updates"     // from a parameter or state to the output that is its next value
	KeyDerivatives = "tapestry.derivatives" // which outputs are derivatives, and by what
)

// record says of a parameter or state what its initialiser does not.
type record struct {
	Init string   `json:"init,omitempty"`
	Axes []string `json:"axes,omitempty"`
}

func leafRecord(n *graph.Node) record {
	r := record{Init: n.Initialiser().String()}
	named := false
	for _, a := range n.Shape().Axes() {
		r.Axes = append(r.Axes, a.Name)
		named = named || a.Name != ""
	}
	if !named {
		r.Axes = nil
	}
	return r
}

// draw is the law of an input that stands for random numbers.
type draw struct {
	Law string  `json:"law"`
	Lo  float64 `json:"lo,omitempty"`
	Hi  float64 `json:"hi,omitempty"`
	Key string  `json:"key"`
	// Times is how many of the first axes are times of loops, the outermost first.
	Times int `json:"times,omitempty"`
}

type derivative struct {
	Of   string `json:"of"`
	Loss string `json:"loss,omitempty"`
}

func (b *builder) metadata(g *graph.Graph, names []string) map[string]string {
	m := map[string]string{KeyFormat: "1", KeyDType: b.floats(g).String()}
	put := func(key string, length int, v any) {
		if length == 0 {
			return
		}
		if text, err := json.Marshal(v); err == nil {
			m[key] = string(text)
		}
	}
	if g.Name() != "" {
		m[KeyGraph] = g.Name()
	}
	nameOf := map[*graph.Node]string{}
	for i, o := range b.Outputs {
		if nameOf[o.Node] == "" {
			nameOf[o.Node] = names[i]
		}
		switch o.Role {
		case RoleOutput:
			m[KeyOutput] = names[i]
		case RoleLoss:
			m[KeyLoss] = names[i]
		}
	}
	derivatives, updates := map[string]derivative{}, map[string]string{}
	for i, o := range b.Outputs {
		if of, loss := o.Node.AdjointOf(); of != nil {
			derivatives[names[i]] = derivative{called(nameOf, of), called(nameOf, loss)}
		}
	}
	for i, u := range b.Updates {
		updates[u.Target.Path()] = names[len(b.Outputs)+i]
	}
	put(KeyParams, len(b.params), b.params)
	put(KeyStates, len(b.states), b.states)
	put(KeyDraws, len(b.draws), b.draws)
	put(KeyUpdates, len(updates), updates)
	put(KeyDerivatives, len(derivatives), derivatives)
	return m
}

// called returns the name of a leaf or of an output, and that of another node as the user has it.
func called(nameOf map[*graph.Node]string, n *graph.Node) string {
	for _, name := range []string{nameOf[n], n.Path(), n.Name()} {
		if name != "" {
			return name
		}
	}
	return ""
}

// floats returns the float type of the model: that of its loss, otherwise of the first output that has
// one.
func (b *builder) floats(g *graph.Graph) graph.DType {
	dt := graph.InvalidDType
	for _, o := range b.Outputs {
		if t := o.Node.DType(); t.IsFloat() && (o.Role == RoleLoss || !dt.IsFloat()) {
			dt = t
		}
	}
	if dt.IsFloat() {
		return dt
	}
	return g.DType()
}
