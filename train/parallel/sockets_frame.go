package parallel

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"time"
)

// What flows through a connection is cut into frames: a header and at most pieceBytes that follow
// it. The header has, with the least significant byte first,
//
//	 0  4 bytes  "TPF1"
//	 4  8        the number of the frame in its connection and direction, from 0
//	12  8        how many bytes of the exchange are still to come, with those of this frame
//	20  4        how many of them are in this frame
//	24  4        their CRC-32C
//	28  4        the CRC-32C of the header up to here
//
// so that a receiver, which knows what it expects, takes nothing else for it.
const (
	frameMagic  = "TPF1"
	headerBytes = 32
	pieceBytes  = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameError says that what came is not what was due, whoever is to blame.
type frameError string

func (e frameError) Error() string { return string(e) }

type frameHeader struct {
	number uint64
	left   uint64
	length uint32
	sum    uint32
}

func (h frameHeader) put(b []byte) {
	_ = b[headerBytes-1]
	copy(b, frameMagic)
	binary.LittleEndian.PutUint64(b[4:], h.number)
	binary.LittleEndian.PutUint64(b[12:], h.left)
	binary.LittleEndian.PutUint32(b[20:], h.length)
	binary.LittleEndian.PutUint32(b[24:], h.sum)
	binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b[:28], castagnoli))
}

// parseHeader reads the header of frame due, and checks what can be without knowing what is expected.
func parseHeader(b []byte, due uint64) (frameHeader, error) {
	_ = b[headerBytes-1]
	if string(b[:4]) != frameMagic || binary.LittleEndian.Uint32(b[28:]) != crc32.Checksum(b[:28], castagnoli) {
		return frameHeader{}, frameError(fmt.Sprintf("frame %d is garbled in its header", due))
	}
	h := frameHeader{
		number: binary.LittleEndian.Uint64(b[4:]),
		left:   binary.LittleEndian.Uint64(b[12:]),
		length: binary.LittleEndian.Uint32(b[20:]),
		sum:    binary.LittleEndian.Uint32(b[24:]),
	}
	switch {
	case h.number != due:
		return h, frameError(fmt.Sprintf("frame %d came where frame %d was due: frames are repeated, missing or out of order", h.number, due))
	case h.length == 0 || h.length > pieceBytes || uint64(h.length) > h.left:
		return h, frameError(fmt.Sprintf("frame %d has %d of %d bytes", due, h.length, h.left))
	}
	return h, nil
}

// conn is a connection whose reads and writes each have at most the time of its timeout, any if it
// is 0. With TLS, stream is the TLS within; otherwise it is raw, and may be asked without waiting.
type conn struct {
	raw     net.Conn
	stream  io.ReadWriter
	timeout time.Duration
	out     frameWriter
	in      frameReader
	awake   *awake // nil if the connection cannot be asked
	asking  bool   // reads and writes do not wait
}

// timed is the conn as TLS sees it.
type timed struct {
	net.Conn
	c *conn
}

func newConn(raw net.Conn, timeout time.Duration) *conn {
	c := &conn{raw: raw, timeout: timeout}
	c.streams(timed{raw, c})
	c.awake = newAwake(raw)
	return c
}

func (t timed) Read(b []byte) (int, error) {
	if t.c.asking {
		return t.c.awake.Read(b)
	}
	if t.c.timeout > 0 {
		t.SetReadDeadline(time.Now().Add(t.c.timeout))
	}
	return t.Conn.Read(b)
}

func (t timed) Write(b []byte) (int, error) {
	if t.c.asking {
		return t.c.awake.Write(b)
	}
	if t.c.timeout > 0 {
		t.SetWriteDeadline(time.Now().Add(t.c.timeout))
	}
	return t.Conn.Write(b)
}

// streams makes a connection go through a stream, whose frames are counted anew.
func (c *conn) streams(stream io.ReadWriter) {
	c.stream, c.awake = stream, nil
	c.out = frameWriter{c: c}
	c.in = frameReader{from: bufio.NewReaderSize(stream, headerBytes+inline)}
}

// patient makes a connection wait so long, for ever if timeout is 0.
func (c *conn) patient(timeout time.Duration) {
	c.timeout = timeout
	c.raw.SetDeadline(time.Time{})
}

