package page

import (
	"context"
	"net/http"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
)

// document is an open model with its training session. One request at a time uses it: see acquire.
type document struct {
	id     string
	number int // in the id
	lock   chan struct{}
	gone   context.Context // ends when the document is closed
	stop   context.CancelFunc

	cost     cost
	reserved int // bytes of the shelf's room

	asked    opening
	settings builders.Settings
	source   string
	model    *builders.Model
	wrt      []*graph.Node
	session  *session

	asWritten, rewritten *variant
	outlines             map[outlineKey]outline
	run                  *program // made when first asked for
	fired                *rewriting
	records              cache[*inspect.Record]
	shadows              cache[*inspect.Precision]
	findings             cache[*inspect.Finding]
	blamed               cache[[]check.Blamed]
	timed                *tape.Profile
}

// opening is a request to open a document.
type opening struct {
	Model     string             `json:"model"`
	Text      string             `json:"text"`
	Name      string             `json:"name"`
	Settings  map[string]any     `json:"settings"`
	DType     string             `json:"dtype"`
	Optimiser string             `json:"optimiser"`
	Rate      float64            `json:"rate"` // 0 for what suits the data
	Seed      uint64             `json:"seed"`
	Data      string             `json:"data"`
	Scalars   map[string]float64 `json:"scalars"`  // inputs with a default that are fed another number
	AsNotes   bool               `json:"as_notes"` // as the lecture notes have it, where the defaults differ
	named     bool               // by the command that began the page
}

