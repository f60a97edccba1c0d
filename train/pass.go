package train

import (
	"context"
	"io"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// pieceSize is the number of bytes of a checkpoint that ranks pass on at a time.
const pieceSize = 1 << 22

// pass passes a checkpoint of the first rank, or nil, to all ranks: they need no folder in common.
func (f *fitting) pass(ctx context.Context, s *checkpoint.State) (*checkpoint.State, error) {
	if !f.several() {
		return s, nil
	}
	path := ""
	if s != nil {
		path = s.Path
	}
	all, err := f.exchange(ctx, "passing on a checkpoint", []byte(path), nil)
	if err != nil || len(all[0]) == 0 {
		return nil, err
	}
	p := &pieces{ctx: ctx, t: f.Trainer}
	if f.first() {
		if err = checkpoint.Write(p, s); err == nil {
			err = p.flush()
		}
		if err == nil {
			_, err = p.exchange(nil)
		}
	} else if s, err = checkpoint.Read(p, string(all[0])); err == nil {
		_, err = io.Copy(io.Discard, p)
	}
	if p.err != nil {
		err = p.err
	}
	return s, f.together(ctx, "having passed on a checkpoint", err)
}

// pieces passes bytes that the first rank writes on to the others, which read them. An empty piece
// is the end.
type pieces struct {
	ctx   context.Context
	t     *Trainer
	held  []byte
	ended bool
	err   error // of an exchange
}

// Write implements io.Writer.
func (p *pieces) Write(b []byte) (int, error) {
	if p.held = append(p.held, b...); len(p.held) < pieceSize {
		return len(b), nil
	}
	return len(b), p.flush()
}

// flush passes on what is held.
func (p *pieces) flush() error {
	if len(p.held) == 0 {
		return nil
	}
	_, p.err = p.exchange(p.held)
	p.held = p.held[:0]
	return p.err
}

func (p *pieces) exchange(b []byte) ([][]byte, error) {
	return p.t.exchange(p.ctx, "a piece of a checkpoint", b, nil)
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	if len(p.held) == 0 && !p.ended {
		all, err := p.exchange(nil)
		if err != nil {
			p.err = err
			return 0, err
		}
		p.held, p.ended = all[0], len(all[0]) == 0
	}
	if p.ended {
		return 0, io.EOF
	}
	n := copy(b, p.held)
	p.held = p.held[n:]
	return n, nil
}
