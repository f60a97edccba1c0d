package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// element is a parsed element of a chart.
type element struct {
	name string
	attr map[string]string
	text string
}

// render draws a chart and parses it.
func render(t *testing.T, d drawing) (string, []element) {
	t.Helper()
	var b strings.Builder
	if err := d.SVG(&b); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(strings.NewReader(b.String()))
	var all []element
	var open []int
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), all
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, b.String())
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{token.Name.Local, map[string]string{}, ""}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open = append(open, len(all))
			all = append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// num reads a numeric attribute; one that is missing is 0.
func (e element) num(t *testing.T, name string) float64 {
	t.Helper()
	s, ok := e.attr[name]
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.Fatalf("%s %s=%q is no number", e.name, name, s)
	}
	return v
}

// box is the space of a text.
func (e element) box(t *testing.T) box {
	a := anchor(e.attr["text-anchor"])
	size := e.num(t, "font-size")
	if e.attr["font-weight"] != "" {
		size *= boldness
	}
	return textBox(point{e.num(t, "x"), e.num(t, "y")}, a, size, e.text)
}

var command = regexp.MustCompile(`[MLAZHV]|-?[0-9.]+(?:e[-+]?[0-9]+)?|[^ ]`)

// vertices are the points of path data that consists of M, L, H, V, A and Z.
func vertices(t *testing.T, d string) []point {
	t.Helper()
	var all []point
	var args []float64
	op := ""
	for _, word := range command.FindAllString(d, -1) {
		if strings.Contains("MLAZHV", word) {
			if len(args) != 0 {
				t.Fatalf("incomplete path %q", d)
			}
			op = word
			continue
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatalf("path %q: %v", d, err)
		}
		switch op { // only one coordinate changes
		case "H":
			args = []float64{v, all[len(all)-1].y}
		case "V":
			args = []float64{all[len(all)-1].x, v}
		default:
			args = append(args, v)
		}
		if op == "A" && len(args) < 7 || len(args) < 2 {
			continue
		}
		all = append(all, point{args[len(args)-2], args[len(args)-1]})
		args = nil
	}
	return all
}

// checkInvariants checks the guarantees for every chart.
func checkInvariants(t *testing.T, d drawing) {
	t.Helper()
	svg, all := render(t, d)
	for _, bad := range []string{"<script", "http", "var(", "url(", "NaN\"", "Inf", "\x00", "%!"} {
		if strings.Contains(svg, bad) {
			t.Errorf("%q occurs in %s", bad, svg)
		}
	}
	if again, _ := render(t, d); again != svg {
		t.Error("drawn twice, a chart differs")
	}
	root := all[0]
	frame := box{0, 0, root.num(t, "width"), root.num(t, "height")}
	if root.name != "svg" || root.attr["role"] != "img" || root.attr["viewBox"] != fmt.Sprintf("0 0 %v %v", frame.right, frame.bottom) {
		t.Errorf("root is %v", root)
	}
	style := Style()
	var texts []element
	for _, e := range all {
		for _, class := range strings.Fields(e.attr["class"]) {
			if !strings.Contains(style, "."+class+"{") {
				t.Errorf("class %q has no rule", class)
			}
		}
		switch e.name {
		case "path":
			if e.attr["d"] == "" {
				t.Error("an empty path")
			}
			for _, p := range vertices(t, e.attr["d"]) {
				if p.x < 0 || p.x > frame.right || p.y < 0 || p.y > frame.bottom {
					t.Errorf("%v lies outside of the frame", p)
				}
			}
		case "rect":
			b := box{left: e.num(t, "x"), top: e.num(t, "y")}
			b.right, b.bottom = b.left+e.num(t, "width"), b.top+e.num(t, "height")
			if b.left > b.right || b.top > b.bottom || !b.within(frame) {
				t.Errorf("rectangle %v lies outside of %v", b, frame)
			}
		case "text":
			b := e.box(t)
			if !b.within(frame) {
				t.Errorf("text %q at %v lies outside of %v", e.text, b, frame)
			}
			for _, other := range texts {
				if b.overlaps(other.box(t)) {
					t.Errorf("texts %q and %q overlap: %v, %v", e.text, other.text, b, other.box(t))
				}
			}
			texts = append(texts, e)
		}
	}
}

func TestGallery(t *testing.T) {
	for id, d := range gallery() {
		t.Run(id, func(t *testing.T) {
			checkInvariants(t, d)
			got, _ := render(t, d)
			name := filepath.Join("testdata", id+".svg")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s; look at both and run with -update if it is better", name)
			}
		})
	}
}

