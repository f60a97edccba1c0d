package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gaps is a folder with a CSV file that lacks values in two rows, more of its kind, and one
// that lacks none.
func gaps(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"gaps.csv":    "a,b,kind\n1,1,u\n2,NA,u\n3,2,u\n10,,v\n?,12,v\n14,12,v\n",
		"dropped.csv": "a,b,kind\n1,1,u\n3,2,u\n14,12,v\n",
		"filled.csv":  "a,b,kind\n1,1,u\n2,6.75,u\n3,2,u\n10,6.75,v\n6,12,v\n14,12,v\n",
		"halved.csv":  "a,b,kind\n1,1,u\n2,7,u\n3,2,u\n10,7,v\n3,12,v\n14,12,v\n",
		"fresh.csv":   "a,b\n12,12\n2,\n",
		"hollow.csv":  "a,b\n2,\nNA,12\n",
		"column.csv":  "a,b\n,2\nNaN,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMissing checks that training uses the table as --missing changes it, and that the change is
// reported.
func TestMissing(t *testing.T) {
	dir := gaps(t)
	file := filepath.Join(dir, "gaps.csv")
	train := func(file string, args ...string) (out, errOut string) {
		t.Helper()
		code, out, errOut := tapestry(t, append([]string{"train", "kmeans-lloyd", "--k", "2", "--restarts", "2", "--data", file}, args...)...)
		if code != 0 {
			t.Fatalf("%q: %s", args, errOut)
		}
		return strings.ReplaceAll(out, file, "FILE"), errOut
	}
	for _, c := range []struct{ missing, whole, said string }{
		{"drop", "dropped.csv", "3 of 6 rows dropped for missing values"},
		{"mean", "filled.csv", "3 missing values filled with the mean of the column"},
		{"median", "halved.csv", "3 missing values filled with the median of the column"},
	} {
		got, said := train(file, "--missing", c.missing)
		want, none := train(filepath.Join(dir, c.whole))
		if got != want || none != "" {
			t.Errorf("--missing %s gives\n%s\n%s\n%s%s", c.missing, got, c.whole, want, none)
		}
		if said != "tapestry: "+file+": "+c.said+"\n" {
			t.Errorf("--missing %s says %q", c.missing, said)
		}
		if got, said := train(filepath.Join(dir, c.whole), "--missing", c.missing); got != want || said != "" {
			t.Errorf("of a file that lacks nothing, --missing %s gives\n%s\nand says %q", c.missing, got, said)
		}
	}
	for _, args := range []string{"step kmeans-softmax --json --steps 1", "geometry kmeans-softmax --steps 2", "compare kmeans-softmax kmeans-goofy --steps 2 --seeds 1 --out DIR/r.html"} {
		_, _, errOut := tapestry(t, arguments(args+" --k 2 --data FILE --missing mean", "DIR", dir, "FILE", file)...)
		if errOut != "tapestry: "+file+": 3 missing values filled with the mean of the column\n" {
			t.Errorf("%s: %q", args, errOut)
		}
	}
}

// TestMissingInTraining checks that rows predicted by a training or its checkpoint are filled
// with the numbers used in training; with a checkpoint that has none, with those of the rows.
func TestMissingInTraining(t *testing.T) {
	dir := gaps(t)
	file, fresh, folder := filepath.Join(dir, "gaps.csv"), filepath.Join(dir, "fresh.csv"), filepath.Join(dir, "run")
	args := []string{"train", "kmeans-lloyd", "--k", "2", "--restarts", "1", "--data", file, "--missing", "mean", "--predict", fresh, "--checkpoint", folder}
	code, _, errOut := tapestry(t, args...)
	if want := fmt.Sprintf("tapestry: %s: 3 missing values filled with the mean of the column\ntapestry: %s: 1 missing value filled with the mean in training\n", file, fresh); code != 0 || errOut != want {
		t.Errorf("%d, %q, want %q", code, errOut, want)
	}
	for missing, want := range map[string]string{
		"mean":   "1 missing value filled with the mean in training",
		"median": "1 missing value filled with the median of the column",
	} {
		code, out, errOut := tapestry(t, "predict", folder, "--data", fresh, "--missing", missing)
		if code != 0 || strings.Count(out, "\n") != 3 || errOut != "tapestry: "+fresh+": "+want+"\n" {
			t.Errorf("predict --missing %s: %d, %q, %q", missing, code, out, errOut)
		}
	}
}

// TestMissingFilledWith checks that values come from the first table, and only for columns in
// which it had missing ones.
func TestMissingFilledWith(t *testing.T) {
	dir := gaps(t)
	first := &source{name: filepath.Join(dir, "gaps.csv"), missing: "mean", ways: []string{"mean"}, stderr: func() io.Writer { return io.Discard }}
	table, err := first.open()
	if err != nil {
		t.Fatal(err)
	}
	second, err := first.alike(filepath.Join(dir, "fresh.csv"), table).open()
	if err != nil || !slices.Equal(second.X, []float64{12, 12, 2, 6.75}) {
		t.Errorf("%v, %v", second, err)
	}
}

func TestMissingMistakes(t *testing.T) {
	dir := gaps(t)
	folder := filepath.Join(dir, "run")
	ok(t, "train", "kmeans-lloyd", "--k", "2", "--restarts", "1", "--data", filepath.Join(dir, "filled.csv"), "--checkpoint", folder)
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"train kmeans-lloyd --data DIR/gaps.csv", `DIR/gaps.csv:3: column "b": "NA" is not a number; --missing mean, median or drop allows for missing values`, 1},
		{"compare --data DIR/fresh.csv", `DIR/fresh.csv:3: column "b": empty cell; --missing mean, median or drop allows for missing values`, 1},
		{"geometry kmeans-softmax --data DIR/column.csv", `DIR/column.csv:2: column "a": empty cell; --missing mean, median or drop allows for missing values`, 1},
		{"predict RUN --data DIR/fresh.csv", `DIR/fresh.csv:3: column "b": empty cell; --missing mean or median allows for missing values`, 1},
		{"predict RUN --data DIR/fresh.csv --missing drop", "--missing drop: want mean or median", 2},
		{"predict RUN --data DIR/x.npy --missing mean", "--label, --ignore and --missing are for CSV files; DIR/x.npy holds arrays", 2},
		{"predict RUN --prompt x --missing mean", "--missing goes with --data, not with --prompt", 2},
		{"train kmeans-lloyd --data DIR/gaps.csv --missing zero", "--missing zero: want mean, median or drop", 2},
		{"train kmeans-lloyd --data DIR/hollow.csv --missing drop", "DIR/hollow.csv: every row has a missing value", 1},
		{"train kmeans-lloyd --data DIR/column.csv --missing mean", `DIR/column.csv: column "a": every value is missing`, 1},
		{"train kmeans-lloyd --data DIR/gaps.csv --missing drop --predict DIR/fresh.csv", `DIR/fresh.csv:3: column "b": empty cell; --missing mean or median allows for missing values`, 1},
		{"train kmeans-lloyd --data DIR/filled.csv --start given --centres DIR/fresh.csv", `DIR/fresh.csv:3: column "b": empty cell`, 1},
		{"train kmeans-lloyd --missing mean", "--label, --ignore and --missing are for CSV files; iris is embedded and has its labels", 2},
		{"train test-perceptron --missing mean", "--missing: want --data, too: test-perceptron is trained on examples of its own", 2},
	} {
		code, out, errOut := tapestry(t, arguments(c.args, "RUN", folder, "DIR", dir)...)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		if want := "tapestry: " + strings.ReplaceAll(c.want, "DIR", dir); code != c.code || out != "" || lines[len(lines)-1] != want {
			t.Errorf("%s: exit code %d, printed %q and\n%s\nwant\n%s", c.args, code, out, errOut, want)
		}
	}
}