// frameWriter cuts slices into frames. Of a long one it keeps nothing, and copies only what goes with
// a header.
type frameWriter struct {
	c      *conn
	number uint64
	slice  []byte    // what is in no frame yet
	due    [2][]byte // of the frame under way
	small  [headerBytes + inline]byte
}

// write sends a slice.
func (w *frameWriter) write(b []byte) error {
	w.slice = b
	return w.advance()
}

// left returns how many bytes are still to be sent.
func (w *frameWriter) left() int { return len(w.slice) + len(w.due[0]) + len(w.due[1]) }

// advance sends what is left, or as much of it as the connection takes now.
func (w *frameWriter) advance() error {
	for w.left() > 0 {
		if len(w.due[0])+len(w.due[1]) == 0 {
			w.frame()
		}
		for i := range w.due {
			if len(w.due[i]) == 0 {
				continue
			}
			n, err := w.c.stream.Write(w.due[i])
			if w.due[i] = w.due[i][n:]; err != nil {
				return err
			}
		}
	}
	w.slice, w.due = nil, [2][]byte{}
	return nil
}

// frame begins the next frame.
func (w *frameWriter) frame() {
	piece := w.slice[:min(len(w.slice), pieceBytes)]
	frameHeader{w.number, uint64(len(w.slice)), uint32(len(piece)), crc32.Checksum(piece, castagnoli)}.put(w.small[:headerBytes])
	w.number++
	w.slice = w.slice[len(piece):]
	n := copy(w.small[headerBytes:], piece)
	w.due = [2][]byte{w.small[:headerBytes+n], piece[n:]}
}

// frameReader puts slices together again. What a connection that does not wait has begun to read, the
// next call goes on with.
type frameReader struct {
	number uint64
	from   *bufio.Reader // which large slices pass by
	slice  []byte        // what is to come
	within bool          // its first bytes are those of the frame whose header is due
	due    frameHeader
	got    int // bytes of the header, or else of the frame
	header [headerBytes]byte
}

// read fills a slice with one that was written with its length.
func (r *frameReader) read(b []byte) error {
	r.slice = b
	return r.advance()
}

// left returns how many bytes are still to come, without headers.
func (r *frameReader) left() int {
	if r.within {
		return len(r.slice) - r.got
	}
	return len(r.slice)
}

// advance reads what is left, or as much of it as has come.
func (r *frameReader) advance() (err error) {
	for len(r.slice) > 0 {
		if !r.within {
			if r.due, err = r.next(); err != nil {
				return err
			}
			if r.due.left != uint64(len(r.slice)) {
				return frameError(fmt.Sprintf("frame %d begins %d bytes where %d are due: the ranks do different things", r.due.number, r.due.left, len(r.slice)))
			}
			r.within = true
		}
		if err := r.payload(r.due, r.slice[:r.due.length]); err != nil {
			return err
		}
		r.slice, r.within = r.slice[r.due.length:], false
	}
	r.slice = nil
	return nil
}

// message returns the one frame of a message, of at most limit bytes.
func (r *frameReader) message(limit int) ([]byte, error) {
	var whole []byte
	for {
		h, err := r.next()
		if err != nil {
			return nil, err
		}
		if have := uint64(len(whole)); h.left > uint64(limit)-have {
			return nil, frameError(fmt.Sprintf("frame %d announces %d bytes of a message of at most %d", h.number, h.left, limit))
		}
		piece := make([]byte, h.length)
		if err := r.payload(h, piece); err != nil {
			return nil, err
		}
		if whole = append(whole, piece...); uint64(h.length) == h.left {
			return whole, nil
		}
	}
}

func (r *frameReader) next() (frameHeader, error) {
	if err := r.fill(r.header[:]); err != nil {
		return frameHeader{}, err
	}
	h, err := parseHeader(r.header[:], r.number)
	r.number++
	return h, err
}

func (r *frameReader) payload(h frameHeader, b []byte) error {
	if err := r.fill(b); err != nil {
		return err
	}
	if crc32.Checksum(b, castagnoli) != h.sum {
		return frameError(fmt.Sprintf("frame %d is garbled", h.number))
	}
	return nil
}

// fill reads all of b, what an earlier call has read of it included.
func (r *frameReader) fill(b []byte) error {
	n, err := io.ReadFull(r.from, b[r.got:])
	if r.got += n; err != nil {
		return err
	}
	r.got = 0
	return nil
}
