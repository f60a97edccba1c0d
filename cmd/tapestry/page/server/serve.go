package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// Timeouts of connections. Answers that go on for longer push their own time back.
const (
	headerTime   = 5 * time.Second
	readTime     = 15 * time.Second
	writeTime    = page.AnswerTime + 10*time.Second
	idleTime     = 60 * time.Second
	shutdownTime = 1500 * time.Millisecond
	maxHeader    = 32 << 10 // bytes
)

// Serve answers requests at the listener until ctx ends. Then streams end after the current step,
// other answers stop when they next check their context, the listener and all documents are closed,
// and Serve returns nil: after 1.5 seconds at the latest, even if a computation has not yet checked.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	requests, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h := &http.Server{Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: s.log, BaseContext: func(net.Listener) context.Context { return requests }}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		_ = h.Close() // what the listener left
		s.page.Close()
		return err
	case <-ctx.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := h.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close()
	}
	<-ended
	s.page.CloseContext(grace)
	return err
}