// acquire waits until no other request uses the document.
func (d *document) acquire(ctx context.Context) error {
	select {
	case d.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *document) release() { <-d.lock }

// newDocument builds the document that is asked for.
func (s *Server) newDocument(ctx context.Context, q opening) (*document, error) {
	d := &document{asked: q, lock: make(chan struct{}, 1)}
	d.gone, d.stop = context.WithCancel(context.Background())
	var err error
	dt, known := map[string]graph.DType{"": graph.F32, "f32": graph.F32, "f64": graph.F64}[q.DType]
	if !known {
		return nil, badf("dtype %q: want f32 or f64", q.DType)
	}
	d.asked.DType = dt.String()
	feeder, err := s.buildModel(ctx, d, dt)
	if err != nil {
		return nil, err
	}
	d.wrt = lab.Wrt(d.model)
	if err := d.view(); err != nil {
		return nil, err
	}
	optimiser, err := d.optimiser(feeder.table)
	if err != nil {
		return nil, err
	}
	step := lab.TrainingStep(d.model, optimiser)
	if rate := optimiser.Rate(d.model.Graph); rate != nil && d.asked.Rate == 0 {
		d.asked.Rate, _ = rate.Default()
	}
	c, err := costOf(d.model)
	if err != nil {
		return nil, err
	}
	d.records.most, d.shadows.most, d.findings.most, d.blamed.most = c.keeps(), c.keeps(), c.keeps(), c.keeps()
	if err := s.shelf.take(ctx, c.reserved()); err != nil {
		return nil, err
	}
	if d.session, err = newSession(ctx, d.model, step, feeder); err == nil && float64(d.session.prog.FLOPs()) > maxWork {
		d.session.close()
		err = failf(http.StatusRequestEntityTooLarge, "the model is too large for the page: a step takes %.1e operations, more than %.1e", float64(d.session.prog.FLOPs()), float64(maxWork))
	}
	if err != nil {
		s.shelf.give(c.reserved())
		return nil, err
	}
	d.cost, d.reserved = c, c.reserved()
	return d, nil
}

// buildModel makes the model and its feeder.
func (s *Server) buildModel(ctx context.Context, d *document, dt graph.DType) (*feeder, error) {
	q := d.asked
	var b builders.Builder
	var err error
	switch {
	case q.Text != "" && q.Model != "":
		return nil, badf("want a model or a text, not both")
	case q.Text != "":
		b, d.source, err = s.readBuilder(q.Name, q.Text)
	default:
		b, err = s.builder(q.Model)
	}
	if err != nil {
		return nil, err
	}
	if d.settings, err = settingsOf(b, q.Settings); err != nil {
		return nil, err
	}
	first, err := build(ctx, b, nil, dt)
	if err != nil {
		return nil, err
	}
	table, err := s.clusterData(q.Data)
	if err != nil {
		return nil, err
	}
	if first.Centres() == nil {
		table, d.asked.Data = nil, "" // only clusterings take a table
	}
	if table != nil {
		fit(first, d.settings, table)
	}
	if d.model, err = build(ctx, b, d.settings, dt); err != nil {
		return nil, err
	}
	d.settings = d.model.Settings
	f, err := newFeeder(d.model, q, table)
	if err != nil {
		return nil, err
	}
	return f, f.fix(q.Scalars)
}

// optimiser returns the optimiser that is asked for, or else that of the model, or else Adam at a
// usual rate.
func (d *document) optimiser(table *data.Table) (train.Optimiser, error) {
	if !(d.asked.Rate >= 0) {
		return train.Optimiser{}, badf("rate %v: want a positive number", d.asked.Rate)
	}
	own, _, err := lab.Config{AsNotes: d.asked.AsNotes, Table: table}.Own(d.model)
	if err != nil {
		return own, err
	}
	if !own.IsZero() && (d.asked.Optimiser == "" || d.asked.Optimiser == own.Name()) {
		if d.asked.Optimiser = own.Name(); d.asked.Rate > 0 {
			own = own.WithRate(d.asked.Rate)
		}
		return own, nil
	}
	if d.asked.Optimiser == "" {
		d.asked.Optimiser = "adam"
	}
	if d.asked.Rate == 0 {
		d.asked.Rate = 0.01
		if table != nil {
			d.asked.Rate = lab.DefaultRate(table)
		}
	}
	o, err := train.Named(d.asked.Optimiser, d.asked.Rate)
	if err != nil {
		return o, badf("optimiser %w", err)
	}
	if o.Searches() {
		return o, badf("optimiser %s finds the length of each step by a line search, and the page walks through the step alone: choose another, or use tapestry train", o.Name())
	}
	return o, nil
}

// optimisers returns the names of the optimisers whose training is the program of their step.
func optimisers() []string {
	return slices.DeleteFunc(train.Names(), func(name string) bool {
		o, err := train.Named(name, 1)
		return err != nil || o.Searches()
	})
}

// fix feeds the given numbers to inputs that have a default, in every step.
func (f *feeder) fix(scalars map[string]float64) error {
	for name, v := range scalars {
		n := f.model.Graph.Lookup(name)
		if n == nil {
			return badf("there is no scalar %q", name)
		}
		if _, has := n.Default(); !has {
			return badf("%q is not an input with a default", name)
		}
		f.scalars[n] = v
		delete(f.courses, n)
	}
	return nil
}

// view finds the nodes of the model to draw: its result, its own updates, and the derivatives of
// its loss.
func (d *document) view() error {
	m := d.model
	roots := []*graph.Node{m.Result()}
	for _, u := range m.Step {
		roots = append(roots, u.Value)
	}
	var grads []*graph.Node
	if len(d.wrt) > 0 {
		grads = grad.OrZero(m.Loss, d.wrt...)
	}
	if err := m.Graph.Err(); err != nil {
		return err
	}
	d.asWritten = newVariant(asWritten, m.Result(), roots, grads)
	return nil
}

// compiled returns the model after the passes of the compiler.
func (d *document) compiled(ctx context.Context) (*variant, error) {
	if d.rewritten != nil {
		return d.rewritten, nil
	}
	w := d.asWritten
	res, err := rewrite.RunContext(ctx, d.model.Graph, w.all(), rewrite.Passes()...)
	if err != nil {
		return nil, err
	}
	became := func(nodes []*graph.Node) (out []*graph.Node) {
		for _, n := range nodes {
			out = append(out, res.Node(n))
		}
		return out
	}
	d.rewritten = newVariant(rewritten, res.Node(w.result), became(w.roots), became(w.grads))
	return d.rewritten, nil
}

// at returns the variant that a level draws.
func (d *document) at(ctx context.Context, l viz.Level) (*variant, error) {
	if l == viz.Compiled {
		return d.compiled(ctx)
	}
	return d.asWritten, nil
}

// record returns the values of a variant at a state.
func (d *document) record(ctx context.Context, v *variant, step int) (*inspect.Record, error) {
	return d.records.get(v, step, func() (*inspect.Record, error) { return d.session.record(ctx, step, v.all()) })
}

// with finds the document of a request and calls f when no other request uses it.
func (s *Server) with(f func(*http.Request, *document) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (v any, err error) {
		d, err := s.shelf.find(r.PathValue("doc"))
		if err != nil {
			return nil, err
		}
		err = s.use(r.Context(), func() error {
			v, err = f(r, d)
			return err
		}, d)
		return v, err
	}
}

// use calls f when no other request uses the documents, and it is its turn to compute. It acquires
// documents in order, so that two requests cannot deadlock.
func (s *Server) use(ctx context.Context, f func() error, docs ...*document) error {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b *document) int { return a.number - b.number })
	for _, d := range slices.Compact(docs) {
		if err := d.acquire(ctx); err != nil {
			return err
		}
		defer d.release()
		if d.session.closed {
			return failf(http.StatusGone, "document %s is closed", d.id)
		}
	}
	return s.inTurn(ctx, f)
}

