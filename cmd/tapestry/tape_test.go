package main

import (
	"os"
	"strings"
	"testing"
)

// The listing shows how distances are computed, and the log why.
func TestTapeFastMath(t *testing.T) {
	args := []string{"tape", "kmeans-softmax", "--set", "n=512,d=64,k=64", "--log"}
	for _, c := range []struct {
		args                []string
		listed, absent, log string
	}{
		{args, " SqDist x[i=512 d=64], panels(r)[j=64 d=64]", " MatMul ", "specialise: pairwise distance:"},
		{append(args, "--fast-math"), " MatMul ", " SqDist ", "fast math: distance by a product: SqDist x[i=512 d=64] r[j=64 d=64]"},
	} {
		listing, log, found := strings.Cut(ok(t, c.args...), "\nrewrites:\n")
		if !found || !strings.Contains(listing, c.listed) || strings.Contains(listing, c.absent) || !strings.Contains(log, c.log) {
			t.Errorf("%q prints\n%s\n%s", c.args, listing, log)
		}
	}
	code, out, errOut := tapestry(t, "tape", "kmeans-softmax", "--as-written", "--fast-math")
	if want := "tapestry: --as-written and --fast-math exclude each other\n"; code != 2 || out != "" || errOut != want {
		t.Errorf("exit code %d, printed %q and %q, want %q", code, out, errOut, want)
	}
}

// TestListingOfTheDocs: the listing in package tape's doc is the one that the command prints.
func TestListingOfTheDocs(t *testing.T) {
	if !strings.Contains(ok(t, "--version"), "avx512") {
		t.Skip("the listing is of a machine with AVX-512")
	}
	doc, err := os.ReadFile("../../tape/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(ok(t, "tape", "kmeans-softmax", "--forward")) {
		if want := "//\t" + strings.TrimRight(line, " \n") + "\n"; !strings.Contains(string(doc), want) {
			t.Errorf("tape/doc.go lacks %q", want)
		}
	}
}

// TestTapePhases: the forms of the program come in the order of the phases, and the listing last.
func TestTapePhases(t *testing.T) {
	out := ok(t, "tape", "kmeans-softmax", "--forward", "--phases")
	at := 0
	for _, phase := range []string{"fuse", "sink", "watch", "postpone", "stage", "order", "plan", "guard", "bind", `program "soft k-means"`} {
		i := strings.Index(out[at:], phase)
		if i < 0 {
			t.Fatalf("after byte %d there is no %s:\n%s", at, phase, out)
		}
		at += i
	}
	if listing := ok(t, "tape", "kmeans-softmax", "--forward"); !strings.HasSuffix(out, listing) {
		t.Errorf("the listing does not come last:\n%s", out)
	}
	if code, _, errOut := tapestry(t, "tape", "kmeans-softmax", "--phases", "--json"); code != 2 || !strings.Contains(errOut, "--phases shows text") {
		t.Errorf("with --json: exit code %d, %s", code, errOut)
	}
}
