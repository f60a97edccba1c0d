// Package safetensors reads and writes safetensors files: named arrays behind a
// header of JSON, as https://github.com/huggingface/safetensors specifies them.
//
// It takes and gives a [File]: tensors by name and a map of text to text. [Write]
// streams one to an io.Writer, [Read] and [ReadFile] read a whole one, and [Open]
// and [NewReader] read the header alone and then single tensors.
//
// # The format
//
// Eight bytes give the length of the header, little-endian. The header is a JSON
// object, padded with spaces so that the data begin at a multiple of 8:
//
//	{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//
// The data follow, row-major and little-endian; offsets count from their first
// byte. Every byte belongs to exactly one tensor, and none follows the last. A
// scalar has the shape []. Keys are unique.
//
// Write lays a file out as the published implementation does: tensors by type,
// largest alignment first (I64 F64 F32 I32 BOOL), then by name; JSON without
// spaces, with its keys in the order shown. Equal content gives equal bytes, and
// the bytes are those that Python's safetensors writes, except that its metadata
// stand in no fixed order where there is more than one entry; here they are sorted.
//
// # Types
//
//	in the file     as a *tensor.Dense
//	F64 F32         float64 float32
//	F16 BF16        float32, exactly
//	I64 I32 BOOL    int64 int32 bool
//	I16 I8 U16 U8   int32
//	U32             int64
//	U64             int64; a number above 2⁶³−1 is an error
//
// float64, float32, int64, int32 and bool are written. The types F8_E4M3, F8_E5M2
// and others of a byte and less are not read. A tensor of no elements, as [0,3],
// is read and written; the tensor module's Float32s and its like give its empty
// slice, while its Data panics.
//
// # Checksum
//
// Metadata with the key [Checksum] make Write put a SHA-256 there: of the whole
// file, with the 64 digits of the sum itself as zeros. To other readers it is
// metadata like any other. Read and [Reader.Verify] check it; a file without it
// is read without, unless [RequireChecksum] is given. The sum is known by its key
// and by the words before it, and one without the other is an error, so that no
// single wrong bit can pass for a file without a sum.
//
// # Promises
//
// A file is read whole or not at all. Every mistake is an [*Error], one line with
// file, byte and tensor; [ErrFormat] and [ErrChecksum] tell damage from a failing
// disk. What a header claims is compared with limits and with the length of the
// file before memory is taken; from a stream of unknown length, memory grows with
// what arrives. Beside the tensors themselves, reading and writing need the header
// and buffers of 64 KiB. What is read and written again gives the same bytes where
// the file was laid out as above and has types that are written.
package safetensors
