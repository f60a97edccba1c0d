package onnx

import (
	"encoding/json"
	"fmt"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/importer"
)

// metadata is what a file written by this package says of itself.
type metadata struct {
	own          bool // written by this package
	output, loss string
	roles        importer.Roles
	draws        map[string]draw
	updates      map[string]string
	derivatives  map[string]derivative
}

// draw is an input that stands for a random draw.
type draw struct {
	Law    string
	Lo, Hi float64
}

type derivative struct{ Of, Loss string }

// metadataOf reads the metadata under the keys that begin with tapestry. A file without them is
// another's.
func metadataOf(m *format.Model) (metadata, error) {
	const version = "1"
	p := m.Metadata
	switch v, own := p["tapestry.format"]; {
	case !own:
		return metadata{}, nil
	case v != version:
		return metadata{}, fmt.Errorf("its metadata have the version %.20q: this program reads %s", v, version)
	}
	out := metadata{own: true, output: p["tapestry.output"], loss: p["tapestry.loss"], roles: importer.Roles{Stated: true}}
	for key, into := range map[string]any{
		"tapestry.params": &out.roles.Params, "tapestry.states": &out.roles.States, "tapestry.draws": &out.draws,
		"tapestry.updates": &out.updates, "tapestry.derivatives": &out.derivatives,
	} {
		if text := p[key]; text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return metadata{}, fmt.Errorf("metadata %s: %w", key, err)
			}
		}
	}
	return out, nil
}
