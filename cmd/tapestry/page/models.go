package page

import (
	"github.com/tapestry-ml/tapestry/builders"
)

// familyView lists the models of a topic.
type familyView struct {
	Family string      `json:"family"`
	Models []modelView `json:"models"`
}

type modelView struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Formula  string        `json:"formula"`
	Notes    string        `json:"notes"`
	Settings []settingView `json:"settings"`
}

type settingView struct {
	Name    string   `json:"name"`
	Default float64  `json:"default"`
	Doc     string   `json:"doc"`
	Kind    string   `json:"kind"`
	Choices []string `json:"choices,omitempty"`
}

func (s *Service) models(*request) (any, error) {
	out := []familyView{}
	for _, f := range s.options.Families {
		v := familyView{Family: f.Name, Models: []modelView{}}
		for _, b := range f.Builders {
			m := modelView{b.Name, b.Title, b.Formula, b.Notes, []settingView{}}
			for _, z := range b.Hyperparameters {
				m.Settings = append(m.Settings, settingView{z.Name, z.Default, z.Doc, z.Kind.String(), z.Choices})
			}
			v.Models = append(v.Models, m)
		}
		out = append(out, v)
	}
	return out, nil
}

// builder finds a model by name.
func (s *Service) builder(name string) (builders.Builder, error) {
	for _, f := range s.options.Families {
		for _, b := range f.Builders {
			if b.Name == name {
				return b, nil
			}
		}
	}
	b, err := builders.Lookup(name)
	if err != nil {
		return b, failf(notFound, "%w", err)
	}
	return b, nil
}
