package format

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// align is the multiple of bytes at which tensors begin in a file of data, so that others can map
// them into memory.
const align = 4096

// dataFile is a file of external data.
type dataFile struct {
	folder, name string
	size         int64
	sum          string // the SHA-1 that the model says; "" for none

	checking sync.Mutex
	checked  bool
}

// local returns an error if a location is not that of a file in the folder of the model.
func local(location string) error {
	name := filepath.FromSlash(location)
	if location == "" || path.IsAbs(location) || !filepath.IsLocal(name) || path.Clean(location) == "." || slices.Contains(strings.FieldsFunc(location, func(r rune) bool { return r == '/' || r == filepath.Separator }), "..") {
		return fmt.Errorf("the location %.60q: want the path of a file in the folder of the model", location)
	}
	return nil
}

// external returns the data of a tensor of bytes bytes that are in a file.
func (d *decoder) external(t *Tensor, entries []entry, bytes int64) Raw {
	said := map[string]string{}
	for _, e := range entries {
		if _, ok := said[e.key]; ok {
			d.fail(e.at, "tensor %.60q: the external data have the key %.60q twice", t.Name, e.key)
		}
		said[e.key] = e.value
	}
	number := func(key string, missing int64) int64 {
		text, ok := said[key]
		if !ok {
			return missing
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			d.fail(t.At, "tensor %.60q: the external data have the %s %.60q: want an integer from 0", t.Name, key, text)
		}
		return n
	}
	offset, length := number("offset", 0), number("length", bytes)
	location, sum := said["location"], strings.ToLower(said["checksum"])
	if raw, err := hex.DecodeString(sum); sum != "" && (err != nil || len(raw) != sha1.Size) {
		d.fail(t.At, "tensor %.60q: the external data have the checksum %.60q: want 40 hexadecimal digits of a SHA-1", t.Name, sum)
	}
	if err := local(location); err != nil {
		d.fail(t.At, "tensor %.60q: the external data have %v", t.Name, err)
	}
	if length != bytes {
		d.fail(t.At, "tensor %.60q of %v%d has %d bytes of external data: want %d", t.Name, t.Type, t.Dims, length, bytes)
	}
	if d.err != nil {
		return Raw{}
	}
	f := d.file(t, location)
	if f == nil {
		return Raw{}
	}
	if f.sum == "" {
		f.sum = sum
	}
	switch {
	case sum != "" && sum != f.sum:
		d.fail(t.At, "tensor %.60q: the checksum of %.60q is not that of the tensors before", t.Name, location)
	case offset > f.size || bytes > f.size-offset:
		d.fail(t.At, "tensor %.60q has bytes %d to %d of %.60q, which has %d bytes", t.Name, offset, uint64(offset)+uint64(bytes), location, f.size)
	}
	return Stream(bytes, func() (io.Reader, error) { return f.part(offset, bytes) })
}

// file returns the file at a location; nil after an error.
func (d *decoder) file(t *Tensor, location string) *dataFile {
	name := path.Clean(location)
	if f, ok := d.files[name]; ok {
		return f
	}
	if d.limits.Folder == "" {
		d.fail(t.At, "tensor %.60q: its data are in the file %.60q, and no folder is given in which to look for it", t.Name, location)
		return nil
	}
	f := &dataFile{folder: d.limits.Folder, name: filepath.FromSlash(name)}
	file, err := f.open()
	if err != nil {
		d.failed(t.At, err, "tensor %.60q: %v", t.Name, err)
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		d.failed(t.At, err, "tensor %.60q: %v", t.Name, err)
		return nil
	}
	f.size = info.Size()
	if d.take(t.At, 128+int64(len(name))) {
		d.files[name] = f
	}
	return f
}

