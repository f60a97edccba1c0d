package safetensors

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gorgonia.org/tensor"
)

func dense(backing any, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}

// summed is the file of testdata/summed.safetensors.
func summed() *File {
	return &File{
		Metadata: map[string]string{"model": "line\nfit", Checksum: ""},
		Tensors: []Tensor{
			{Name: "mask", Data: dense([]bool{true, false, false, true}, 2, 2)},
			{Name: "w", Data: dense([]float32{0, float32(math.Copysign(0, -1)), 1.5, float32(math.Inf(1)), 1e-45, -3.25}, 2, 3)},
		},
	}
}

// goldens are files that testdata/make.py builds from the specification.
func goldens() map[string]*File {
	written := &File{Metadata: map[string]string{"format": "pt"}, Tensors: append(summed().Tensors,
		Tensor{Name: "a/b", Data: dense([]float32{7}, 1)},
		Tensor{Name: "double", Data: dense([]float64{0.1, math.Inf(-1)}, 2)},
		Tensor{Name: "step", Data: dense([]int64{math.MinInt64})},
		Tensor{Name: "index", Data: dense([]int32{1, -2, math.MaxInt32}, 3, 1)},
		Tensor{Name: "none", Data: dense([]float32{}, 0, 4)},
		Tensor{Name: "γ \"q\" \\ \t\x01\x7f</script>\u2028", Data: dense([]float32{0.5})},
	)}
	return map[string]*File{
		"empty":    {},
		"metadata": {Metadata: map[string]string{"format": "pt"}},
		"written":  written,
		"summed":   summed(),
	}
}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, f := range goldens() {
		want, err := os.ReadFile(filepath.Join("testdata", name+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, f); !bytes.Equal(got, want) {
			t.Errorf("%s is written\n%q, want\n%q", name, got, want)
		}
		readers := map[string]func() (*File, error){
			"Read":         func() (*File, error) { return Read(bytes.NewReader(want)) },
			"one byte":     func() (*File, error) { return Read(iotest.OneByteReader(bytes.NewReader(want))) },
			"end and data": func() (*File, error) { return Read(iotest.DataErrReader(bytes.NewReader(want))) },
			"ReadFile":     func() (*File, error) { return ReadFile(filepath.Join("testdata", name+".safetensors")) },
		}
		for how, read := range readers {
			got, err := read()
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			sameFile(t, got, f)
			if again := encoded(t, got); !bytes.Equal(again, want) {
				t.Errorf("%s, %s: read and written again it is\n%q, want\n%q", name, how, again, want)
			}
		}
	}
}

// sameFile compares what tensors hold, not how they are laid out in a file.
func sameFile(t *testing.T, got, want *File) {
	t.Helper()
	if len(got.Tensors) != len(want.Tensors) {
		t.Errorf("%d tensors, want %d", len(got.Tensors), len(want.Tensors))
	}
	for _, w := range want.Tensors {
		g := got.Tensor(w.Name)
		if g == nil || g.Dtype() != w.Data.Dtype() || !g.Shape().Eq(w.Data.Shape()) ||
			g.Shape().TotalSize() > 0 && !reflect.DeepEqual(g.Data(), w.Data.Data()) {
			t.Errorf("tensor %q is %v, want %v", w.Name, g, w.Data)
		}
	}
	for key, value := range want.Metadata {
		if key != Checksum && got.Metadata[key] != value {
			t.Errorf("metadata %q is %q, want %q", key, got.Metadata[key], value)
		}
	}
	if len(got.Metadata) != len(want.Metadata) || (got.Metadata == nil) != (want.Metadata == nil) {
		t.Errorf("metadata %v, want %v", got.Metadata, want.Metadata)
	}
}

