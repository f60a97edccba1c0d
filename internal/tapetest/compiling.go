package tapetest

import (
	"context"
	"runtime"
	"strings"
)

// Uncompiled is a context that is done for whatever compiles, and for nothing else: what ends with [context.Canceled] under it was
// stopped while it compiled.
func Uncompiled(ctx context.Context) context.Context { return uncompiled{ctx} }

type uncompiled struct{ context.Context }

func (u uncompiled) Err() error {
	callers := make([]uintptr, 4)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "tape.(*compilation).look") {
			return context.Canceled
		}
		if !more {
			return u.Context.Err()
		}
	}
}
