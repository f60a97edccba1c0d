package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data/columns"
)

// logged returns the training that the settings of its log describe, as the command train with
// these flags does it in the folder: see chosen.
func logged(_ context.Context, settings map[string]string, folder string) (out web.Training, err error) {
	var o options
	var t training
	var l learning
	var shared sharing
	keep := keeping{shared: &shared}
	cmd := &cobra.Command{Use: "train"}
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "")
	cmd.Flags().IntVar(&t.seeds, "seeds", 1, "")
	mixed := cmd.Flags().Bool("mixed", false, "")
	choose := cmd.Flags().String("choose-k", "", "")
	t.flags(cmd)
	l.flags(cmd)
	keep.flags(cmd)
	shared.flags(cmd)
	recorded := settings["model"]
	settings = placed(settings, folder)
	if err := setAgain(cmd.Flags(), settings); err != nil {
		return out, err
	}
	if *choose != "" {
		return out, errors.New("--choose-k: it was several trainings")
	}
	if err := keep.parse(&t); err != nil {
		return out, err
	}
	t.options, t.seeds = keep.options(), 1
	name := settings["model"]
	b, err := t.notes.lookup(name)
	if err != nil {
		return out, err
	}
	if err := foreign(cmd, b); err != nil {
		return out, err
	}
	c, m, err := t.again(&o, &l, &keep, b)
	if err != nil {
		return out, err
	}
	values, _, err := keep.transfer.values(m) // before the optimiser adds its states to the graph
	if err != nil {
		return out, err
	}
	if out.Task, err = c.Task(m, o.seed); err == nil {
		err = begin(out.Store, values)
	}
	m.Builder.Name = recorded
	if out.Table = c.Table; shared.on() {
		out.Differs = append(out.Differs, fmt.Sprintf("The run cuts each batch into %d lanes and the page does not, so the last digits may differ.", shared.laneCount()))
	}
	if *mixed {
		out.Differs = append(out.Differs, "The run rounds the operands of large products (--mixed) and the page does not.")
	}
	if keep.patience > 0 {
		out.Differs = append(out.Differs, "The page does not end when patience would.")
	}
	return out, err
}

// again returns the configuration and the model of one training.
func (t *training) again(o *options, l *learning, keep *keeping, b builders.Builder) (c lab.Config, m *builders.Model, err error) {
	if isClustering(b) {
		if c, err = t.config(o, b.Name); err != nil {
			return c, nil, err
		}
		if m, err = c.Variant(b.Name).Build(c.DType); err != nil {
			return c, nil, err
		}
		if keep.epochs > 0 {
			c.Steps = keep.stepsOf(c.Table.Rows(), m.Points().Dim(0))
		}
		if t.notes.on {
			err = t.chosen(&c, m, lab.DefaultRate(c.Table))
		}
		return c, m, err
	}
	if c, err = l.config(o, t); err != nil {
		return c, nil, err
	}
	if !t.hasData() {
		if m, err = l.build(t, b.Name, o.seed)(); err != nil {
			return c, nil, err
		}
		return c, m, l.chosen(&c, t, m)
	}
	j, err := l.fitted(t, b.Name, o.seed)
	if err != nil {
		return c, nil, err
	}
	if keep.epochs > 0 {
		rows, _ := j.fitted.Rows()
		c.Steps = keep.stepsOf(rows, j.fitted.Batch())
	}
	return c, j.model, l.chosen(&c, t, j.model)
}

// placed returns the settings of a log with the files that they name as they are found from here, if
// they are relative to a folder.
func placed(settings map[string]string, folder string) map[string]string {
	out := maps.Clone(settings)
	if folder == "" {
		return out
	}
	for _, name := range []string{"centres", "from"} {
		if path, named := out[name]; named {
			out[name] = web.Within(folder, path)
		}
	}
	if name := out["model"]; isFile(name) {
		out["model"] = web.Within(folder, name)
	}
	if name, named := out["data"]; named && !slices.Contains(columns.BuiltinNames(), name) {
		parts := []string{name}
		if whole := web.Within(folder, name); strings.Contains(name, ",") && !exists(whole) {
			parts = commas(name)
		}
		for i := range parts {
			parts[i] = web.Within(folder, parts[i])
		}
		out["data"] = strings.Join(parts, ",")
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// setAgain sets the flags that the settings of a log name.
func setAgain(flags *pflag.FlagSet, settings map[string]string) error {
	for name, value := range settings {
		own, isSet := strings.CutPrefix(name, "set ")
		switch {
		case name == "model":
			continue
		case isSet:
			name, value = "set", own+"="+value
		}
		f := flags.Lookup(name)
		if f == nil {
			return fmt.Errorf("its log has the setting %s, which tapestry train does not", strconv.Quote(name))
		}
		list, several := f.Value.(pflag.SliceValue)
		if !several || isSet {
			if err := flags.Set(name, value); err != nil {
				return fmt.Errorf("its log: %w", err)
			}
			continue
		}
		parts, err := csv.NewReader(strings.NewReader(strings.TrimSuffix(strings.TrimPrefix(value, "["), "]"))).Read()
		if err == nil {
			err = list.Replace(slices.Clone(parts))
		}
		if err != nil {
			return fmt.Errorf("its log: --%s %s: %w", name, value, err)
		}
		f.Changed = true
	}
	return nil
}
