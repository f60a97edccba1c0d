package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
)

// job is a training on ranks that are processes of this machine.
type job struct {
	net         net
	lanes       int
	ranks       int
	steps       int
	checkpoints string // to go on from, and to leave some in; "" for neither
}

// run starts the ranks and returns what came of it. If one fails, all end.
func (j job) run(ctx context.Context, l *lesson.Lesson) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	folder, err := os.MkdirTemp("", "ranks")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(folder)
	processes := make([]*exec.Cmd, j.ranks)
	said := make([]bytes.Buffer, j.ranks)
	var failed error
	for r := range processes {
		args := []string{"-net", j.net.name, "-lanes", fmt.Sprint(j.lanes), "-steps", fmt.Sprint(j.steps),
			"-seed", fmt.Sprint(l.Seed), "-workers", fmt.Sprint(cores(l, j.ranks)),
			"-ranks", "unix://" + filepath.Join(folder, "job"), "-rank", fmt.Sprintf("%d/%d", r, j.ranks)}
		if j.checkpoints != "" {
			args = append(args, "-checkpoints", j.checkpoints, "-resume")
		}
		p := exec.CommandContext(ctx, self, args...)
		p.Stdout, p.Stderr = &said[r], &said[r]
		if failed = p.Start(); failed != nil {
			break
		}
		processes[r] = p
	}
	for r, p := range processes {
		if p == nil {
			continue
		}
		if failed != nil {
			_ = p.Process.Kill() // not all could be started
		}
		if err := p.Wait(); err != nil && failed == nil {
			failed = fmt.Errorf("%s on %d ranks, rank %d: %w\n%s", j.net.name, j.ranks, r, err, strings.TrimSpace(said[r].String()))
		}
	}
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if failed != nil {
		return outcome{}, failed
	}
	return read(said[0].String())
}