// open opens the file, if it is a regular one within the folder, links included.
func (f *dataFile) open() (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("its data should be in the file %q in the folder %q, which is not there: %w", f.name, f.folder, fs.ErrNotExist)
		}
		var e *os.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("its data are in the file %q in the folder %q, which cannot be read: %w", f.name, f.folder, err)
	}
	root, err := os.OpenRoot(f.folder)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	info, err := root.Stat(f.name) // before it is opened: opening a pipe would wait for a writer
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(fmt.Errorf("it is not a regular file but %v", info.Mode()))
	}
	file, err := root.Open(f.name)
	if err != nil {
		return fail(err)
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(info, now) {
		file.Close()
		return fail(errors.New("it changed meanwhile"))
	}
	return file, nil
}

// part returns a reader of a part of the file, after a check of the file's sum by the first use.
func (f *dataFile) part(offset, bytes int64) (io.Reader, error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	err = f.check(file)
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &closing{file, bytes}, nil
}

func (f *dataFile) check(file *os.File) error {
	if f.sum == "" {
		return nil
	}
	f.checking.Lock()
	defer f.checking.Unlock()
	if f.checked {
		return nil
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.sum {
		return fmt.Errorf("the file %q is damaged: its checksum is %.8s…, the model says %.8s…", f.name, got, f.sum)
	}
	f.checked = true
	return nil
}

// closing reads left bytes of a file, and closes it after the last.
type closing struct {
	file *os.File
	left int64
}

func (c *closing) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.file.Read(b[:min(int64(len(b)), c.left)])
	if c.left -= int64(n); c.left == 0 || err != nil {
		c.file.Close()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// External says where [Model.WriteExternal] puts the elements of large initialisers.
type External struct {
	File io.Writer
	Name string // of the file, in the folder of the model
	Over int64  // initialisers of more bytes go there; others stay in the model
}

// span is where a tensor lies in the file of data.
type span struct {
	name           string
	offset, length int64
	sum            string
}

// entries returns the entries of external data.
func (s span) entries() [][2]string {
	return [][2]string{{"location", s.name}, {"offset", strconv.FormatInt(s.offset, 10)}, {"length", strconv.FormatInt(s.length, 10)}, {"checksum", s.sum}}
}

// WriteExternal writes the model, and first the elements of large initialisers, of bodies too, to a
// file of their own. The model says the SHA-1 of that file.
func (m *Model) WriteExternal(w io.Writer, data External) error {
	if data.File == nil {
		return errors.New("there is no file for external data")
	}
	if err := local(data.Name); err != nil {
		return fmt.Errorf("external data: %w", err)
	}
	sum := sha1.New()
	file := io.MultiWriter(data.File, sum)
	spans := map[*Tensor]span{}
	end := int64(0)
	var failed error
	m.initialisers(func(t *Tensor) {
		if _, ok := spans[t]; ok || failed != nil || t.Sparse != nil || t.Type == String || t.Raw.Len() <= data.Over {
			return
		}
		if failed = t.check(); failed != nil {
			return
		}
		gap := (align - end%align) % align
		if _, failed = io.CopyN(file, bytes.NewReader(make([]byte, gap)), gap); failed != nil {
			return
		}
		if err := t.Raw.copyTo(file); err != nil {
			failed = fmt.Errorf("tensor %.60q: %w", t.Name, err)
		}
		spans[t] = span{name: data.Name, offset: end + gap, length: t.Raw.Len()}
		end += gap + t.Raw.Len()
	})
	if failed != nil {
		return failed
	}
	digits := hex.EncodeToString(sum.Sum(nil))
	for t, s := range spans {
		s.sum = digits
		spans[t] = s
	}
	return m.write(w, spans)
}

// initialisers calls f for each initialiser of the model and of the bodies in it, in order.
func (m *Model) initialisers(f func(*Tensor)) {
	var of func(g *Graph)
	ofNodes := func(nodes []*Node) {
		for _, n := range nodes {
			for _, a := range n.Attrs {
				of(a.Graph)
				for _, g := range a.Graphs {
					of(g)
				}
			}
		}
	}
	of = func(g *Graph) {
		if g == nil {
			return
		}
		for _, t := range g.Init {
			f(t)
		}
		ofNodes(g.Nodes)
	}
	of(m.Graph)
	for _, fn := range m.Functions {
		ofNodes(fn.Nodes)
	}
}
