package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file")

func render(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pages has pages of all kinds, by their peculiarity.
func pages() map[string]Page {
	all := map[string]Page{
		"full": fake(), "one variant": fakeOf(3, 24, "soft"), "three variants": fakeOf(3, 24, "a", "b", "c"), "one seed": fakeOf(1, 24, "a", "b"),
		"minimal": minimal(), "spoilt": spoilt(), "by loss": besides(),
		"script": hostile(`<script>alert("1")</script>&amp;'--><!--]]>`), "RTL": hostile("שלום \u202e عالم"), "controls": hostile("\x00\x1b\xff\n\u2028"),
		"long": hostile(strings.Repeat("Donaudampfschiff", 40)), "template": hostile("{{.}}{{template \"x\"}}${x}`"),
	}
	unlabelled := fake()
	unlabelled.Data.Classes, unlabelled.Plane.Class = nil, nil
	for _, m := range unlabelled.methods() {
		for i := range m.Runs {
			m.Runs[i].ARI = math.NaN()
		}
	}
	for _, ms := range [][]Method{unlabelled.Variants, unlabelled.Baselines} {
		for i := range ms {
			ms[i].Counts = nil
		}
	}
	for i := range unlabelled.Sweeps {
		unlabelled.Sweeps[i].ARI = nil
	}
	all["unlabelled"] = unlabelled
	return all
}

// twelve is a text whose numbers have 12 digits: the exponential functions from which fake
// makes its numbers differ in the last one between processors of other kinds.
func twelve(s string) string {
	return regexp.MustCompile(`\d+\.\d{11,}`).ReplaceAllStringFunc(s, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(v, 'g', 12, 64)
	})
}

func TestGolden(t *testing.T) {
	got := render(t, fake())
	if again := render(t, fake()); again != got {
		t.Error("equal pages give different bytes")
	}
	path := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) && (runtime.GOARCH == "amd64" || twelve(got) != twelve(string(want))) {
		t.Errorf("the page differs from %s; look at it and run with -update", path)
	}
}

func TestPages(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(p)
			page := render(t, p)
			if fmt.Sprint(p) != before {
				t.Error("writing changed the page")
			}
			for _, complaint := range complaints(page) {
				t.Error(complaint)
			}
		})
	}
}

var (
	scripts  = regexp.MustCompile(`(?s)(<script[^>]*>).*?</script>`)
	styles   = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	jsonText = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
)

// unshowable matches how an unforeseen value would be printed.
var unshowable = regexp.MustCompile(`\b(NaN|Inf|undefined|ZgotmplZ)\b|∞|%!.`)

// complaints are the reasons why a file is not a sound page.
func complaints(page string) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n := strings.Count(page, "<script"); n != 3 {
		add("%d scripts, not three", n)
	}
	// The rest of the page is also XML.
	markup := scripts.ReplaceAllString(strings.TrimPrefix(page, "<!DOCTYPE html>"), "$1</script>")
	bare := markup
	for n := range namespaces {
		bare = strings.ReplaceAll(bare, n, "")
	}
	for _, s := range append(styles.FindAllString(bare, -1), styles.ReplaceAllString(bare, "")) {
		if strings.Contains(s, "://") || strings.Contains(s, "@import") {
			add("a reference to the network")
		}
	}
	if m := unshowable.FindString(styles.ReplaceAllString(bare, "")); m != "" {
		add("the page shows %q", m)
	}
	d := xml.NewDecoder(strings.NewReader(markup))
	d.Entity = xml.HTMLEntity
	ids := map[string]bool{}
	var refs, open []string
	heading, tables, charts := 0, 0, 0 // tables less their captions, charts less their descriptions
	counts := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			add("not well-formed: %v", err)
			return out
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			if _, ok := token.(xml.EndElement); ok {
				open = open[:len(open)-1]
			}
			continue
		}
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
			if strings.HasPrefix(a.Name.Local, "on") {
				add("<%s> has a handler %s", e.Name.Local, a.Name.Local)
			}
		}
		if id, has := attr["id"]; has {
			if ids[id] {
				add("id %q twice", id)
			}
			ids[id] = true
		}
		for _, name := range []string{"aria-labelledby", "aria-describedby"} {
			refs = append(refs, strings.Fields(attr[name])...)
		}
		if href, has := attr["href"]; has {
			if !strings.HasPrefix(href, "#") {
				add("link to %q", href)
			}
			refs = append(refs, strings.TrimPrefix(href, "#"))
		}
		counts[e.Name.Local]++
		switch name := e.Name.Local; name {
		case "h1", "h2", "h3", "h4":
			level := int(name[1] - '0')
			if level > heading+1 {
				add("<%s> after a heading of level %d", name, heading)
			}
			heading = level
		case "link", "img", "iframe", "object", "embed", "base", "form":
			add("<%s> in the page", name)
		case "table":
			tables++
		case "caption":
			tables--
		case "th":
			if attr["scope"] == "" {
				add("<th> without scope")
			}
		case "svg":
			if attr["class"] == "chart" {
				charts++
			}
		case "desc":
			if slices.Contains(open, "svg") {
				charts--
			}
		case "a", "button", "summary", "pre":
			if slices.Contains(open, "a") || slices.Contains(open, "button") {
				add("<%s> inside something that can be pressed", name)
			}
		}
		open = append(open, e.Name.Local)
	}
	for _, r := range refs {
		if !ids[r] {
			add("no element has the id %q", r)
		}
	}
	if tables != 0 {
		add("%d tables without caption", tables)
	}
	if charts != 0 {
		add("%d charts without description", charts)
	}
	for _, landmark := range []string{"header", "nav", "main", "footer", "h1"} {
		if counts[landmark] != 1 {
			add("%d <%s>, not one", counts[landmark], landmark)
		}
	}
	return out
}

