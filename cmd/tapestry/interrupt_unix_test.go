//go:build unix

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// TestInterrupted: a command that looks at nothing ends soon after the interruption, with the exit
// code of one; one with a training to save is waited for.
func TestInterrupted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	saves := new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { // waits for a writer that never comes
		code, _, _ := tapestry(t, "train", "kmeans-softmax", "--data", pipe)
		ended <- code
	}()
	cancel()
	since := time.Now()
	if code := untilEnd(ctx, ended, saves); code != 130 || time.Since(since) > 20*patience {
		t.Errorf("exit code %d after %v", code, time.Since(since))
	}
	writer := exec.Command("sh", "-c", ": > \"$0\"", pipe) // lets the reader end
	if err := writer.Run(); err != nil {
		t.Fatal(err)
	}
	<-ended
	saving(context.WithValue(ctx, savesKey{}, saves))
	go func() {
		time.Sleep(patience + 200*time.Millisecond)
		ended <- 7
	}()
	if code := untilEnd(ctx, ended, saves); code != 7 {
		t.Errorf("a training that saves is not waited for: %d", code)
	}
}
