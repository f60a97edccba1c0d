package page

import (
	"context"
	"strconv"
	"sync"
)

// shelf holds a bounded number of documents. Adding one too many closes the least recently used.
type shelf struct {
	mu     sync.Mutex
	most   int
	count  int         // of all that were ever put here
	docs   []*document // in order of opening
	asked  map[*document]int
	clock  int
	closed bool
	room   int            // bytes that all documents may hold together
	taken  int            // by those that are open, opening or ending
	given  chan struct{}  // closed when some are given back
	ending sync.WaitGroup // documents whose machines have still to end
}

func newShelf(most, room int) *shelf {
	return &shelf{most: most, room: room, asked: map[*document]int{}, given: make(chan struct{})}
}

// take reserves bytes for a document. If there is no room, it closes the least recently used
// documents and waits until their bytes are given back.
func (s *shelf) take(ctx context.Context, bytes int) error {
	if bytes > s.room {
		return failf(tooLarge, "the model is too large for the page: it may come to hold %d MiB, and all documents together have %d MiB", bytes>>20, s.room>>20)
	}
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return errClosing
		}
		if s.taken+bytes <= s.room {
			s.taken += bytes
			s.mu.Unlock()
			return nil
		}
		if oldest := s.oldest(); oldest != nil {
			s.remove(oldest)
		}
		given := s.given
		s.mu.Unlock()
		select {
		case <-given:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// give returns reserved bytes to the shelf.
func (s *shelf) give(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= bytes
	close(s.given)
	s.given = make(chan struct{})
}

// errClosing is the error of a request that arrives while the server closes.
var errClosing = failf(unavailable, "the server is closing")

// oldest returns the least recently used document, or nil if there is none.
func (s *shelf) oldest() *document {
	var oldest *document
	for _, x := range s.docs {
		if oldest == nil || s.asked[x] < s.asked[oldest] {
			oldest = x
		}
	}
	return oldest
}

// add puts a document in the shelf under an id of its own.
func (s *shelf) add(d *document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing
	}
	if len(s.docs) == s.most {
		s.remove(s.oldest())
	}
	s.count++
	d.number, d.id = s.count, "d"+strconv.Itoa(s.count)
	s.docs = append(s.docs, d)
	s.clock++
	s.asked[d] = s.clock
	return nil
}

// find returns a document by its id. Its errors tell a closed document from one that never existed.
func (s *shelf) find(id string) (*document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.docs {
		if d.id == id {
			s.clock++
			s.asked[d] = s.clock
			return d, nil
		}
	}
	if len(id) > 1 && id[0] == 'd' {
		if n, err := strconv.Atoi(id[1:]); err == nil && n > 0 && n <= s.count && strconv.Itoa(n) == id[1:] {
			return nil, failf(gone, "document %s is closed: at most %d stay open, of %d MiB together; open it again", id, s.most, s.room>>20)
		}
	}
	return nil, failf(notFound, "there is no document %q", id)
}

// all returns the documents in order of opening.
func (s *shelf) all() []*document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*document(nil), s.docs...)
}

// drop takes a document out.
func (s *shelf) drop(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(d)
}

// clear removes all documents, refuses new ones, and waits until the machines have ended or ctx is
// done.
func (s *shelf) clear(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	for len(s.docs) > 0 {
		s.remove(s.docs[0])
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// remove removes a document, and ends its machine as soon as no request uses it.
func (s *shelf) remove(d *document) {
	for i, x := range s.docs {
		if x == d {
			s.docs = append(s.docs[:i:i], s.docs[i+1:]...)
			delete(s.asked, d)
			d.stop()
			s.ending.Go(func() {
				if d.acquire(context.Background()) == nil { // which it always is, at last
					d.session.close()
					d.release()
					s.give(d.reserved)
				}
			})
			return
		}
	}
}