// TestMutants removes each slice of a page, or its last element, and empties each string: the
// result is a sound page or an error of one line.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some hundred pages")
	}
	change := func(v reflect.Value, how int) {
		switch {
		case v.Kind() == reflect.String:
			v.SetString("")
		case how == 0:
			v.SetZero()
		case v.Len() > 0:
			v.SetLen(v.Len() - 1)
		}
	}
	sound := 0
	for n, total := 0, countPlaces(fakeOf(2, 3, "a", "b")); n < total; n++ {
		for how := range 2 {
			p := fakeOf(2, 3, "a", "b")
			at := n
			visit(reflect.ValueOf(&p).Elem(), func(v reflect.Value) bool {
				if at--; at < 0 {
					change(v, how)
				}
				return at >= 0
			})
			var b bytes.Buffer
			if err := p.Write(&b); err != nil {
				if b.Len() > 0 || strings.Contains(err.Error(), "\n") {
					t.Errorf("place %d: %d bytes and error %q", n, b.Len(), err)
				}
				continue
			}
			sound++
			if c := complaints(b.String()); c != nil {
				t.Errorf("place %d: %q", n, c)
			}
		}
	}
	if sound < 50 {
		t.Errorf("only %d mutants were written", sound)
	}
}

func countPlaces(p Page) (n int) {
	visit(reflect.ValueOf(&p).Elem(), func(reflect.Value) bool { n++; return true })
	return n
}

// visit calls f for every slice and string within v until f returns false.
func visit(v reflect.Value, f func(reflect.Value) bool) bool {
	switch v.Kind() {
	case reflect.String:
		return f(v)
	case reflect.Slice:
		if !f(v) {
			return false
		}
		for i := range v.Len() {
			if !visit(v.Index(i), f) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !visit(v.Field(i), f) {
				return false
			}
		}
	}
	return true
}

func TestLeftOut(t *testing.T) {
	all := pages()
	for name, absent := range map[string][]string{
		"minimal":     {"<figure", "ARI", "Lloyd", `id="sweeps"`, `id="graphs"`, `id="plane"`, `id="cost"`, `id="baselines"`, `id="training"`},
		"unlabelled":  {"with labels", "ARI with", "by label", "most frequent"},
		"one variant": {"compare the shapes", "same place in each"},
		"spoilt":      {"% above", "times the spread", "stays within", "lies between"},
		"one seed":    {"median over", "Bold: the median"},
		"by loss":     {"inertia", "Inertia", "centre", "spread", "ARI", `id="baselines"`},
	} {
		text := styles.ReplaceAllString(scripts.ReplaceAllString(render(t, all[name]), ""), "")
		for _, s := range absent {
			if strings.Contains(text, s) {
				t.Errorf("%s: the page says %q", name, s)
			}
		}
	}
}

func TestData(t *testing.T) {
	p := fake()
	p.Data.Name = "</script><script>alert(1)</script><!--"
	m := jsonText.FindStringSubmatch(render(t, p))
	if m == nil {
		t.Fatal("no JSON")
	}
	if strings.ContainsAny(m[1], "<>&\u2028") {
		t.Error("the JSON text could end its element")
	}
	var got Page
	if err := json.Unmarshal([]byte(m[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Data.Name != p.Data.Name {
		t.Errorf("name %q, want %q", got.Data.Name, p.Data.Name)
	}
	if !strings.Contains(m[1], "null") {
		t.Error("the gap of the angles is not null")
	}
	if got.Drawing.SVG != "" || got.Variants[0].Formula != "" {
		t.Error("the data holds markup")
	}
}

func TestSize(t *testing.T) {
	page := render(t, fakeOf(10, 2000, "a", "b"))
	if len(page) > 1<<20 {
		t.Errorf("10 seeds of 2000 steps take %d bytes", len(page))
	}
}

func TestWriterFails(t *testing.T) {
	want := errors.New("disk full")
	if err := fake().Write(failing{want}); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
