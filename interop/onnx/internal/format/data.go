package format

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// ReadData reads a file that is one value of a type, as the tests of ONNX have them: a TensorProto, a
// SequenceProto of tensors, or an OptionalProto of either. It returns the tensors of the value; nil,
// and not an empty list, if an option has none.
func ReadData(b []byte, t *Type) ([]*Tensor, error) {
	d := newDecoder(bytes.NewReader(b), int64(len(b)), Limits{})
	list := []*Tensor{}
	switch t.Kind {
	case KindTensor:
		list = append(list, d.tensor(0, d.size))
	case KindSequence:
		list = d.sequence(0, d.size)
	case KindOptional:
		list = d.option()
	default:
		d.fail(0, "values of the type %v are not read", t)
	}
	if d.err != nil {
		return nil, d.err
	}
	return list, nil
}

// sequence reads a SequenceProto.
func (d *decoder) sequence(at, end int64) []*Tensor {
	list := []*Tensor{}
	d.fields("sequence", at, end, func(f field) {
		switch f.num {
		case 3:
			add(d, f, &list, sub(d, f, d.tensor))
		case 4:
			add(d, f, &list, sub(d, f, d.sparse))
		case 5, 6, 7:
			d.fail(f.at, "sequence: field %d holds no tensors", f.num)
		}
	})
	return list
}

// option reads an OptionalProto.
func (d *decoder) option() (list []*Tensor) {
	d.fields("option", 0, d.size, func(f field) {
		switch f.num {
		case 3:
			list = []*Tensor{sub(d, f, d.tensor)}
		case 4:
			list = []*Tensor{sub(d, f, d.sparse)}
		case 5:
			if d.typed(f, protowire.BytesType, "a message") {
				list = d.sequence(f.data, f.end)
			}
		case 6, 7:
			d.fail(f.at, "option: field %d holds no tensors", f.num)
		}
	})
	return list
}
