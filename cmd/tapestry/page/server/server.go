package server

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// Server is the handler of a page's requests.
type Server struct {
	page  *page.Service
	hosts HostList
	log   *log.Logger
}

// New returns a server of the page under the host names by which browsers may ask for it; see
// [Hosts]. It logs what is wrong with connections, unless log is nil.
func New(p *page.Service, hosts HostList, to *log.Logger) *Server {
	if to == nil {
		to = log.New(io.Discard, "", 0)
	}
	return &Server{p, hosts, to}
}

// ServeHTTP answers requests from the page, and refuses all others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if status, why := s.refuse(r); why != "" {
		fail(w, status, why)
		return
	}
	q := page.Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery}
	switch r.Method {
	case http.MethodHead:
		q.Method = http.MethodGet // of which net/http leaves out the text
	case http.MethodPost:
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			fail(w, http.StatusUnsupportedMediaType, "want Content-Type: application/json")
			return
		}
		var err error
		if q.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, page.MaxBody)); err != nil {
			fail(w, bodyStatus(err), err.Error())
			return
		}
	}
	send(w, r, s.page.Answer(r.Context(), q))
}

// send writes an answer.
func send(w http.ResponseWriter, r *http.Request, a *page.Answer) {
	if a.Sent != nil {
		defer a.Sent()
	}
	h := w.Header()
	h.Set("Content-Type", a.Kind)
	if a.Stays {
		h.Set("Cache-Control", "no-cache")
	}
	if a.Name != "" {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": a.Name}))
	}
	if a.Lines == nil {
		h.Set("Content-Length", strconv.Itoa(len(a.Text)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Text) // the client may have gone
	if a.Lines == nil {
		return
	}
	control := http.NewResponseController(w)
	a.Lines(r.Context(), func(text []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // without it, the server's own holds
		if _, err := w.Write(text); err != nil {
			return err
		}
		return control.Flush()
	})
}

// fail writes an error that is one of HTTP, in the form of those of the page.
func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why}) // the client may have gone
}

// bodyStatus returns the status of a request whose body cannot be read.
func bodyStatus(err error) int {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}
