package page

import (
	"context"
	"errors"
	"fmt"
)

// Statuses of answers, which are those of HTTP.
const (
	fine                = 200
	badRequest          = 400
	notFound            = 404
	methodNotAllowed    = 405
	gone                = 410
	tooLarge            = 413
	unprocessable       = 422
	mistaken            = 500
	notImplemented      = 501
	unavailable         = 503
	insufficientStorage = 507
)

// failure is an error in a request, with the status of its answer.
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
func badf(format string, args ...any) error { return failf(badRequest, format, args...) }

// statusOf returns the status of an error's answer. An error that is not a failure happened
// while computing, and its text explains it.
func statusOf(err error) int {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable
	}
	return unprocessable
}
