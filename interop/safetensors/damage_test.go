package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// ways are all the ways of reading a whole file.
var ways = map[string]func(b []byte, options ...Option) (*File, error){
	"Read": func(b []byte, options ...Option) (*File, error) { return Read(bytes.NewReader(b), options...) },
	"File": func(b []byte, options ...Option) (*File, error) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)), options...)
		if err != nil {
			return nil, err
		}
		return r.File()
	},
	"Verify": func(b []byte, options ...Option) (*File, error) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)), options...)
		if err != nil {
			return nil, err
		}
		return nil, r.Verify()
	},
}

// TestEveryBit flips each bit of a file with a checksum, and cuts it at each byte.
func TestEveryBit(t *testing.T) {
	file := encoded(t, summed())
	for how, read := range ways {
		refused := func(b []byte, what string, at int) {
			f, err := read(b)
			if f != nil || !errors.Is(err, ErrFormat) && !errors.Is(err, ErrChecksum) {
				t.Errorf("%s: %s %d: got %v, %v", how, what, at, f, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s %d: more than one line: %v", how, what, at, err)
			}
		}
		for i := range 8 * len(file) {
			b := bytes.Clone(file)
			b[i/8] ^= 1 << (i % 8)
			refused(b, "bit", i)
		}
		for n := range file {
			refused(file[:n], "cut at", n)
		}
		refused(append(bytes.Clone(file), 0), "longer than", len(file))
		if _, err := read(file, RequireChecksum()); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func TestChecksumThatIsMissing(t *testing.T) {
	file := encoded(t, &File{Metadata: map[string]string{"a": "b"}})
	for how, read := range ways {
		if _, err := read(file, RequireChecksum()); !errors.Is(err, ErrChecksum) || err.Error() != "the file has no checksum" {
			t.Errorf("%s: got %v", how, err)
		}
		if _, err := read(file); (err != nil) != (how == "Verify") {
			t.Errorf("%s: without RequireChecksum: %v", how, err)
		}
	}
}

// TestMalformed reads headers that are wrong, each before 8 bytes of data.
func TestMalformed(t *testing.T) {
	const w = `"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	tests := []struct{ header, want string }{
		{``, `byte 8: the header does not begin with {`},
		{` {}`, `byte 8: the header does not begin with {`},
		{"{\xff}", `byte 8: the header is not UTF-8`},
		{`{`, `byte 9: the header ends where the end of a list should be`},
		{`{"w"`, `byte 12: tensor "w": the header ends where { should be`},
		{`{"w":`, `byte 13: tensor "w": the header ends where { should be`},
		{`{"w":3}`, `byte 14: tensor "w": want {, got "3"`},
		{`{"w":null}`, `byte 17: tensor "w": want {, got null`},
		{`{"w":[]}`, `byte 14: tensor "w": want {, got [`},
		{`{"w":{},}`, `byte 15: tensor "w": want dtype, shape and two data_offsets`},
		{`{` + w + `,}`, `byte 62: the header is not JSON: invalid character '}' looking for beginning of object key string`},
		{`{` + w + `}x`, `byte 62: after the header's } there are bytes other than spaces`},
		{`{` + w + `}` + "\n", `byte 62: after the header's } there are bytes other than spaces`},
		{`{` + w + `,` + w + `}`, `byte 65: the key "w" is there twice`},
		{`{"__metadata__":{"a":"b","a":"b"}}`, `byte 36: the key "a" is there twice`},
		{`{"__metadata__":{"a":1}}`, `byte 30: want a text, got "1"`},
		{`{"__metadata__":{},"__metadata__":{}}`, `byte 41: the key "__metadata__" is there twice`},
		{`{"__metadata__":{"tapestry.checksum":"x"}}`, `byte 48: the checksum is damaged`},
		{`{"__metadata__":{"a":"` + sumWords + zeros + `"}}`, `byte 145: the checksum has the key "a"; want "tapestry.checksum"`},
		{`{"__metadata__":{"tapestry.checksum":"` + sumWords + zeros[1:] + `\u0030"}}`, `byte 166: the checksum's digits are escaped`},
		{`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}`, `byte 64: tensor "w": unknown key "x"; want dtype, shape and data_offsets`},
		{`{"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, `byte 35: tensor "w": the key "dtype" is there twice`},
		{`{"w":{"dtype":"F32","shape":[2]}}`, `byte 40: tensor "w": want dtype, shape and two data_offsets`},
		{`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0]}}`, `byte 59: tensor "w": want dtype, shape and two data_offsets`},
		{`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}}`, `byte 61: tensor "w": want at most 2 numbers`},
		{`{"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}}`, `byte 65: tensor "w": elements of type "F8_E4M3" are not read`},
		{`{"w":{"dtype":4,"shape":[8],"data_offsets":[0,8]}}`, `byte 23: tensor "w": want a text, got "4"`},
		{`{"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, `byte 39: tensor "w": want an integer from 0 to 2⁶³−1, got -2`},
		{`{"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}`, `byte 40: tensor "w": want an integer from 0 to 2⁶³−1, got 2.0`},
		{`{"w":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}}`, `byte 40: tensor "w": want an integer, got "2"`},
		{`{"w":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}}`, `byte 56: tensor "w": want an integer from 0 to 2⁶³−1, got 9223372036854775808`},
		{`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`, `byte 81: tensor "w": shape [4294967296 4294967296] of F32 is beyond any memory`},
		{`{"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, `byte 61: tensor "w": data_offsets [8 0] run backwards`},
		{`{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, `byte 61: tensor "w": shape [3] of F32 takes 12 bytes, but data_offsets give 8`},
		{`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, `byte 8: tensor "w": its data begin at 4; the tensors before it end at 0`},
		{`{` + w + `,"v":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, `byte 8: tensor "v": its data begin at 4; the tensors before it end at 8`},
		{`{"w":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}}`, `byte 65: tensor "w": element 2 has the bytes 02, which are not a BOOL that can be read`},
		{`{"w":{"dtype":"U64","shape":[],"data_offsets":[0,8]}}`, `byte 61: tensor "w": element 0 has the bytes 00010203040506ff, which are not a U64 that can be read`},
	}
	if math.MaxInt > math.MaxInt32 { // else the shapes are already refused, for want of memory
		tests = append(tests, []struct{ header, want string }{
			{`{"w":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]}}`, `byte 8: tensor "w": its data end at 9223372036854775807, beyond any file`},
			{`{"w":{"dtype":"U8","shape":[68719476737],"data_offsets":[0,68719476737]}}`, `byte 8: the tensors take 68719476737 bytes; at most 68719476736 are read (MaxBytes)`},
		}...)
	}
	for _, test := range tests {
		file := binary.LittleEndian.AppendUint64(nil, uint64(len(test.header)))
		file = append(append(file, test.header...), 0, 1, 2, 3, 4, 5, 6, 0xff)
		for _, how := range []string{"Read", "File"} {
			f, err := ways[how](file)
			var e *Error
			if f != nil || err == nil || err.Error() != test.want || !errors.As(err, &e) {
				t.Errorf("%s of %s:\n got %v\nwant %s", how, test.header, err, test.want)
			}
		}
	}
}

func TestErrorsAroundAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	file := encoded(t, summed())
	if err := os.WriteFile(path, file[:len(file)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	long := "\xff\xff\xff\xff\xff\xff\xff\xff{}"
	_, missing := Open(dir + "/none")
	_, folder := Open(dir)
	_, cut := ReadFile(path)
	_, stream := Read(bytes.NewReader(file[:len(file)-1]))
	_, more := Read(strings.NewReader(string(file) + "x"))
	_, broken := Read(io.MultiReader(bytes.NewReader(file[:200]), iotest.ErrReader(io.ErrClosedPipe)))
	_, far := Read(strings.NewReader(long))
	_, farther := NewReader(strings.NewReader("\xff\x00\x00\x00\x00\x00\x00\x00{}"), 10)
	_, limit := Read(bytes.NewReader(file), MaxBytes(20))
	_, header := Read(bytes.NewReader(file), MaxHeader(20))
	tests := []struct {
		err   error
		cause error
		want  string
	}{
		{missing, fs.ErrNotExist, dir + "/none: cannot open: no such file or directory"},
		{folder, nil, dir + ": cannot open: it is a directory"},
		{cut, ErrFormat, path + ": byte 8: the header describes a file of 332 bytes, but it has 331"},
		{stream, ErrFormat, `byte 331: tensor "mask": the file ends too early`},
		{more, ErrFormat, "byte 332: the file goes on after the last tensor"},
		{broken, io.ErrClosedPipe, "byte 200: cannot read: io: read/write on closed pipe"},
		{far, ErrFormat, "byte 0: a header of 18446744073709551615 bytes is claimed; at most 100000000 are read (MaxHeader)"},
		{farther, ErrFormat, "byte 0: a header of 255 bytes is claimed, but the file has 10"},
		{limit, ErrFormat, "byte 8: the tensors take 28 bytes; at most 20 are read (MaxBytes)"},
		{header, ErrFormat, "byte 0: a header of 296 bytes is claimed; at most 20 are read (MaxHeader)"},
		{Write(failing{}, summed()), io.ErrShortWrite, "full: cannot write: short write"},
	}
	for _, test := range tests {
		if test.err == nil || test.err.Error() != test.want || test.cause != nil && !errors.Is(test.err, test.cause) {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}

// failing is a full disk.
type failing struct{}

func (failing) Name() string              { return "full" }
func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestReader(t *testing.T) {
	r, err := Open("testdata/written.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, want := fmt.Sprint(r.Metadata()), "map[format:pt]"; got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(r.Infos()[:4]), "[{step I64 [] 536 8} {double F64 [2] 544 16} {a/b F32 [1] 560 4} {none F32 [0 4] 564 0}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f := &File{Metadata: r.Metadata()}
	for _, info := range r.Infos() {
		data, err := r.Tensor(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		f.Tensors = append(f.Tensors, Tensor{Name: info.Name, Data: data})
	}
	sameFile(t, f, goldens()["written"])
	if _, err := r.Tensor("x"); err == nil || err.Error() != `testdata/written.safetensors: tensor "x": the file has no such tensor` {
		t.Errorf("got %v", err)
	}
}

// TestMemory holds that writing and reading take the tensors' memory and little
// more, and that a header cannot take what it has no data for.
func TestMemory(t *testing.T) {
	const n, spare = 4 << 20, 1 << 20 // elements; bytes
	f := &File{Metadata: map[string]string{Checksum: ""}, Tensors: []Tensor{{Name: "w", Data: dense(make([]float32, n), n)}}}
	path := filepath.Join(t.TempDir(), "large")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	claim := `{"w":{"dtype":"F32","shape":[1073741824],"data_offsets":[0,4294967296]}}`
	claim = string(binary.LittleEndian.AppendUint64(nil, uint64(len(claim)))) + claim
	deep := "\x00\xe1\xf5\x05\x00\x00\x00\x00" + strings.Repeat("[", 1000) // 10⁸ bytes of header are claimed
	tests := []struct {
		name string
		most uint64
		do   func() error
		want error
	}{
		{"write", spare, func() error { return Write(out, f) }, nil},
		{"read", 4*n + spare, func() error { _, err := ReadFile(path); return err }, nil},
		{"read a stream", 2*4*n + spare, func() error {
			in, err := os.Open(path)
			if err == nil {
				_, err = Read(in)
				in.Close()
			}
			return err
		}, nil},
		{"data that are not there", spare, func() error { _, err := Read(strings.NewReader(claim)); return err }, ErrFormat},
		{"a header that is not there", spare, func() error { _, err := Read(strings.NewReader(deep)); return err }, ErrFormat},
	}
	for _, test := range tests {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := test.do()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > test.most {
			t.Errorf("%s: %d bytes allocated, want at most %d", test.name, got, test.most)
		}
	}
}

// FuzzRead: whatever comes, reading ends with a file or an *Error; a file is
// written and read again without a change, and all ways of reading agree.
func FuzzRead(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range seeds {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		n := binary.LittleEndian.Uint64(b)
		f.Add(uint64(0), b[8:8+n], b[8+n:])
	}
	f.Fuzz(func(t *testing.T, extra uint64, header, data []byte) { // so that a changed header keeps its length
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(header))+extra)
		b = append(append(b, header...), data...)
		file, err := Read(bytes.NewReader(b))
		lazy, lazyErr := ways["File"](b)
		if (err == nil) != (lazyErr == nil) {
			t.Fatalf("Read: %v; NewReader: %v", err, lazyErr)
		}
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("not an *Error of one line: %v", err)
			}
			return
		}
		first := encoded(t, file)
		if second := encoded(t, lazy); !bytes.Equal(first, second) {
			t.Fatalf("Read gives\n%q, NewReader\n%q", first, second)
		}
		again, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if second := encoded(t, again); !bytes.Equal(first, second) {
			t.Fatalf("written\n%q, then\n%q", first, second)
		}
	})
}
