package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// failure is an error in a request, with the HTTP status of its answer.
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

// badf makes a failure with status 400.
func badf(format string, args ...any) error { return failf(http.StatusBadRequest, format, args...) }

// statusOf returns the HTTP status of an error's answer. An error that is not a failure happened
// while computing, and its text explains it.
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
