package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hello writes a text.
func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

// What is not a file must be written to: a file in the place of a pipe, or of the
// null device, would break whatever else uses it.
func TestOutputToPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes in the file system")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v: %s", err, out)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- string(b)
	}()
	if err := writeOutput(pipe, nil, hello); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(pipe)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v, %v", info.Mode(), err)
	}
	if got := <-read; got != "hello" {
		t.Errorf("the pipe carried %q", got)
	}
}

func TestOutputKeepsLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	if err := writeOutput(link, nil, hello); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(target)
	if err != nil || string(text) != "hello" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "target" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if info, err := os.Stat(target); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
}

// A place that cannot be written to is named before anything is trained.
func TestOutputIsCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // training would say that it was interrupted
	for out, want := range map[string]string{dir: "this is a directory", filepath.Join(dir, "absent", "r.html"): "no such file"} {
		for _, command := range [][]string{{"compare"}, {"train", "kmeans-softmax"}} {
			var o, e bytes.Buffer
			if code := run(ctx, append(command, "--out", out), &o, &e); code != 1 || !strings.Contains(e.String(), want) || o.Len() > 0 {
				t.Errorf("%v --out %s: exit code %d, %q and %q, want %q", command, out, code, o.String(), e.String(), want)
			}
		}
	}
}

// Whatever a command prints with --json is JSON, an object a line.
func TestJSON(t *testing.T) {
	for _, args := range []string{"list", "draw kmeans-goofy", "draw kmeans-goofy --format text", "draw kmeans-goofy --against kmeans-softmax --format text",
		"grad kmeans-goofy", "tape kmeans-goofy", "train kmeans-goofy --seeds 1 --steps 2", "check kmeans-goofy"} {
		out := ok(t, append(strings.Fields(args), "--json")...)
		for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("%s: %v in %.80q", args, err, line)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// What a full disk swallowed was not a success.
func TestOutputErrorIsReported(t *testing.T) {
	var e bytes.Buffer
	if code := run(context.Background(), []string{"list"}, full{}, &e); code != 1 || e.String() != "tapestry: standard output: no space left\n" {
		t.Errorf("exit code %d, %q", code, e.String())
	}
}
