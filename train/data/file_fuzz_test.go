package data

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// FuzzOpenCSV compares a file read from the disk with the same read as a whole.
func FuzzOpenCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "1;2;x\n3;4;y\n", "\ufeffa,class\r\n\r\n1,\"2\n\"\r\n", "a,b\n1e39,2\n", "a,b\n1,1e39\n", "1,2,3\n4,5,6\n", "a\n\"", " \n,\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "f.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte(input.GzipMagic)) {
			return // which is read as a whole alone
		}
		for _, opts := range [][]Option{nil, {Targets("b")}, {Header(false), Targets("x2", "x1")}} {
			c, err := OpenCSV(context.Background(), path, "x", "y", tensor.Float32, opts...)
			if err == nil {
				defer c.Close()
			}
			table, wrong := ReadCSV(path, bytes.NewReader(text), opts...)
			var set *Set
			if wrong == nil {
				set, wrong = table.Set("x", "y", tensor.Float32)
			}
			if (err == nil) != (wrong == nil) {
				t.Fatalf("on disk: %v; as a whole: %v", err, wrong)
			}
			if err == nil && !slices.Equal(follow(t, Shuffled(c, 3, 1), 4), follow(t, Shuffled(set, 3, 1), 4)) {
				t.Error("other bits than as a whole")
			}
		}
	})
}

// FuzzOpenRecords compares the rows of a file with what ReadNPY or ReadIDX makes of it.
func FuzzOpenRecords(f *testing.F) {
	for _, a := range []any{[]float32{1, 2, 3, 4}, []uint8{1, 2, 3, 4}, []uint64{1, 2, 3, 1 << 63}} {
		t := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking(a))
		var npy, idx bytes.Buffer
		if err := array.WriteNPY(&npy, t); err != nil {
			f.Fatal(err)
		}
		f.Add(npy.Bytes())
		if err := array.WriteIDX(&idx, t); err == nil {
			f.Add(idx.Bytes())
		}
	}
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRecords(map[string]string{"x": path})
		if err != nil {
			return
		}
		defer r.Close()
		read := array.ReadIDX
		if bytes.HasPrefix(text, []byte(encoding.NPYMagic)) {
			read = array.ReadNPY
		}
		want, wrong := read(path, bytes.NewReader(text))
		b := r.NewBatch(r.Rows())
		err = r.Gather(context.Background(), b, identity(r.Rows()))
		if (err == nil) != (wrong == nil) {
			t.Fatalf("on disk: %v; as a whole: %v", err, wrong)
		}
		if err == nil && !bytes.Equal(tensors.Bytes(b.Values["x"]), tensors.Bytes(want)) {
			t.Error("other bits than as a whole")
		}
	})
}
