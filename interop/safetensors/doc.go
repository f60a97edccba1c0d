// Package safetensors reads and writes safetensors files, named arrays after a header in JSON, as
// https://github.com/huggingface/safetensors specifies them.
//
// A [File] holds tensors by name and a map of texts. [Write] streams one to an io.Writer, [Read]
// and [ReadFile] read a whole one, and [Open] and [NewReader] read only the header, and then single
// tensors.
//
// # The format
//
// The first eight bytes are the length of the header in bytes, little-endian. The header is a JSON
// object, padded with spaces so that the data begin at a multiple of 8:
//
//	{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//
// The data follow, row-major and little-endian; offsets count from their first byte. Every byte
// belongs to exactly one tensor, and none follows the last. A scalar has the shape []. Keys are
// unique.
//
// Write lays a file out as the published implementation does: tensors by type,
// largest alignment first (I64 F64 F32 I32 BF16 F16 I8 U8 BOOL), then by name; JSON without
// spaces, with its keys in the order shown. Equal content gives equal bytes, and
// the bytes are those that Python's safetensors writes, except for the order of
// several metadata entries: here they are sorted, there the order is not fixed.
//
// # Types
//
//	in the file     as a *tensor.Dense
//	F64 F32         float64 float32
//	F16 BF16        float32, exactly
//	I64 I32 BOOL    int64 int32 bool
//	I8 U8           int8 uint8
//	I16 U16         int32
//	U32             int64
//	U64             int64; a number above 2⁶³−1 is an error
//
// float64, float32, int64, int32, int8, uint8 and bool are written, and the bits of f16 and bf16
// (tape.HalfBits). So are F16 and BF16 of float32, which is rounded, and of uint16, which are the bits,
// and I8 and U8 of int32, where [Tensor].DType says so, which it does for what was read. An input or
// parameter of f16 or bf16 takes float32 whose numbers it holds, as those that were read (tape.Feed).
// Other types, such as F8_E4M3, F8_E5M2 and those of less than a byte, are not read. A tensor without
// elements, such as [0,3], is read and written; the tensor module has none, so its Data is of one element
// that the shape leaves out.
//
// # Checksum
//
// If the metadata have the key [Checksum], Write stores a SHA-256 there: that of the whole file,
// with zeros in place of the 64 digits of the sum itself. For other readers it is ordinary
// metadata. Read and [Reader.Verify] check it; a file without a sum is accepted unless
// [RequireChecksum] is given. The sum is recognised by its key and by the words before it, and one
// without the other is an error: so no single wrong bit can make a file look as if it had no sum.
//
// # Promises
//
// A file is read whole or not at all. Every mistake is an [*Error], one line with file, byte and
// tensor; [ErrFormat] and [ErrChecksum] distinguish damage from a failing disk. The sizes in a
// header are compared with limits and with the length of the file before memory is allocated; for a
// stream of unknown length, memory grows with the data that arrive. Besides the tensors themselves,
// reading and writing need the header and buffers of 64 KiB. A file that is read and written again
// has the same bytes, if its layout is as above and its types are among those that are written.
package safetensors
