package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/viz/report"
)

// small makes compare quick.
var small = []string{"--seeds", "2", "--steps", "5"}

func page(t *testing.T, args ...string) string {
	t.Helper()
	return ok(t, append(append([]string{"compare", "--out", "-"}, args...), small...)...)
}

// Models that are baselines where none is named can be compared, too; so can one, and three.
func TestCompareAnyModels(t *testing.T) {
	for _, c := range []struct{ models, want string }{
		{"kmeans-lloyd kmeans-softmax", "<h1>Lloyd&#39;s algorithm and soft k"},
		{"kmeans-sgd kmeans-softmax", "by SGD on the nearest centre and soft k"},
		{"kmeans-goofy kmeans-softmax", "Goofy alternative and soft"},
		{"kmeans-goofy", "<h1>Goofy alternative on iris.csv</h1>"},
		{"kmeans-softmax kmeans-goofy kmeans-lloyd", "goofy alternative and Lloyd&#39;s algorithm on"},
	} {
		if got := page(t, strings.Fields(c.models)...); !strings.Contains(got, c.want) || !strings.HasSuffix(got, "</html>\n") {
			t.Errorf("compare %s: no %q, or something after the page", c.models, c.want)
		}
	}
}

// comparedThrice is what compare prints for machines, and the page that it writes.
func comparedThrice(t *testing.T, args ...string) (methods []string, text, html string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.html")
	args = append(append([]string{"compare", "--out", file}, args...), small...)
	var v struct {
		Test    string `json:"convergence_test"`
		Methods []struct {
			Name      string
			Runs      int
			Settled   *int   `json:"converged_runs"`
			Converged []bool `json:"converged_by_seed"`
			Optima    []struct{ Runs int }
		}
	}
	if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &v); err != nil {
		t.Fatal(err)
	}
	for _, m := range v.Methods {
		runs := 0
		for _, o := range m.Optima {
			runs += o.Runs
		}
		if len(m.Converged) != m.Runs || m.Settled == nil || runs != *m.Settled || v.Test == "" {
			t.Errorf("%s: %d runs, of which %d are at an optimum and %d may have converged, by the test %q", m.Name, m.Runs, runs, len(m.Converged), v.Test)
		}
		methods = append(methods, m.Name)
	}
	text = ok(t, args...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return methods, text, string(b)
}

// Of k models that are named k are shown, on the terminal, to machines and on the page; who
// names none gets two and two baselines.
func TestCompareShowsWhatIsNamed(t *testing.T) {
	for _, names := range [][]string{
		{}, {"kmeans-goofy"}, {"kmeans-softmax", "kmeans-goofy"}, {"kmeans-lloyd", "kmeans-softmax"}, {"kmeans-softmax", "kmeans-goofy", "kmeans-lloyd", "kmeans-sgd"},
	} {
		want := names
		if len(names) == 0 {
			want = []string{"kmeans-softmax", "kmeans-goofy", "kmeans-lloyd", "kmeans-sgd"}
		}
		methods, text, html := comparedThrice(t, names...)
		if !slices.Equal(methods, want) {
			t.Errorf("compare %q: %q for machines", names, methods)
		}
		table, _, _ := strings.Cut(text, "\n\nWhere the runs")
		if n := strings.Count(table, "\nkmeans-"); n != len(want) {
			t.Errorf("compare %q: %d rows on the terminal:\n%s", names, n, table)
		}
		_, cards, _ := strings.Cut(html, `<div class="cards">`)
		cards, _, _ = strings.Cut(cards, "</section>")
		if n := strings.Count(cards, "<article>"); n != len(want) {
			t.Errorf("compare %q: %d cards on the page", names, n)
		}
	}
}

// What has not converged is said not to have, wherever its numbers stand; by default all
// that is compared has.
func TestCompareSaysWhatMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("trains to the end")
	}
	const ratio, test = "times the spread", "A run has converged if"
	_, text, html := comparedThrice(t)
	for _, s := range []string{"What has not converged", test} {
		if !strings.Contains(text, s) {
			t.Errorf("after 5 steps the terminal does not say %q:\n%s", s, text)
		}
	}
	if strings.Contains(html, ratio) || !strings.Contains(html, "Not everything has come to rest.") || !strings.Contains(html, test) {
		t.Error("after 5 steps the page takes runs for converged")
	}
	t.Chdir(t.TempDir())
	text = ok(t, "compare")
	b, err := os.ReadFile("report.html")
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1200*1000 {
		t.Errorf("by default the page takes %d bytes", len(b))
	}
	if html = string(b); !strings.Contains(html, ratio) || !strings.Contains(html, "All runs have converged.") || !strings.Contains(html, test) {
		t.Error("by default the page takes runs for moving")
	}
	if strings.Contains(text, "What has not converged") || strings.Count(text, " 10 of 10 ") != 3 {
		t.Errorf("by default not all has converged:\n%s", text)
	}
}

