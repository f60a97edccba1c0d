package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	first := models[0]
	args := []string{"compare"}
	for _, m := range models {
		args = append(args, m.Name)
	}
	args = append(args, "--out", "-", "--seeds", strconv.Itoa(reportSeeds), "--seed", strconv.FormatUint(first.Seed, 10),
		"--dtype", first.DType, "--optimiser", first.Optimiser)
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
	} else {
		set, err := commonSettings(models)
		if err != nil {
			return err
		}
		args = append(args, "--rate", strconv.FormatFloat(first.Rate, 'g', -1, 64))
		args = append(args, set...)
		if d.reads(models) {
			args = append(args, d.args()...)
		}
	}
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
		replace(quoted(m.Name), filepath.Base(m.Name))
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

// commonSettings returns the flags for settings of models that differ from their defaults.
func commonSettings(models []web.Model) ([]string, error) {
	set := map[string]string{}
	for _, m := range models {
		b, err := lookup(m.Name)
		if err != nil {
			return nil, err
		}
		for _, z := range b.Hyperparameters {
			text := z.Format(m.Settings[z.Name])
			if before, known := set[z.Name]; known && before != text {
				return nil, fmt.Errorf("the models have %s = %s and %s: a report wants one", z.Name, before, text)
			}
			set[z.Name] = text
		}
	}
	var out []string
	for name, text := range set {
		out = append(out, "--set="+name+"="+text)
	}
	slices.Sort(out)
	return out, nil
}
