package page

import (
	"context"
	"io"
	"log"
	"math"
	"runtime"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Options configures a [Service].
type Options struct {
	Families []builders.Family // models to choose from; nil for the registry
	Notation Notation          // reads models from text; nil if nothing does
	Tables   []*data.Table     // that clusterings may be given by name, beside the built-in ones
	Trained  Trained           // what the settings of a run describe; nil if nothing reads them
	Report   Report            // makes the report of models; nil if nothing does
	Memory   int               // bytes that all documents, reports and files to download may come to hold together; 0 for [DefaultMemory]
	Logs     []string          // files of watch.JSONLines that are followed, or folders of files NAME.jsonl; beside them only what they name is read, when a run is opened: the checkpoint, the model and the data
	Log      *log.Logger       // panics; nil for none
	Between  func()            // is called before each part of a frame, where other requests are heard by the thread that answers; nil for nothing
}

// maxDocuments is how many documents stay open.
const maxDocuments = 16

// MaxBody is the largest number of bytes that a request may have.
const MaxBody = 1 << 20

// AnswerTime is the longest time that an answer may take, or a turn of one that goes on.
const AnswerTime = 60 * time.Second

// DefaultMemory is the default of Memory in [Options], in bytes.
const DefaultMemory = min(2<<30, math.MaxInt)

// Service answers the page's requests, whoever brings them: a server, or a worker in the browser.
type Service struct {
	options Options
	shelf   *shelf
	logs    *logbook
	turns   chan struct{} // a computation takes one
}

// New returns a service without documents.
func New(o Options) *Service {
	if o.Families == nil {
		o.Families = builders.Families()
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	return &Service{options: o, shelf: newShelf(maxDocuments, o.Memory), logs: newLogbook(o.Logs), turns: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// Close forgets all documents and ends their machines. Requests that are being
// answered end first.
func (s *Service) Close() { s.CloseContext(context.Background()) }

// CloseContext is Close, but stops waiting for requests when ctx is done.
func (s *Service) CloseContext(ctx context.Context) {
	s.shelf.clear(ctx)
}

// inTurn calls f when fewer than the allowed number of computations run.
func (s *Service) inTurn(ctx context.Context, f func() error) error {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}
