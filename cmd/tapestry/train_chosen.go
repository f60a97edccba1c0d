package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// chosen returns the settings of a training that its log begins with: the model, and what the
// command was told by flags, with the settings of the model as "set NAME". It leaves out where the
// training is written to and what computes it, which change nothing of it. The numbers and the seed
// are always there.
func chosen(cmd *cobra.Command, model string) map[string]string {
	out := map[string]string{"model": model}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		always := f.Name == "dtype" || f.Name == "seed"
		if !f.Changed && !always || slices.Contains(elsewhere, f.Name) {
			return
		}
		list, several := f.Value.(pflag.SliceValue)
		if f.Name != "set" || !several {
			out[f.Name] = f.Value.String()
			return
		}
		for _, one := range list.GetSlice() {
			name, value, _ := strings.Cut(one, "=")
			out["set "+name] = value
		}
	})
	return out
}

// elsewhere lists the flags that say where a training is written to and what computes it.
var elsewhere = []string{"checkpoint", "cores", "engine", "json", "log", "out", "predict", "rank", "ranks", "resume", "svg", "threads", "watch-nan"}
