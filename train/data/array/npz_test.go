package array

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

func TestOpenNPZ(t *testing.T) {
	for _, file := range []string{"plain", "deflated"} {
		path := filepath.Join("testdata", "npy", file+".npz")
		z, err := OpenNPZ(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(z.Names(), []string{"x", "y"}) {
			t.Errorf("%s: %q", file, z.Names())
		}
		x, err := z.Array("x")
		if err != nil || !datatest.SameTensor(x, datatest.Dense([]float32{0, 1, 2, 3, 4, 5}, 2, 3)) {
			t.Errorf("%s: x is %v, %v", file, x, err)
		}
		y, err := z.Array("y")
		if err != nil || !datatest.SameTensor(y, datatest.Dense([]int64{1, 0}, 2)) {
			t.Errorf("%s: y is %v, %v", file, y, err)
		}
		_, err = z.Array("xs")
		datatest.WantError(t, err, path+`: no array "xs" (did you mean "x"?)`)
		if err := errors.Join(z.Close(), z.Close()); err != nil {
			t.Error(err)
		}
	}
	_, err := OpenNPZ("absent.npz")
	datatest.WantError(t, err, "absent.npz: no such file")
	path := filepath.Join("testdata", "npy", "f4.npy")
	_, err = OpenNPZ(path)
	datatest.WantError(t, err, path+": not a zip archive: zip: not a valid zip file")
	if !errors.Is(err, zip.ErrFormat) {
		t.Error("the cause is lost")
	}
	path = filepath.Join("testdata", "npy", "plain.npz")
	_, err = OpenNPZ(path, data.MaxBytes(100))
	datatest.WantError(t, err, path+": the file is longer than 100 bytes; MaxBytes sets the limit")
	_, err = ReadNPZ("f.npz", nil, 0)
	datatest.WantError(t, err, "f.npz: there is no reader to read from")
}

func TestNPZErrors(t *testing.T) {
	read := func(text []byte, opts ...input.Option) error {
		z, err := ReadNPZ("f.npz", bytes.NewReader(text), int64(len(text)), opts...)
		if err != nil {
			return err
		}
		if len(z.Names()) == 0 {
			return nil
		}
		_, err = z.Array(z.Names()[0])
		return err
	}
	header := "{'descr': '|u1', 'fortran_order': False, 'shape': (10000000,)}"
	bomb := datatest.Members(t, zip.Deflate, "x.npy", datatest.NpyText(header, strings.Repeat("\x00", 10000000)))
	datatest.WantError(t, read(bomb, data.MaxBytes(100000)), "f.npz/x.npy: the file is longer than 100000 bytes; MaxBytes sets the limit")
	datatest.WantError(t, read(bomb, data.MaxCells(100000)), "f.npz/x.npy: an array of shape [10000000] has more than 100000 elements; MaxCells sets the limit")
	datatest.WantError(t, read(datatest.Members(t, zip.Store, "x.npy", "a", "x.npy", "b")), `f.npz: two arrays are named "x"`)
	datatest.WantError(t, read(datatest.Members(t, zip.Store, "x.npy", "a")), `f.npz/x.npy: not a .npy file: it does not begin with \x93NUMPY`)
	if err := read(datatest.Members(t, zip.Store, "note.txt", "a")); err != nil {
		t.Errorf("a member that is no array: %v", err)
	}
	text := datatest.Members(t, zip.Store, "x.npy", datatest.NpyText("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "abcd"))
	text[bytes.Index(text, []byte("abcd"))] ^= 1
	err := read(text)
	datatest.WantError(t, err, "f.npz/x.npy: byte 67: cannot read: zip: checksum error")
	if !errors.Is(err, zip.ErrChecksum) {
		t.Error("the cause is lost")
	}
	z, err := ReadNPZ("f.npz", bytes.NewReader(bomb), int64(len(bomb)), data.Label("y"))
	datatest.WantError(t, err, "f.npz: Label: this is an option for tables, not for arrays")
	if z != nil {
		t.Error("an archive came with the error")
	}
}

func TestNPZWriter(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		var texts [2]bytes.Buffer
		for i := range texts {
			z := NewNPZWriter(&texts[i], compressed)
			err := errors.Join(
				z.Write("x", datatest.Dense([]float32{0, 1, 2, 3, 4, 5}, 2, 3)),
				z.Write("größe", datatest.Dense([]bool{true}, 1)),
			)
			if err != nil {
				t.Fatal(err)
			}
			datatest.WantError(t, z.Write("x", datatest.Dense([]bool{true}, 1)), `two arrays are named "x"`)
			datatest.WantError(t, z.Write("", datatest.Dense([]bool{true}, 1)), `"" cannot name an array`)
			datatest.WantError(t, z.Write("s", datatest.Dense([]string{"a"}, 1)), "elements of type string have no place in a .npy file")
			datatest.WantError(t, z.Write("s", nil), "there is no tensor to write")
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
		text := texts[0].Bytes()
		if !bytes.Equal(text, texts[1].Bytes()) {
			t.Error("equal arrays give different bytes")
		}
		z, err := ReadNPZ("f.npz", bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		x, err := z.Array("x")
		if err != nil || !datatest.SameTensor(x, datatest.Dense([]float32{0, 1, 2, 3, 4, 5}, 2, 3)) || !slices.Equal(z.Names(), []string{"x", "größe"}) {
			t.Errorf("%q: x is %v, %v", z.Names(), x, err)
		}
	}
}

// FuzzReadNPZ checks that nothing panics and that an error is one located line.
func FuzzReadNPZ(f *testing.F) {
	for _, file := range []string{"plain", "deflated"} {
		text, err := os.ReadFile(filepath.Join("testdata", "npy", file+".npz"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		z, err := ReadNPZ("f.npz", bytes.NewReader(text), int64(len(text)), data.MaxCells(1<<20), data.MaxBytes(1<<20))
		if err != nil {
			if !datatest.IsLocated(err, "f.npz: ") {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, name := range z.Names() {
			var x *tensor.Dense
			if x, err = z.Array(name); err != nil && !datatest.IsLocated(err, "f.npz/") {
				t.Fatalf("%v", err)
			}
			if err == nil && x.Shape().TotalSize() == 0 {
				t.Fatal("no elements")
			}
		}
	})
}