func (s *Server) open(r *http.Request) (any, error) {
	var q opening
	if err := body(r, &q); err != nil {
		return nil, err
	}
	return s.openDocument(r.Context(), q)
}

func (s *Server) openDocument(ctx context.Context, q opening) (v *docView, err error) {
	var d *document
	err = s.inTurn(ctx, func() error {
		if d, err = s.newDocument(ctx, q); err != nil {
			return err
		}
		if v, err = d.describe(ctx); err != nil {
			d.session.close()
			s.shelf.give(d.reserved)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.shelf.add(d); err != nil {
		d.session.close()
		s.shelf.give(d.reserved)
		return nil, err
	}
	v.ID = d.id
	return v, nil
}

func (s *Server) describe(r *http.Request, d *document) (any, error) { return d.describe(r.Context()) }

func (s *Server) documents(r *http.Request) (any, error) {
	out := []*docView{}
	for _, d := range s.shelf.all() {
		err := s.use(r.Context(), func() error {
			v, err := d.describe(r.Context())
			out = append(out, v)
			return err
		}, d)
		if err != nil && statusOf(err) != http.StatusGone {
			return nil, err
		}
	}
	return out, nil
}

func (s *Server) drop(r *http.Request) (any, error) {
	d, err := s.shelf.find(r.PathValue("doc"))
	if err != nil {
		return nil, err
	}
	s.shelf.drop(d)
	return map[string]bool{"done": true}, nil
}

// Model describes the model that [Server.Open] opens.
type Model struct {
	Name      string // in the registry; of a text, its file
	Text      string // in formula notation; "" for a model of the registry
	Settings  builders.Settings
	Scalars   map[string]float64 // inputs with a default that are fed another number
	DType     string             // f32 or f64; "" for f32
	Optimiser string             // "" for the model's own, or adam
	Rate      float64
	Seed      uint64
	AsNotes   bool   // trained as the lecture notes have it; Settings has their settings
	Data      string // of a clustering: a built-in table; "" for examples of the model's own
}

// Open opens a model in the page. The page first shows all models opened this way, compared.
func (s *Server) Open(ctx context.Context, m Model) error {
	q := opening{Model: m.Name, DType: m.DType, Optimiser: m.Optimiser, Rate: m.Rate, Seed: m.Seed, Data: m.Data, AsNotes: m.AsNotes, Settings: map[string]any{}, Scalars: m.Scalars, named: true}
	if m.Text != "" {
		q.Model, q.Name, q.Text = "", m.Name, m.Text
	}
	for name, v := range m.Settings {
		q.Settings[name] = v
	}
	_, err := s.openDocument(ctx, q)
	return err
}
