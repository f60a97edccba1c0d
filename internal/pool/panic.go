package pool

import (
	"fmt"
	"runtime/debug"
)

// Panic is the value that Do panics with if Run panicked in another goroutine than the caller's.
type Panic struct {
	Value any    // what Run panicked with; nil if it called runtime.Goexit
	Stack string // the stack of that goroutine
}

// caught describes a panic, or runtime.Goexit if the value is nil. The deferred function that
// recovered calls it.
func caught(value any) *Panic { return &Panic{value, string(debug.Stack())} }

// Error returns the value and the stack.
func (p *Panic) Error() string {
	if p.Value == nil {
		return "runtime.Goexit in a worker\n\n" + p.Stack
	}
	return fmt.Sprintf("%v\n\nin a worker:\n%s", p.Value, p.Stack)
}

// Unwrap returns the value if it is an error, and nil otherwise.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
