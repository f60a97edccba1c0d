//go:build !(mpi && (linux || darwin) && (amd64 || arm64))

package mpi

import (
	"context"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

func open(context.Context, Options) (parallel.Transport, error) { return nil, ErrNotBuilt }
