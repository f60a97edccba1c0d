package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPrograms runs the examples that stand alone, each in an empty folder. What they print is
// in the README beside this test; what robust draws is in docs.
func TestPrograms(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"robust", "classifier", "custom-op"} {
		dir := t.TempDir()
		bin := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", bin, "./"+name).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		cmd := exec.Command(bin, "-out", dir)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if len(out) == 0 || !strings.Contains(string(readme), "```\n"+string(out)+"```\n") {
			t.Errorf("the README does not show what %s prints:\n%s", name, out)
		}
		made, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if name != "robust" {
			continue
		}
		if shown, err := os.ReadFile("../docs/robust.svg"); err != nil || string(made) != string(shown) {
			t.Errorf("docs/robust.svg is not what robust draws: %v", err)
		}
	}
}

// TestClassifierReadsCSV: the classifier takes a file, and says what is wrong with one.
func TestClassifierReadsCSV(t *testing.T) {
	dir := t.TempDir()
	bin, file := filepath.Join(dir, "classifier"), filepath.Join(dir, "own.csv")
	if out, err := exec.Command("go", "build", "-o", bin, "./classifier").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(bin, "-data", "../train/data/iris.csv").CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "\n29 of 30 held-out rows right\n") {
		t.Errorf("of iris: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte("a,b\n1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin, "-data", file).CombinedOutput(); err == nil || !strings.Contains(string(out), "own.csv: want at least two classes in the last column") {
		t.Errorf("of a file without classes: %v\n%s", err, out)
	}
}

// elsewhere has the examples that need what is not in the repository, and where they are tested.
var elsewhere = map[string]string{"browser": "it writes ONNX Runtime into a page: examples/browser, internal/browser"}

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
		if _, err := os.Stat(filepath.Join(name, "main.go")); err != nil || elsewhere[name] != "" {
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

// TestProgramsAreShort: programs that follow a paper are at most 150 lines of Go each, comments and blank lines
// included, beside tests, pictures and tables of data.
func TestProgramsAreShort(t *testing.T) {
	const most = 150
	for _, name := range []string{"gp", "vae", "moe", "ddpm", "pinn", "flow", "ctc", "sinkhorn", "policy", "maml", "equilibrium"} {
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, path := range files {
			if base := filepath.Base(path); base == "picture.go" || base == "months.go" || strings.HasSuffix(base, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
		if lines == 0 || lines > most {
			t.Errorf("%s has %d lines: want 1 to %d", name, lines, most)
		}
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
		if elsewhere[name] != "" {
			continue
		}
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
