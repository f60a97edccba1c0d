package main

import (
	"maps"
	"os"
	"sync"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// servedData has the data for the models that are opened in the page.
type servedData struct {
	*fitting
	seed     uint64
	notes    asNotes
	names    []string // of the models named on the command line
	families []builders.Family
	tables   []*data.Table
	mu       sync.Mutex
}

// fit joins a model to the data, unless there are none or they are for clusterings.
func (d *servedData) fit(b builders.Builder) (builders.Builder, error) {
	if d == nil || !d.hasData() || isClustering(b) {
		return b, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.to(b, b.Fixed, graph.F32, d.seed)
	if err != nil {
		return b, err
	}
	return f.Builder(), nil
}

// served returns the model or file that an argument of serve names.
func (d *servedData) served(name string) (web.Model, error) {
	b, err := lookup(name) // for a file, with all its mistakes
	if err != nil {
		return web.Model{}, err
	}
	base, _, _ := cutSettings(name)
	m := web.Model{Name: base, Settings: b.Fixed} // which the page shows, and can change
	if d.notes.on && len(b.AsNotes.Settings) > 0 {
		m.Settings = maps.Clone(b.AsNotes.Settings)
		maps.Copy(m.Settings, b.Fixed)
	}
	switch {
	case isONNX(base):
		plain, err := lookupBase(base)
		if err != nil {
			return m, err
		}
		if !d.hasData() {
			d.families = append(d.families, builders.Family{Name: "files", Builders: []builders.Builder{plain}})
		}
	case isFile(name):
		text, err := os.ReadFile(base)
		if err != nil {
			return m, err
		}
		m.Text = string(text)
	}
	if isClustering(b) {
		if err := sizedByRows(b); err != nil {
			return m, err
		}
		if v, fixed := b.Fixed["gamma"]; fixed {
			m.Scalars = map[string]float64{"γ": v}
		}
		m.Data = d.name
		if _, err := data.Builtin(d.name); err == nil && len(d.bind) == 0 && !d.standardise && d.validation == 0 {
			return m, nil
		}
		t, err := d.rows(d.seed)
		if err != nil {
			return m, err
		}
		m.Data, d.tables = t.Name, append(d.tables, t)
		return m, lab.InRange(t)
	}
	if b, err = d.fit(b); err == nil && d.hasData() && m.Text == "" {
		m.Name = b.Name // other settings may want other sizes for the same data
		d.families = append(d.families, builders.Family{Name: "with " + d.name, Builders: []builders.Builder{b}})
	}
	return m, err
}
