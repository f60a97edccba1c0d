package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Records become what ReadNPY and ReadIDX make of the same files.
func TestRecordsAgree(t *testing.T) {
	const n = 700
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16,
		tensor.Int32, tensor.Uint32, tensor.Int64, tensor.Uint64, tensor.Bool} {
		a := tensor.New(tensor.WithShape(n, 2, 3), tensor.Of(dtype))
		rng := newDraws().at(1, 1)
		raw := tensors.Bytes(a)
		for i := range raw {
			if raw[i] = byte(rng.Uint32()); dtype == tensor.Bool || dtype == tensor.Uint64 {
				raw[i] &= 1
			}
		}
		var npy, idx bytes.Buffer
		if err := array.WriteNPY(&npy, a); err != nil {
			t.Fatal(err)
		}
		paths, want := []string{write(t, "a.npy", npy.Bytes())}, []*tensor.Dense{}
		read, err := array.ReadNPY("a.npy", &npy)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, read)
		if err := array.WriteIDX(&idx, a); err == nil { // not every type has a place in one
			paths = append(paths, write(t, "a.idx", idx.Bytes()))
			if read, err = array.ReadIDX("a.idx", &idx); err != nil {
				t.Fatal(err)
			}
			want = append(want, read)
		}
		for k, path := range paths {
			r, err := OpenRecords(map[string]string{"x": path})
			if err != nil {
				t.Fatal(err)
			}
			set, err := NewSet(map[string]*tensor.Dense{"x": want[k]})
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(r) != fmt.Sprint(set) {
				t.Errorf("%v, want %v", r, set)
			}
			if got, want := follow(t, Shuffled(r, 64, 1), 20), follow(t, Shuffled(set, 64, 1), 20); !slices.Equal(got, want) {
				t.Errorf("%s of %v: other bits than in memory", filepath.Base(path), dtype)
			}
			if got, want := follow(t, InOrder(r, 64), 20), follow(t, InOrder(set, 64), 20); !slices.Equal(got, want) {
				t.Errorf("%s of %v, in order: other bits than in memory", filepath.Base(path), dtype)
			}
			r.Close()
		}
	}
}

func TestRecordsFloats(t *testing.T) {
	var idx bytes.Buffer
	if err := array.WriteIDX(&idx, tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]uint8{1, 2, 254, 255}))); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRecords(map[string]string{"x": write(t, "a.idx", idx.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Floats("x")
	if err != nil || f.String() != "x[2 2] float32" || r.String() != "x[2 2] uint8" {
		t.Errorf("%v from %v: %v", f, r, err)
	}
	b, err := InOrder(f, 0).Next(context.Background())
	if err != nil || !reflect.DeepEqual(b.Values["x"].Float32s(), []float32{1, 2, 254, 255}) {
		t.Errorf("%v: %v", b.Values["x"], err)
	}
	_, err = r.Floats("z")
	complains(t, err, `data: no column "z"; there are x`)
}

// TestRecordsOfManyRows: 2³¹ rows, in a file that takes no room, are rows like others where an
// int counts them; where it does not, they are a mistake and no other number of rows.
func TestRecordsOfManyRows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the file may take 2 GiB here")
	}
	start := []byte{0, 0, 8, 1, 0x80, 0, 0, 0}
	path := write(t, "many", start)
	if err := os.Truncate(path, int64(len(start))+1<<31); err != nil {
		t.Skip(err)
	}
	r, err := OpenRecords(map[string]string{"x": path})
	if math.MaxInt == math.MaxInt32 {
		complains(t, err, path+": 2147483648 rows are more than an int of this machine counts")
		return
	}
	if err != nil || int64(r.Rows()) != 1<<31 {
		t.Fatalf("%v rows: %v", r, err)
	}
	r.Close()
}

func TestRecordsErrors(t *testing.T) {
	npy := func(a *tensor.Dense) []byte {
		var b bytes.Buffer
		if err := array.WriteNPY(&b, a); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := npy(tensor.New(tensor.WithShape(4, 3), tensor.Of(tensor.Float32)))
	three := npy(tensor.New(tensor.WithShape(3), tensor.Of(tensor.Int32)))
	idx := func(sizes ...uint32) []byte {
		b := []byte{0, 0, 8, byte(len(sizes))}
		for _, n := range sizes {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	fortran := bytes.Replace(good, []byte("False, "), []byte("True,  "), 1)
	start := len(good) - 48
	for _, c := range []struct {
		text []byte
		want string
	}{
		{nil, "neither a .npy nor an IDX file"},
		{[]byte("a,b\n"), "neither a .npy nor an IDX file"},
		{[]byte("\x1f\x8b\x08"), "the file is compressed, so its rows cannot be read in any order: unpack it first"},
		{[]byte("PK\x03\x04"), "the file is compressed, so its rows cannot be read in any order: unpack it first"},
		{good[:len(good)-1], fmt.Sprintf("byte %d: the file ends after 3 of 4 rows", len(good)-1)},
		{append(slices.Clone(good), 0), fmt.Sprintf("byte %d: bytes follow the last row", len(good))},
		{fortran, "the array is column-major (Fortran order), so its rows are not in one place: save it in C order"},
		{good[:start-30], "byte 98: the file ends within the header: 88 of 118 bytes are there"},
		{idx(), "an array of shape [] has no rows"},
		{idx(0, 3), "an array of shape [0 3] has no rows"},
		{idx(3, 0), "an array of shape [3 0] has rows without elements"},
		{idx(1, math.MaxUint32), "an array of shape [4294967295] has more than 67108864 elements; MaxCells sets the limit"},
		{idx(math.MaxUint32, 1<<25), fmt.Sprintf("byte 12: the file ends after 0 of %d rows", uint32(math.MaxUint32))},
	} {
		path := write(t, "f", c.text)
		r, err := OpenRecords(map[string]string{"x": path})
		complains(t, err, path+": "+c.want)
		if r != nil {
			t.Errorf("%v with an error", r)
		}
	}
	one, other := write(t, "x.npy", good), write(t, "y.npy", three)
	_, err := OpenRecords(map[string]string{"x": one, "y": other})
	complains(t, err, fmt.Sprintf("%s: 3 rows, where %s has 4", other, one))
	_, err = OpenRecords(nil)
	complains(t, err, "data: a data set without files")
	_, err = OpenRecords(map[string]string{"x": filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	_, err = OpenRecords(map[string]string{"x": one}, Header(true))
	complains(t, err, one+": Header: this is an option for tables and edge lists, not for arrays")

	big := tensor.New(tensor.WithShape(3), tensor.WithBacking([]uint64{1, 2, 1 << 63}))
	path := write(t, "big.npy", npy(big))
	r, err := OpenRecords(map[string]string{"x": path})
	if err != nil {
		t.Fatal(err)
	}
	s := InOrder(r, 3)
	_, err = s.Next(context.Background())
	complains(t, err, path+": byte 144: element 9223372036854775808 does not fit int64")
	if err := os.Truncate(path, 130); err != nil {
		t.Fatal(err)
	}
	_, err = s.Next(context.Background())
	complains(t, err, path+": byte 128: cannot read row 0: EOF")
	r.Close()
	if _, err = s.Next(context.Background()); !errors.Is(err, fs.ErrClosed) || s.Position() != (Position{}) {
		t.Errorf("after Close: %v at %v", err, s.Position())
	}
	complains(t, r.Gather(context.Background(), r.NewBatch(1), []int{-1}), "data: row -1 is outside [0, 3)")
}
