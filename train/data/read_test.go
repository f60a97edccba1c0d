package data

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
)

func TestReadCSV(t *testing.T) {
	ab := []string{"a", "b"}
	for _, c := range []struct {
		name, text string
		opts       []Option
		want       Table
	}{
		{"plain", "a,b\n1,2\n3,4\n", nil, Table{Columns: ab, X: []float64{1, 2, 3, 4}, Lines: []int{2, 3}}},
		{"no final newline", "a,b\n1,2", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"crlf", "a,b\r\n1,2\r\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"carriage return at the end", "a,b\n1,2\r", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"byte order mark", "\ufeffa,b\n1,2\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"blank lines", "\n\na,b\n\n1,2\n   \n3,4\n\n \t\n\n", nil, Table{Columns: ab, X: []float64{1, 2, 3, 4}, Lines: []int{5, 7}}},
		{"blank lines in one column", "a\n1\n \n\n2\n", nil, Table{Columns: []string{"a"}, X: []float64{1, 2}, Lines: []int{2, 5}}},
		{"spaces", " a , b\n 1 ,\t2\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"semicolons", "a;b\n1;2\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"semicolons below blank lines", "\n\r\na;b\n1;2\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{4}}},
		{"tabs", "a\tb\n1\t2\n", nil, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"given delimiter", "a|b\n1|2\n", []Option{nil, Delimiter('|')}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"quoted delimiters do not count", "\"a;;;\",b\n1,2\n", nil,
			Table{Columns: []string{"a;;;", "b"}, X: []float64{1, 2}, Lines: []int{2}}},
		{"quotes", "\"a \"\"x\"\"\",\"b\nc\"\n\"1\",2\n3,4\n", nil,
			Table{Columns: []string{`a "x"`, "b\nc"}, X: []float64{1, 2, 3, 4}, Lines: []int{3, 4}}},
		{"numbers", "a,b\n-1.5e-3,+.5\n1_0,0x1p4\n", []Option{Ignore("a")},
			Table{Columns: []string{"b"}, X: []float64{.5, 16}, Lines: []int{2, 3}}},
		{"no header", "1,2\n3,4\n", nil, Table{Columns: []string{"x1", "x2"}, X: []float64{1, 2, 3, 4}, Lines: []int{1, 2}}},
		{"no header, labels", "1,2,u\n3,4,v\n", nil,
			Table{Columns: []string{"x1", "x2"}, X: []float64{1, 2, 3, 4}, Labels: []string{"u", "v"}, LabelName: "x3", Lines: []int{1, 2}}},
		{"no header, one row", "1,2\n", nil, Table{Columns: []string{"x1", "x2"}, X: []float64{1, 2}, Lines: []int{1}}},
		{"header in part", "2019,b\n1,2\n", nil, Table{Columns: []string{"2019", "b"}, X: []float64{1, 2}, Lines: []int{2}}},
		{"header by option", "1,2\n3,4\n", []Option{Header(true)}, Table{Columns: []string{"1", "2"}, X: []float64{3, 4}, Lines: []int{2}}},
		{"text last", "a,b\n1,u\n2,v\n", nil,
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Labels: []string{"u", "v"}, LabelName: "b", Lines: []int{2, 3}}},
		{"label by header", "a,Class\n1,0\n2,1.0\n", nil,
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Labels: []string{"0", "1.0"}, LabelName: "Class", Lines: []int{2, 3}}},
		{"label last but for ignored", "a,y,note\n1,0,\n2,1,late\n", []Option{Ignore("note")},
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Labels: []string{"0", "1"}, LabelName: "y", Lines: []int{2, 3}}},
		{"coordinates are no labels", "X,Y\n1,0\n2,1\n", nil, Table{Columns: []string{"X", "Y"}, X: []float64{1, 0, 2, 1}, Lines: []int{2, 3}}},
		{"measurements are no labels", "a,target\n1,0.5\n2,1\n", nil, Table{Columns: []string{"a", "target"}, X: []float64{1, 0.5, 2, 1}, Lines: []int{2, 3}}},
		{"only column is no label", "y\n1\n", nil, Table{Columns: []string{"y"}, X: []float64{1}, Lines: []int{2}}},
		{"no label", "a,y\n1,0\n", []Option{NoLabel()}, Table{Columns: []string{"a", "y"}, X: []float64{1, 0}, Lines: []int{2}}},
		{"label first", "kind,a\nu,1\nv,2\n", []Option{Label("kind")},
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Labels: []string{"u", "v"}, LabelName: "kind", Lines: []int{2, 3}}},
		{"label of both kinds", "a,k\n1,u\n2,7\n", []Option{Label("k")},
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Labels: []string{"u", "7"}, LabelName: "k", Lines: []int{2, 3}}},
		{"label without header", "u,1\nv,2\n", []Option{Label("x1")},
			Table{Columns: []string{"x2"}, X: []float64{1, 2}, Labels: []string{"u", "v"}, LabelName: "x1", Lines: []int{1, 2}}},
		{"row names without a name", ",a\nr1,1\nr2,2\n", []Option{Ignore("")},
			Table{Columns: []string{"a"}, X: []float64{1, 2}, Lines: []int{2, 3}}},
		{"comments", "# \"x\n#\na,b\n1,2\n#3,4\n", []Option{Comment('#')}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{4}}},
		{"quotes in comments do not lengthen lines", "#\"\na,b\n1,2\n", []Option{Comment('#'), MaxLine(4)}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{3}}},
		{"a quote in a comment below a byte order mark", "\ufeff#\"\na,b\n1,2\n", []Option{Comment('#'), MaxLine(4)}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{3}}},
		{"spaces for a delimiter", " a   b  \n1 2\n  3  4\n", []Option{Delimiter(' ')}, Table{Columns: ab, X: []float64{1, 2, 3, 4}, Lines: []int{2, 3}}},
		{"line at the limit", "a,b\r\n1,2\r\n", []Option{MaxLine(3)}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
		{"file at the limit", "a,b\n1,2\n", []Option{MaxBytes(8), MaxCells(4)}, Table{Columns: ab, X: []float64{1, 2}, Lines: []int{2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name = "f.csv"
			// One byte at a time is the hardest way to deliver a file.
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got, err := ReadCSV("f.csv", r, c.opts...)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(*got, c.want) {
					t.Errorf("got  %+v\nwant %+v", *got, c.want)
				}
			}
		})
	}
}

func TestReadCSVErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       []Option
		want       string
	}{
		{"empty", "", nil, "f.csv: the file is empty"},
		{"only a byte order mark", "\ufeff", nil, "f.csv: the file is empty"},
		{"only blank lines", "\n  \n\r\n", nil, "f.csv: the file is empty"},
		{"header only", "\na,b\n", nil, "f.csv:2: no rows follow the header"},
		{"header only by option", "1,2\n", []Option{Header(true)}, "f.csv:1: no rows follow the header"},
		{"not a number", "a,b\n1,2\n1,abc\n", nil, `f.csv:3: column "b": "abc" is not a number`},
		{"decimal comma", "a;b\n1;2\n1;1,5\n", nil, `f.csv:3: column "b": "1,5" is not a number`},
		{"text column", "a,b,c\n1,u,2\n", nil, `f.csv:2: column "b": "u" is not a number; ignore "b" to leave the column out`},
		{"only text", "a,b\nu,v\n", nil, `f.csv:2: column "a": "u" is not a number; ignore "a" to leave the column out`},
		{"no header by option", "a,b\n1,2\n", []Option{Header(false), NoLabel()},
			`f.csv:1: column "x1": "a" is not a number; ignore "x1" to leave the column out`},
		{"after a quoted newline", "a,b\n1,2\n\"3\n\",4\n5,x\n", nil, `f.csv:5: column "b": "x" is not a number`},
		{"long cell", "a\n1\n" + strings.Repeat("é", 1000) + "\n", nil,
			`f.csv:3: column "a": "` + strings.Repeat("é", 40) + `"… is not a number`},
		{"newline in a cell", "a\n1\n\"x\ny\"\n", nil, `f.csv:3: column "a": "x\ny" is not a number`},
		{"too few cells", "a,b\n1,2\n3\n", nil, "f.csv:3: the number of cells is 1, not 2 as in line 1"},
		{"too many cells", "a,b\n1,2,3\n", nil, "f.csv:2: the number of cells is 3, not 2 as in line 1"},
		{"nan", "a,b\n1,2\n1,NaN\n", nil, `f.csv:3: column "b": "NaN" is not finite; Missing() allows for missing values`},
		{"nan in the first row", "nan,2\n3,4\n", nil, `f.csv:1: column "x1": "nan" is not finite; Missing() allows for missing values`},
		{"inf", "a,b\n-Inf,2\n", nil, `f.csv:2: column "a": "-Inf" is not finite`},
		{"too large", "a,b\n1,1e999\n", nil, `f.csv:2: column "b": "1e999" is not finite`},
		{"empty cell", "a,b\n1,2\n,2\n", nil, `f.csv:3: column "a": empty cell; Missing() allows for missing values`},
		{"empty quoted cell", "a\n1\n\"\"\n", nil, `f.csv:3: column "a": empty cell; Missing() allows for missing values`},
		{"empty label", "a,b\n1,u\n2,  \n", nil, `f.csv:3: column "b": empty cell`},
		{"label turns number", "a,b\n1,no\n2,3.2\n", nil,
			`f.csv:3: column "b": "3.2" is a number but the labels above are not; name the label "b" to allow both`},
		{"what was taken for a label was missing", "a,b\n1,NA\n2,3.2\n", nil,
			`f.csv:3: column "b": "3.2" is a number but the labels above are not; name the label "b" to allow both; Missing() allows for missing values`},
		{"an empty cell was taken for a label", "a,b\n1,\n2,3.2\n", nil, `f.csv:2: column "b": empty cell; Missing() allows for missing values`},
		{"duplicate names", "a,b,a\n1,2,3\n", nil, `f.csv:1: columns 1 and 3 are both named "a"`},
		{"duplicate of the label", "y,y\n1,2\n", nil, `f.csv:1: columns 1 and 2 are both named "y"`},
		{"no name", ",a\n1,2\n", nil, `f.csv:1: column 1 has no name; ignore "" to leave it out`},
		{"unknown label", "a,species\n1,u\n", []Option{Label("specis")}, `f.csv:1: label "specis": no such column (did you mean "species"?)`},
		{"unknown label without header", "1,2\n3,4\n", []Option{Label("price")},
			`f.csv: label "price": no such column; the file has no header, so x1 is the first and x2 the last`},
		{"unknown ignored", "a,b\n1,2\n", []Option{Ignore("column")}, `f.csv:1: ignore "column": no such column`},
		{"ignored label", "a,b\n1,2\n", []Option{Ignore("b"), Label("b")}, `f.csv:1: label "b": this column is ignored`},
		{"no features", "a\n1\n", []Option{Label("a")}, "f.csv:1: no column of features"},
		{"everything ignored", "1,2\n", []Option{Ignore("x1", "x2")}, "f.csv: no column of features"},
		{"invalid utf-8", "a,b\n1,2\n1,\xff\n", nil, `f.csv:3: cell 2: "\xff" is not UTF-8 text`},
		{"latin-1 header", "gr\xf6\xdfe,b\n1,2\n", nil, `f.csv:1: cell 1: "gr\xf6\xdfe" is not UTF-8 text`},
		{"second byte order mark", "\ufeff\ufeffa,b\n1,2\n", nil, "f.csv:1: cell 1: byte order mark inside a cell"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", nil, "f.csv:1: not a text file: it holds a NUL byte"},
		{"utf-16", "\xff\xfea\x00\n\x00", nil, "f.csv:1: not a text file: it holds a NUL byte"},
		{"old mac", "a,b\r1,2\r", nil, "f.csv:1: lone carriage return; lines must end in LF or CRLF"},
		{"bare quote", "a,b\n1,2\n3,4\"\n", nil, "f.csv:3: quote inside a cell that is not quoted"},
		{"text after quote", "a,b\n\"1\"2,3\n", nil, "f.csv:2: quoted cell that is not closed or that text follows"},
		{"open quote", "a,b\n\"1,2\n3,4\n5,6\n", nil, "f.csv:2: quoted cell that is not closed or that text follows"},
		{"earlier error first", "a,b\n1,\"x\"y\n" + strings.Repeat("9", 100), []Option{MaxLine(50)},
			"f.csv:2: quoted cell that is not closed or that text follows"},
		{"long line", "a,b\n1,2\n1234,5\n", []Option{MaxLine(5)}, "f.csv:3: the line is longer than 5 bytes; MaxLine sets the limit"},
		{"long quoted cell", "a,b\n\"1\n2\n3\n4\",5\n", []Option{MaxLine(5)},
			"f.csv:4: a quoted cell makes the row longer than 5 bytes; is a quote not closed? MaxLine sets the limit"},
		{"many bytes", "a,b\n1,2\n1,2\n", []Option{MaxBytes(9)}, "f.csv:3: the file is longer than 9 bytes; MaxBytes sets the limit"},
		{"many cells", "a,b\n1,2\n1,2\n", []Option{MaxCells(5)}, "f.csv:3: more than 5 cells; MaxCells sets the limit"},
		{"line limit of 0", "a\n1\n", []Option{MaxLine(0)}, "f.csv: MaxLine(0): the limit must be positive"},
		{"byte limit of 0", "a\n1\n", []Option{MaxBytes(0)}, "f.csv: MaxBytes(0): the limit must be positive"},
		{"cell limit below 0", "a\n1\n", []Option{MaxCells(-1)}, "f.csv: MaxCells(-1): the limit must be positive"},
		{"NA without Missing", "a,b\n1,2\n1,NA\n", nil, `f.csv:3: column "b": "NA" is not a number; Missing() allows for missing values`},
		{"other missing cells", "a,b\n1,2\n1,NA\n", []Option{Missing("-")}, `f.csv:3: column "b": "NA" is not a number`},
		{"missing label", "a,b\n1,u\n2,\n", []Option{Missing()}, `f.csv:3: column "b": empty cell`},
		{"option of another reader", "a\n1\n", []Option{edges.Directed()}, "f.csv: Directed: this is an option for edge lists, not for tables"},
		{"delimiter of comments", "a\n1\n", []Option{Delimiter('#'), Comment('#')}, "f.csv: '#' cannot both separate cells and begin comments"},
		{"senseless comment", "a\n1\n", []Option{Comment('é')}, "f.csv: Comment('é'): this character cannot begin a comment"},
		{"comment with a quote before a long line", "#\"\na\n123456\n", []Option{Comment('#'), MaxLine(5)}, "f.csv:3: the line is longer than 5 bytes; MaxLine sets the limit"},
		{"senseless delimiter", "a\n1\n", []Option{Delimiter('"')}, `f.csv: Delimiter('"'): this character cannot separate cells`},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := ReadCSV("f.csv", strings.NewReader(c.text), c.opts...)
			datatest.WantError(t, err, c.want)
			if table != nil {
				t.Errorf("a table of %d rows came with the error", table.Rows())
			}
		})
	}
}

