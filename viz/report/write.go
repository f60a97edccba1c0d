package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"

	"github.com/tapestry-ml/tapestry/internal/csp"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string
	//go:embed script.js
	scriptJS string
	//go:embed cursor.js
	cursorJS string
	//go:embed live.js
	liveJS string
)

// Mark stands near the beginning of every file that Write writes, and tells it from others.
const Mark = `<meta name="generator" content="Tapestry report"/>`

// Write writes the file. It is an error if the page contradicts itself; nothing is written then.
func (p Page) Write(w io.Writer) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	data, err := p.data()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p = p.shown()
	wr, err := newWriter()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	script := scriptJS + cursorJS
	var live []byte
	if p.Live.Page != "" {
		script += liveJS
		if live, err = json.Marshal(p.Live.Page); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	steps := wr.stepCursor(p)
	sections := wr.sections(p)
	page := wr.part("page", map[string]any{
		"Title":    p.title(),
		"Mark":     template.HTML(Mark),
		"Style":    template.CSS(styleCSS + chart.Style()),
		"Script":   template.JS(script),
		"Data":     template.JS(data),
		"Sections": sections,
		"Dots":     wr.dots(),
		"Steps":    steps,
		"Cursors":  template.JS(wr.cursorsData()),
		"Live":     template.JS(live),
	})
	if wr.err == nil {
		wr.err = uniqueIDs(string(page))
	}
	if wr.err != nil {
		return fmt.Errorf("report: %w", wr.err)
	}
	sealed := ""
	if p.Live.Page != "" {
		sealed = csp.SealAround(string(page), p.Live.Page, "\n"+script)
	} else {
		sealed = csp.Seal(string(page), "\n"+script)
	}
	_, err = io.WriteString(w, sealed)
	return err
}

// title returns the heading of the page.
func (p Page) title() string {
	switch {
	case p.Title != "":
		return p.Title
	case p.Data.Name != "":
		return capital(list(names(p.Variants))) + " on " + p.Data.Name
	}
	return capital(list(names(p.Variants)))
}

// section is a part of the page with an entry in the contents.
type section struct {
	ID, Title string
	Lead      []string // paragraphs
	Body      []template.HTML
}

// writer renders the parts of a page in order, and numbers its figures and tables.
// After an error it renders nothing more.
type writer struct {
	templates       *template.Template
	figures, tables int
	cursors         []*cursor
	cloud           *chart.Cloud // the data as dots, once a chart refers to them
	err             error
}

func newWriter() (*writer, error) {
	t, err := template.New("report").Parse(pageHTML)
	return &writer{templates: t}, err
}

// sections returns the parts of the page for which there is data.
func (w *writer) sections(p Page) []section {
	var out []section
	for _, s := range []section{
		w.verdict(p), w.summary(p), w.ends(p), w.objectives(p), w.graphs(p), w.difference(p), w.gradients(p), w.weights(p), w.stationary(p), w.training(p), w.settings(p), w.judged(p), w.plane(p),
		w.centres(p), w.agreement(p), w.sweeps(p), w.baselines(p), w.cost(p), w.live(p), w.made(p),
	} {
		if len(s.Body) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// part renders a template.
func (w *writer) part(name string, data any) template.HTML {
	var b bytes.Buffer
	if w.err == nil {
		w.err = w.templates.ExecuteTemplate(&b, name, data)
	}
	return template.HTML(b.String())
}

// drawn is any chart.
type drawn interface{ SVG(w io.Writer) error }

// svg renders a chart.
func (w *writer) svg(d drawn) template.HTML {
	var b bytes.Buffer
	if w.err == nil {
		w.err = d.SVG(&b)
	}
	return template.HTML(b.String())
}

// figure renders a chart with its caption.
func (w *writer) figure(d drawn, caption string) template.HTML {
	w.figures++
	if l, lines := d.(chart.Lines); lines {
		w.track(l)
	}
	return w.part("figure", map[string]any{"N": w.figures, "Picture": w.svg(d), "Caption": caption})
}

// grid sets figures side by side where there is room.
func (w *writer) grid(figures ...template.HTML) template.HTML {
	return w.part("grid", figures)
}

// frame returns the common part of charts. Their identifiers begin with "chart-", which keeps
// them apart from those of sections.
func frame(id, title, desc string) chart.Frame {
	return chart.Frame{ID: "chart-" + id, Title: title, Desc: desc}
}

var idAttribute = regexp.MustCompile(`\sid="([^"]*)"`)

// uniqueIDs returns an error if an identifier occurs twice in the page, as a drawing given by the
// caller may cause.
func uniqueIDs(page string) error {
	seen := map[string]bool{}
	for _, m := range idAttribute.FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			return fmt.Errorf("the id %q is used twice", m[1])
		}
		seen[m[1]] = true
	}
	return nil
}
