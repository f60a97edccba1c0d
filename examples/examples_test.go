package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPrograms builds and runs every example in an empty directory; what it
// prints must be in the README, and what it draws in docs.
func TestPrograms(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{"robust": {"robust.svg"}} {
		dir := t.TempDir()
		bin := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", bin, "./"+name).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		cmd := exec.Command(bin, "-out", dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if !strings.Contains(string(readme), strings.TrimSpace(string(out))) {
			t.Errorf("the README does not show what %s prints:\n%s", name, out)
		}
		for _, file := range wants {
			made, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if shown, err := os.ReadFile(filepath.Join("../docs", file)); err != nil || string(made) != string(shown) {
				t.Errorf("docs/%s is not what %s draws: %v", file, name, err)
			}
		}
	}
}

// TestReadmeProgram holds the program that the README shows equal to the example,
// line by line but for comments' places, its last two lines apart: they leave out
// what the example does with errors.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("robust/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, found := strings.Cut(shown, "```")
	lines := strings.Split(strings.TrimSpace(shown), "\n")
	if !found || len(lines) < 15 || len(lines) > 25 {
		t.Fatalf("the README's program has %d lines, want at most 25", len(lines))
	}
	has := map[string]bool{}
	for _, l := range strings.Split(string(program), "\n") {
		has[strings.Join(strings.Fields(l), " ")] = true
	}
	for _, l := range lines[:len(lines)-2] {
		if !has[strings.Join(strings.Fields(l), " ")] {
			t.Errorf("examples/robust has no line %q", l)
		}
	}
}

// TestLessons runs every example that has a README of its own: quickly, and with
// TAPESTRY_LONG to the end, where it complains itself of a result that is not reached. Every
// picture that the README shows must be made; what is made must be shown.
func TestLessons(t *testing.T) {
	readmes, err := filepath.Glob("*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range readmes {
		name := filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(name, "main.go")); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			readme, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"\n# ", "\n    go run ./examples/" + name + " -out pictures\n", "\n## What it prints\n", "\n```\n"} {
				if !strings.Contains("\n"+string(readme), part) {
					t.Errorf("the README lacks %q", part)
				}
			}
			dir := t.TempDir()
			bin := filepath.Join(dir, name)
			if out, err := exec.Command("go", "build", "-o", bin, "./"+name).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			args := []string{"-out", filepath.Join(dir, "pictures")}
			if os.Getenv("TAPESTRY_LONG") == "" {
				args = append(args, "-quick")
			}
			cmd := exec.Command(bin, args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) == 0 {
				t.Fatalf("%s %v: %v\n%s", name, args, err, out)
			}
			made, _ := filepath.Glob(filepath.Join(dir, "pictures", "*"))
			for _, file := range made {
				if !strings.Contains(string(readme), "("+filepath.Base(file)+")") {
					t.Errorf("the README does not show %s", filepath.Base(file))
				}
			}
			for _, shown := range regexp.MustCompile(`!\[[^\]]*\]\(([^)/]+)\)`).FindAllStringSubmatch(string(readme), -1) {
				if _, err := os.Stat(filepath.Join(dir, "pictures", shown[1])); err != nil {
					t.Errorf("the README shows %s, which is not made", shown[1])
				}
			}
		})
	}
}

// TestOutIsHonoured: every example takes -quick and -out DIR, draws something into the folder,
// writes nowhere else, and says that so short a run judges nothing.
func TestOutIsHonoured(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) < 10 {
		t.Fatalf("%d examples, %v", len(mains), err)
	}
	for _, path := range mains {
		name := filepath.Dir(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, dir := filepath.Join(t.TempDir(), name), t.TempDir()
			if out, err := exec.Command("go", "build", "-o", bin, "./"+name).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.Command(bin, "-quick", "-out", "pictures")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			made, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(made) != 1 || filepath.Base(made[0]) != "pictures" {
				t.Errorf("-out pictures makes %q, %v", made, err)
			}
			if drawn, err := filepath.Glob(filepath.Join(dir, "pictures", "*.svg")); err != nil || len(drawn) == 0 {
				t.Errorf("nothing is drawn: %v", err)
			}
			if !strings.Contains(string(out), "a quick run is not judged") || strings.Contains(string(out), " (at least ") || strings.Contains(string(out), " (at most ") {
				t.Errorf("a quick run judges:\n%s", out)
			}
			if odd := regexp.MustCompile(`[ \[]-0[ \]\n]|\b1 (epoch|seed|step)s\b|·x [+-]`).Find(out); odd != nil {
				t.Errorf("it prints %q", odd)
			}
		})
	}
}

// TestResumedLog: what goes on is logged behind what was done before.
func TestResumedLog(t *testing.T) {
	dir := t.TempDir()
	bin, log := filepath.Join(dir, "digits"), filepath.Join(dir, "log.jsonl")
	if out, err := exec.Command("go", "build", "-o", bin, "./digits").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for begun, resume := range []string{"-resume=false", "-resume"} {
		if out, err := exec.Command(bin, "-quick", "-seeds", "1", "-checkpoints", filepath.Join(dir, "kept"), "-log", log, resume).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(log)
		if n := strings.Count(string(text), `"event":"begun"`); err != nil || n != begun+1 {
			t.Errorf("%s: %d trainings in the log, want %d (%v)", resume, n, begun+1, err)
		}
	}
}
