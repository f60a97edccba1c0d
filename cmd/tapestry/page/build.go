package page

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// maxSetting is the largest size that a model can be given.
const maxSetting = 1 << 20

// build makes a model of the registry with untrusted settings. It doubles sizes above their
// defaults step by step and builds the model each time, so that it finds a model too large before
// that takes the memory.
func build(ctx context.Context, b builders.Builder, settings builders.Settings, dt graph.DType) (*builders.Model, error) {
	for _, z := range b.Hyperparameters {
		if v := settings[z.Name]; z.Kind != builders.Real && v > maxSetting {
			return nil, failf(tooLarge, "%s = %v is too large for the page: at most %d", z.Name, v, maxSetting)
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
		for _, z := range b.Hyperparameters {
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
			continue // intermediate sizes need not be consistent
		}
		if _, err := costOf(m); err != nil || whole {
			return m, err
		}
	}
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
			for _, z := range b.Hyperparameters {
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
