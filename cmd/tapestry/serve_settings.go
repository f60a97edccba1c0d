package main

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// divideSettings returns the flags that give models the settings in which they agree. Those in which
// they differ it adds to their names.
func divideSettings(models []web.Model) ([]string, error) {
	known := make([]builders.Builder, len(models))
	texts := map[string][]string{} // by setting: those of the models that have it
	for i, m := range models {
		var err error
		if known[i], err = lookup(m.Name); err != nil {
			return nil, err
		}
		for _, z := range known[i].Hyperparameters {
			texts[z.Name] = append(texts[z.Name], z.Format(m.Settings[z.Name]))
		}
	}
	var out []string
	for name, each := range texts {
		if len(slices.Compact(slices.Clone(each))) == 1 {
			out = append(out, "--set="+name+"="+each[0])
			delete(texts, name)
		}
	}
	slices.Sort(out)
	for i := range models {
		var own []string
		for _, z := range known[i].Hyperparameters {
			if _, differ := texts[z.Name]; differ {
				own = append(own, z.Name+"="+z.Format(models[i].Settings[z.Name]))
			}
		}
		if len(own) > 0 {
			models[i].Name += "{" + strings.Join(own, ",") + "}"
		}
	}
	return out, nil
}

// braced adds the settings of a model of the page to its name.
func braced(m *web.Model) error {
	if m.Run != nil {
		return nil
	}
	b, err := lookup(m.Name)
	if err != nil {
		return err
	}
	var own []string
	for _, z := range b.Hyperparameters {
		own = append(own, z.Name+"="+z.Format(m.Settings[z.Name]))
	}
	m.Name = withSettings(m.Name, own)
	return nil
}

// withSettings adds settings to those that stand in braces behind a model's name.
func withSettings(name string, settings []string) string {
	base, inside, _ := cutSettings(name)
	if inside != "" {
		settings = slices.Concat([]string{inside}, settings)
	}
	if len(settings) == 0 {
		return name
	}
	return base + "{" + strings.Join(settings, ",") + "}"
}
