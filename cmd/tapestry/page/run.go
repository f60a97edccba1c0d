package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/tapestry-ml/tapestry/train/watch"
)

// The number of records of logs read at a time, which keeps requests short, and the number of bytes
// remembered of the end of each, which show whether it is still the same file.
const (
	recordsAtOnce = 200_000
	tailBytes     = 256
)

// run is a training whose log is followed. Each request looks at the file anew: it may appear
// later, grow, be cut or be replaced by another.
type run struct {
	id, path, name string

	mu      sync.Mutex
	source  source // of the reader
	reader  *watch.Reader
	seen    fs.FileInfo // as it was read last
	end     int64       // where it is read on
	tail    []byte      // what came before
	rest    bool        // there was more than could be read at once
	course  course
	state   runState
	trouble string    // why it cannot be read
	changed time.Time // of the file
	version int       // grows with what is known
	most    int       // points of a series
	told    runView   // as of version toldAt
	toldAt  int
}

// source is the file that a reader reads, which is open only meanwhile: there may be thousands of runs.
type source struct{ *os.File }

// runState is the state of a run.
type runState string

const (
	waiting     runState = "waiting" // there is no file yet
	reading     runState = "reading" // there is more in the file
	running     runState = "running"
	ended       runState = "ended"
	interrupted runState = "interrupted" // by Ctrl-C, as a user wants it
	failed      runState = "failed"      // ended in an error
	unreadable  runState = "unreadable"
)

// refresh reads what is new in the file, as many records as there is room for.
func (r *run) refresh(room *int) {
	state, trouble := r.read(room)
	if state != r.state || trouble != r.trouble {
		r.state, r.trouble = state, trouble
		r.version++
	}
}

func (r *run) read(room *int) (state runState, trouble string) {
	info, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.course.begun:
		return r.stands(), "the file is gone; what was read of it is shown"
	case errors.Is(err, fs.ErrNotExist):
		return waiting, ""
	case err != nil:
		return unreadable, plainly(err)
	case !info.Mode().IsRegular(): // reading a pipe might never end
		return unreadable, "not a regular file"
	}
	r.changed = info.ModTime()
	if s := r.seen; s != nil && !r.rest && os.SameFile(s, info) && s.Size() == info.Size() && s.ModTime().Equal(info.ModTime()) {
		return r.stands(), ""
	}
	f, err := os.Open(r.path)
	if err != nil {
		return unreadable, plainly(err)
	}
	defer f.Close() // it was only read
	if !r.same(f, info) {
		r.course = course{most: r.most}
		r.version++
		r.end, r.reader = 0, watch.NewReader(r.name, &r.source)
	}
	if _, err := f.Seek(r.end, io.SeekStart); err != nil {
		return unreadable, plainly(err)
	}
	r.source.File = f
	defer func() { r.source.File = nil }()
	r.seen, r.rest = info, false
	for {
		if *room == 0 {
			r.rest = true
			break
		}
		record, err := r.reader.Next()
		wrong := new(watch.Error)
		switch {
		case errors.Is(err, io.EOF):
			return r.stands(), r.remember(f)
		case errors.As(err, &wrong):
			r.course.complain(wrong)
		case err != nil:
			r.seen = nil
			return unreadable, plainly(err)
		default:
			r.course.add(record)
		}
		*room--
		r.version++
	}
	return reading, r.remember(f)
}

// stands returns the state of the run once all of the log is read.
func (r *run) stands() runState {
	switch {
	case r.course.failure == context.Canceled.Error():
		return interrupted
	case r.course.failure != "":
		return failed
	case r.course.ended:
		return ended
	}
	return running
}

// same reports whether a file is the one that was read last and the part already read is still there.
// It is false if the file was replaced, cut or written anew.
func (r *run) same(f *os.File, info fs.FileInfo) bool {
	if r.seen == nil || !os.SameFile(r.seen, info) || info.Size() < r.end {
		return false
	}
	now := make([]byte, len(r.tail))
	_, err := f.ReadAt(now, r.end-int64(len(now)))
	return err == nil && bytes.Equal(now, r.tail)
}

// remember notes where the file is read on, and what comes before.
func (r *run) remember(f *os.File) (trouble string) {
	at, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		r.end, r.tail = at, make([]byte, min(at, tailBytes))
		_, err = f.ReadAt(r.tail, at-int64(len(r.tail)))
	}
	if err != nil {
		r.seen = nil
		return plainly(err)
	}
	return ""
}

// plainly returns the text of a file system error without the path, which the page need not know.
func plainly(err error) string {
	if p := new(fs.PathError); errors.As(err, &p) {
		return fmt.Sprintf("%s: %v", p.Op, p.Err)
	}
	return err.Error()
}
