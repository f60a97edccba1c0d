package data

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// packable are the readers of whole files, as functions of a text.
var packable = map[string]struct {
	text string
	read func(r io.Reader, opts ...Option) (any, error)
}{
	"CSV":   {"a,b,class\n1,2,x\n3,4,y\n", func(r io.Reader, opts ...Option) (any, error) { return ReadCSV("f", r, opts...) }},
	"edges": {"# a network\n0 1\n1 2\n", func(r io.Reader, opts ...Option) (any, error) { return edges.Read("f", r, opts...) }},
	"text":  {"We the People\nof the United States\n", func(r io.Reader, opts ...Option) (any, error) { return text.Read("f", r, opts...) }},
	"npy": {datatest.NpyText("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcdefgh"), func(r io.Reader, opts ...Option) (any, error) {
		return array.ReadNPY("f", r, opts...)
	}},
	"IDX": {"\x00\x00\x08\x01\x00\x00\x00\x03\x00\x01\x02", func(r io.Reader, opts ...Option) (any, error) { return array.ReadIDX("f", r, opts...) }},
}

// TestGzip: what is compressed, also in several parts, is read as what is not; what is cut
// off or changed is an error in one line that names the file.
func TestGzip(t *testing.T) {
	for name, c := range packable {
		t.Run(name, func(t *testing.T) {
			want, err := c.read(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			packed := datatest.Gzipped(c.text)
			parts := datatest.Gzipped(c.text[:5]) + datatest.Gzipped("") + datatest.Gzipped(c.text[5:])
			for _, r := range []io.Reader{strings.NewReader(packed), strings.NewReader(parts), iotest.OneByteReader(strings.NewReader(packed))} {
				if got, err := c.read(r); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, %v; want %v", got, err, want)
				}
			}
			for n := range len(packed) {
				_, err := c.read(strings.NewReader(packed[:n]))
				if name == "text" && n < len(input.GzipMagic) {
					continue // it is text of no byte, or no UTF-8
				}
				if !datatest.IsLocated(err, "f:") || n >= len(input.GzipMagic) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("the first %d bytes: %v", n, err)
				}
			}
			for i := 10; i < len(packed); i++ { // behind the header, of which not all counts
				damaged := []byte(packed)
				damaged[i] ^= 4
				got, err := c.read(bytes.NewReader(damaged))
				if !datatest.IsLocated(err, "f:") && !reflect.DeepEqual(got, want) { // some bits say nothing
					t.Errorf("byte %d changed: %v, %v", i, got, err)
				}
			}
		})
	}
}

func TestGzipErrors(t *testing.T) {
	csv := datatest.Gzipped("a,b\n1,2\n" + strings.Repeat("3,4\n", 10000) + "5,6\n")
	wrong := []byte(csv)
	wrong[len(wrong)-8] ^= 1 // of the checksum
	for _, c := range []struct {
		kind, text, want string
		is               error
		opts             []Option
	}{
		{"CSV", csv[:len(csv)-8], "f:10004: cannot read: the compressed file ends too early: unexpected EOF", io.ErrUnexpectedEOF, nil},
		{"CSV", csv[:5], "f: cannot read: the compressed file ends too early: unexpected EOF", io.ErrUnexpectedEOF, nil},
		{"CSV", string(wrong), "f:10004: cannot read: gzip: invalid checksum", gzip.ErrChecksum, nil},
		{"CSV", csv + "and further text", "f:10004: cannot read: gzip: invalid header", gzip.ErrHeader, nil},
		{"CSV", csv[:10] + "\xff" + csv[11:], "f:1: cannot read: flate: corrupt input before offset 1", flate.CorruptInputError(1), nil},
		{"CSV", datatest.Gzipped("a,b\n1,2\n3,x\n"), `f:3: column "b": "x" is not a number`, nil, nil},
		{"CSV", csv, "f:251: the file is longer than 1000 bytes; MaxBytes sets the limit", nil, []Option{MaxBytes(1000)}},
		{"text", datatest.Gzipped("abc")[:23], "f: byte 3: cannot read: the compressed file ends too early: unexpected EOF", io.ErrUnexpectedEOF, nil},
		{"text", datatest.Gzipped("a\n\xff"), `f:2: byte 2: "\xff" is not UTF-8 text`, nil, nil},
		{"npy", datatest.Gzipped("abc"), `f: not a .npy file: it does not begin with \x93NUMPY`, nil, nil},
	} {
		_, err := packable[c.kind].read(strings.NewReader(c.text), c.opts...)
		datatest.WantError(t, err, c.want)
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v: the cause is lost", err)
		}
	}
	_, err := openCSV(t, csv)
	if e := new(Error); !errors.As(err, &e) || e.Msg != "the file is compressed, so its rows cannot be read in any order: unpack it first" {
		t.Errorf("on disk: %v", err)
	}
	broken := errors.New("the disk is gone")
	for name, c := range packable {
		if _, err := c.read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(c.text)))); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("%s: an error that passes: %v", name, err)
		}
		_, err := c.read(iotest.ErrReader(broken))
		datatest.WantError(t, err, "f: cannot read: the disk is gone")
	}
}