// Charts stand in one page: none may take another's identifier.
func TestIDsAreUnique(t *testing.T) {
	seen := map[string]string{}
	for id, d := range gallery() {
		_, all := render(t, d)
		for _, e := range all {
			if e.attr["id"] == "" {
				continue
			}
			if other := seen[e.attr["id"]]; other != "" {
				t.Errorf("%s and %s share the id %q", id, other, e.attr["id"])
			}
			seen[e.attr["id"]] = id
		}
		for _, ref := range strings.Fields(all[0].attr["aria-labelledby"]) {
			if seen[ref] != id {
				t.Errorf("%s: aria-labelledby names %q, which is not in it", id, ref)
			}
		}
	}
}

// Random charts, among them absurd ones, keep every promise.
func TestRandomCharts(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		value := func() float64 {
			switch rng.IntN(12) {
			case 0:
				return math.NaN()
			case 1:
				return math.Inf(1 - 2*rng.IntN(2))
			case 2:
				return math.Float64frombits(rng.Uint64())
			case 3:
				return 0
			}
			return rng.NormFloat64() * 100
		}
		values := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = value()
			}
			return v
		}
		name := func() string { return strings.Repeat("n̂ m", rng.IntN(8)) }
		frame := Frame{ID: "random", Title: "Random " + name()}
		if rng.IntN(2) == 0 {
			frame.Width = 240 + 600*rng.Float64()
		}
		l := Lines{Frame: frame, X: name(), Y: name(), LogX: rng.IntN(3) == 0, LogY: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			l.Height = 180 + 300*rng.Float64()
		}
		for range rng.IntN(6) {
			n := rng.IntN(30)
			s := Series{Name: name(), Y: values(n), Group: rng.IntN(20), Faint: rng.IntN(3) == 0}
			if rng.IntN(2) == 0 {
				s.X = values(n)
			}
			if rng.IntN(3) == 0 {
				s.Lo, s.Hi = values(n), values(n)
			}
			l.Series = append(l.Series, s)
			l.Rules = append(l.Rules, Rule{name(), value()})
			l.Marks = append(l.Marks, Mark{name(), value(), value(), rng.IntN(9)})
		}
		s := Scatter{Frame: frame, X: name(), Y: name(), EqualAspect: rng.IntN(2) == 0, ClassNames: []string{name(), name()}, Height: l.Height}
		for range rng.IntN(20) {
			s.Points = append(s.Points, [2]float64{value(), value()})
			s.Class, s.Backdrop, s.BackdropName = append(s.Class, rng.IntN(2)), append(s.Backdrop, [2]float64{value(), value()}), name()
			s.Paths = append(s.Paths, Path{name(), rng.IntN(3), [][2]float64{{value(), value()}, {value(), value()}}})
			s.Vectors = append(s.Vectors, Vector{name(), rng.IntN(3), [2]float64{value(), value()}, [2]float64{value(), value()}})
		}
		if s.EqualAspect {
			s.Cloud = &Cloud{"all", name(), [][2]float64{{value(), value()}, {value(), value()}}}
		}
		b := Bars{Frame: frame, Series: []string{name(), name()}, OwnScale: rng.IntN(2) == 0}
		for range rng.IntN(5) {
			b.Rows = append(b.Rows, Row{name(), "kB", values(2)})
		}
		m := Matrix{Frame: frame, Down: name(), Across: name(), Columns: []string{name(), name(), name()}, Bare: rng.IntN(2) == 0}
		pictures := Images{Frame: frame, Pixel: float64(1 + rng.IntN(8))}
		for range rng.IntN(5) {
			m.Rows, m.Values = append(m.Rows, name()), append(m.Values, values(3))
			row := ImageRow{Name: name()}
			for range rng.IntN(9) {
				row.Images = append(row.Images, Image{name(), 3, values(3 * (1 + rng.IntN(4))), 10 * rng.Float64(), float64(rng.IntN(3))})
			}
			pictures.Rows = append(pictures.Rows, row)
		}
		for _, d := range []drawing{l, s, b, m, pictures, Sparkline{Name: name(), Y: values(rng.IntN(9)), Log: l.LogY}} {
			checkInvariants(t, d)
			if t.Failed() {
				t.Fatalf("seed %d: %T", seed, d)
			}
		}
	}
}

// failing refuses to be written to.
type failing struct{}

var errFull = errors.New("disk full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	for id, d := range gallery() {
		if err := d.SVG(failing{}); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", id, err)
		}
	}
}