// TestPublishedBytes holds files whose bytes the published implementation's own tests state.
func TestPublishedBytes(t *testing.T) {
	data := []float32{0, 1, 2, 3, 4, 5}
	const numbers = "\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40"
	tests := []struct {
		file *File
		want string
	}{
		{&File{}, "\x08\x00\x00\x00\x00\x00\x00\x00{}      "},
		{&File{Metadata: map[string]string{"framework": "pt"}}, "\x28\x00\x00\x00\x00\x00\x00\x00" + `{"__metadata__":{"framework":"pt"}}     `},
		{&File{Tensors: []Tensor{{Name: "attn.0", Data: dense(data, 1, 2, 3)}}},
			"\x40\x00\x00\x00\x00\x00\x00\x00" + `{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}` + numbers},
		{&File{Tensors: []Tensor{{Name: "attn0", Data: dense(data, 1, 1, 2, 3)}}},
			"\x48\x00\x00\x00\x00\x00\x00\x00" + `{"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}       ` + numbers},
	}
	for _, test := range tests {
		if got := encoded(t, test.file); string(got) != test.want {
			t.Errorf("got\n%q, want\n%q", got, test.want)
		}
	}
}

// TestTypesThatAreRead reads what is not written, as testdata/make.py builds it.
func TestTypesThatAreRead(t *testing.T) {
	f, err := ReadFile("testdata/read.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, f, &File{Tensors: []Tensor{
		{Name: "u64", Data: dense([]int64{0, math.MaxInt64}, 2)},
		{Name: "u32", Data: dense([]int64{0, math.MaxUint32}, 2)},
		{Name: "bf16", Data: dense([]float32{1, -2, 0x1p-133}, 3)},
		{Name: "f16", Data: dense([]float32{1, -2, 0x1p-24, 65504, float32(math.Inf(-1))}, 5)},
		{Name: "u16", Data: dense([]int32{65535}, 1)},
		{Name: "i16", Data: dense([]int32{-32768, 32767}, 2)},
		{Name: "i8", Data: dense([]int8{-128, 127, 0}, 3)},
		{Name: "u8", Data: dense([]uint8{255}, 1)},
	}})
	again, err := Read(bytes.NewReader(encoded(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, again, f)
}

// TestLayouts writes tensors that do not lie row-major without gaps.
func TestLayouts(t *testing.T) {
	base := func() *tensor.Dense { return dense([]float32{0, 1, 2, 3, 4, 5}, 3, 2) }
	slice := func(s ...tensor.Slice) *tensor.Dense {
		v, err := base().Slice(s...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*tensor.Dense)
	}
	ones := slices.Repeat([]int{1}, mostAxes)
	turned := base()
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	f := &File{Tensors: []Tensor{
		{Name: "turned", Data: turned},
		{Name: "rows", Data: slice(tensor.S(1, 3))},
		{Name: "column", Data: slice(nil, tensor.S(1))},
		{Name: "element", Data: slice(tensor.S(1), tensor.S(1))},
		{Name: "deep", Data: dense([]float32{6}, ones...)},
	}}
	got, err := Read(bytes.NewReader(encoded(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, got, &File{Tensors: []Tensor{
		{Name: "turned", Data: dense([]float32{0, 2, 4, 1, 3, 5}, 2, 3)},
		{Name: "rows", Data: dense([]float32{2, 3, 4, 5}, 2, 2)},
		{Name: "column", Data: dense([]float32{1, 3, 5}, 3)},
		{Name: "element", Data: dense([]float32{3})},
		{Name: "deep", Data: dense([]float32{6}, ones...)},
	}})
}

func TestWriteErrors(t *testing.T) {
	one := dense([]float32{1}, 1)
	masked := dense([]float32{1}, 1)
	masked.ResetMask(true)
	tests := []struct {
		f    File
		want string
	}{
		{File{Tensors: []Tensor{{Name: "a", Data: one}, {Name: "a", Data: one}}}, `tensor "a": two tensors have this name`},
		{File{Tensors: []Tensor{{Name: "__metadata__", Data: one}}}, `tensor "__metadata__": "__metadata__" cannot be a tensor's name`},
		{File{Tensors: []Tensor{{Name: "\xff", Data: one}}}, `tensor "\xff": "\xff" cannot be a tensor's name`},
		{File{Tensors: []Tensor{{Name: "a", Data: nil}}}, `tensor "a": the tensor is nil`},
		{File{Tensors: []Tensor{{Name: "a", Data: &tensor.Dense{}}}}, `tensor "a": the tensor is nil`},
		{File{Tensors: []Tensor{{Name: "a", Data: masked}}}, `tensor "a": the tensor is masked, which the format cannot say`},
		{File{Tensors: []Tensor{{Name: "a", Data: dense([]string{"x"}, 1)}}}, `tensor "a": want elements of float64, float32, int64, int32, int8, uint8 or bool, got string`},
		{File{Tensors: []Tensor{{Name: "a", Data: tensor.New(tensor.WithShape(1, 2), tensor.AsFortran([]float32{1, 2}))}}}, `tensor "a": want a row-major tensor, got a column-major one`},
		{File{Tensors: []Tensor{{Name: "a", Data: dense([]uint16{1}, 1)}}}, `tensor "a": elements of uint16: say with DType whether they are the bits of F16 or of BF16`},
		{File{Tensors: []Tensor{{Name: "a", Data: one, DType: "F8"}}}, `tensor "a": DType "F8": want F16, BF16, I8, U8 or nothing`},
		{File{Tensors: []Tensor{{Name: "a", Data: one, DType: "U8"}}}, `tensor "a": elements of float32 are not written as U8`},
		{File{Tensors: []Tensor{{Name: "a", Data: dense([]int32{7, 256}, 2), DType: "U8"}}}, `tensor "a": element 1, 256, does not fit U8`},
		{File{Metadata: map[string]string{"a": "\xff"}}, `metadata "a": "\xff" are not UTF-8`},
		{File{Metadata: map[string]string{"a": sumWords}}, `the checksum has the key "a"; want "tapestry.checksum"`},
		{File{Tensors: []Tensor{{Name: "a", Data: dense([]float32{6}, slices.Repeat([]int{1}, mostAxes+1)...)}}}, `tensor "a": it has 65 axes; at most 64 are written`},
		{File{Metadata: map[string]string{"a": strings.Repeat("x", mostHeader)}}, `names, shapes and metadata take 100000032 bytes; a header has at most 100000000`},
	}
	if os.Getenv("TAPESTRY_LONG") == "" {
		tests = tests[:len(tests)-1] // a header too long takes a second
	}
	for _, test := range tests {
		var b bytes.Buffer
		err := Write(&b, &test.f)
		if err == nil || err.Error() != test.want || b.Len() > 0 {
			t.Errorf("got %v, %d bytes written; want %s", err, b.Len(), test.want)
		}
	}
}

// TestTensorByName: what was read is found by its place, and still by its name when the caller has
// changed the list since.
func TestTensorByName(t *testing.T) {
	one, two, three := dense([]float32{1}, 1), dense([]float32{2}, 1), dense([]float32{3}, 1)
	var b bytes.Buffer
	if err := Write(&b, &File{Tensors: []Tensor{{Name: "a", Data: one}, {Name: "b", Data: two}, {Name: "c", Data: three}}}); err != nil {
		t.Fatal(err)
	}
	f, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": float32(1), "b": float32(2), "c": float32(3)}
	check := func(when string) {
		t.Helper()
		for name, v := range want {
			if got := f.Tensor(name); got == nil || got.Data().([]float32)[0] != v {
				t.Errorf("%s: tensor %q is %v, want %v", when, name, got, v)
			}
		}
		if f.Tensor("d") != nil {
			t.Errorf("%s: there is a tensor d", when)
		}
	}
	check("as read")
	for i, tensor := range f.Tensors {
		if at, ok := f.places[tensor.Name]; !ok || at != i {
			t.Errorf("tensor %q is at %d, not at %d", tensor.Name, i, at)
		}
	}
	slices.Reverse(f.Tensors)
	check("reversed")
	f.Tensors = slices.DeleteFunc(f.Tensors, func(t Tensor) bool { return t.Name == "b" })
	delete(want, "b")
	if f.Tensor("b") != nil {
		t.Error("a tensor that was taken out is found")
	}
	check("without b")
}
