package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
)

// Folder is where the checkpoints of one training are.
type Folder struct {
	Dir  string
	Keep int // the newest so many; 0 is 3, below 0 all
}

// Best is the name of the checkpoint of the best step.
const Best = "best" + extension

const (
	extension = ".safetensors"
	prefix    = "step-"
)

// ErrNone is in the chain where a folder holds no checkpoint.
var ErrNone = errors.New("no checkpoint there")

// ErrBusy is in the chain where a training is to write to a folder that another one holds.
var ErrBusy = errors.New("another training writes its checkpoints there")

// Open makes the folder where there is none, removes what a killed process left, and
// sees that a file can be written. Until release, or the end of the process, the folder is
// the caller's: another Open of it, in this process or in another one, is [ErrBusy].
// Reading asks for no Open, and is not kept from a folder that is held. On Windows, on
// other systems without flock, and on file systems without it nothing keeps a second
// training away.
func (f Folder) Open() (release func(), err error) {
	if err := os.MkdirAll(f.Dir, 0o777); err != nil {
		return nil, located(f.Dir, err)
	}
	if release, err = lock(f.Dir); err != nil {
		return nil, err
	}
	if err := f.prepare(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// prepare removes what a killed process left, and sees that a file can be written.
func (f Folder) prepare() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return located(f.Dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), extension+unfinished) {
			if err := os.Remove(filepath.Join(f.Dir, e.Name())); err != nil {
				return located(f.Dir, err)
			}
		}
	}
	return probe(f.Dir)
}

// Save writes the checkpoint of a step, and deletes those before the ones to be kept.
func (f Folder) Save(s *State) (path string, err error) {
	if err := s.whole(); err != nil {
		return "", at(f.Dir, err)
	}
	path = filepath.Join(f.Dir, fmt.Sprintf("%s%08d%s", prefix, s.Store.Step(), extension))
	if err := Save(path, s); err != nil {
		return "", err
	}
	return path, f.rotate(s.Store.Step())
}

// SaveBest writes the checkpoint of the best step, in the place of that before.
func (f Folder) SaveBest(s *State) (path string, err error) {
	path = filepath.Join(f.Dir, Best)
	return path, Save(path, s)
}

// rotate deletes what is older than the newest up to the step that was just written. Files
// of later steps, which a training that goes on from further back meets, are left alone.
func (f Folder) rotate(step uint64) error {
	keep := f.Keep
	if keep == 0 {
		keep = 3
	}
	if keep < 0 {
		return nil
	}
	files, err := f.list()
	if err != nil {
		return err
	}
	for _, file := range files {
		if file.step > step {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		if err := os.Remove(file.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return located(file.path, err)
		}
	}
	return nil
}

// numbered is the checkpoint of a step.
type numbered struct {
	path string
	step uint64
}

// list gives the checkpoints of steps, the newest first.
func (f Folder) list() ([]numbered, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, located(f.Dir, err)
	}
	var out []numbered
	for _, e := range entries {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), extension), prefix)
		step, err := strconv.ParseUint(digits, 10, 64)
		if ok && err == nil && strings.HasSuffix(e.Name(), extension) {
			out = append(out, numbered{filepath.Join(f.Dir, e.Name()), step})
		}
	}
	slices.SortFunc(out, func(a, b numbered) int { return cmp.Compare(b.step, a.step) })
	return out, nil
}

// all is list with the best in its place. Of one step the best comes last; where its header
// cannot be read it comes first, as if of step 0, for its damage to be told.
func (f Folder) all() (files []numbered, err error) {
	files, err = f.list()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Dir, Best)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	step, err := stepOf(path)
	if err != nil {
		return slices.Insert(files, 0, numbered{path: path}), nil
	}
	i := slices.IndexFunc(files, func(n numbered) bool { return n.step < step })
	if i < 0 {
		i = len(files)
	}
	return slices.Insert(files, i, numbered{path, step}), nil
}

// stepOf reads the step of a checkpoint alone.
func stepOf(path string) (uint64, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	s, err := Describe(r.Metadata())
	if err != nil {
		return 0, at(path, err)
	}
	return s.Store.Step(), nil
}

// Paths lists the checkpoints, the newest first; the best one is among them.
func (f Folder) Paths() ([]string, error) {
	files, err := f.all()
	var out []string
	for _, file := range files {
		out = append(out, file.path)
	}
	return out, err
}

// Newest is the step of the newest checkpoint by its name, or of the best where that is
// newer; ok is false where there is none. No file is checked.
func (f Folder) Newest() (step uint64, ok bool, err error) {
	files, err := f.all()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	for _, file := range files {
		step = max(step, file.step)
	}
	return step, len(files) > 0, nil
}

// Latest loads the newest checkpoint that is whole. It passes over damaged ones and gives
// what is wrong with each. A folder that has none, or is none, is [ErrNone]; one that has
// only damaged ones is an error, too, as is one whose newest file cannot be read at all.
func (f Folder) Latest() (s *State, damaged []error, err error) {
	files, err := f.all()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, file := range files {
		s, err := Load(file.path)
		switch {
		case err == nil:
			return s, damaged, nil
		case errors.Is(err, safetensors.ErrFormat) || errors.Is(err, safetensors.ErrChecksum):
			damaged = append(damaged, err)
		default:
			return nil, damaged, err
		}
	}
	if damaged == nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Dir, ErrNone)
	}
	return nil, damaged, fmt.Errorf("%s: no checkpoint is whole, the newest: %w", f.Dir, damaged[0])
}

// LoadBest loads the checkpoint of the best step.
func (f Folder) LoadBest() (*State, error) { return Load(filepath.Join(f.Dir, Best)) }
