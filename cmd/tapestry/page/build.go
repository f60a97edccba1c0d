package page

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Limits of a model.
const (
	maxNodes    = 50_000
	maxElements = 1 << 24 // of all its values together
	maxSetting  = 1 << 20
)

// build makes a model of the registry with settings that a stranger chose. The sizes
// that are larger than usual are doubled from their defaults on, and the model is
// built each time, so that one too large is known before it takes the memory.
func build(ctx context.Context, b builders.Builder, settings builders.Settings, dt graph.DType) (*builders.Model, error) {
	for _, z := range b.Sizes {
		if v := settings[z.Name]; z.Kind != builders.Real && v > maxSetting {
			return nil, failf(http.StatusRequestEntityTooLarge, "%s = %v is too large for the page: at most %d", z.Name, v, maxSetting)
		}
	}
	for factor := 1.0; ; factor *= 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now, whole := builders.Settings{}, true
		for name, v := range settings {
			now[name] = v
		}
		for _, z := range b.Sizes {
			most := max(1, z.Default) * factor
			if v, given := settings[z.Name]; given && (z.Kind == builders.Count || z.Kind == builders.Natural) && v > most {
				now[z.Name], whole = most, false
			}
		}
		m, err := b.Build(now, dt)
		switch {
		case err != nil && whole:
			return nil, badf("%w", err)
		case err != nil:
			continue // sizes on the way need not go together
		}
		if err := small(m.Graph.Nodes()); err != nil || whole {
			return m, err
		}
	}
}

// small complains about more nodes or elements than the page can show.
func small(nodes []*graph.Node) error {
	elements := 0
	for _, n := range nodes {
		elements += min(n.Shape().Len(), maxElements+1)
		if elements > maxElements {
			return failf(http.StatusRequestEntityTooLarge, "the model is too large for the page: its values have more than %d elements together", maxElements)
		}
	}
	if len(nodes) > maxNodes {
		return failf(http.StatusRequestEntityTooLarge, "the model is too large for the page: it has more than %d nodes", maxNodes)
	}
	return nil
}

// settingsOf reads the settings of a request: numbers, or the names of choices.
func settingsOf(b builders.Builder, given map[string]any) (builders.Settings, error) {
	out := builders.Settings{}
	for name, v := range given {
		switch v := v.(type) {
		case float64:
			out[name] = v
		case bool:
			out[name] = 0
			if v {
				out[name] = 1
			}
		case string:
			for _, z := range b.Sizes {
				if z.Name == name {
					x, err := z.Parse(v)
					if err != nil {
						return nil, badf("%w", err)
					}
					out[name] = x
				}
			}
			if _, known := out[name]; !known {
				return nil, badf("%s has no setting %q", b.Name, name)
			}
		default:
			return nil, badf("%s: want a number, got %s", name, fmt.Sprintf("%.40v", v))
		}
	}
	return out, nil
}
