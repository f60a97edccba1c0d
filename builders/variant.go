package builders

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// With returns the builder with other defaults for some of its settings, so that two settings of
// one model can be told apart: its Name is that of b with the settings in braces, as in
// init{weights=he}, its Title ends with them, and its Fixed has them. A setting that b does not
// have, and a value that its kind refuses, are errors.
func (b Builder) With(settings Settings) (Builder, error) {
	if len(settings) == 0 {
		return b, nil
	}
	var known []string
	for _, z := range b.Hyperparameters {
		known = append(known, z.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(known, name) {
			return b, b.unknownSetting(name, known)
		}
	}
	v := b
	v.Hyperparameters, v.Fixed = slices.Clone(b.Hyperparameters), maps.Clone(b.Fixed)
	if v.Fixed == nil {
		v.Fixed = Settings{}
	}
	var short, long []string
	for i := range v.Hyperparameters {
		z := &v.Hyperparameters[i]
		x, given := settings[z.Name]
		if !given {
			continue
		}
		if want := z.refuses(x); want != "" {
			return b, fmt.Errorf("%s: %s = %v: want %s", b.Name, z.Name, x, want)
		}
		z.Default, v.Fixed[z.Name] = x, x
		short, long = append(short, z.Name+"="+z.Format(x)), append(long, z.Name+" = "+z.Format(x))
	}
	v.Name += "{" + strings.Join(short, ",") + "}"
	v.Title += " (" + strings.Join(long, ", ") + ")"
	return v, nil
}

func (b Builder) unknownSetting(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("%s has no setting %q: it has none", b.Name, name)
	}
	return fmt.Errorf("%s has no setting %q: did you mean %q? (it has %s)", b.Name, name, spelling.Nearest(name, known), strings.Join(known, ", "))
}

// ParseSettings reads settings as people write them behind a model's name: weights=he,d=16. A
// setting that b does not have is 0, which [Builder.With] and [Builder.Build] refuse.
func (b Builder) ParseSettings(text string) (Settings, error) {
	out := Settings{}
	for _, kv := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(kv, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			return nil, fmt.Errorf("%q in the braces: want setting=value", kv)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		out[name] = 0
		if i := slices.IndexFunc(b.Hyperparameters, func(z Hyperparameter) bool { return z.Name == name }); i >= 0 {
			v, err := b.Hyperparameters[i].Parse(value)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
	}
	return out, nil
}
