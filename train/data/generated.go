package data

import (
	"context"
	"fmt"

	"gorgonia.org/tensor"
)

// generated is a source of one endless epoch.
type generated struct {
	name string
	rows int
	next func(t int) (map[string]*tensor.Dense, error)
	at   Position
}

// Generated returns a source of one endless epoch. Its batch t, from 0, has so many rows and the
// inputs by name that next(t) returns. If next is nil, batches are empty, for a model without
// inputs. The name says for [Describe] what next depends on beside t. It is for training: what reads
// one epoch of its data, such as an evaluation, refuses it and wants [Drawn].
func Generated(name string, rows int, next func(t int) (map[string]*tensor.Dense, error)) Source {
	return &generated{name: name, rows: rows, next: next}
}

// String is for Describe.
func (g *generated) String() string { return g.name }

func (g *generated) Position() Position { return g.at }
func (g *generated) Batches() int       { return 0 }
func (g *generated) Endless() bool      { return true }

func (g *generated) Seek(p Position) error {
	if p.Epoch != 0 || p.Batch < 0 {
		return fmt.Errorf("data: no %v: what is generated has one epoch without an end", p)
	}
	g.at = p
	return nil
}

func (g *generated) Next(ctx context.Context) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b := Batch{Rows: g.rows}
	if g.next != nil {
		var err error
		if b.Values, err = g.next(g.at.Batch); err != nil {
			return Batch{}, err
		}
	}
	g.at.Batch++
	return b, nil
}
