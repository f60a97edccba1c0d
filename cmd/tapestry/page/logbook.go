package page

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits on the logs that are found in folders.
const (
	mostRuns     = 5000        // followed; of more, the first in the order of their names
	mostEntries  = 100_000     // of folders that are looked at
	lookedAgain  = time.Second // least time between two looks
	logExtension = ".jsonl"
)

// logbook knows the logs that are followed: files as they were named, which need not exist yet, and those
// of the extension in the folders that were named, at any depth, as they come.
type logbook struct {
	paths []string

	mu     sync.Mutex
	runs   []*run
	known  map[string]bool // paths of the runs
	looked time.Time
	left   int // logs that are too many
}

func newLogbook(paths []string) *logbook {
	b := &logbook{paths: paths, known: map[string]bool{}}
	b.look()
	return b
}

// all returns the runs, after another look into the folders, and how many logs there are too many.
func (b *logbook) all() (runs []*run, left int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.looked) > lookedAgain {
		b.look()
	}
	return b.runs[:len(b.runs):len(b.runs)], b.left
}

// find returns the run with this id, nil if there is none.
func (b *logbook) find(id string) *run {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := strconv.Atoi(strings.TrimPrefix(id, "r"))
	if err != nil || n < 1 || n > len(b.runs) || b.runs[n-1].id != id {
		return nil
	}
	return b.runs[n-1]
}

// called returns the run of this name, as a link has it: ids are others when the page is served again,
// and names become longer when there are others like them. It may also be an id. It is nil where there
// is none, or several.
func (b *logbook) called(name string) *run {
	b.mu.Lock()
	var like []*run
	for _, one := range b.runs {
		if one.name == name {
			b.mu.Unlock()
			return one
		}
		if strings.HasSuffix(one.path, string(filepath.Separator)+name) {
			like = append(like, one)
		}
	}
	b.mu.Unlock()
	if len(like) == 1 {
		return like[0]
	}
	return b.find(name)
}

// look adds the runs that are new. Those that were there keep their ids.
func (b *logbook) look() {
	b.looked, b.left = time.Now(), 0
	before := len(b.runs)
	for _, path := range b.paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			b.add(path)
			continue
		}
		for _, found := range logsIn(path) {
			b.add(found)
		}
	}
	if len(b.runs) > before {
		b.name()
		most := max(256, maxPoints*64/max(64, len(b.runs)))
		for _, one := range b.runs {
			one.mu.Lock()
			one.most = most
			one.mu.Unlock()
		}
	}
}

func (b *logbook) add(path string) {
	path = filepath.Clean(path)
	switch {
	case b.known[path]:
	case len(b.runs) >= mostRuns:
		b.left++
	default:
		b.known[path] = true
		b.runs = append(b.runs, &run{id: "r" + strconv.Itoa(len(b.runs)+1), path: path, state: waiting})
	}
}

// logsIn returns the logs in a folder, in the order of their names.
func logsIn(folder string) (out []string) {
	entries := 0
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if entries++; entries > mostEntries {
			return filepath.SkipAll
		}
		if err == nil && !e.IsDir() && filepath.Ext(path) == logExtension {
			out = append(out, path)
		}
		return nil // what cannot be read holds no log
	})
	slices.Sort(out)
	return out
}

// name gives every run the name of its file, with as many of the folders that it is in as it takes to
// tell it from others.
func (b *logbook) name() {
	names := make([]string, len(b.runs))
	deep := make([]int, len(b.runs))
	for again := true; again; {
		again = false
		times := map[string]int{}
		for i, one := range b.runs {
			names[i] = lastParts(one.path, deep[i])
			times[names[i]]++
		}
		for i, one := range b.runs {
			if times[names[i]] > 1 && names[i] != one.path {
				deep[i]++
				again = true
			}
		}
	}
	for i, one := range b.runs {
		one.mu.Lock()
		if one.name != names[i] {
			one.name = names[i]
			one.version++
		}
		one.mu.Unlock()
	}
}

// lastParts returns the name of a file with so many of the folders that it is in.
func lastParts(path string, folders int) string {
	at := len(path)
	for range folders + 1 {
		if at = strings.LastIndexByte(path[:at], filepath.Separator); at < 0 {
			return path
		}
	}
	if at == 0 { // the root alone would be left out
		return path
	}
	return path[at+1:]
}
