package static

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	module  = "github.com/tapestry-ml/tapestry"
	command = module + "/cmd/tapestry/page/worker"
)

// Build compiles the engine, by the Go command, from the source of the running program: where that
// was built from, or the module of its version. The error says what is missing.
func Build(ctx context.Context) (Engine, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return Engine{}, errors.New("the engine of the page is compiled by Go, which is not on PATH: install it (https://go.dev/dl), or give a file that was built elsewhere with --wasm")
	}
	dir, err := source(ctx)
	if err != nil {
		return Engine{}, err
	}
	temporary, err := os.MkdirTemp("", "tapestry")
	if err != nil {
		return Engine{}, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system clears it otherwise
	file := filepath.Join(temporary, "tapestry.wasm")
	modules, err := lean(dir, temporary)
	if err != nil {
		return Engine{}, err
	}
	// Without inlining, code is a fifth smaller. It stays where the time of a step goes.
	args := []string{"build", "-modfile=" + modules, "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, inlined := range []string{"internal/...", "tape", "ops"} {
		args = append(args, "-gcflags="+module+"/"+inlined+"=")
	}
	if _, err := output(ctx, dir, append(args, "-o", file, command)...); err != nil {
		return Engine{}, err
	}
	return read(ctx, dir, file)
}

// lean writes the go.mod of the module in dir, with package tensor of this folder in the place of
// gorgonia's, into a temporary folder, and returns its name.
func lean(dir, temporary string) (string, error) {
	const replaced = "gorgonia.org/tensor"
	in := os.DirFS(filepath.Join(dir, "cmd", "tapestry", "page", "static", "tensor"))
	names, err := fs.Glob(in, "*.go")
	if err != nil {
		return "", err
	}
	to := filepath.Join(temporary, "tensor")
	files := map[string][]byte{filepath.Join(to, "go.mod"): []byte("module " + replaced + "\n\ngo 1.24\n")}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[filepath.Join(to, name)], err = fs.ReadFile(in, name); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if files[filepath.Join(temporary, name)], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	modules := filepath.Join(temporary, "go.mod")
	files[modules] = append(files[modules], "\nreplace "+replaced+" => "+strconv.Quote(to)+"\n"...)
	if err := os.Mkdir(to, 0o777); err != nil {
		return "", err
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return "", err
		}
	}
	return modules, nil
}

// Read returns the engine in a file, with the wasm_exec.js beside it, or else that of the Go on PATH.
func Read(ctx context.Context, file string) (Engine, error) { return read(ctx, ".", file) }

func read(ctx context.Context, dir, file string) (e Engine, err error) {
	if e.Wasm, err = os.ReadFile(file); err != nil {
		return e, err
	}
	if e.Exec, err = os.ReadFile(filepath.Join(filepath.Dir(file), "wasm_exec.js")); err == nil {
		return e, nil
	}
	root, err := output(ctx, dir, "env", "GOROOT")
	if err != nil {
		return e, fmt.Errorf("%s has no wasm_exec.js beside it, which comes with the Go that compiled it: %w", file, err)
	}
	e.Exec, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	return e, err
}

// source returns the folder of the module that the program was built from.
func source(ctx context.Context) (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		dir := filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != module || !strings.HasPrefix(info.Main.Version, "v") || strings.Contains(info.Main.Version, "+") {
		return "", errors.New("the source that this program was built from is not here, and it has no version to fetch it by: give a file that was built elsewhere with --wasm")
	}
	text, err := output(ctx, os.TempDir(), "mod", "download", "-json", module+"@"+info.Main.Version)
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	err = json.Unmarshal(text, &found)
	return found.Dir, err
}

// output runs the Go command in a folder for WebAssembly, and returns what it prints.
func output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var complaints bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &complaints
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	text, err := cmd.Output()
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(complaints.Bytes()))
	}
	return text, errors.Join(err, ctx.Err())
}
