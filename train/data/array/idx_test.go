package array

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// idxFiles are written by hand after the format's description.
var idxFiles = []struct {
	name, text string
	read       *tensor.Dense // what they give
	write      *tensor.Dense // what gives them; nil where it is what they give
}{
	{"bytes", "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x00\x01\x02\x03\x04\xff",
		datatest.Dense([]uint8{0, 1, 2, 3, 4, 255}, 2, 3), datatest.Dense([]uint8{0, 1, 2, 3, 4, 255}, 2, 3)},
	{"signed bytes", "\x00\x00\x09\x01\x00\x00\x00\x02\x01\xff", datatest.Dense([]int8{1, -1}, 2), datatest.Dense([]int8{1, -1}, 2)},
	{"short integers", "\x00\x00\x0b\x01\x00\x00\x00\x02\x01\x02\xff\xfe", datatest.Dense([]int32{258, -2}, 2), datatest.Dense([]int16{258, -2}, 2)},
	{"integers", "\x00\x00\x0c\x01\x00\x00\x00\x01\x01\x02\x03\x04", datatest.Dense([]int32{0x01020304}, 1), nil},
	{"float32", "\x00\x00\x0d\x01\x00\x00\x00\x01\x3f\xc0\x00\x00", datatest.Dense([]float32{1.5}, 1), nil},
	{"float64", "\x00\x00\x0e\x01\x00\x00\x00\x01\xbf\xf8\x00\x00\x00\x00\x00\x00", datatest.Dense([]float64{-1.5}, 1), nil},
	{"scalar", "\x00\x00\x0d\x00\x3f\xc0\x00\x00", datatest.Dense([]float32{1.5}), nil},
}

func TestIDX(t *testing.T) {
	for _, c := range idxFiles {
		t.Run(c.name, func(t *testing.T) {
			for _, text := range []string{c.text, datatest.Gzipped(c.text)} {
				for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
					got, err := ReadIDX("f.idx", r)
					if err != nil || !datatest.SameTensor(got, c.read) {
						t.Errorf("got %v, %v", got, err)
					}
				}
				for n := range len(text) {
					if _, err := ReadIDX("f.idx", strings.NewReader(text[:n])); !datatest.IsLocated(err, "f.idx: ") {
						t.Errorf("the first %d bytes: %v", n, err)
					}
				}
			}
			x := c.read
			if c.write != nil {
				x = c.write
			}
			var b bytes.Buffer
			if err := WriteIDX(&b, x); err != nil || b.String() != c.text {
				t.Errorf("wrote %q, %v; want %q", b.String(), err, c.text)
			}
		})
	}
}

func TestIDXErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       []input.Option
		want       string
	}{
		{"empty", "", nil, "f.idx: not an IDX file: it does not begin with two bytes 0, a type and a number of axes"},
		{"text", "a,b\n1,2\n", nil, "f.idx: not an IDX file: it does not begin with two bytes 0, a type and a number of axes"},
		{"type", "\x00\x00\x0a\x01", nil, "f.idx: byte 2: type 0x0a is none of those of IDX files: 08, 09, 0b, 0c, 0d, 0e"},
		{"large type", "\x00\x00\xff\x01", nil, "f.idx: byte 2: type 0xff is none of those of IDX files: 08, 09, 0b, 0c, 0d, 0e"},
		{"sizes", "\x00\x00\x08\x02\x00\x00\x00\x01\x00", nil, "f.idx: byte 9: the file ends within the sizes: 5 of 8 bytes are there"},
		{"axes", "\x00\x00\x08\x09" + strings.Repeat("\x00\x00\x00\x01", 9), nil, "f.idx: the array has 9 axes; at most 8 are read"},
		{"no elements, and one", "\x00\x00\x08\x01\x00\x00\x00\x00a", nil, "f.idx: byte 8: bytes follow the last element"},
		{"many elements", "\x00\x00\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", nil,
			"f.idx: an array of shape [4294967295 4294967295] has more than 67108864 elements; MaxCells sets the limit"},
		{"short", "\x00\x00\x0b\x01\x00\x00\x00\x03abc", nil, "f.idx: byte 11: the file ends after 1 of 3 elements"},
		{"short, compressed", datatest.Gzipped("\x00\x00\x0b\x01\x00\x00\x00\x03abc"), nil, "f.idx: byte 11: the file ends after 1 of 3 elements"},
		{"long", "\x00\x00\x08\x01\x00\x00\x00\x01ab", nil, "f.idx: byte 9: bytes follow the last element"},
		{"bytes", "\x00\x00\x08\x01\x00\x00\x00\x01a", []input.Option{data.MaxBytes(8)}, "f.idx: the file is longer than 8 bytes; MaxBytes sets the limit"},
		{"bytes, compressed", datatest.Gzipped("\x00\x00\x08\x01\x00\x01\x00\x00" + strings.Repeat("a", 65536)), []input.Option{data.MaxBytes(1000)},
			"f.idx: the file is longer than 1000 bytes; MaxBytes sets the limit"},
		{"no gzip", "\x1f\x8b\x00", nil, "f.idx: cannot read: the compressed file ends too early: unexpected EOF"},
		{"cut gzip", datatest.Gzipped("\x00\x00\x08\x01\x00\x00\x00\x01a")[:22], nil, "f.idx: byte 9: cannot read: the compressed file ends too early: unexpected EOF"},
		{"option of another reader", "", []input.Option{data.MaxLine(3)}, "f.idx: MaxLine: this is an option for tables and edge lists, not for arrays"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadIDX("f.idx", strings.NewReader(c.text), c.opts...)
			datatest.WantError(t, err, c.want)
		})
	}
	_, err := OpenIDX("absent.idx")
	datatest.WantError(t, err, "absent.idx: no such file")
	path := filepath.Join(t.TempDir(), "x.idx")
	if err := os.WriteFile(path, []byte(idxFiles[0].text), 0o600); err != nil {
		t.Fatal(err)
	}
	if x, err := OpenIDX(path); err != nil || !datatest.SameTensor(x, idxFiles[0].read) {
		t.Errorf("%v, %v", x, err)
	}
	datatest.WantError(t, WriteIDX(io.Discard, datatest.Dense([]int64{1}, 1)),
		"elements of type int64 have no place in an IDX file; there are uint8, int8, int16, int32, float32 and float64")
	datatest.WantError(t, WriteIDX(io.Discard, datatest.Dense([]string{"a"}, 1)),
		"elements of type string have no place in an IDX file; there are uint8, int8, int16, int32, float32 and float64")
	datatest.WantError(t, WriteIDX(io.Discard, tensor.New(tensor.WithShape(2, 2), tensor.AsFortran([]float32{1, 2, 3, 4}))),
		"the tensor is column-major; an IDX file is row-major")
	full := errors.New("disk full")
	if err := WriteIDX(datatest.FailingWriter{Err: full}, datatest.Dense([]float32{1}, 1)); !errors.Is(err, full) {
		t.Errorf("a failing writer: got %v, want %v", err, full)
	}
}

// FuzzReadIDX checks that nothing panics, that an error is one located line, and that
// what was read can be written and read back.
func FuzzReadIDX(f *testing.F) {
	for _, c := range idxFiles {
		f.Add([]byte(c.text))
		f.Add([]byte(datatest.Gzipped(c.text)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadIDX("f.idx", bytes.NewReader(text), data.MaxCells(1<<20), data.MaxBytes(1<<20))
		if err != nil {
			if !datatest.IsLocated(err, "f.idx: ") {
				t.Fatalf("%v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteIDX(&b, x); err != nil {
			t.Fatal(err)
		}
		written := bytes.Clone(b.Bytes())
		again, err := ReadIDX("f.idx", &b)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		// Compared as bytes: NaN differs from itself.
		if err := WriteIDX(&b, again); err != nil || !bytes.Equal(b.Bytes(), written) {
			t.Fatalf("%v; read back as %v", x, again)
		}
	})
}
