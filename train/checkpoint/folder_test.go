package checkpoint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// in lists the names of what is in a folder.
func in(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// filled is a folder with the checkpoints of some steps.
func filled(t *testing.T, keep int, steps ...uint64) checkpoint.Folder {
	t.Helper()
	f := checkpoint.Folder{Dir: filepath.Join(t.TempDir(), "runs", "a"), Keep: keep}
	release, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	release()
	for _, step := range steps {
		if _, err := f.Save(stateOf(step)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// flip damages a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 4
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestRotation(t *testing.T) {
	for _, c := range []struct {
		keep  int
		steps []uint64
		want  []string
	}{
		{0, []uint64{1, 2, 3, 4, 5}, []string{"step-00000003.safetensors", "step-00000004.safetensors", "step-00000005.safetensors"}},
		{1, []uint64{99_999_999, 100_000_000}, []string{"step-100000000.safetensors"}},
		{2, []uint64{9, 10, 11}, []string{"step-00000010.safetensors", "step-00000011.safetensors"}},
		{-1, []uint64{1, 2, 3, 4, 5}, []string{"step-00000001.safetensors", "step-00000002.safetensors", "step-00000003.safetensors", "step-00000004.safetensors", "step-00000005.safetensors"}},
		// A training that went on from further back leaves what is ahead of it, and never takes it
		// for its own newest.
		{1, []uint64{50, 20, 30}, []string{"step-00000030.safetensors", "step-00000050.safetensors"}},
	} {
		if got := in(t, filled(t, c.keep, c.steps...).Dir); !slices.Equal(got, c.want) {
			t.Errorf("keeping %d of %v: %q, want %q", c.keep, c.steps, got, c.want)
		}
	}
	f := filled(t, 1, 4)
	for _, name := range []string{"notes.txt", "step-x.safetensors", "step-00000001.safetensors.bak"} {
		if err := os.WriteFile(filepath.Join(f.Dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.SaveBest(stateOf(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(stateOf(5)); err != nil {
		t.Fatal(err)
	}
	if got := in(t, f.Dir); !slices.Equal(got, []string{"best.safetensors", "notes.txt", "step-00000001.safetensors.bak", "step-00000005.safetensors", "step-x.safetensors"}) {
		t.Errorf("what is no checkpoint is left alone: %q", got)
	}
}

func TestLatest(t *testing.T) {
	f := filled(t, 0, 10, 20, 30)
	newest := func(want uint64, damaged ...string) {
		t.Helper()
		s, found, err := f.Latest()
		if err != nil || s.Store.Step() != want || len(found) != len(damaged) {
			t.Fatalf("%v, %v, %v: want step %d", s, found, err, want)
		}
		equal(t, s, stateOf(want))
		for i, name := range damaged {
			if !strings.HasPrefix(found[i].Error(), filepath.Join(f.Dir, name)+": ") {
				t.Errorf("passed over: %v, want %s", found[i], name)
			}
		}
	}
	newest(30)
	if step, ok, err := f.Newest(); step != 30 || !ok || err != nil {
		t.Error(step, ok, err)
	}
	if _, err := f.SaveBest(stateOf(35)); err != nil {
		t.Fatal(err)
	}
	newest(35)
	if step, ok, err := f.Newest(); step != 35 || !ok || err != nil {
		t.Error(step, ok, err)
	}
	flip(t, filepath.Join(f.Dir, checkpoint.Best))
	newest(30, "best.safetensors")
	if _, err := f.SaveBest(stateOf(20)); err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(f.Dir, "step-00000030.safetensors"))
	newest(20, "step-00000030.safetensors")
	if err := os.Truncate(filepath.Join(f.Dir, "step-00000020.safetensors"), 0); err != nil {
		t.Fatal(err)
	}
	newest(20, "step-00000030.safetensors", "step-00000020.safetensors") // the best one
	if paths, err := f.Paths(); err != nil || len(paths) != 4 || filepath.Base(paths[2]) != checkpoint.Best {
		t.Error(paths, err)
	}
	flip(t, filepath.Join(f.Dir, checkpoint.Best))
	flip(t, filepath.Join(f.Dir, "step-00000010.safetensors"))
	s, found, err := f.Latest()
	if s != nil || len(found) != 4 || !errors.Is(err, safetensors.ErrFormat) && !errors.Is(err, safetensors.ErrChecksum) || errors.Is(err, checkpoint.ErrNone) {
		t.Errorf("all damaged: %v, %v, %v", s, found, err)
	}
	want := f.Dir + ": no checkpoint is whole, the newest: " + found[0].Error()
	if err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		s, found, err := checkpoint.Folder{Dir: dir}.Latest()
		if s != nil || found != nil || !errors.Is(err, checkpoint.ErrNone) || err.Error() != dir+": no checkpoint there" {
			t.Errorf("%v, %v, %v", s, found, err)
		}
	}
}

// What a killed process leaves is gone after the next Open, and never taken for a checkpoint.
func TestLeftovers(t *testing.T) {
	f := filled(t, 0, 10)
	for _, name := range []string{".step-00000020.safetensors.tmp", ".best.safetensors.tmp"} {
		if err := os.WriteFile(filepath.Join(f.Dir, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if s, damaged, err := f.Latest(); err != nil || damaged != nil || s.Store.Step() != 10 {
		t.Errorf("%v, %v, %v", s, damaged, err)
	}
	if _, err := f.Save(stateOf(20)); err != nil { // over what is left
		t.Fatal(err)
	}
	release, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got := in(t, f.Dir); !slices.Equal(got, []string{"step-00000010.safetensors", "step-00000020.safetensors"}) {
		t.Errorf("%q", got)
	}
}

func TestNoFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := (checkpoint.Folder{Dir: file}).Open(); err == nil || err.Error() != "checkpoint "+file+": not a directory" {
		t.Errorf("a file: %v", err)
	}
	absent := filepath.Join(dir, "absent")
	if _, err := (checkpoint.Folder{Dir: absent}).Save(stateOf(1)); !errors.Is(err, fs.ErrNotExist) || err.Error() != "checkpoint "+filepath.Join(absent, "step-00000001.safetensors")+": no such file or directory" {
		t.Errorf("no folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "step-00000001.safetensors"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := (checkpoint.Folder{Dir: dir}).Save(stateOf(1)); err == nil || !strings.HasPrefix(err.Error(), "checkpoint "+filepath.Join(dir, "step-00000001.safetensors")+": ") {
		t.Errorf("a folder in its place: %v", err)
	}
	if got := in(t, dir); !slices.Equal(got, []string{"file", "step-00000001.safetensors"}) {
		t.Errorf("litter: %q", got)
	}
	if _, err := checkpoint.Load(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
