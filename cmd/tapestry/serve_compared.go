package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// compared returns the names and flags by which the command compare trains models as the page does.
// Models that the page trains differently, or in a way that compare has no flag for, are an error,
// which says for each what it is.
func (d *servedData) compared(models []web.Model) (names, flags []string, err error) {
	models = slices.Clone(models)
	shown := make([]string, len(models)) // in errors
	each := make([]map[string]string, len(models))
	clusterings, runs := 0, 0
	for i := range models {
		m := &models[i]
		if shown[i] = m.Name; m.Text != "" {
			shown[i] = filepath.Base(m.Name)
		}
		if m.Run != nil {
			runs++
			if each[i], err = ofRun(m); err != nil {
				return nil, nil, err
			}
		} else if m.Text == "" { // the settings of the page take the place of those in the name
			m.Name, _, _ = cutSettings(m.Name)
		}
		b, err := lookup(m.Name)
		if err != nil {
			return nil, nil, err
		}
		clustering := isClustering(b)
		if clustering {
			clusterings++
		}
		if m.Run == nil {
			if each[i], err = d.ofPage(m, b, clustering); err != nil {
				return nil, nil, err
			}
		}
	}
	if clusterings > 0 && clusterings < len(models) {
		return nil, nil, errors.New("a report trains clusterings and other models on the same rows, and the page has the others on examples of their own: take one kind")
	}
	addOptimiser(models, each)
	if flags, err = agreed(shown, each); err != nil {
		return nil, nil, err
	}
	switch {
	case clusterings > 0:
	case runs == 0:
		set, err := divideSettings(models)
		if err != nil {
			return nil, nil, err
		}
		flags = append(flags, set...)
	default: // a run has what its log says, and no more
		for i := range models {
			if err := braced(&models[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names, flags, nil
}

// ofPage returns the flags of a model that the page trains, but those of its optimiser.
func (d *servedData) ofPage(m *web.Model, b builders.Builder, clustering bool) (map[string]string, error) {
	out := map[string]string{"seed": strconv.FormatUint(m.Seed, 10), "dtype": m.DType}
	if m.AsNotes {
		if own, other := notesForm[m.Optimiser]; other {
			return nil, fmt.Errorf("%s is trained by %s on the page, by which a report takes %s where models are as the notes have them", m.Name, m.Optimiser, own)
		}
		out["as-notes"] = "true"
	}
	if clustering && m.Data == "" {
		return nil, fmt.Errorf("%s has examples of its own on the page, and a report trains a clustering on data: choose some", m.Name)
	}
	if d.reads(m) {
		d.cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Name == "data" || slices.Contains(dataFlags, f.Name) {
				out[f.Name] = f.Value.String()
			}
		})
	}
	if clustering {
		return out, d.ofClustering(m, b, out)
	}
	for path, text := range m.Courses {
		return nil, unfed(m.Name, path, text)
	}
	for path, v := range m.Scalars {
		return nil, unfed(m.Name, path, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return out, nil
}

// ofClustering adds the flags that a clustering has, and to its name the settings that no flag has.
func (d *servedData) ofClustering(m *web.Model, b builders.Builder, out map[string]string) error {
	model, err := b.Build(nil, graph.F32)
	if err != nil {
		return err
	}
	n, dim, k := lab.SizeNames(model)
	out["k"] = strconv.Itoa(m.Settings.Int(k))
	table, err := d.table(m)
	if err != nil {
		return err
	}
	if !d.reads(m) {
		out["data"] = m.Data
	}
	if has := m.Settings.Int(n); b.Batched() && has != (lab.Config{Table: table, AsNotes: m.AsNotes}).BatchOf(b) {
		out["batch"] = strconv.Itoa(has)
	}
	var own []string
	for _, z := range b.Hyperparameters {
		if v, has := m.Settings[z.Name]; has && v != z.Default && !slices.Contains([]string{n, dim, k, "gamma"}, z.Name) {
			own = append(own, z.Name+"="+z.Format(v))
		}
	}
	γ := model.Gamma()
	if γ == nil {
		out["gamma"] = whatever
	}
	for path, text := range m.Courses {
		if γ == nil || path != γ.Path() {
			return unfed(m.Name, path, text)
		}
		out["gamma"] = text
	}
	for path, v := range m.Scalars {
		if γ == nil || path != γ.Path() {
			return unfed(m.Name, path, strconv.FormatFloat(v, 'g', -1, 64))
		}
		own = append(own, "gamma="+strconv.FormatFloat(v, 'g', -1, 64))
	}
	slices.Sort(own)
	m.Name = withSettings(m.Name, own)
	return nil
}

// unfed is the error for a scalar that compare cannot feed.
func unfed(name, path, value string) error {
	return fmt.Errorf("%s is fed %s = %s on the page, for which a report has no flag", name, path, value)
}

// ofRun returns the flags of compare that a run has, and gives the model its name with the settings.
func ofRun(m *web.Model) (map[string]string, error) {
	r := m.Run
	switch {
	case r.Changed != "":
		return nil, fmt.Errorf("%s was resumed with other settings (%s), and a report trains by the same from beginning to end", r.Name, r.Changed)
	case r.Otherwise != "":
		return nil, fmt.Errorf("%s goes on with %s than it was trained with up to its checkpoint, and a report trains by the same from beginning to end", r.Name, r.Otherwise)
	}
	known := newCompare(new(options))
	out := map[string]string{}
	var lacks, own []string
	for name, value := range placed(r.Settings, fromHere(r.Folder)) {
		switch set, isSet := strings.CutPrefix(name, "set "); {
		case name == "model":
			m.Name = value
		case isSet:
			own = append(own, set+"="+value)
		case name == "seeds", name == "steps", name == "epochs":
		case name != "seed" && known.Flags().Lookup(name) == nil:
			lacks = append(lacks, "--"+name+" "+value)
		default:
			out[name] = value
		}
	}
	if slices.Sort(lacks); len(lacks) > 0 {
		return nil, fmt.Errorf("%s was trained with %s, which a report does not have", r.Name, strings.Join(lacks, ", "))
	}
	slices.Sort(own)
	m.Name = withSettings(m.Name, own)
	out["steps"] = strconv.Itoa(r.Steps)
	return out, nil
}

// fromHere returns a folder as it is written down in a command: as nothing, if it is the one in which
// the page runs, and otherwise from the root.
func fromHere(folder string) string {
	if folder == "" {
		return ""
	}
	there, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	if real, err := filepath.EvalSymlinks(there); err == nil {
		there = real
	}
	if here, err := os.Getwd(); err == nil {
		if real, err := filepath.EvalSymlinks(here); err == nil && real == there {
			return ""
		}
	}
	return there
}

// whatever is the value of a flag that changes nothing of a model.
const whatever = "\x00"

// addOptimiser adds the flags of the optimiser and its rate, which are left out where all models have
// what they have by default.
func addOptimiser(models []web.Model, each []map[string]string) {
	if !slices.ContainsFunc(models, func(m web.Model) bool { return m.Run == nil && !m.Usual }) {
		return
	}
	for i, m := range models {
		switch {
		case m.Run != nil:
			continue
		case m.Optimiser == "" && m.Rate == 0: // it takes steps of its own
			each[i]["optimiser"], each[i]["rate"] = whatever, whatever
			continue
		case m.Schedule != "":
			each[i]["rate"] = m.Schedule
		case m.Rate > 0:
			each[i]["rate"] = strconv.FormatFloat(m.Rate, 'g', -1, 64)
		}
		if m.Optimiser != "" {
			each[i]["optimiser"] = m.Optimiser
		}
	}
}

// agreed returns the flags that models have alike. It is an error if they differ in one.
func agreed(shown []string, each []map[string]string) (flags []string, err error) {
	names := map[string]bool{}
	for _, own := range each {
		maps.Copy(names, namesIn(own))
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var values, said []string
		for i, own := range each {
			value := own[name]
			if value == whatever {
				continue
			}
			if values = append(values, value); value == "" {
				value = "as usual"
			}
			said = append(said, value+" of "+shown[i])
		}
		switch {
		case len(slices.Compact(slices.Clone(values))) > 1:
			differ = append(differ, "--"+name+" is "+strings.Join(said, ", "))
		case len(values) > 0 && values[0] != "":
			flags = append(flags, again(name, values[0])...)
		}
	}
	if len(differ) > 0 {
		return nil, fmt.Errorf("a report trains all models alike, and these differ: %s", strings.Join(differ, "; "))
	}
	return flags, nil
}

func namesIn(flags map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range flags {
		out[name] = true
	}
	return out
}

// again returns the arguments that give a flag of compare the value that a log has of it: a list as
// often as it has parts.
func again(name, value string) []string {
	f := newCompare(new(options)).Flags().Lookup(name)
	switch {
	case f == nil: // the seed, which all commands have
	case f.Value.Type() == "bool" && value == "true":
		return []string{"--" + name}
	case f.Value.Type() == "bool":
		return []string{"--" + name + "=" + value}
	default:
		list, several := f.Value.(pflag.SliceValue)
		if flags := pflag.NewFlagSet("", pflag.ContinueOnError); several {
			flags.AddFlag(f)
			if setAgain(flags, map[string]string{name: value}) == nil {
				var out []string
				for _, part := range list.GetSlice() {
					out = append(out, "--"+name, part)
				}
				return out
			}
		}
	}
	if strings.HasPrefix(value, "-") {
		return []string{"--" + name + "=" + value}
	}
	return []string{"--" + name, value}
}

// table returns the data of a clustering of the page.
func (d *servedData) table(m *web.Model) (*data.Table, error) {
	for _, t := range d.tables {
		if t.Name == m.Data {
			return t, nil
		}
	}
	return data.Builtin(m.Data)
}

// reads reports whether a model uses the data that serve was given: a text does, and so do a clustering
// on its table and a model named together with it.
func (d *servedData) reads(m *web.Model) bool {
	if !d.hasData() {
		return false
	}
	if m.Data != "" {
		return slices.ContainsFunc(d.tables, func(t *data.Table) bool { return t.Name == m.Data })
	}
	return m.Text != "" || slices.ContainsFunc(d.families, func(f builders.Family) bool { return f.Builders[0].Name == m.Name })
}
