//go:build onnxruntime

package onnxruntime_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// TestAbsentEveryTime: the reason why a library is not loaded is given, whatever else the program's
// goroutines do.
func TestAbsentEveryTime(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 200 {
				_, err := onnxruntime.Open("elsewhere.so")
				if err == nil || strings.HasSuffix(err.Error(), ": ") {
					t.Errorf("the error is %q", err)
					return
				}
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
}
