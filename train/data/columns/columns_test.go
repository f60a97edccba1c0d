package columns_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"gorgonia.org/tensor"
)

// TestColumns: a table by column, with text columns as classes and the label found.
func TestColumns(t *testing.T) {
	c, err := columns.Read("houses.csv", strings.NewReader("area,town,rooms,price\n100,Ulm,3,250.5\n80,Bonn,2,199\n120,Ulm,5,301\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "houses.csv: 3 rows\n  area   number\n  town   2 classes: Bonn, Ulm\n  rooms  number\n  price  number\n"
	if got := c.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	town, err := c.Column("town")
	if err != nil || town.Line(1) != 3 || town.Numbers() {
		t.Errorf("town: %v, line %d", err, town.Line(1))
	}
	if _, err := town.Float64s(); err == nil {
		t.Error("classes that are texts are taken for numbers")
	}
	if _, err := c.Column("toun"); err == nil || !strings.Contains(err.Error(), `"town"`) {
		t.Errorf("a name that is not there: %v", err)
	}
	features, err := c.Table()
	if err != nil || strings.Join(features.Columns, " ") != "area rooms price" {
		t.Errorf("the table has %v: %v", features, err)
	}
}

// TestColumnsOfWine: the label of a built-in table is a column of classes whose names are numbers.
func TestColumnsOfWine(t *testing.T) {
	c, err := columns.Builtin("wine")
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.Column(c.Label())
	if err != nil || len(k.Classes) != 3 || !k.Numbers() || k.Rows() != 178 {
		t.Fatalf("%v: %v", k, err)
	}
	v, err := k.Float64s()
	if err != nil || v[0] != 0 || v[177] != 2 {
		t.Errorf("%v … %v: %v", v[0], v[177], err)
	}
}

// TestColumnsMissing: what is missing is located, and rows without it are kept together.
func TestColumnsMissing(t *testing.T) {
	text := "a,b,c\n1,u,2\n3,v,\n5,u,6\n"
	_, err := columns.Read("gaps.csv", strings.NewReader(text))
	if at := (*data.Error)(nil); !errors.As(err, &at) || at.Line != 3 || at.Column != "c" || !at.Missing {
		t.Errorf("an empty cell: %v", err)
	}
	c, err := columns.Read("gaps.csv", strings.NewReader(text), data.Missing())
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithoutMissing("a", "c"); err != nil {
		t.Fatal(err)
	}
	b, _ := c.Column("b")
	if got := b.Values.Int32s(); len(got) != 2 || got[0] != got[1] || b.Line(1) != 4 {
		t.Errorf("the rows left have %v, line %d", got, b.Line(1))
	}
	if _, err := columns.Read("x.csv", strings.NewReader("a,b\n1,2\noops,3\n")); err == nil || !strings.Contains(err.Error(), `"oops" is not a number`) {
		t.Errorf("a text among numbers: %v", err)
	}
}

// TestOpenColumns: every kind of file is read by its name.
func TestOpenColumns(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, f func(w *os.File) error) string {
		path := filepath.Join(dir, name)
		w, err := os.Create(path)
		if err == nil {
			err = f(w)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	images := tensor.New(tensor.WithShape(3, 2, 2), tensor.WithBacking([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}))
	text := func(s string) func(w *os.File) error {
		return func(w *os.File) error { _, err := w.WriteString(s); return err }
	}
	for _, test := range []struct{ path, want string }{
		{write("x.npy", func(w *os.File) error { return array.WriteNPY(w, images) }), "  x  int32[2 2]\n"},
		{write("x-images-idx3-ubyte", func(w *os.File) error { return array.WriteIDX(w, images) }), "  x-images-idx3-ubyte  int32[2 2]\n"},
		{write("all.npz", func(w *os.File) error {
			z := array.NewNPZWriter(w, false)
			return errors.Join(z.Write("x", images), z.Write("y", tensor.New(tensor.WithShape(3), tensor.WithBacking([]int32{0, 1, 0}))), z.Close())
		}), "  x  int32[2 2]\n  y  number\n"},
		{write("t.txt", text("abcabc")), "  text  tokens, of 3 kinds\n  next  the tokens that follow, of 3 kinds\n"},
		{write("club.edges", text("0 1\n1 2\n")), "  adjacency  float64[3]\n  degree     number\n  node       3 classes: 0, 1, 2\n"},
		{write("t.csv", text("a,species\n1,u\n2,v\n")), "  a        number\n  species  2 classes: u, v; the label\n"},
	} {
		c, err := columns.Open(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(c.String(), "\n"); got != test.want {
			t.Errorf("%s:\n%swant\n%s", filepath.Base(test.path), got, test.want)
		}
	}
	if _, err := columns.Open(filepath.Join(dir, "x.npy"), data.Label("y")); err == nil {
		t.Error("an option of tables is taken for an array")
	}
}

// TestBeside: columns of several files are joined, and names that clash are an error.
func TestBeside(t *testing.T) {
	a, _ := columns.Read("a.csv", strings.NewReader("p,q\n1,2\n3,4\n"))
	b, _ := columns.Read("b.csv", strings.NewReader("r,s\n1,2\n3,4\n"))
	c, err := columns.Beside(a, b)
	if err != nil || strings.Join(c.Names(), " ") != "p q r s" {
		t.Errorf("%v: %v", c, err)
	}
	if _, err := columns.Beside(a, a); err == nil {
		t.Error("equal names are accepted")
	}
}

// TestTextWindows: the windows of a text and those that follow.
func TestTextWindows(t *testing.T) {
	c, err := columns.OfText("t", "abcabca")
	if err != nil {
		t.Fatal(err)
	}
	x, _ := c.Column("text")
	y, _ := c.Column("next")
	w, err := x.Windows(3)
	if err != nil {
		t.Fatal(err)
	}
	n, err := y.Windows(3)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Int32s(); got[0] != 0 || got[3] != 0 || n.Int32s()[0] != 1 || n.Int32s()[5] != 0 {
		t.Errorf("windows %v, next %v", got, n.Int32s())
	}
}
