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
// is 0. With TLS, stream is the TLS within; otherwise it is raw.
type conn struct {
	raw     net.Conn
	stream  io.ReadWriter
	timeout time.Duration
	out     frameWriter
	in      frameReader
}

// timed is the conn as TLS sees it.
type timed struct {
	net.Conn
	c *conn
}

func newConn(raw net.Conn, timeout time.Duration) *conn {
	c := &conn{raw: raw, timeout: timeout}
	c.streams(timed{raw, c})
	return c
}

func (t timed) Read(b []byte) (int, error) {
	if t.c.timeout > 0 {
		t.SetReadDeadline(time.Now().Add(t.c.timeout))
	}
	return t.Conn.Read(b)
}

func (t timed) Write(b []byte) (int, error) {
	if t.c.timeout > 0 {
		t.SetWriteDeadline(time.Now().Add(t.c.timeout))
	}
	return t.Conn.Write(b)
}

// streams makes a connection go through a stream, whose frames are counted anew.
func (c *conn) streams(stream io.ReadWriter) {
	c.stream = stream
	c.out = frameWriter{c: c}
	c.in = frameReader{from: bufio.NewReaderSize(stream, headerBytes+inline)}
}

// patient makes a connection wait so long, for ever if timeout is 0.
func (c *conn) patient(timeout time.Duration) {
	c.timeout = timeout
	c.raw.SetDeadline(time.Time{})
}

// frameWriter cuts slices into frames.
type frameWriter struct {
	c      *conn
	number uint64
	small  [headerBytes + inline]byte
	pair   [2][]byte
	both   net.Buffers
}

// write sends a slice that is not empty. Of a long one it keeps nothing and copies nothing.
func (w *frameWriter) write(b []byte) error {
	for len(b) > 0 {
		piece := b[:min(len(b), pieceBytes)]
		frameHeader{w.number, uint64(len(b)), uint32(len(piece)), crc32.Checksum(piece, castagnoli)}.put(w.small[:headerBytes])
		w.number++
		if err := w.frame(piece); err != nil {
			return err
		}
		b = b[len(piece):]
	}
	return nil
}

func (w *frameWriter) frame(piece []byte) error {
	plain, ok := w.c.stream.(timed)
	if len(piece) <= inline || !ok { // TLS copies in any case: the header goes with the first bytes
		n := copy(w.small[headerBytes:], piece)
		if _, err := w.c.stream.Write(w.small[:headerBytes+n]); err != nil || n == len(piece) {
			return err
		}
		_, err := w.c.stream.Write(piece[n:])
		return err
	}
	if w.c.timeout > 0 {
		plain.SetWriteDeadline(time.Now().Add(w.c.timeout))
	}
	w.pair = [2][]byte{w.small[:headerBytes], piece}
	w.both = w.pair[:]
	_, err := w.both.WriteTo(plain.Conn)
	w.pair = [2][]byte{}
	return err
}

// frameReader puts slices together again.
type frameReader struct {
	number uint64
	from   *bufio.Reader // which large slices pass by
	header [headerBytes]byte
}

// read fills a slice that is not empty with one that was written with its length.
func (r *frameReader) read(b []byte) error {
	for len(b) > 0 {
		h, err := r.next()
		if err != nil {
			return err
		}
		if h.left != uint64(len(b)) {
			return frameError(fmt.Sprintf("frame %d begins %d bytes where %d are due: the ranks do different things", h.number, h.left, len(b)))
		}
		if err := r.payload(h, b[:h.length]); err != nil {
			return err
		}
		b = b[h.length:]
	}
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
	if _, err := io.ReadFull(r.from, r.header[:]); err != nil {
		return frameHeader{}, err
	}
	h, err := parseHeader(r.header[:], r.number)
	r.number++
	return h, err
}

func (r *frameReader) payload(h frameHeader, b []byte) error {
	if _, err := io.ReadFull(r.from, b); err != nil {
		return err
	}
	if crc32.Checksum(b, castagnoli) != h.sum {
		return frameError(fmt.Sprintf("frame %d is garbled", h.number))
	}
	return nil
}
