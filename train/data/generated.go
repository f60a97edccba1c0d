package data

import (
	"context"
	"fmt"

	"gorgonia.org/tensor"
)

// generated is a source of one epoch without an end.
type generated struct {
	name string
	rows int
	next func(t int) (map[string]*tensor.Dense, error)
	at   Position
}

// Generated gives what next makes of the number of the batch, from 0, in one epoch that has no end: the
// inputs by name, with so many rows. A nil function gives batches of nothing, for a model that has no
// inputs. The name is for [Describe]: it says what next depends on besides.
func Generated(name string, rows int, next func(t int) (map[string]*tensor.Dense, error)) Source {
	return &generated{name: name, rows: rows, next: next}
}

// String is for Describe.
func (g *generated) String() string { return g.name }

func (g *generated) Position() Position { return g.at }
func (g *generated) Batches() int       { return 0 }

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
