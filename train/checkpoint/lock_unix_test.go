//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// One training holds a folder, by whatever path another comes to it; who reads, and what it
// is writing, are left alone.
func TestBusy(t *testing.T) {
	f := filled(t, 0, 10)
	release, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(f.Dir, ".step-00000020.safetensors.tmp")
	if err := os.WriteFile(beside, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.Dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{f.Dir, link} {
		release, err := checkpoint.Folder{Dir: dir}.Open()
		if release != nil || !errors.Is(err, checkpoint.ErrBusy) || err.Error() != dir+": another training writes its checkpoints there" {
			t.Errorf("a second training: %v", err)
		}
	}
	if got := in(t, f.Dir); !slices.Equal(got, []string{filepath.Base(beside), "step-00000010.safetensors"}) {
		t.Errorf("the second leaves %q", got)
	}
	if s, damaged, err := f.Latest(); err != nil || damaged != nil || s.Store.Step() != 10 {
		t.Errorf("reading: %v, %v, %v", s, damaged, err)
	}
	other, err := checkpoint.Folder{Dir: filepath.Join(f.Dir, "other")}.Open()
	if err != nil {
		t.Errorf("another folder: %v", err)
	}
	other()
	release()
	for range 2 { // an Open that fails holds nothing, nor does one that is released
		if release, err = f.Open(); err != nil {
			t.Fatal(err)
		}
		release()
	}
	if got := in(t, f.Dir); !slices.Equal(got, []string{"other", "step-00000010.safetensors"}) {
		t.Errorf("left behind: %q", got)
	}
}