// Without --out the page goes to report.html, unless that is a file of others.
func TestDefaultOutputSpares(t *testing.T) {
	t.Chdir(t.TempDir())
	const theirs = "<p>my own report</p>"
	for _, name := range []string{"report.html", "report-2.html"} {
		if err := os.WriteFile(name, []byte(theirs), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{append([]string{"compare"}, small...), append([]string{"compare", "kmeans-softmax"}, small...), append([]string{"compare", "regression-ols"}, small[:4]...)} {
		text := ok(t, args...)
		if !strings.HasSuffix(text, "The report is in report-3.html\n") { // its own is written again
			t.Errorf("%q:\n%s", args, text)
		}
	}
	for _, name := range []string{"report.html", "report-2.html"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != theirs {
			t.Errorf("%s holds %.40q, %v", name, b, err)
		}
	}
	if err := os.Remove("report.html"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text := ok(t, append([]string{"compare", "kmeans-softmax"}, small...)...); !strings.HasSuffix(text, "The report is in report.html\n") {
			t.Errorf("%s", text)
		}
		if text := ok(t, append([]string{"compare", "regression-ols", "--fragment"}, small[:4]...)...); !strings.HasSuffix(text, "The report is in report-fragment.html, as an element for another page\n") {
			t.Errorf("%s", text)
		}
	}
	b, err := os.ReadFile("report-fragment.html")
	if err != nil || !strings.HasPrefix(string(b), report.FragmentMark+"\n<iframe title=") {
		t.Errorf("the fragment begins with %.80q, %v", b, err)
	}
	if text := ok(t, append([]string{"compare", "kmeans-softmax", "--fragment", "--out", "-"}, small...)...); !strings.HasPrefix(text, report.FragmentMark) {
		t.Errorf("the fragment on standard output begins with %.80q", text)
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

// What training feeds γ stands in its box: no number that no step had.
func TestDrawnAsFed(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"kmeans-softmax kmeans-goofy --gamma 0.5..8", "γ = 0.5 → 8"},
		{"kmeans-softmax kmeans-goofy kmeans-lloyd --gamma 0.5..8", "γ = 0.5 → 8"},
		{"kmeans-softmax kmeans-goofy --gamma 2", "γ = 2"},
		{"kmeans-softmax kmeans-goofy --starts 1,2 --gamma 0.5..8", "γ = 0.5 → 8"},
	} {
		html := page(t, strings.Fields(c.args)...)
		_, svg, _ := strings.Cut(html, `<figure class="drawing">`)
		svg, caption, _ := strings.Cut(svg, "<figcaption>")
		if strings.Count(svg, c.want+"<") < 2 || strings.Contains(svg, "γ = 1<") {
			t.Errorf("compare %s: the boxes do not have %q", c.args, c.want)
		}
		if caption, _, _ = strings.Cut(caption, "</figcaption>"); !strings.Contains(caption, "γ is ") {
			t.Errorf("compare %s: the caption does not tell γ: %s", c.args, caption)
		}
	}
}

// TestSettingsAreThoseOfTheRuns: the page says how the runs were trained that it shows: no course
// of γ where no objective has one, no optimiser of what takes steps of its own, and the settings
// of the baselines, which are others.
func TestSettingsAreThoseOfTheRuns(t *testing.T) {
	for _, c := range []struct {
		args     string
		has, not []string
	}{
		{"--restarts 3", []string{"falling to 0 after the first 1 of 5 steps", "<dt>Baselines</dt><dd>Lloyd&#39;s algorithm: 3 starts, until nothing moves. k\u2011means by SGD on the nearest centre: sgd(0.05), its rate falling to 0 after the first 25 of 100 steps, of 16 rows each",
			"gradients of soft k\u2011means and goofy alternative at the same centres"}, []string{"takes steps of its own"}},
		{"kmeans-lloyd kmeans-sgd", []string{"Lloyd&#39;s algorithm takes steps of its own, until nothing moves", "no objective has one"},
			[]string{"annealed", "With other values of γ", "While γ changes", "ngle between the gradients", "<dt>Baselines"}},
		{"kmeans-lloyd", []string{"none: steps of its own, until nothing moves"}, []string{"adam", "annealed"}},
		{"kmeans-softmax kmeans-goofy --optimisers adam:0.05", []string{"adam(0.05), the rate falling to 0 after the first 1 of 5 steps"}, nil},
	} {
		html := ok(t, append(append([]string{"compare", "--out", "-", "--seeds", "2"}, strings.Fields(c.args)...), "--steps", "5")...)
		html, _, _ = strings.Cut(strings.ReplaceAll(html, "\u00a0", " "), "<script type=\"application/json\"")
		for _, s := range c.has {
			if !strings.Contains(html, s) {
				t.Errorf("compare %s: the page lacks %q", c.args, s)
			}
		}
		for _, s := range c.not {
			if at := strings.Index(html, s); at >= 0 {
				t.Errorf("compare %s: the page says %q", c.args, html[max(0, at-60):at+len(s)])
			}
		}
	}
}
