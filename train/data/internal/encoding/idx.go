package encoding

import (
	"encoding/binary"
	"io"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// IDXElements lists the types of IDX files, each at the index of its code:
// http://yann.lecun.com/exdb/mnist/
var IDXElements = [...]Element{0x08: {'u', 1}, 0x09: {'i', 1}, 0x0b: {'i', 2}, 0x0c: {'i', 4}, 0x0d: {'f', 4}, 0x0e: {'f', 8}}

// ReadIDXHeader reads the header of an IDX file.
func ReadIDXHeader(b *input.Binary) (Layout, error) {
	var magic [4]byte
	if n, err := b.Read(magic[:]); err != nil && err != io.EOF {
		return Layout{}, err
	} else if n < len(magic) || magic[0] != 0 || magic[1] != 0 {
		return Layout{}, b.Errorf(0, "not an IDX file: it does not begin with two bytes 0, a type and a number of axes")
	}
	var e Element
	if int(magic[2]) < len(IDXElements) {
		e = IDXElements[magic[2]]
	}
	if e.Size == 0 {
		return Layout{}, b.Errorf(2, "type 0x%02x is none of those of IDX files: 08, 09, 0b, 0c, 0d, 0e", magic[2])
	}
	sizes := make([]byte, 4*int(magic[3]))
	if err := b.Fill(sizes, "the sizes"); err != nil {
		return Layout{}, err
	}
	shape := make([]int64, magic[3])
	for i := range shape {
		shape[i] = int64(binary.BigEndian.Uint32(sizes[4*i:]))
	}
	return Layout{Element: e, BigEndian: true, Shape: shape}, nil
}
