package checkpoint_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"gorgonia.org/tensor"
)

// mounted gives an empty file system in memory of some KiB; it takes root to have one.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// large is a state of some 1000 KiB.
func large(t *testing.T, step uint64) *checkpoint.State {
	t.Helper()
	s := stateOf(step)
	if err := s.Store.Add("large", tensor.New(tensor.WithShape(250_000), tensor.Of(tensor.Float32))); err != nil {
		t.Fatal(err)
	}
	return s
}

// stays fails the test unless a checkpoint cannot be written for the given reason, and the files
// that were there are there still, and no others.
func stays(t *testing.T, f checkpoint.Folder, want syscall.Errno, names ...string) {
	t.Helper()
	for name, save := range map[string]func() (string, error){
		"step-00000030.safetensors": func() (string, error) { return f.Save(large(t, 30)) },
		"best.safetensors":          func() (string, error) { return f.SaveBest(large(t, 30)) },
	} {
		_, err := save()
		if !errors.Is(err, want) || err.Error() != "checkpoint "+filepath.Join(f.Dir, name)+": "+want.Error() {
			t.Errorf("%v: want %v", err, want)
		}
	}
	if got := in(t, f.Dir); !slices.Equal(got, names) {
		t.Errorf("%q: want %q", got, names)
	}
	s, damaged, err := f.Latest()
	if err != nil || damaged != nil || s.Store.Step() != 20 {
		t.Errorf("the previous one: %v, %v, %v", s, damaged, err)
	}
	if best, err := f.LoadBest(); err != nil || best.Store.Step() != 10 {
		t.Errorf("the best one: %v, %v", best, err)
	}
}

func TestFullDisk(t *testing.T) {
	f := checkpoint.Folder{Dir: mounted(t, "2500k")}
	for _, save := range []func() (string, error){
		func() (string, error) { return f.SaveBest(large(t, 10)) },
		func() (string, error) { return f.Save(large(t, 20)) },
	} {
		if _, err := save(); err != nil {
			t.Fatal(err)
		}
	}
	stays(t, f, syscall.ENOSPC, "best.safetensors", "step-00000020.safetensors")
	if err := os.Remove(filepath.Join(f.Dir, checkpoint.Best)); err != nil { // room is made
		t.Fatal(err)
	}
	if _, err := f.Save(large(t, 30)); err != nil {
		t.Error(err)
	}
}

// TestFileTooLarge needs no rights: what is written is cut off by a limit of the process.
func TestFileTooLarge(t *testing.T) {
	f := checkpoint.Folder{Dir: t.TempDir()}
	if _, err := f.SaveBest(stateOf(10)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(stateOf(20)); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Skip(err)
	}
	// The limit leaves room for the log that go test keeps of what a test opens.
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 900 << 10, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	stays(t, f, syscall.EFBIG, "best.safetensors", "step-00000020.safetensors")
}

func TestReadOnly(t *testing.T) {
	var f checkpoint.Folder
	want := syscall.EROFS
	if os.Getuid() == 0 { // whom no permission stops
		f.Dir = mounted(t, "256k")
	} else {
		f.Dir, want = t.TempDir(), syscall.EACCES
	}
	if _, err := f.SaveBest(stateOf(10)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(stateOf(20)); err != nil {
		t.Fatal(err)
	}
	if want == syscall.EROFS {
		if err := syscall.Mount("", f.Dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skipf("mount: %v", err)
		}
	} else {
		if err := os.Chmod(f.Dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(f.Dir, 0o755)
	}
	if _, err := f.Open(); !errors.Is(err, want) || err.Error() != "checkpoint "+f.Dir+": "+want.Error() {
		t.Errorf("open: %v", err)
	}
	stays(t, f, want, "best.safetensors", "step-00000020.safetensors")
}
