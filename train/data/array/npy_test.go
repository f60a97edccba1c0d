package array

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/internal/vacant"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// The files are NumPy's: testdata/npy/make.py.
func TestReadNPY(t *testing.T) {
	around := []int32{-2, -1, 0, 1, 2, 3}
	above := []int32{250, 251, 252, 253, 254, 255}
	ints := make([]float32, 24)
	for i := range ints {
		ints[i] = float32(i)
	}
	for file, want := range map[string]*tensor.Dense{
		"f2":       datatest.Dense([]float32{-2, -1, 0, 1, 2, 3}, 2, 3),
		"f4":       datatest.Dense([]float32{-2, -1, 0, 1, 2, 3}, 2, 3),
		"f4_big":   datatest.Dense([]float32{-2, -1, 0, 1, 2, 3}, 2, 3),
		"f8":       datatest.Dense([]float64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"f8_big":   datatest.Dense([]float64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i1":       datatest.Dense([]int8{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i2":       datatest.Dense(around, 2, 3),
		"i2_big":   datatest.Dense(around, 2, 3),
		"i4":       datatest.Dense(around, 2, 3),
		"i4_big":   datatest.Dense(around, 2, 3),
		"i8":       datatest.Dense([]int64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i8_big":   datatest.Dense([]int64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"u1":       datatest.Dense([]uint8{250, 251, 252, 253, 254, 255}, 2, 3),
		"u2":       datatest.Dense(above, 2, 3),
		"u2_big":   datatest.Dense(above, 2, 3),
		"u4":       datatest.Dense([]int64{250, 251, 252, 253, 254, 255}, 2, 3),
		"u4_big":   datatest.Dense([]int64{250, 251, 252, 253, 254, 255}, 2, 3),
		"u8":       datatest.Dense([]int64{0, 1<<63 - 1}, 2),
		"b1":       datatest.Dense([]bool{false, true, false, true, false, true}, 2, 3),
		"scalar":   datatest.Dense([]float32{1.5}),
		"empty":    vacant.Dense(tensor.Float32, []int{0, 3}),
		"vector":   datatest.Dense([]int32{0, 1, 2}, 3),
		"fortran":  datatest.Dense(ints, 2, 3, 4),
		"version2": datatest.Dense([]float64{0, 1, 2}, 3),
		"version3": datatest.Dense([]float64{0, 1, 2}, 3),
	} {
		path := filepath.Join("testdata", "npy", file+".npy")
		got, err := OpenNPY(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !datatest.SameTensor(got, want) {
			t.Errorf("%s: %v %v %v", file, got.Dtype(), got.Shape(), got.Data())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := ReadNPY(file, iotest.OneByteReader(bytes.NewReader(text)))
		if err != nil || !datatest.SameTensor(slow, want) {
			t.Errorf("%s, byte for byte: %v, %v", file, slow, err)
		}
		for n := range len(text) {
			for _, r := range []io.Reader{bytes.NewReader(text[:n]), iotest.HalfReader(bytes.NewReader(text[:n]))} {
				if _, err := ReadNPY(file, r); !datatest.IsLocated(err, file) {
					t.Fatalf("the first %d bytes of %s: %v", n, file, err)
				}
			}
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	f4 := func(shape string) string {
		return datatest.NpyText("{'descr': '<f4', 'fortran_order': False, 'shape': "+shape+", }", "abcd")
	}
	const shape = "', 'fortran_order': False, 'shape': (1,)}"
	for _, c := range []struct {
		name, text string
		opts       []input.Option
		want       string
	}{
		{"empty", "", nil, `f.npy: not a .npy file: it does not begin with \x93NUMPY`},
		{"zip", "PK\x03\x04abcdefgh", nil, `f.npy: not a .npy file: it does not begin with \x93NUMPY`},
		{"no version", encoding.NPYMagic, nil, "f.npy: byte 6: the file ends within the version"},
		{"version", encoding.NPYMagic + "\x04\x00", nil, "f.npy: byte 6: format 4.0 is not known; 1.0, 2.0 and 3.0 are"},
		{"no length", encoding.NPYMagic + "\x02\x00\x01", nil, "f.npy: byte 9: the file ends within the length of the header: 1 of 4 bytes are there"},
		{"huge header", encoding.NPYMagic + "\x02\x00\xff\xff\xff\xff", nil, "f.npy: byte 8: the header claims 4294967295 bytes; at most 65536 are read"},
		{"short header", encoding.NPYMagic + "\x01\x00\x10\x00{", nil, "f.npy: byte 11: the file ends within the header: 1 of 16 bytes are there"},
		{"no dictionary", datatest.NpyText("[]", ""), nil, "f.npy: byte 10: header: want a dictionary in braces"},
		{"no key", datatest.NpyText("{3: 4}", ""), nil, "f.npy: byte 11: header: want 'KEY': VALUE"},
		{"unknown key", datatest.NpyText("{'order': 4}", ""), nil, `f.npy: byte 19: header: unknown key "order"`},
		{"twice", datatest.NpyText("{'shape': (), 'shape': ()}", ""), nil, `f.npy: byte 32: header: two values for "shape"`},
		{"no comma", datatest.NpyText("{'shape': () 'descr': '<f4'}", ""), nil, "f.npy: byte 23: header: want a comma or a closing brace"},
		{"no shape", datatest.NpyText("{'descr': '<f4', 'fortran_order': False}", ""), nil, "f.npy: byte 50: header: no shape"},
		{"order", datatest.NpyText("{'fortran_order': 1}", ""), nil, "f.npy: byte 28: header: fortran_order: want True or False"},
		{"text behind", datatest.NpyText("{'descr': '<f4"+shape+"x", ""), nil, "f.npy: byte 65: header: text follows the dictionary"},
		{"number for a tuple", f4("(3)"), nil, "f.npy: byte 62: header: shape: want a tuple of sizes such as (3, 4)"},
		{"negative size", f4("(-1,)"), nil, "f.npy: byte 61: header: shape: want a tuple of sizes such as (3, 4)"},
		{"no size", f4("(1,,)"), nil, "f.npy: byte 63: header: shape: want a tuple of sizes such as (3, 4)"},
		{"no axes but sizes", f4("(1 2)"), nil, "f.npy: byte 63: header: shape: want a tuple of sizes such as (3, 4)"},
		{"no elements", f4("(0, 3)"), nil, "f.npy: byte 69: bytes follow the last element"},
		{"2⁴⁰ elements", f4("(1048576, 1048576)"), nil, "f.npy: an array of shape [1048576 1048576] has more than 67108864 elements; MaxCells sets the limit"},
		{"2¹²⁶ elements", f4("(9223372036854775807, 9223372036854775807)"), nil,
			"f.npy: an array of shape [9223372036854775807 9223372036854775807] has more than 67108864 elements; MaxCells sets the limit"},
		{"elements", f4("(3,)"), []input.Option{data.MaxCells(2)}, "f.npy: an array of shape [3] has more than 2 elements; MaxCells sets the limit"},
		{"axes", f4("(1,1,1,1,1,1,1,1,1)"), nil, "f.npy: the array has 9 axes; at most 8 are read"},
		{"short", f4("(2,)"), nil, "f.npy: byte 71: the file ends after 1 of 2 elements"},
		{"long", f4("()"), nil, ""},
		{"too long", f4("()") + "x", nil, "f.npy: byte 69: bytes follow the last element"},
		{"bytes", f4("()"), []input.Option{data.MaxBytes(68)}, "f.npy: the file is longer than 68 bytes; MaxBytes sets the limit"},
		{"byte order", datatest.NpyText("{'descr': '|f4"+shape, ""), nil, `f.npy: byte 20: header: descr "|f4": it does not say the byte order`},
		{"void", datatest.NpyText("{'descr': '|V8"+shape, ""), nil, `f.npy: byte 20: header: descr "|V8": complex numbers, dates and records are not read`},
		{"long double", datatest.NpyText("{'descr': '<f16"+shape, ""), nil,
			`f.npy: byte 20: header: descr "<f16": this type is not read; there are [f2 f4 f8 b1 i1 u1 i2 u2 i4 u4 i8 u8]`},
		{"no type", datatest.NpyText("{'descr': '<"+shape, ""), nil, "f.npy: byte 23: header: descr: want a type such as '<f4'"},
		{"option of another reader", "", []input.Option{data.Label("y")}, "f.npy: Label: this is an option for tables, not for arrays"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				_, err := ReadNPY("f.npy", r, c.opts...)
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				datatest.WantError(t, err, c.want)
			}
		})
	}
	for file, want := range map[string]string{
		"object":   `byte 20: header: descr "|O": Python objects are not read: unpickling them would run what the file says`,
		"string":   `byte 20: header: descr "<U2": strings are not numbers; save them as text`,
		"complex":  `byte 20: header: descr "<c8": complex numbers, dates and records are not read`,
		"record":   "byte 20: header: records (structured types) are not read; save each field as an array of its own",
		"u8_large": "byte 136: element 1, 9223372036854775808, does not fit int64",
	} {
		path := filepath.Join("testdata", "npy", file+".npy")
		_, err := OpenNPY(path)
		datatest.WantError(t, err, path+": "+want)
	}
	_, err := OpenNPY("absent.npy")
	datatest.WantError(t, err, "absent.npy: no such file")
	_, err = ReadNPY("f.npy", nil)
	datatest.WantError(t, err, "f.npy: there is no reader to read from")
	broken := errors.New("the disk is gone")
	_, err = ReadNPY("f.npy", io.MultiReader(strings.NewReader(f4("(2,)")), iotest.ErrReader(broken)))
	datatest.WantError(t, err, "f.npy: byte 71: cannot read: the disk is gone")
	if !errors.Is(err, broken) {
		t.Error("the cause is lost")
	}
}

// TestHalves: of half precision, in all that holds arrays of NumPy's, becomes what NumPy
// makes of it, to the bits of subnormal numbers and NaN.
func TestHalves(t *testing.T) {
	at := func(file string) string { return filepath.Join("testdata", "npy", file) }
	want, err := OpenNPY(at("half_as_f4.npy"))
	if err != nil {
		t.Fatal(err)
	}
	agrees := func(what string, got *tensor.Dense, err error) {
		t.Helper()
		if err != nil || got.Dtype() != tensor.Float32 || !got.Shape().Eq(want.Shape()) || !bytes.Equal(tensors.Bytes(got), tensors.Bytes(want)) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	for _, file := range []string{"half.npy", "half_big.npy"} {
		got, err := OpenNPY(at(file))
		agrees(file, got, err)
		r, err := data.OpenRecords(map[string]string{"x": at(file)})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b := r.NewBatch(r.Rows())
		rows := make([]int, r.Rows())
		for i := range rows {
			rows[i] = i
		}
		err = r.Gather(t.Context(), b, rows)
		agrees(file+" as records", b.Values["x"], err)
	}
	z, err := OpenNPZ(at("half.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got, err := z.Array("x")
	agrees("half.npz", got, err)
}

// TestClaim: a header that claims the most that the limits allow takes no memory for it
// before the elements come.
func TestClaim(t *testing.T) {
	npy := datatest.NpyText("{'descr': '<f8', 'fortran_order': False, 'shape': (67108864,)}", "abcdefgh")
	idx := "\x00\x00\x0e\x01\x04\x00\x00\x00abcdefgh"
	npz := func(method uint16) func() error {
		text := datatest.Members(t, method, "x.npy", npy)
		return func() error {
			z, err := ReadNPZ("f", bytes.NewReader(text), int64(len(text)))
			if err == nil {
				_, err = z.Array("x")
			}
			return err
		}
	}
	for name, read := range map[string]func() error{
		"npy":             func() error { _, err := ReadNPY("f", iotest.HalfReader(strings.NewReader(npy))); return err },
		"idx":             func() error { _, err := ReadIDX("f", iotest.HalfReader(strings.NewReader(idx))); return err },
		"npy of a size":   func() error { _, err := ReadNPY("f", strings.NewReader(npy)); return err },
		"idx of a size":   func() error { _, err := ReadIDX("f", strings.NewReader(idx)); return err },
		"compressed npy":  func() error { _, err := ReadNPY("f", strings.NewReader(datatest.Gzipped(npy))); return err },
		"compressed idx":  func() error { _, err := ReadIDX("f", strings.NewReader(datatest.Gzipped(idx))); return err },
		"npz, stored":     npz(zip.Store),
		"npz, compressed": npz(zip.Deflate),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		if !datatest.IsLocated(err, "f") || !strings.HasSuffix(err.Error(), "the file ends after 1 of 67108864 elements") {
			t.Errorf("%s: %v", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
}

// half is the engine of a tensor of the bits of a type of two bytes.
type half struct {
	tensor.StdEng
	of string
}

func (h half) BitsOf() string { return h.of }

// What is written is what NumPy wrote, byte for byte.
func TestWriteNPY(t *testing.T) {
	ints := make([]float32, 24)
	for i := range ints {
		ints[i] = float32(i)
	}
	for file, x := range map[string]*tensor.Dense{
		"f2":      tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]uint16{0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200}), tensor.WithEngine(half{of: "f16"})),
		"empty":   vacant.Dense(tensor.Float32, []int{0, 3}),
		"f4":      datatest.Dense([]float32{-2, -1, 0, 1, 2, 3}, 2, 3),
		"f8":      datatest.Dense([]float64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i1":      datatest.Dense([]int8{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i2":      datatest.Dense([]int16{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i4":      datatest.Dense([]int32{-2, -1, 0, 1, 2, 3}, 2, 3),
		"i8":      datatest.Dense([]int64{-2, -1, 0, 1, 2, 3}, 2, 3),
		"u1":      datatest.Dense([]uint8{250, 251, 252, 253, 254, 255}, 2, 3),
		"u2":      datatest.Dense([]uint16{250, 251, 252, 253, 254, 255}, 2, 3),
		"u4":      datatest.Dense([]uint32{250, 251, 252, 253, 254, 255}, 2, 3),
		"u8":      datatest.Dense([]uint64{0, 1<<63 - 1}, 2),
		"b1":      datatest.Dense([]bool{false, true, false, true, false, true}, 2, 3),
		"scalar":  datatest.Dense([]float32{1.5}),
		"vector":  datatest.Dense([]int32{0, 1, 2}, 3),
		"fortran": tensor.New(tensor.WithShape(2, 3, 4), tensor.AsFortran(ints)),
	} {
		want, err := os.ReadFile(filepath.Join("testdata", "npy", file+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := WriteNPY(&got, x); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\ngot  %q\nwant %q", file, got.Bytes(), want)
		}
	}
	scalar := tensor.New(tensor.FromScalar(float32(1.5)))
	transposed := datatest.Dense([]int32{1, 4, 2, 5, 3, 6}, 3, 2)
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	column, err := datatest.Dense([]float64{1, 2, 3, 4, 5, 6}, 2, 3).Slice(nil, tensor.S(1))
	if err != nil {
		t.Fatal(err)
	}
	large := make([]float64, 20001) // more than a chunk
	for i := range large {
		large[i] = float64(i)
	}
	for name, c := range map[string]struct{ x, want *tensor.Dense }{
		"scalar":     {scalar, datatest.Dense([]float32{1.5})},
		"transposed": {transposed, datatest.Dense([]int32{1, 2, 3, 4, 5, 6}, 2, 3)},
		"column":     {column.(*tensor.Dense), datatest.Dense([]float64{2, 5}, 2)},
		"large":      {datatest.Dense(large, 59, 339), datatest.Dense(large, 59, 339)},
	} {
		var b bytes.Buffer
		if err := WriteNPY(&b, c.x); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadNPY(name, &b); err != nil || !datatest.SameTensor(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	datatest.WantError(t, WriteNPY(io.Discard, datatest.Dense([]int{1}, 1)), "elements of type int have no place in a .npy file")
	datatest.WantError(t, WriteNPY(io.Discard, nil), "there is no tensor to write")
	datatest.WantError(t, WriteNPY(io.Discard, new(tensor.Dense)), "there is no tensor to write")
	masked := tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}, []bool{true, false}))
	datatest.WantError(t, WriteNPY(io.Discard, masked), "the tensor has a mask, which the file would lose")
	full := errors.New("disk full")
	if err := WriteNPY(datatest.FailingWriter{Err: full}, datatest.Dense([]float32{1}, 1)); !errors.Is(err, full) {
		t.Errorf("a failing writer: got %v, want %v", err, full)
	}
}

// FuzzReadNPY checks that nothing panics, that an error is one located line, and that
// what was read can be written and read back.
func FuzzReadNPY(f *testing.F) {
	paths, err := filepath.Glob("testdata/npy/*.npy")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(datatest.Gzipped(datatest.NpyText(`{'shape':(),'fortran_order':False,'descr':'<f2'}`, "ab"))))
	f.Add([]byte(datatest.NpyText(`{"shape":(2L,),'fortran_order':True,'descr':'=i4'}`, "abcdefgh")))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadNPY("f.npy", bytes.NewReader(text), data.MaxCells(1<<20), data.MaxBytes(1<<20))
		if err != nil {
			if !datatest.IsLocated(err, "f.npy: ") {
				t.Fatalf("%v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, x); err != nil {
			t.Fatal(err)
		}
		written := bytes.Clone(b.Bytes())
		again, err := ReadNPY("f.npy", &b)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		// Compared as bytes: NaN differs from itself.
		if err := WriteNPY(&b, again); err != nil || !bytes.Equal(b.Bytes(), written) {
			t.Fatalf("%v; read back as %v", x, again)
		}
	})
}
