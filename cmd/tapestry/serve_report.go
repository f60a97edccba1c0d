package main

import (
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/train/data"
)

// reportSeeds is enough to see the effect of seeds, and few enough to wait for.
const reportSeeds = 5

// report writes the report of models that are open in the page, as the command compare does.
// Texts are stored as temporary files.
func (d *servedData) report(ctx context.Context, w io.Writer, models []web.Model) (err error) {
	dir, err := os.MkdirTemp("", "tapestry")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if models, err = asFiles(dir, models); err != nil {
		return err
	}
	reads := d.reads(models)
	for i := range models {
		if models[i].Text == "" { // the settings of the page take the place of those in the name
			models[i].Name, _, _ = cutSettings(models[i].Name)
		}
	}
	first := models[0]
	args := []string{"--out", "-", "--seeds", strconv.Itoa(reportSeeds), "--seed", strconv.FormatUint(first.Seed, 10),
		"--dtype", first.DType}
	trained := []string{"--optimiser", first.Optimiser}
	if first.AsNotes {
		trained = []string{"--as-notes"}
	}
	args = append(args, trained...)
	b, err := lookup(first.Name)
	if err != nil {
		return err
	}
	if isClustering(b) {
		model, err := b.Build(nil, graph.F32)
		if err != nil {
			return err
		}
		_, _, k := lab.SizeNames(model)
		args = append(args, "--k", strconv.Itoa(first.Settings.Int(k)))
		if slices.ContainsFunc(d.tables, func(t *data.Table) bool { return t.Name == first.Data }) {
			args = append(args, d.args()...)
		} else if first.Data != "" {
			args = append(args, "--data", first.Data)
		}
		if first.Schedule != "" {
			args = append(args, "--rate", first.Schedule)
		}
		if γ := model.Gamma(); γ != nil && first.Courses[γ.Path()] != "" {
			args = append(args, "--gamma", first.Courses[γ.Path()])
		}
		for i := range models {
			if γ, fed := models[i].Scalars["γ"]; fed {
				models[i].Name += "{gamma=" + strconv.FormatFloat(γ, 'g', -1, 64) + "}"
			}
		}
	} else {
		set, err := divideSettings(models)
		if err != nil {
			return err
		}
		switch {
		case first.Schedule != "":
			args = append(args, "--rate", first.Schedule)
		case !first.AsNotes:
			args = append(args, "--rate", strconv.FormatFloat(first.Rate, 'g', -1, 64))
		}
		args = append(args, set...)
		if reads {
			args = append(args, d.args()...)
		}
	}
	names := []string{"compare"}
	for _, m := range models {
		names = append(names, m.Name)
	}
	args = append(names, args...)
	var page, complaint bytes.Buffer
	if code := run(ctx, args, &page, &complaint); code != 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New(strings.TrimPrefix(firstLine(errors.New(complaint.String())), "tapestry: "))
	}
	text := page.Bytes()
	replace := func(path, name string) {
		shown := html.EscapeString(path)
		for _, form := range []string{shown, strings.ReplaceAll(shown, "+", "&#43;")} { // templates also escape +
			text = bytes.ReplaceAll(text, []byte(form), []byte(name))
		}
	}
	for i, m := range models { // the page, and the command shown in it, use the original names of files
		replace(quoted(m.Name), html.EscapeString(quoted(filepath.Base(m.Name))))
		replace(filepath.Join(dir, strconv.Itoa(i))+string(filepath.Separator), "")
	}
	_, err = w.Write(text)
	return err
}

// reads reports whether the models use the data: texts do, and so do models named together with
// it.
func (d *servedData) reads(models []web.Model) bool {
	return d.hasData() && slices.ContainsFunc(models, func(m web.Model) bool {
		return m.Text != "" || slices.ContainsFunc(d.families, func(f builders.Family) bool { return f.Builders[0].Name == m.Name })
	})
}

// plainName matches a name that is safe as a path below a directory.
var plainName = regexp.MustCompile(`^[\pL\pN_-][\pL\pN_.-]{0,99}$`)

// asFiles writes the texts among the models to files in a directory, and returns the models with
// the names of these files.
func asFiles(dir string, models []web.Model) ([]web.Model, error) {
	models = slices.Clone(models)
	for i := range models {
		m := &models[i]
		if m.Text == "" {
			continue
		}
		name := filepath.Base(m.Name)
		if !plainName.MatchString(name) {
			name = "objective"
		}
		within := filepath.Join(dir, strconv.Itoa(i))
		m.Name = filepath.Join(within, strings.TrimSuffix(name, notation.Extension)+notation.Extension)
		if err := os.Mkdir(within, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(m.Name, []byte(m.Text), 0o600); err != nil {
			return nil, err
		}
	}
	return models, nil
}

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
