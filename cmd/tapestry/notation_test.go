package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/notation"
)

const softFile = "../../examples/notation/kmeans-softmax.tapestry"

// written puts a file in the notation into an empty directory.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.tapestry")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEveryCommandTakesAFile: where a model may stand, so may a file.
func TestEveryCommandTakesAFile(t *testing.T) {
	const attention = "../../examples/notation/attention.tapestry"
	dir := t.TempDir()
	for args, want := range map[string]string{
		"check " + softFile: "10 checks ok, 0 not applicable, 0 failed",
		"check ../../examples/notation/kmeans-lloyd.tapestry": "0 failed",
		"check " + attention:                                                         "0 failed",
		"draw " + softFile + " --grad":                                               "</svg>",
		"draw " + softFile + " --against kmeans-goofy":                               "</svg>",
		"draw " + softFile + " --format text":                                        "kmeans-softmax.tapestry:8",
		"grad " + softFile + " --wrt alpha":                                          "∂loss/∂αᵢⱼ = 1/150·Dᵢⱼ",
		"tape " + softFile + " --set i=50,gamma=2":                                   "SqDist x[i=50 d=4], r[j=3 d=4]",
		"list " + softFile:                                                           "--set gamma=1",
		"train " + attention + " --steps 20 --seeds 1":                               "attention.tapestry: 192 numbers in 3 parameters",
		"compare " + attention + " attention-self --steps 5 --seeds 1 -o DIR/a.html": "a.html",
		"compare " + softFile + " kmeans-goofy --steps 5 --seeds 1 -o DIR/b.html":    "kmeans-softmax.tapestry",
		"compare " + softFile + " kmeans-softmax --steps 5 --seeds 1 -o DIR/c.html":  "kmeans-softmax.tapestry",
	} {
		if out := ok(t, arguments(args, "DIR", dir)...); !strings.Contains(out, want) {
			t.Errorf("tapestry %s does not say %q:\n%.2000s", args, want, out)
		}
	}
}

