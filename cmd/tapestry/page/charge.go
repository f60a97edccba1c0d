package page

import (
	"bytes"
	"io"
)

// charged is a buffer for a file to be sent. Its memory comes from the room that documents share.
type charged struct {
	text  bytes.Buffer
	shelf *shelf
	taken int
	err   error // why there was no room; it stays, as not every writer checks for errors
}

// leastCharge is the smallest number of bytes that a buffer reserves at once.
const leastCharge = 64 << 10

// Write reserves room before the buffer grows.
func (c *charged) Write(p []byte) (int, error) {
	if need := c.text.Len() + len(p); need > c.taken {
		more := max(need-c.taken, c.taken, leastCharge) // a buffer doubles
		if c.err == nil {
			c.err = c.shelf.charge(more)
		}
		if c.err != nil {
			return 0, c.err
		}
		c.taken += more
	}
	return c.text.Write(p)
}

// release gives the room back.
func (c *charged) release() {
	if c.taken > 0 {
		c.shelf.give(c.taken)
	}
	c.taken = 0
}

// charge reserves bytes for a file made of documents in use. It neither waits for other documents
// to close nor closes them.
func (s *shelf) charge(bytes int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes > s.room-s.taken {
		return failf(insufficientStorage, "the file has no room beside the open documents: they have taken %d of %d MiB; close one", s.taken>>20, s.room>>20)
	}
	s.taken += bytes
	return nil
}

// write returns a file with the bytes that f writes. They count towards the server's memory until
// the file is sent.
func (s *Service) write(kind, name string, f func(w io.Writer) error) (*file, error) {
	c := &charged{shelf: s.shelf}
	err := f(c)
	if c.err != nil {
		err = c.err
	}
	if err != nil {
		c.release()
		return nil, err
	}
	return &file{kind: kind, name: name, text: c.text.Bytes(), sent: c.release}, nil
}

// text returns a file with the given text.
func (s *Service) text(kind, name, text string) (*file, error) {
	return s.write(kind, name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
