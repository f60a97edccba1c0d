package tape

import "context"

// compilation is one call of Compile. Every phase looks at its context now and then.
type compilation struct{ ctx context.Context }

// stopped is the panic that ends a compilation whose context is done.
type stopped struct{ error }

// look ends the compilation if its context is done. After the compilation, look does nothing.
func (c *compilation) look() {
	if c == nil || c.ctx == nil {
		return
	}
	if err := c.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

// end, deferred, drops the context, and sets the error of a compilation that look has ended.
func (c *compilation) end(err *error) {
	c.ctx = nil
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.error
	default:
		panic(r)
	}
}
