package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// small makes compare quick.
var small = []string{"--seeds", "2", "--steps", "5", "--restarts", "3"}

func page(t *testing.T, args ...string) string {
	t.Helper()
	return ok(t, append(append([]string{"compare", "--out", "-"}, args...), small...)...)
}

// Models that are baselines anyway can be compared, too; so can one, and three.
func TestCompareAnyModels(t *testing.T) {
	for _, c := range []struct{ models, want string }{
		{"kmeans-lloyd kmeans-softmax", "Lloyd&#39;s algorithm (baseline)"},
		{"kmeans-sgd kmeans-softmax", "by SGD on the nearest centre (baseline)"},
		{"kmeans-goofy kmeans-softmax", "Goofy alternative and soft"},
		{"kmeans-goofy", "<h1>Goofy alternative on iris.csv</h1>"},
		{"kmeans-softmax kmeans-goofy kmeans-lloyd", "goofy alternative and Lloyd&#39;s algorithm on"},
	} {
		if got := page(t, strings.Fields(c.models)...); !strings.Contains(got, c.want) || !strings.HasSuffix(got, "</html>\n") {
			t.Errorf("compare %s: no %q, or something after the page", c.models, c.want)
		}
	}
}

// The page says how it was made, so that a shell makes it again.
func TestCommandAsTyped(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("it's new.csv", []byte("id,größe\na,1\nb,2\nc,7\nd,9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := page(t, "--seed", "3", "--data", "it's new.csv", "--k", "2", "--ignore", "id")
	want := `tapestry compare --out - --seed 3 --data &#39;it&#39;\&#39;&#39;s new.csv&#39; --k 2 --ignore id --seeds 2`
	if !strings.Contains(got, want) {
		t.Errorf("the page does not say %s", want)
	}
}

// The same command writes the same page but for the times.
func TestSamePage(t *testing.T) {
	a, b := timeless(page(t, "--seed", "7")), timeless(page(t, "--seed", "7"))
	if a != b {
		i := 0
		for a[i] == b[i] {
			i++
		}
		t.Errorf("pages differ at\n%.200s\n%.200s", a[max(0, i-80):], b[max(0, i-80):])
	}
}

// timeless is a page without measured times: in the data, the table of costs and
// the bars that show it.
func timeless(page string) string {
	page = regexp.MustCompile(`"Seconds":[^,}]*`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`(?s)<svg[^>]*aria-labelledby="chart-cost-title.*?</svg>`).ReplaceAllString(page, "")
	return regexp.MustCompile(`<tr><th scope="row">time</th>.*?</tr>`).ReplaceAllString(page, "")
}

func TestSecondTableReadAlike(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"train.csv": "a,b\n0,1\n1,1\n10,2\n11,2\n", "swapped.csv": "b,a\n1,0\n", "one.csv": "a\n1\n", "centres.csv": "a,b\n0,1\n10,1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--predict swapped.csv", 1, `swapped.csv: feature 1 is "b", in train.csv it is "a"`},
		{"--predict one.csv", 1, "one.csv: 1 feature, train.csv has 2"},
		{"--start given --centres one.csv", 1, "one.csv: 1 feature, train.csv has 2"},
		{"--start given --centres centres.csv --k 3", 2, "--k 3: centres.csv has 2 centres"},
	} {
		code, out, errOut := tapestry(t, strings.Fields("train kmeans-softmax --k 2 --data train.csv "+c.args)...)
		if code != c.code || out != "" || errOut != "tapestry: "+c.want+"\n" {
			t.Errorf("%s: exit code %d, %q, want %q", c.args, code, errOut, c.want)
		}
	}
	ok(t, "train", "kmeans-softmax", "--data", "train.csv", "--start", "given", "--centres", "centres.csv", "--seeds", "1")
}
