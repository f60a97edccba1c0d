package safetensors

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gorgonia.org/tensor"
)

// File is the content of a safetensors file.
type File struct {
	// Metadata maps names to texts; it may be nil. Write replaces the text under the key
	// [Checksum], if there is one, by the checksum.
	Metadata map[string]string
	// Tensors are in the order of the file if they were read; Write sorts them.
	Tensors []Tensor

	places map[string]int // index in Tensors by name, as they were read
}

// Tensor is an array with a name.
type Tensor struct {
	Name string
	Data *tensor.Dense
	// DType is the type in the file where Data's elements do not tell it: F16, BF16, I8 or U8. It is
	// set for what was read, so that it is written again as it was.
	DType string
}

// Tensor returns the tensor called name, or nil if there is none.
func (f *File) Tensor(name string) *tensor.Dense {
	if i, ok := f.places[name]; ok && i < len(f.Tensors) && f.Tensors[i].Name == name {
		return f.Tensors[i].Data
	}
	for _, t := range f.Tensors { // it was added or moved by the caller
		if t.Name == name {
			return t.Data
		}
	}
	return nil
}

// Write writes f to w. It encodes the tensors through a small buffer, and with a checksum twice,
// first to compute the sum. It checks f before it writes the first byte: a name that is used twice
// or is not UTF-8, and an unsupported type, are errors.
func Write(w io.Writer, f *File) error {
	return in(nameOf(w), write(w, f))
}

func write(w io.Writer, f *File) error {
	switch {
	case w == nil:
		return &Error{Offset: -1, Msg: "the writer is nil"}
	case f == nil:
		return &Error{Offset: -1, Msg: "the file is nil"}
	}
	h, encoders, err := layOut(f)
	if err != nil {
		return err
	}
	text, digits := appendHeader(nil, h)
	if len(text)-8 > mostHeader {
		return &Error{Offset: -1, Msg: fmt.Sprintf("names, shapes and metadata take %d bytes; a header has at most %d", len(text)-8, mostHeader)}
	}
	binary.LittleEndian.PutUint64(text, uint64(len(text)-8))
	buf := make([]byte, 0, bufferSize)
	if digits > 0 {
		sum := sha256.New()
		if err := emit(sum, text, encoders, buf); err != nil {
			return err
		}
		hex.Encode(text[digits:], sum.Sum(nil))
	}
	out := bufio.NewWriterSize(w, bufferSize)
	if err = emit(out, text, encoders, buf); err == nil {
		err = out.Flush()
	}
	if err != nil {
		return &Error{Offset: -1, Msg: "cannot write: " + err.Error(), Err: err}
	}
	return nil
}

// layOut decides the order and the place of all tensors, and returns their encoders in that order.
func layOut(f *File) (*header, []encoder, error) {
	type placed struct {
		Info
		rank   int
		encode encoder
	}
	wrong := func(tensor, msg string) (*header, []encoder, error) {
		return nil, nil, &Error{Offset: -1, Tensor: tensor, Msg: msg}
	}
	all := make([]placed, len(f.Tensors))
	for i, t := range f.Tensors {
		name, encode, msg := encode(t.Data, t.DType)
		switch {
		case t.Name == metadataKey || !utf8.ValidString(t.Name):
			msg = fmt.Sprintf("%.60q cannot be a tensor's name", t.Name)
		case msg == "" && len(t.Data.Shape()) > mostAxes:
			msg = fmt.Sprintf("it has %d axes; at most %d are written", len(t.Data.Shape()), mostAxes)
		}
		if msg != "" {
			return wrong(t.Name, msg)
		}
		r := rank(name)
		size := int64(t.Data.Shape().TotalSize()) * dtypes[r].size
		all[i] = placed{Info{Name: t.Name, DType: name, Shape: t.Data.Shape(), Size: size}, r, encode}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.Name, b.Name))
	})
	h := &header{metadata: maps.Clone(f.Metadata)}
	encoders := make([]encoder, len(all))
	seen := make(map[string]bool, len(all))
	for i, t := range all {
		if seen[t.Name] {
			return wrong(t.Name, "two tensors have this name")
		}
		seen[t.Name] = true
		if t.Size > math.MaxInt64-mostHeader-8-h.end {
			return wrong(t.Name, "the tensors up to it take more bytes than a file can have")
		}
		t.Offset = h.end
		h.end += t.Size
		h.tensors, encoders[i] = append(h.tensors, t.Info), t.encode
	}
	if _, ok := h.metadata[Checksum]; ok {
		h.metadata[Checksum] = sumWords + zeros
	}
	for _, key := range sortedKeys(h.metadata) {
		if !utf8.ValidString(key) || !utf8.ValidString(h.metadata[key]) {
			return wrong("", fmt.Sprintf("metadata %.60q: %.60q are not UTF-8", key, h.metadata[key]))
		}
		if _, err := checksumOf(key, h.metadata[key]); err != nil {
			return wrong("", err.Error())
		}
	}
	return h, encoders, nil
}

// emit writes header and data.
func emit(w io.Writer, text []byte, encoders []encoder, buf []byte) error {
	_, err := w.Write(text)
	for i := 0; err == nil && i < len(encoders); i++ {
		err = encoders[i](w, buf)
	}
	return err
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