func TestErrorFields(t *testing.T) {
	_, err := ReadCSV("f.csv", strings.NewReader("a,b\n1,2\n1,abc\n"))
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := Error{File: "f.csv", Line: 3, Column: "b", Msg: `"abc" is not a number`}
	if *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
	datatest.WantError(t, &Error{Line: 3, Msg: "m"}, "line 3: m")
	datatest.WantError(t, &Error{File: "a\nb", Column: "c\nd", Msg: "m"}, `a b: column "c\nd": m`)
}

func TestReadFailure(t *testing.T) {
	broken := errors.New("the disk\nis gone")
	text := io.MultiReader(strings.NewReader("a,b\n1,2\n3,"), iotest.ErrReader(broken))
	_, err := ReadCSV("f.csv", text)
	datatest.WantError(t, err, "f.csv:3: cannot read: the disk is gone")
	if !errors.Is(err, broken) {
		t.Error("the cause is lost")
	}
	_, err = ReadCSV("f.csv", nil)
	datatest.WantError(t, err, "f.csv: there is no reader to read from")
}

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("good.csv", []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Open("good.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := Table{Name: "good.csv", Columns: []string{"a", "b"}, X: []float64{1, 2}, Lines: []int{2}}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, want %+v", *got, want)
	}
	_, err = Open("absent.csv")
	datatest.WantError(t, err, "absent.csv: no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	_, err = Open(".")
	datatest.WantError(t, err, ".: this is a directory, not a file")
	_, err = Open(filepath.Join("good.csv", "x"))
	if err == nil || !strings.HasPrefix(err.Error(), filepath.Join("good.csv", "x")+": ") || strings.Count(err.Error(), "good.csv") != 1 {
		t.Errorf("a file used as a directory: %v", err)
	}
}
