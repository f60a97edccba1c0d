package mpi

import (
	"context"
	"errors"
	"time"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// Variable is the environment variable that names the library's file, or the folder that it is in.
const Variable = "TAPESTRY_MPI"

// ErrNotBuilt is the error of [Open] in a program that was built without the tag mpi, or for a
// platform on which MPI is not called.
var ErrNotBuilt = errors.New("mpi: this build has no MPI: build it with go build -tags mpi, for Linux or macOS on amd64 or arm64")

// Options say which library is loaded, and how long a rank waits for another until
// [parallel.Join] says so.
type Options struct {
	Library string        // a file or a folder; "" for what Variable names, and else for the one found
	Timeout time.Duration // 0 for parallel.DefaultTimeout

	piece int // the most bytes of a message, for tests; 0 for maxPiece
}

// Open loads an MPI library, starts it, and returns the transport between the ranks that the
// launcher started; without a launcher there is one rank. All ranks call it, once: MPI starts once
// in a process. It waits for the other ranks no longer than the timeout.
//
// It is an error, which says what to do, if no library is found, if the library is none that is
// known, or if launcher and library do not match: then each process would be alone.
func Open(ctx context.Context, o Options) (parallel.Transport, error) {
	if o.Timeout < 0 {
		return nil, errors.New("mpi: the timeout is negative")
	}
	if o.Timeout == 0 {
		o.Timeout = parallel.DefaultTimeout
	}
	if o.piece == 0 {
		o.piece = maxPiece
	}
	return open(ctx, o)
}

// maxPiece is the most bytes of a message: MPI counts in ints of 32 bits.
const maxPiece = 1 << 28
