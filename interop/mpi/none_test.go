//go:build !(mpi && (linux || darwin) && (amd64 || arm64))

package mpi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil or zero values.
func TestNil(t *testing.T) { niltest.Check(t, niltest.Table{Functions: map[string]any{"Open": Open}}) }

// TestNotBuilt: without the tag the constructor is there, and says how to get what is missing.
func TestNotBuilt(t *testing.T) {
	tr, err := Open(context.Background(), Options{})
	if tr != nil || !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "go build -tags mpi") {
		t.Errorf("Open gives %v, %v", tr, err)
	}
}
