package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateScaling = flag.Bool("update-scaling", false, "write what the commands of docs/scaling.md print into it, and its figures, anew")

// TestScalingPage: the commands of docs/scaling.md print what is there, and draw its figures.
func TestScalingPage(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	const file = "docs/scaling.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := string(text)
	commands := 0
	shown := regexp.MustCompile("(?s)```console\n\\$ tapestry (bench --scaling --measured (?:[^\n]*\\\\\n)*[^\n]*)\n(.*?)```")
	fresh := shown.ReplaceAllStringFunc(old, func(block string) string {
		commands++
		command := shown.FindStringSubmatch(block)[1]
		args := strings.Fields(strings.ReplaceAll(command, "\\\n", " "))
		if i := slices.Index(args, "--figure"); i >= 0 {
			checkFigure(t, args, i+1)
			return block
		}
		return "```console\n$ tapestry " + command + "\n" + ok(t, args...) + "```"
	})
	if commands < 5 {
		t.Fatalf("%s has %d commands", file, commands)
	}
	if fresh == old {
		return
	}
	if !*updateScaling {
		t.Fatalf("%s is old: go test ./cmd/tapestry -run TestScalingPage -update-scaling", file)
	}
	if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkFigure compares the figure args[at] with what the command draws.
func checkFigure(t *testing.T, args []string, at int) {
	t.Helper()
	path := args[at]
	args[at] = filepath.Join(t.TempDir(), "figure.svg")
	ok(t, args...)
	drawn, err := os.ReadFile(args[at])
	if err != nil {
		t.Fatal(err)
	}
	if *updateScaling {
		if err := os.WriteFile(path, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if there, err := os.ReadFile(path); err != nil || string(there) != string(drawn) {
		t.Errorf("%s is old (%v): go test ./cmd/tapestry -run TestScalingPage -update-scaling", path, err)
	}
}
