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

// The number of records of a log read at a time, which keeps requests short, and the number of
// bytes remembered of its end, which show whether it is still the same file.
const (
	recordsAtOnce = 200_000
	tailBytes     = 256
)

// run is a training whose log is followed. Each request looks at the file anew: it may appear
// later, grow, be cut or be replaced by another.
type run struct {
	id, path, name string

	mu      sync.Mutex
	file    *os.File
	reader  *watch.Reader
	tail    []byte // what came before where it is read on
	course  course
	state   runState
	trouble string    // why it cannot be read
	changed time.Time // of the file
	version int       // grows with what is known
}

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

// refresh reads what is new in the file.
func (r *run) refresh() {
	state, trouble := r.read()
	if state != r.state || trouble != r.trouble {
		r.state, r.trouble = state, trouble
		r.version++
	}
}

func (r *run) read() (runState, string) {
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
	if !r.same(info) {
		r.close()
		r.course = course{}
		r.version++
		if r.file, err = os.Open(r.path); err != nil {
			return unreadable, plainly(err)
		}
		r.reader = watch.NewReader(r.name, r.file)
	}
	r.changed = info.ModTime()
	for range recordsAtOnce {
		record, err := r.reader.Next()
		wrong := new(watch.Error)
		switch {
		case errors.Is(err, io.EOF):
			return r.stands(), r.remember()
		case errors.As(err, &wrong):
			r.course.complain(wrong)
		case err != nil:
			return unreadable, plainly(err)
		default:
			r.course.add(record)
		}
		r.version++
	}
	return reading, r.remember()
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

// same reports whether the path still leads to the open file and the part already read is still
// there. It is false if the file was replaced, cut or written anew.
func (r *run) same(info fs.FileInfo) bool {
	if r.file == nil {
		return false
	}
	opened, err := r.file.Stat()
	if err != nil || !os.SameFile(opened, info) {
		return false
	}
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil || info.Size() < at {
		return false
	}
	now := make([]byte, len(r.tail))
	_, err = r.file.ReadAt(now, at-int64(len(now)))
	return err == nil && bytes.Equal(now, r.tail)
}

// remember notes the end of what was read.
func (r *run) remember() (trouble string) {
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err == nil {
		r.tail = make([]byte, min(at, tailBytes))
		_, err = r.file.ReadAt(r.tail, at-int64(len(r.tail)))
	}
	if err != nil {
		return plainly(err)
	}
	return ""
}

func (r *run) close() {
	if r.file != nil {
		_ = r.file.Close() // it was only read
	}
	r.file, r.reader, r.tail = nil, nil, nil
}

// plainly returns the text of a file system error without the path, which the page need not know.
func plainly(err error) string {
	if p := new(fs.PathError); errors.As(err, &p) {
		return fmt.Sprintf("%s: %v", p.Op, p.Err)
	}
	return err.Error()
}
