package train

import (
	"context"
	"errors"
	"fmt"
)

// RankError is an error that another rank of the job met, and that ended this rank, too.
type RankError struct {
	Rank int
	Text string // of that rank's error
	Err  error  // what it wraps: context.Canceled or context.DeadlineExceeded where that rank was interrupted
}

// Error returns "rank 2 was interrupted", or the rank and its error: rank 1: label 11 in column
// "y".
func (e *RankError) Error() string {
	switch {
	case e == nil:
		return ""
	case e.interrupted():
		return fmt.Sprintf("rank %d was interrupted: %v", e.Rank, e.Err)
	}
	return fmt.Sprintf("rank %d: %s", e.Rank, e.Text)
}

// Unwrap returns Err.
func (e *RankError) Unwrap() error { return e.Err }

func (e *RankError) interrupted() bool {
	return e.Err == context.Canceled || e.Err == context.DeadlineExceeded
}

// told is an error of which the other ranks know.
type told struct {
	error
	over bool // the ranks can exchange nothing any more
}

func (t *told) Unwrap() error { return t.error }

// known reports whether the other ranks know of an error.
func known(err error) bool { return err != nil && errors.As(err, new(*told)) }

// over reports whether an error has ended the exchanges of the ranks.
func over(err error) bool {
	t := new(told)
	return err != nil && errors.As(err, &t) && t.over
}

// several reports whether the trainer shares its work with other ranks.
func (t *Trainer) several() bool { return t.Ranks != nil && t.Ranks.Count() > 1 }

// first reports whether this rank is the one that reads and writes checkpoints.
func (t *Trainer) first() bool { return !t.several() || t.Ranks.Rank() == 0 }

// What a rank says of itself in an exchange: that all is well, or the kind of its error.
const (
	well byte = iota
	failed
	canceled
	expired
	unsaved
)

// kindOf returns the kind of an error.
func kindOf(err error) byte {
	switch full := new(unwritten); {
	case err == nil:
		return well
	case errors.As(err, &full):
		return unsaved
	case errors.Is(err, context.Canceled):
		return canceled
	case errors.Is(err, context.DeadlineExceeded):
		return expired
	}
	return failed
}

// errorOf returns the error that a rank gave.
func errorOf(rank int, kind byte, text string) error {
	e := &RankError{Rank: rank, Text: text}
	switch kind {
	case canceled:
		e.Err = context.Canceled
	case expired:
		e.Err = context.DeadlineExceeded
	case unsaved:
		e.Err = &unwritten{errors.New(text)}
	}
	return e
}

// exchange gives bytes of this rank to all ranks, unless it has an error, and returns what each
// gave. Where a rank has an error all get one: a rank its own, the others that of the lowest such
// rank. All ranks are to be at the same place, which has a name. An error of which the others know
// already is returned at once.
//
// It goes on when ctx has ended, because the other ranks wait for this one.
func (t *Trainer) exchange(ctx context.Context, place string, mine []byte, err error) ([][]byte, error) {
	if !t.several() || known(err) {
		return [][]byte{mine}, err
	}
	if err != nil {
		mine = []byte(err.Error())
	}
	head := append([]byte{kindOf(err), byte(len(place))}, place...)
	all, broken := t.Ranks.Gather(endless(ctx), append(head, mine...))
	if broken != nil {
		return nil, t.abort(errors.Join(err, broken))
	}
	out := make([][]byte, len(all))
	var others error
	for rank, b := range all {
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			return nil, t.abort(errors.Join(err, fmt.Errorf("rank %d sent %d bytes in %s", rank, len(b), place)))
		}
		n := 2 + int(b[1])
		kind, at, rest := b[0], string(b[2:n]), b[n:]
		switch {
		case kind != well && rank != t.Ranks.Rank() && others == nil:
			others = errorOf(rank, kind, string(rest))
		case kind == well && at != place && others == nil:
			others = fmt.Errorf("rank %d is at %q, and rank %d at %q: all ranks must do the same", rank, at, t.Ranks.Rank(), place)
		}
		out[rank] = rest
	}
	if err == nil {
		err = others
	}
	if err != nil {
		return nil, &told{error: err}
	}
	return out, nil
}

// endless returns a context without its end, for what other ranks wait for.
func endless(ctx context.Context) context.Context {
	if ctx == nil { // that is the error to tell them
		return context.Background()
	}
	return context.WithoutCancel(ctx)
}

// together returns an error on all ranks where one of them has one.
func (t *Trainer) together(ctx context.Context, place string, err error) error {
	_, err = t.exchange(ctx, place, nil, err)
	return err
}

// abort ends the job of several ranks for an error, unless the other ranks know of it or it is
// [ErrStop], which all have.
func (t *Trainer) abort(err error) error {
	if err == nil || !t.several() || known(err) || errors.Is(err, ErrStop) {
		return err
	}
	t.Ranks.Abort(err)
	return &told{err, true}
}