// TestGzipBomb: of a file that is small and holds much, no more is unpacked than MaxBytes
// says; nor is more read than that of one that holds nothing, for ever.
func TestGzipBomb(t *testing.T) {
	of := map[string][2]string{ // how it begins and goes on
		"CSV":   {"a,b\n", "1,2\n"},
		"edges": {"0 1\n", "# \n"},
		"text":  {"", "\n\n\n\n"},
		"npy":   {datatest.NpyText("{'descr': '|u1', 'fortran_order': False, 'shape': (60000000,)}", ""), "\x00\x00\x00\x00"},
		"IDX":   {"\x00\x00\x08\x01\x03\x93\x87\x00", "\x00\x00\x00\x00"},
	}
	const limit = 100_000
	for name, c := range packable {
		bomb := datatest.Gzipped(of[name][0] + strings.Repeat(of[name][1], 15_000_000))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.read(strings.NewReader(bomb), MaxBytes(limit))
		runtime.ReadMemStats(&after)
		if !datatest.IsLocated(err, "f:") || !strings.HasSuffix(err.Error(), ": the file is longer than 100000 bytes; MaxBytes sets the limit") {
			t.Errorf("%s of %d bytes: %v", name, len(bomb), err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 50*limit {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
		_, err = c.read(&endless{of: []byte(datatest.Gzipped(""))}, MaxBytes(limit))
		if !datatest.IsLocated(err, "f:") || !strings.HasSuffix(err.Error(), ": the file is longer than 100000 bytes; MaxBytes sets the limit") {
			t.Errorf("%s without end: %v", name, err)
		}
	}
}

// TestExpansion: without MaxBytes, too, a file of a few kilobytes takes no memory to speak of,
// whichever reader reads it and however it is compressed; what MaxBytes allows is read, and so
// is what shrinks as texts do.
func TestExpansion(t *testing.T) {
	const size = input.TrustedBytes + 4<<20
	npz := func(r io.Reader, opts ...Option) (any, error) {
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		z, err := array.ReadNPZ("f", bytes.NewReader(text), int64(len(text)), opts...)
		if err != nil {
			return nil, err
		}
		return z.Array("x")
	}
	array := datatest.NpyText(fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,)}", size), strings.Repeat("\x00", size))
	bombs := map[string]struct {
		bomb string
		read func(io.Reader, ...Option) (any, error)
	}{
		"CSV":   {datatest.Gzipped("a,b\n" + strings.Repeat("1,2\n", size/4)), packable["CSV"].read},
		"edges": {datatest.Gzipped("0 1\n" + strings.Repeat("# \n", size/3)), packable["edges"].read},
		"text":  {datatest.Gzipped(strings.Repeat("\n", size)), packable["text"].read},
		"npy":   {datatest.Gzipped(array), packable["npy"].read},
		"IDX":   {datatest.Gzipped("\x00\x00\x08\x01\x01\x40\x00\x00" + strings.Repeat("\x00", size)), packable["IDX"].read},
		"npz":   {string(datatest.Members(t, zip.Deflate, "x.npy", array)), npz},
	}
	for name := range packable {
		if bombs[name].bomb == "" {
			t.Errorf("%s has no bomb", name)
		}
	}
	for name, c := range bombs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.read(strings.NewReader(c.bomb))
		runtime.ReadMemStats(&after)
		want := "cannot read: the file is longer than 16777216 bytes and 100 times its compressed size; unpack it first, or let MaxBytes say how long it may be"
		if !datatest.IsLocated(err, "f") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s of %d bytes: %v", name, len(c.bomb), err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 40*input.TrustedBytes { // of which lists that grow leave most behind
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
	for _, name := range []string{"npy", "IDX", "npz"} {
		if _, err := bombs[name].read(strings.NewReader(bombs[name].bomb), MaxBytes(2*size)); err != nil {
			t.Errorf("%s that MaxBytes allows: %v", name, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, input.TrustedBytes+1)
	for i := range letters {
		letters[i] = " e"[rng.IntN(2)]
	}
	if _, err := packable["text"].read(strings.NewReader(datatest.Gzipped(string(letters)))); err != nil {
		t.Errorf("a text of one bit a letter: %v", err)
	}
}

// endless gives the same bytes again and again.
type endless struct{ of, left []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		e.left = slices.Clone(e.of)
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}
