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

// Folder is a folder of the checkpoints of one training.
type Folder struct {
	Dir  string
	Keep int // how many of the newest checkpoints to keep; 0 means 3, below 0 all
}

// Best is the file name of the checkpoint of the best step.
const Best = "best" + extension

const (
	extension = ".safetensors"
	prefix    = "step-"
)

// ErrNone is wrapped by the error for a folder without checkpoints.
var ErrNone = errors.New("no checkpoint there")

// ErrBusy is wrapped by the error for a folder that another training writes to.
var ErrBusy = errors.New("another training writes its checkpoints there")

// Open creates the folder unless it exists, removes files that a killed process left unfinished,
// and checks that a file can be written. Until release is called, or the process ends, the folder
// is locked: another Open of it, in this process or another, is [ErrBusy]. Reading needs no Open
// and ignores the lock. Windows and other systems or file systems without flock have no lock.
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

// prepare removes unfinished files, and checks that a file can be written.
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

// Save writes the checkpoint of a step and deletes all but the newest Keep.
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

// SaveBest writes the checkpoint of the best step, in place of the one before.
func (f Folder) SaveBest(s *State) (path string, err error) {
	path = filepath.Join(f.Dir, Best)
	return path, Save(path, s)
}

// rotate deletes all but the newest checkpoints up to the step that was just written. It leaves
// those of later steps, which exist if a training went on from an earlier checkpoint.
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

// numbered is the checkpoint file of a step.
type numbered struct {
	path string
	step uint64
}

// list returns the checkpoints named by steps, the newest first.
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

// all returns list and the best checkpoint in its place, after the one of the same step. If the
// header of the best cannot be read, it comes first, as of step 0, so that its damage is reported.
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

// stepOf reads only the step of a checkpoint.
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

// Paths returns the paths of the checkpoints, the newest first, including the best.
func (f Folder) Paths() ([]string, error) {
	files, err := f.all()
	var out []string
	for _, file := range files {
		out = append(out, file.path)
	}
	return out, err
}

// Newest returns the step of the newest checkpoint by file name, or of the best if that is newer;
// ok is false if there is none. It does not check the files.
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

// Latest loads the newest checkpoint that is whole. It skips damaged ones and returns what is wrong
// with each. A folder that is missing or has no checkpoint is [ErrNone]. It is also an error if all
// are damaged, or if the newest file cannot be read at all.
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
