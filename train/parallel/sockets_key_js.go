package parallel

import (
	"context"
	"errors"
)

// A browser has no sockets that a key could keep to those who have it: TLS stays out of its programs.

type identity struct{}

var errKey = errors.New("parallel: a browser has no sockets")

func identify([]byte) (*identity, error) { return nil, errKey }

func (*identity) secure(context.Context, *conn, bool) error { return errKey }
