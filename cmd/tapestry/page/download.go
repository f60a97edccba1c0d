package page

import (
	"context"
	"io"
	"path"
	"runtime"
	"strings"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz"
)

// Report writes the page that compares models, as a file of its own. It trains no more of
// them at a time than the machine has processors.
type Report func(ctx context.Context, w io.Writer, models []Model) error

// latex returns the model's mathematics as a LaTeX document.
func (d *document) latex(ctx context.Context) (string, error) {
	var b strings.Builder
	b.WriteString("\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\begin{document}\n")
	if of := derivatives(d.asWritten.grads); len(of) > 0 {
		derived, err := viz.DeriveContext(ctx, of...)
		if err != nil {
			return "", err
		}
		b.WriteString(derived.LaTeX())
	} else {
		equations, err := viz.EquationsContext(ctx, d.asWritten.result)
		if err != nil {
			return "", err
		}
		for _, e := range equations {
			b.WriteString("\\[ " + e.LaTeX() + " \\]\n")
		}
	}
	b.WriteString("\\end{document}\n")
	return b.String(), nil
}

// download answers with a document saved in the requested format.
func (s *Service) download(r *request, d *document) (any, error) {
	name := d.model.Builder.Name
	switch kind := r.place("kind"); kind {
	case "svg":
		return s.svg(r, d)
	case "dot":
		q, err := drawingOf(r, d)
		if err != nil {
			return nil, err
		}
		f, err := d.draw(r.ctx, q)
		if err != nil {
			return nil, err
		}
		return s.write("text/vnd.graphviz", name+".dot", func(w io.Writer) error { return f.DOT(w) })
	case "latex":
		text, err := d.latex(r.ctx)
		if err != nil {
			return nil, err
		}
		return s.text("application/x-tex", name+".tex", text)
	case "listing":
		return s.text("text/plain; charset=utf-8", name+".txt", d.session.prog.String())
	case "tapestry":
		if d.source == "" {
			return nil, failf(notFound, "%s is a model of the registry: it has no text in formula notation", name)
		}
		return s.text("text/plain; charset=utf-8", strings.TrimSuffix(name, ".tapestry")+".tapestry", d.source)
	default:
		return nil, failf(notFound, "there is no %.40q to download: want svg, dot, latex, listing, tapestry or report", kind)
	}
}

// report writes the page that compares a document's model with those of others. It trains models of
// its own, and so other requests can use the documents meanwhile. The memory of its models comes
// from the room that documents share.
func (s *Service) report(r *request) (v any, err error) {
	var models []Model
	holds := 0
	for _, id := range append([]string{r.place("doc")}, list(r, "with")...) {
		d, err := s.shelf.find(id)
		if err != nil {
			return nil, err
		}
		if s.options.Report == nil {
			return nil, failf(notImplemented, "there is no report of %s", d.model.Builder.Name)
		}
		models = append(models, d.asModel())
		holds = max(holds, d.cost.trained(runtime.GOMAXPROCS(0)))
	}
	err = s.inTurn(r.ctx, func() error {
		if err := s.shelf.take(r.ctx, holds); err != nil {
			return err
		}
		defer s.shelf.give(holds)
		v, err = s.write("text/html; charset=utf-8", path.Base(models[0].Name)+".html", func(w io.Writer) error { return s.options.Report(r.ctx, w, models) })
		return err
	})
	return v, err
}

// asModel returns the model that opens the document again. It reads only fields that never change.
func (d *document) asModel() Model {
	m := Model{Name: d.model.Builder.Name, Text: d.asked.Text, Settings: d.settings, Scalars: d.asked.Scalars, DType: d.asked.DType, Optimiser: d.asked.Optimiser, Rate: d.asked.Rate, Schedule: d.asked.Schedule, Courses: d.asked.Courses, Seed: d.asked.Seed, Data: d.asked.Data, AsNotes: d.asked.AsNotes}
	m.Usual = d.request.Optimiser == "" && d.request.Rate == 0 && d.request.Schedule == ""
	if len(lab.Trained(d.model)) == 0 {
		m.Optimiser, m.Rate, m.Schedule, m.Usual = "", 0, "", true
	}
	if r := d.session.feeder.gone; r != nil {
		m.Run = &ReportedRun{r.of.name, r.settings, r.of.folder, r.Steps, r.setOtherwise(), ""}
		switch q := d.request; {
		case len(q.Scalars) > 0 || r.from != "" && len(q.Courses) > 0:
			m.Run.Otherwise = "another γ"
		case r.from != "" && q.Optimiser != "" && q.Optimiser != r.of.settings["optimiser"]:
			m.Run.Otherwise = "another optimiser"
		case r.from != "" && (q.Rate != 0 || q.Schedule != ""):
			m.Run.Otherwise = "another rate"
		}
	}
	return m
}
