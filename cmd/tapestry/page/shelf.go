package page

import (
	"context"
	"net/http"
	"strconv"
	"sync"
)

// shelf holds a bounded number of documents: where another one comes, that which was
// longest not asked for goes.
type shelf struct {
	mu     sync.Mutex
	most   int
	count  int         // of all that were ever put here
	docs   []*document // in order of opening
	asked  map[*document]int
	clock  int
	closed bool
	ending sync.WaitGroup // documents whose machines have still to end
}

func newShelf(most int) *shelf { return &shelf{most: most, asked: map[*document]int{}} }

// add puts a document in the shelf under an id of its own.
func (s *shelf) add(d *document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return failf(http.StatusServiceUnavailable, "the server is closing")
	}
	if len(s.docs) == s.most {
		oldest := s.docs[0]
		for _, x := range s.docs {
			if s.asked[x] < s.asked[oldest] {
				oldest = x
			}
		}
		s.remove(oldest)
	}
	s.count++
	d.number, d.id = s.count, "d"+strconv.Itoa(s.count)
	s.docs = append(s.docs, d)
	s.clock++
	s.asked[d] = s.clock
	return nil
}

// find gives a document. One that had to go is another error than one that never was.
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
			return nil, failf(http.StatusGone, "document %s is closed: at most %d stay open; open it again", id, s.most)
		}
	}
	return nil, failf(http.StatusNotFound, "there is no document %q", id)
}

// all lists the documents in order of opening.
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

// clear takes all out, lets none in any more, and waits until their machines ended.
func (s *shelf) clear() {
	s.mu.Lock()
	s.closed = true
	for len(s.docs) > 0 {
		s.remove(s.docs[0])
	}
	s.mu.Unlock()
	s.ending.Wait()
}

// remove takes a document out, and ends its machine as soon as nobody is at it.
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
				}
			})
			return
		}
	}
}
