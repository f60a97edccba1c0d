package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math"
	"mime"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Options configures a [Server].
type Options struct {
	Hosts    HostList          // host names by which browsers may ask for the page; see [Hosts]
	Families []builders.Family // models to choose from; nil for the registry
	Notation Notation          // reads models from text; nil if nothing does
	Tables   []*data.Table     // that clusterings may be given by name, beside the built-in ones
	Report   Report            // makes the report of models; nil if nothing does
	Memory   int               // bytes that all documents, reports and files to download may come to hold together; 0 for [DefaultMemory]
	Logs     []string          // files of watch.JSONLines that are followed; no other file is ever read
	Log      *log.Logger       // panics and refusals; nil for none
}

// Limits of what a request may cost.
const (
	maxBody      = 1 << 20 // bytes
	maxDocuments = 16
	answerTime   = 60 * time.Second // of a computation
)

// DefaultMemory is the default of Memory in [Options], in bytes.
const DefaultMemory = min(2<<30, math.MaxInt)

// Server is the page's handler; see [New].
type Server struct {
	options Options
	mux     *http.ServeMux
	shelf   *shelf
	logs    []*run
	turns   chan struct{} // a computation takes one
}

// New returns a server without documents.
func New(o Options) *Server {
	if o.Families == nil {
		o.Families = builders.Families()
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	s := &Server{options: o, mux: http.NewServeMux(), shelf: newShelf(maxDocuments, o.Memory), logs: newRuns(o.Logs), turns: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
	s.route()
	return s
}

// Close forgets all documents and ends their machines. Requests that are being
// answered end first.
func (s *Server) Close() { s.close(context.Background()) }

// close is Close, but stops waiting for requests when ctx is done.
func (s *Server) close(ctx context.Context) {
	s.shelf.clear(ctx)
	for _, one := range s.logs {
		one.mu.Lock()
		one.close()
		one.mu.Unlock()
	}
}

// route registers the handlers of all requests.
func (s *Server) route() {
	file := func(pattern string, name func(*http.Request) string) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serveAsset(w, name(r)); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	file("GET /{$}", func(*http.Request) string { return "index.html" })
	file("GET /assets/{name}", func(r *http.Request) string { return r.PathValue("name") })

	s.mux.HandleFunc("GET /assets/chart.css", func(w http.ResponseWriter, _ *http.Request) { serveChartStyle(w) })

	s.answer("GET /api/models", s.models)
	s.answer("GET /api/optimisers", func(*http.Request) (any, error) { return optimisers(), nil })
	s.answer("GET /api/examples", s.examples)
	s.answer("POST /api/open", s.open)
	s.answer("POST /api/parse", s.parse)
	s.answer("GET /api/docs", s.documents)
	s.answer("DELETE /api/docs/{doc}", s.drop)
	s.answer("GET /api/docs/{doc}", s.with(s.describe))
	s.answer("GET /api/docs/{doc}/sheet", s.with(s.sheet))
	s.answer("GET /api/docs/{doc}/node/{node}", s.with(s.nodeInfo))
	s.answer("GET /api/docs/{doc}/node/{node}/values", s.with(s.values))
	s.answer("GET /api/docs/{doc}/tape", s.with(s.tape))
	s.answer("GET /api/docs/{doc}/instruction/{i}", s.with(s.instruction))
	s.mux.HandleFunc("POST /api/docs/{doc}/train", s.train)
	s.answer("GET /api/docs/{doc}/history", s.with(s.history))
	s.answer("GET /api/docs/{doc}/chart", s.with(s.chart))
	s.answer("GET /api/docs/{doc}/derivation", s.with(s.derivation))
	s.answer("GET /api/docs/{doc}/autopsy", s.with(s.autopsy))
	s.answer("GET /api/docs/{doc}/break", s.with(s.runToBreak))
	s.answer("GET /api/docs/{doc}/rewrites", s.with(s.rewrites))
	s.answer("GET /api/docs/{doc}/rewrites/{i}/sheet", s.with(s.firingSheet))
	s.answer("GET /api/docs/{doc}/download/{kind}", s.with(s.download))
	s.answer("GET /api/docs/{doc}/download/report", s.report)
	s.answer("GET /api/runs", s.runs)
	s.answer("GET /api/runs/chart", s.runsChart)
	s.answer("GET /api/compare", s.compare)
	s.answer("GET /api/compare/svg", s.compareSVG)
	s.answer("GET /api/compare/charts", s.compareCharts)
}

// answer routes a pattern to a function whose result is sent as JSON, or unchanged if it is a file.
func (s *Server) answer(pattern string, f func(*http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		v, err := f(r.WithContext(ctx))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if file, is := v.(*file); is {
			file.send(w)
			return
		}
		s.send(w, r, http.StatusOK, v)
	})
}

// inTurn calls f when fewer than the allowed number of computations run.
func (s *Server) inTurn(ctx context.Context, f func() error) error {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send writes a value as JSON. It encodes the whole value first, so that a failure to encode is an
// error and not half an answer.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, v any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		s.options.Log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		http.Error(w, `{"error":"the answer cannot be written"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client may have gone
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := struct {
		Error string `json:"error"`
		Caret string `json:"caret,omitempty"`
	}{Error: err.Error()}
	var f *failure
	if errors.As(err, &f) {
		answer.Caret = f.caret
	}
	s.send(w, r, statusOf(err), answer)
}

// ServeHTTP answers requests from the page, and refuses all others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if what := recover(); what != nil {
			if what == http.ErrAbortHandler {
				panic(what)
			}
			s.options.Log.Printf("%s %s: panic: %v\n%s", r.Method, r.URL.Path, what, debug.Stack())
			s.send(w, r, http.StatusInternalServerError, map[string]string{"error": "an internal mistake; the server's log has it"})
		}
	}()
	secure(w.Header())
	if err := s.refuse(r); err != nil {
		s.fail(w, r, err)
		return
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			s.fail(w, r, failf(http.StatusUnsupportedMediaType, "want Content-Type: application/json"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		status, text := http.StatusNotFound, "there is no such page"
		if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodDelete && r.Method != http.MethodHead {
			status, text = http.StatusMethodNotAllowed, "want GET, POST or DELETE"
		}
		s.fail(w, r, failf(status, "%s", text))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// body reads the JSON object of a request into v. Unknown fields, and text after the object, are
// errors.
func body(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return badf("the request is not the JSON that is wanted: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badf("the request has something after its JSON object")
	}
	return nil
}
