package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// failure is a mistake of the request with the status that says so.
type failure struct {
	status int
	err    error
	caret  string // the place in a text, pointed at
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failf makes a failure.
func failf(status int, format string, args ...any) error {
	return &failure{status: status, err: fmt.Errorf(format, args...)}
}

// badf is a request that asks for what there is not.
func badf(format string, args ...any) error { return failf(http.StatusBadRequest, format, args...) }

// statusOf is the status of an error's answer: what is no failure went wrong while
// computing, and says so in words.
func statusOf(err error) int {
	var f *failure
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f.status
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}
