package page

import (
	"context"
	"io"
	"net/http"
	"path"
	"runtime"
	"strings"

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
func (s *Server) download(r *http.Request, d *document) (any, error) {
	name := d.model.Builder.Name
	switch kind := r.PathValue("kind"); kind {
	case "svg":
		return s.svg(r, d)
	case "dot":
		q, err := drawingOf(r, d)
		if err != nil {
			return nil, err
		}
		f, _, _, err := d.draw(r.Context(), q)
		if err != nil {
			return nil, err
		}
		return s.write("text/vnd.graphviz", name+".dot", func(w io.Writer) error { return f.DOT(w) })
	case "latex":
		text, err := d.latex(r.Context())
		if err != nil {
			return nil, err
		}
		return s.text("application/x-tex", name+".tex", text)
	case "listing":
		return s.text("text/plain; charset=utf-8", name+".txt", d.session.prog.String())
	case "tapestry":
		if d.source == "" {
			return nil, failf(http.StatusNotFound, "%s is a model of the registry: it has no text in formula notation", name)
		}
		return s.text("text/plain; charset=utf-8", strings.TrimSuffix(name, ".tapestry")+".tapestry", d.source)
	default:
		return nil, failf(http.StatusNotFound, "there is no %.40q to download: want svg, dot, latex, listing, tapestry or report", kind)
	}
}

// report writes the page that compares a document's model with those of others. It trains models of
// its own, and so other requests can use the documents meanwhile. The memory of its models comes
// from the room that documents share.
func (s *Server) report(r *http.Request) (v any, err error) {
	var models []Model
	holds := 0
	for _, id := range append([]string{r.PathValue("doc")}, list(r, "with")...) {
		d, err := s.shelf.find(id)
		if err != nil {
			return nil, err
		}
		if s.options.Report == nil {
			return nil, failf(http.StatusNotImplemented, "there is no report of %s", d.model.Builder.Name)
		}
		models = append(models, d.asModel())
		holds = max(holds, d.cost.trained(runtime.GOMAXPROCS(0)))
	}
	err = s.inTurn(r.Context(), func() error {
		if err := s.shelf.take(r.Context(), holds); err != nil {
			return err
		}
		defer s.shelf.give(holds)
		v, err = s.write("text/html; charset=utf-8", path.Base(models[0].Name)+".html", func(w io.Writer) error { return s.options.Report(r.Context(), w, models) })
		return err
	})
	return v, err
}

// asModel returns the model that opens the document again. It reads only fields that never change.
func (d *document) asModel() Model {
	return Model{Name: d.model.Builder.Name, Text: d.asked.Text, Settings: d.settings, Scalars: d.asked.Scalars, DType: d.asked.DType, Optimiser: d.asked.Optimiser, Rate: d.asked.Rate, Seed: d.asked.Seed, Data: d.asked.Data, AsNotes: d.asked.AsNotes}
}
