package page

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// document is an open model with its training session. One request at a time uses it: see acquire.
type document struct {
	id     string
	number int // in the id
	lock   chan struct{}
	done   atomic.Int64    // training steps, for those who need not wait for the document
	gone   context.Context // ends when the document is closed
	stop   context.CancelFunc

	cost     cost
	reserved int // bytes of the shelf's room

	request  opening // as it came
	asked    opening // with what was left to the defaults
	settings builders.Settings
	identity string
	source   string
	model    *builders.Model
	wrt      []*graph.Node
	session  *session

	asWritten, rewritten *variant
	outlines             map[outlineKey]outline
	planned              *planned // the last drawing
	paired               *pairing // the last comparison with another
	run                  *program // made when first asked for
	fired                *rewriting
	terms                *identityTerms // made when first asked for
	records              cache[*inspect.Record]
	shadows              cache[*inspect.Precision]
	findings             cache[*inspect.Finding]
	blamed               cache[[]check.Blamed]
	timed                *tape.Profile
	stepped              map[string]*stepBox    // boxes in the steps of loops
	entered              cache[*inspect.Record] // of steps
}

// opening is a request to open a document.
type opening struct {
	Model     string             `json:"model,omitempty"`
	Text      string             `json:"text,omitempty"`
	Name      string             `json:"name,omitempty"`
	Settings  map[string]any     `json:"settings,omitempty"`
	DType     string             `json:"dtype,omitempty"`
	Optimiser string             `json:"optimiser,omitempty"`
	Rate      float64            `json:"rate,omitempty"`     // 0 for what suits the data
	Schedule  string             `json:"schedule,omitempty"` // of the rate, as train.ParseSchedule reads it; "" for a constant one
	Seed      uint64             `json:"seed"`
	Data      string             `json:"data,omitempty"`
	Scalars   map[string]float64 `json:"scalars,omitempty"`  // inputs with a default that are fed another number
	Courses   map[string]string  `json:"courses,omitempty"`  // schedules of inputs with a default that are fed another number in every step
	AsNotes   bool               `json:"as_notes,omitempty"` // as the lecture notes have it, where the defaults differ
	Run       string             `json:"run,omitempty"`      // the name or the id of a run whose training it goes on with, from the newest checkpoint
	Anew      bool               `json:"anew,omitempty"`     // from its beginning
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
func (s *Service) newDocument(ctx context.Context, q opening) (*document, error) {
	d := &document{request: q, asked: q, lock: make(chan struct{}, 1)}
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
	step, err := d.step(feeder)
	if err != nil {
		return nil, err
	}
	c, err := costOf(d.model)
	if err != nil {
		return nil, err
	}
	d.records.most, d.shadows.most, d.findings.most, d.blamed.most, d.entered.most = c.keeps(), c.keeps(), c.keeps(), c.keeps(), maxEntered
	if err := s.shelf.take(ctx, c.reserved()); err != nil {
		return nil, err
	}
	if d.session, err = newSession(ctx, d.model, step, feeder); err == nil && float64(d.session.prog.FLOPs()) > maxWork {
		d.session.close()
		err = failf(tooLarge, "the model is too large for the page: a step takes %.1e operations, more than %.1e", float64(d.session.prog.FLOPs()), float64(maxWork))
	}
	if err != nil {
		s.shelf.give(c.reserved())
		return nil, err
	}
	d.cost, d.reserved = c, c.reserved()
	d.identity = d.identify()
	return d, nil
}

// buildModel makes the model and its feeder.
func (s *Service) buildModel(ctx context.Context, d *document, dt graph.DType) (*feeder, error) {
	q := d.asked
	if q.Run != "" {
		return s.resumeModel(ctx, d)
	}
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
		fit(first, d.settings, table, q.AsNotes)
	}
	if d.model, err = build(ctx, b, d.settings, dt); err != nil {
		return nil, err
	}
	d.settings = d.model.Settings
	f, err := newFeeder(d.model, q, table)
	if err != nil {
		return nil, err
	}
	if err := f.schedule(q.Courses); err != nil {
		return nil, err
	}
	return f, f.fix(q.Scalars)
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
	return d.records.get(v, step, func() (*inspect.Record, error) { return d.session.record(ctx, step, v) })
}