// TestFileTrainsAsTheModel: the file of a registered clustering, whatever its axes are
// called, trains to the very centres of the model.
func TestFileTrainsAsTheModel(t *testing.T) {
	text, err := os.ReadFile(softFile)
	if err != nil {
		t.Fatal(err)
	}
	other := string(text)
	for _, r := range [][2]string{{"[i=150, d=4]", "[p=9, f=2]"}, {"[j=3, d]", "[c=2, f]"}, {"[i,j]", "[p,c]"}, {"size(j)", "size(c)"}, {", j)", ", c)"}, {", d)", ", f)"}, {", i)", ", p)"}} {
		other = strings.ReplaceAll(other, r[0], r[1])
	}
	train := func(model string) (out struct {
		Centres [][]float64 `json:"centres"`
		Loss    float64     `json:"loss"`
	}) {
		if err := json.Unmarshal([]byte(ok(t, "train", model, "--data", "iris", "--seeds", "2", "--steps", "30", "--json")), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := train("kmeans-softmax")
	for _, path := range []string{softFile, written(t, other)} {
		if got := train(path); len(got.Centres) != 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// TestMistakesOfAFile are shown with a caret, and are no bad use of the program.
func TestMistakesOfAFile(t *testing.T) {
	path := written(t, "input x[i=3, d=2]\nparam r[j=2, d]\nD[i,j] = (x - r)^2\nloss = mean(E)\n")
	want := "tapestry: " + path + `:3:10: D has axes [i,j,d], but [i,j] are stated: sum over d? (x[i,d] − r[j,d] spans i, j, d)
    D[i,j] = (x - r)^2
             ^~~~~~~~~
` + path + `:4:13: unknown quantity E (known are x, r, D)
    loss = mean(E)
                ^
`
	for _, command := range []string{"check", "draw", "grad", "tape", "train", "list", "fmt", "compare"} {
		if code, out, errOut := tapestry(t, command, path); code != 1 || out != "" || errOut != want {
			t.Errorf("%s: exit code %d, %q and\n%s\nwant\n%s", command, code, out, errOut, want)
		}
	}
	absent := filepath.Join(t.TempDir(), "absent.tapestry")
	if code, _, errOut := tapestry(t, "draw", absent); code != 1 || errOut != "tapestry: "+absent+": no such file or directory\n" {
		t.Errorf("an absent file: %d, %s", code, errOut)
	}
	if code, _, errOut := tapestry(t, "draw", strings.TrimSuffix(path, ".tapestry")); code != 2 || !strings.Contains(errOut, "did you mean the file "+path) {
		t.Errorf("without the ending: %d, %s", code, errOut)
	}
	if code, _, errOut := tapestry(t, "tape", softFile, "--set", "i=0"); code != 2 || !strings.Contains(errOut, "i = 0: want a whole number") {
		t.Errorf("a bad size: %d, %s", code, errOut)
	}
}

func TestFormat(t *testing.T) {
	path := written(t, "objective \"a\"\ninput x[ i=3 ]#points\nloss=mean( (x·2)² , i)\n")
	const want = "objective \"a\"\ninput x[i=3]  # points\nloss = mean((x*2)^2, i)\n"
	if out := ok(t, "fmt", path); out != want {
		t.Errorf("fmt prints\n%s", out)
	}
	if out := ok(t, "fmt", "-w", path); out != "" {
		t.Errorf("fmt -w prints %s", out)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("fmt -w leaves\n%s, %v", text, err)
	}
	if code, _, errOut := tapestry(t, "fmt"); code != 2 || errOut != "tapestry: fmt: want a file in the notation, NAME.tapestry\n" {
		t.Errorf("%d %s", code, errOut)
	}
}

// TestNewFile checks that the file that new writes is correct and in canonical form, and never
// replaces another.
func TestNewFile(t *testing.T) {
	t.Chdir(t.TempDir())
	out := ok(t, "new", "mine")
	for _, part := range []string{"wrote mine.tapestry", "tapestry check mine.tapestry ", "tapestry draw mine.tapestry"} {
		if !strings.Contains(out, part) {
			t.Errorf("new does not say %q:\n%s", part, out)
		}
	}
	text, err := os.ReadFile("mine.tapestry")
	if err != nil {
		t.Fatal(err)
	}
	if got := ok(t, "fmt", "mine.tapestry"); got != string(text) {
		t.Errorf("new writes\n%s\nfmt\n%s", text, got)
	}
	for line := range strings.Lines(out) { // each of the commands that it names works
		if command, is := strings.CutPrefix(line, "  tapestry "); is {
			command, _, _ = strings.Cut(command, "  ")
			args := strings.Fields(command)
			if args[0] == "train" || args[0] == "compare" {
				args = append(args, "--steps", "3", "--seeds", "1")
			}
			ok(t, args...)
		}
	}
	for _, name := range []string{"mine", "mine.tapestry"} {
		if code, _, errOut := tapestry(t, "new", name); code != 1 || errOut != "tapestry: mine.tapestry exists already: choose another name\n" {
			t.Errorf("new %s again: %d, %s", name, code, errOut)
		}
	}
	if again, _ := os.ReadFile("mine.tapestry"); string(again) != string(text) {
		t.Error("new has changed what was there")
	}
	for _, name := range []string{"", ".tapestry", "..", "a\nb", "-x", "a\"b"} {
		if code, _, _ := tapestry(t, "new", "--", name); code != 2 {
			t.Errorf("new %q: exit code %d", name, code)
		}
	}
}

// TestNewProgram builds and runs the program that new --go writes.
func TestNewProgram(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ok(t, "new", filepath.Join(dir, "mine"), "--go")
	file := filepath.Join(dir, "mine", "main.go")
	if code, _, _ := tapestry(t, "new", filepath.Join(dir, "mine"), "--go"); code != 1 {
		t.Error("new --go writes over what is there")
	}
	cmd := exec.Command("go", "run", file)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, part := range []string{"mine\n  loss = meanᵢ Σⱼ αᵢⱼ·farᵢⱼ\n", "soft k-means\n  loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ\n", "inertia 78.9"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the program does not print %q:\n%s", part, out)
		}
	}
	if unformatted, err := exec.Command("gofmt", "-l", file).CombinedOutput(); err != nil || len(unformatted) > 0 {
		t.Errorf("gofmt: %s, %v", unformatted, err)
	}
}

// TestHelpHasTheFunctions: fmt's help is the table of functions.
func TestHelpHasTheFunctions(t *testing.T) {
	if out := ok(t, "fmt", "--help"); !strings.Contains(out, notation.Reference()) {
		t.Errorf("no table of functions:\n%s", out)
	}
}

// TestFileWithoutLoss: a file that forgets to name its loss is told how to.
func TestFileWithoutLoss(t *testing.T) {
	file := written(t, "input x[i=9, d=2]\nparam w[d]\nL = mean(dot(x, w, d)^2)\n")
	for _, args := range []string{"train ", "grad ", "compare test-deep ", "draw --grad "} {
		code, _, errOut := tapestry(t, arguments(args+"FILE", "FILE", file)...)
		if code == 0 || !strings.Contains(errOut, "has no loss") || !strings.Contains(errOut, "as in minimise L") {
			t.Errorf("%s: exit code %d, %s", args, code, errOut)
		}
	}
	if code, _, errOut := tapestry(t, "train", "test-distance"); code != 1 || strings.Contains(errOut, "minimise") {
		t.Errorf("a model of the program: %s", errOut)
	}
}

// TestCureReads: where a rule puts one operation in place of several that are written
// the same, it is said which.
func TestCureReads(t *testing.T) {
	file := written(t, "input x[i=9, d=2] ~ normal(0, 100)\nparam W[d, c=3] ~ normal(0, 60)\nz[i,c] = dot(x, W, d)\nloss = mean(log(sum(exp(z), c)))\n")
	_, out, _ := tapestry(t, "autopsy", file)
	if !strings.Contains(out, "before    ") || !strings.Contains(out, ", as one operation: LogSumExp") {
		t.Errorf("got\n%s", out)
	}
}

// TestIdleParameter: a parameter that the formulas forget is named.
func TestIdleParameter(t *testing.T) {
	const text = "input x[i=9, d=2]\nparam w[d]\nparam b\nparam v[d]\nloss = mean((dot(x, w, d) + b)^2)\n"
	const said = "the loss does not depend on it: v\n"
	if out := ok(t, "train", written(t, text), "--steps", "2"); !strings.Contains(out, said) {
		t.Errorf("got\n%s", out)
	}
	if out := ok(t, "train", written(t, strings.Replace(text, "+ b", "+ b + sum(v)", 1)), "--steps", "2"); strings.Contains(out, "does not depend") {
		t.Errorf("got\n%s", out)
	}
}
