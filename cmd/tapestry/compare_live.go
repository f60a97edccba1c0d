package main

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/page/static"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// live is the page inside a report.
type live struct {
	wanted bool
	wasm   string
	inside report.Live
}

func (l *live) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&l.wanted, "live", false, "put the page inside the report, with the models, to be changed and trained in the browser")
	cmd.Flags().StringVar(&l.wasm, "wasm", "", "engine of --live that was compiled before, as of tapestry page (default: compile it with the Go command)")
}

// prepare makes the page, before the comparison: what cannot be made is told of at once.
func (l *live) prepare(ctx context.Context, c *comparison, names []string, rows bool) error {
	if !l.wanted {
		if l.wasm != "" {
			return usagef("--wasm: want --live, too")
		}
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(names), isClusteringName)
	builds, err := c.builds(others, rows)
	if err != nil {
		return err
	}
	var docs []string
	for _, name := range names {
		var build func() (*builders.Model, error)
		if i := slices.Index(others, name); i >= 0 {
			build = builds[i]
		}
		doc, err := c.opening(name, build)
		if err != nil {
			return err
		}
		docs = append(docs, "doc="+url.PathEscape(strings.Join(doc, ";")))
	}
	l.inside.Address = strings.Join(docs, "&")
	if len(docs) > 1 {
		l.inside.Address += "&at=0&beside=1"
	}
	l.inside.Note = "Its trainings are its own, and begin when Train is pressed."
	idle := []string{"centres", "start"}
	if _, err := data.Builtin(c.name); c.hasData() && (err != nil || len(others) > 0) {
		l.inside.Note += " What does not cluster an embedded data set trains there on examples of its own, not on the rows of " + filepath.Base(c.name) + "."
	} else {
		idle = slices.Concat(dataFlags, idle)
	}
	if given := allChanged(c.cmd, idle); len(given) > 0 {
		l.inside.Note += " It takes no heed of --" + strings.Join(given, ", --") + "."
	}
	e, err := engineOf(ctx, l.wasm)
	if err != nil {
		return err
	}
	text, err := static.One(e)
	l.inside.Page = string(text)
	return err
}

// opening returns what opens a model on the page, as the address of the page has it: names and
// values (page/assets/address.js). Only clusterings have no build.
func (c *comparison) opening(name string, build func() (*builders.Model, error)) ([]string, error) {
	base, _, _ := cutSettings(name)
	b, err := c.notes.lookup(name)
	if err != nil {
		return nil, err
	}
	var out []string
	put := func(name, value string) { out = append(out, escaper.Replace(name)+"="+escaper.Replace(value)) }
	switch {
	case isONNX(base):
		return nil, usagef("--live: %s is an ONNX file, which the page in a report cannot read", base)
	case isFile(base):
		text, err := os.ReadFile(base)
		if err != nil {
			return nil, err
		}
		small, err := packed(text)
		if err != nil {
			return nil, err
		}
		put("text", small)
		put("name", filepath.Base(base))
	default:
		put("model", base)
	}
	clusters, settings := build == nil, maps.Clone(b.Fixed)
	if clusters {
		if changed(c.cmd, []string{"k"}) != "" {
			put("$k", strconv.Itoa(c.k))
		}
	} else if settings, err = settingsOf(build); err != nil {
		return nil, err
	}
	for _, s := range slices.Sorted(maps.Keys(settings)) {
		put("$"+s, strconv.FormatFloat(settings[s], 'g', -1, 64))
	}
	put("seed", strconv.FormatUint(c.seed, 10))
	if _, err := data.Builtin(c.name); clusters && err == nil {
		put("data", c.name)
	}
	if clusters && changed(c.cmd, []string{"gamma"}) != "" {
		put("~γ", c.gamma)
	}
	if changed(c.cmd, []string{"dtype"}) != "" {
		dt, err := parseDType(c.dtype)
		if err != nil {
			return nil, err
		}
		put("dtype", dt.String())
	}
	if changed(c.cmd, []string{"optimiser"}) != "" {
		put("optimiser", c.opt)
	}
	if changed(c.cmd, []string{"rate"}) != "" {
		put("rate", strconv.FormatFloat(c.rate, 'g', -1, 64))
		if _, err := strconv.ParseFloat(c.rateText, 64); err != nil {
			put("schedule", c.rateText)
		}
	}
	if c.notes.on {
		put("as_notes", "true")
	}
	return out, nil
}

// settingsOf returns the settings of a model that differ from its builder's.
func settingsOf(build func() (*builders.Model, error)) (builders.Settings, error) {
	m, err := build()
	if err != nil {
		return nil, err
	}
	out := builders.Settings{} // those in braces are the defaults of the builder
	maps.Copy(out, m.Builder.Fixed)
	for _, h := range m.Builder.Hyperparameters {
		if v, set := m.Settings[h.Name]; set && v != h.Default {
			out[h.Name] = v
		}
	}
	return out, nil
}

// escaper replaces the signs of an address within its parts.
var escaper = strings.NewReplacer("%", "%25", ",", "%2C", ";", "%3B", "=", "%3D")

// packed returns a text as the page's address has it.
func packed(text []byte) (string, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}