// with finds the document of a request and calls f when no other request uses it.
func (s *Service) with(f func(*request, *document) (any, error)) func(*request) (any, error) {
	return func(r *request) (v any, err error) {
		d, err := s.shelf.find(r.place("doc"))
		if err != nil {
			return nil, err
		}
		err = s.use(r.ctx, func() error {
			v, err = f(r, d)
			return err
		}, d)
		return v, err
	}
}

// use calls f when no other request uses the documents, and it is its turn to compute. It acquires
// documents in order, so that two requests cannot deadlock.
func (s *Service) use(ctx context.Context, f func() error, docs ...*document) error {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b *document) int { return a.number - b.number })
	for _, d := range slices.Compact(docs) {
		if err := d.acquire(ctx); err != nil {
			return err
		}
		defer d.release()
		if d.session.closed {
			return failf(gone, "document %s is closed", d.id)
		}
	}
	return s.inTurn(ctx, f)
}

func (s *Service) open(r *request) (any, error) {
	var q opening
	if err := body(r, &q); err != nil {
		return nil, err
	}
	return s.openDocument(r.ctx, q)
}

func (s *Service) openDocument(ctx context.Context, q opening) (v *docView, err error) {
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

func (s *Service) describe(r *request, d *document) (any, error) { return d.describe(r.ctx) }

func (s *Service) documents(r *request) (any, error) {
	out := []*docView{}
	for _, d := range s.shelf.all() {
		err := s.use(r.ctx, func() error {
			v, err := d.describe(r.ctx)
			out = append(out, v)
			return err
		}, d)
		if err != nil && statusOf(err) != gone {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) drop(r *request) (any, error) {
	d, err := s.shelf.find(r.place("doc"))
	if err != nil {
		return nil, err
	}
	s.shelf.drop(d)
	return map[string]bool{"done": true}, nil
}

// Model describes the model that [Service.Open] opens.
type Model struct {
	Name      string // in the registry; of a text, its file
	Text      string // in formula notation; "" for a model of the registry
	Settings  builders.Settings
	Scalars   map[string]float64 // inputs with a default that are fed another number
	DType     string             // f32 or f64; "" for f32
	Optimiser string             // "" for the model's own, or adam
	Rate      float64
	Schedule  string            // of the rate; "" for a constant one
	Courses   map[string]string // schedules of inputs with a default, by path
	Seed      uint64
	AsNotes   bool   // trained as the lecture notes have it; Settings has their settings
	Data      string // of a clustering: a built-in table; "" for examples of the model's own

	// What only a report is told.

	Usual bool         // the optimiser and its rate are those that the model has by default
	Run   *ReportedRun // the run with which it goes on; nil for a training of the page's own
}

// ReportedRun is the run of a log whose training a document goes on with.
type ReportedRun struct {
	Name      string
	Settings  map[string]string // that it is trained with, as in its log
	Folder    string            // from which paths among these are read; "" for the one in which the page runs
	Steps     int               // of the whole training
	Changed   string            // how it was set up before it was resumed, in words; "" where it was the same
	Otherwise string            // what it goes on with otherwise than it was trained up to its checkpoint, in words
}

// Open opens a model in the page. The page first shows all models opened this way, compared.
func (s *Service) Open(ctx context.Context, m Model) error {
	q := opening{Model: m.Name, DType: m.DType, Optimiser: m.Optimiser, Rate: m.Rate, Schedule: m.Schedule, Courses: m.Courses, Seed: m.Seed, Data: m.Data, AsNotes: m.AsNotes, Settings: map[string]any{}, Scalars: m.Scalars, named: true}
	if m.Text != "" {
		q.Model, q.Name, q.Text = "", m.Name, m.Text
	}
	for name, v := range m.Settings {
		q.Settings[name] = v
	}
	_, err := s.openDocument(ctx, q)
	return err
}
