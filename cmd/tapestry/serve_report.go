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

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/notation"
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
	names, flags, err := d.compared(models)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"compare"}, names, []string{"--out", "-", "--seeds", strconv.Itoa(reportSeeds)}, flags)
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
	for i, m := range models { // the page, and the command shown in it, use the original names of texts
		if m.Text == "" {
			continue
		}
		replace(quoted(m.Name), html.EscapeString(quoted(filepath.Base(m.Name))))
		replace(filepath.Join(dir, strconv.Itoa(i))+string(filepath.Separator), "")
	}
	_, err = w.Write(text)
	return err
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