func TestErrors(t *testing.T) {
	ok := Frame{ID: "c", Title: "t"}
	two := []float64{1, 2}
	for _, test := range []struct {
		d    drawing
		want string
	}{
		{Lines{Frame: Frame{Title: "t"}}, `chart "": the id is not a letter followed by letters, digits, '-' or '_'`},
		{Bars{Frame: Frame{ID: `a"b`, Title: "t"}}, `chart "a\"b": the id is not a letter followed by letters, digits, '-' or '_'`},
		{Scatter{Frame: Frame{ID: "c", Title: " "}}, `chart "c": the title is empty`},
		{Lines{Frame: Frame{ID: "c", Title: "t", Width: 10}}, `chart "c": a width of 10 is not within 240 to 4000`},
		{Lines{Frame: ok, Height: math.NaN()}, `chart "c": a height of NaN is not within 180 to 4000`},
		{Scatter{Frame: ok, Height: -1}, `chart "c": a height of -1 is not within 180 to 4000`},
		{Lines{Frame: ok, Series: []Series{{Name: "a", X: two, Y: two[:1]}}}, `chart "c": series 0 "a": 2 values of x for 1 of y`},
		{Lines{Frame: ok, Series: []Series{{Name: "a", Y: two, Lo: two}}}, `chart "c": series 0 "a": a band needs both lo and hi`},
		{Lines{Frame: ok, Series: []Series{{Y: two, Lo: two, Hi: two[:1]}}}, `chart "c": series 0 "": 2 values of lo and 1 of hi for 2 of y`},
		{Lines{Frame: ok, Series: []Series{{Y: two, Group: -1}}}, `chart "c": series 0 "": the group -1 is negative`},
		{Lines{Frame: ok, Series: []Series{{Y: two, Points: true, Faint: true}}}, `chart "c": series 0 "": points are neither faint nor have a band`},
		{Lines{Frame: ok, XTicks: []float64{}}, `chart "c": x: no ticks`},
		{Lines{Frame: ok, YTicks: []float64{1, 1}}, `chart "c": y: tick 1, 1, cannot be drawn or does not ascend`},
		{Lines{Frame: ok, LogY: true, YTicks: []float64{0}}, `chart "c": y: tick 0, 0, cannot be drawn or does not ascend`},
		{Lines{Frame: ok, Marks: []Mark{{"m", 1, 1, -2}}}, `chart "c": mark 0 "m": the group -2 is negative`},
		{Scatter{Frame: ok, Points: [][2]float64{{}}, Class: []int{0, 1}}, `chart "c": 2 classes for 1 points`},
		{Scatter{Frame: ok, Points: [][2]float64{{}}, Class: []int{1}, ClassNames: []string{"a"}}, `chart "c": point 0: the class 1 is not one of 1`},
		{Scatter{Frame: ok, Points: [][2]float64{{}}, Names: []string{}}, `chart "c": 0 names for 1 points`},
		{Scatter{Frame: ok, Paths: []Path{{Name: "p", Group: -1}}}, `chart "c": path 0 "p": the group -1 is negative`},
		{Scatter{Frame: ok, Vectors: []Vector{{Name: "v", Group: -1}}}, `chart "c": vector 0 "v": the group -1 is negative`},
		{Bars{Frame: ok, Series: []string{"a"}, Rows: []Row{{"r", "", two}}}, `chart "c": row 0 "r": 2 values for 1 series`},
		{Images{Frame: ok, Rows: []ImageRow{{"r", []Image{{Columns: 2, Values: []float64{1, 2, 3}}}}}}, `chart "c": row 0 "r", image 0: 3 values for 2 columns`},
		{Images{Frame: ok, Rows: []ImageRow{{"r", []Image{{}}}}}, `chart "c": row 0 "r", image 0: 0 values for 0 columns`},
		{Images{Frame: ok, Rows: []ImageRow{{"r", []Image{{Columns: 2, Values: two, Full: math.NaN()}}}}}, `chart "c": row 0 "r", image 0: full ink at NaN`},
		{Images{Frame: ok, Pixel: 100, Rows: []ImageRow{{"", []Image{{Columns: 8, Values: make([]float64, 64)}}}}}, `chart "c": row 0 "", image 0: 8×8 pixels of 100 do not fit`},
		{Images{Frame: ok, Pixel: -1, Rows: []ImageRow{{"", []Image{{Columns: 1, Values: two}}}}}, `chart "c": row 0 "", image 0: 1×2 pixels of -1 do not fit`},
		{Matrix{Frame: ok, Rows: []string{"a"}}, `chart "c": 0 rows of values for 1 names`},
		{Matrix{Frame: ok, Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{two}}, `chart "c": row 0 "a": 2 values for 1 columns`},
		{Matrix{Frame: ok, Rows: []string{}, Columns: make([]string, 60), Values: [][]float64{}}, `chart "c": 60 columns do not fit into a width of 440`},
		{Sparkline{Name: "s", Group: -1}, `sparkline "s": the group -1 is negative`},
	} {
		var b strings.Builder
		err := test.d.SVG(&b)
		if err == nil || err.Error() != test.want {
			t.Errorf("got error %v\nwant      %s", err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("with error %v something was written", err)
		}
	}
}
