//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package train_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// refused fails the test unless a training is refused a folder, and changes nothing there.
func refused(t *testing.T, dir string, resume string) {
	t.Helper()
	tr := noisyTrainer(t)
	plan := patientPlan(t, tr, 3)
	plan.Checkpoints.Dir, plan.Resume = dir, resume
	err := tr.Fit(context.Background(), plan)
	if !errors.Is(err, checkpoint.ErrBusy) || err.Error() != "fit: "+dir+": another training writes its checkpoints there" || tr.Store().Step() != 0 {
		t.Errorf("a second training: %v, after step %d", err, tr.Store().Step())
	}
}

// TestBusy: while one training writes to a folder, another does not begin; it may read there, and
// write to another folder. Afterwards it may write there, too, whether or not the first ended well.
func TestBusy(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	enough := errors.New("enough")
	for _, end := range []error{enough, nil} {
		tr := noisyTrainer(t)
		plan := patientPlan(t, tr, 6)
		plan.Checkpoints, plan.Resume = train.Checkpoints{Dir: dir, Every: 1}, dir
		plan.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind != train.Stepped || e.Step%3 != 2 {
				return nil
			}
			refused(t, dir, "")
			refused(t, dir, dir)
			other := noisyTrainer(t)
			also := patientPlan(t, other, e.Step+1)
			also.Checkpoints.Dir, also.Resume = elsewhere, dir
			if err := other.Fit(context.Background(), also); err != nil {
				t.Errorf("from one folder to another: %v", err)
			}
			return end
		})}
		if err := tr.Fit(context.Background(), plan); !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	if s, damaged, err := (checkpoint.Folder{Dir: dir}).Latest(); err != nil || damaged != nil || s.Store.Step() != 6 {
		t.Errorf("%v, %v, %v", s, damaged, err)
	}
}

// TestBusyProcess: a training in another process holds a folder until it is killed.
func TestBusyProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	cmd, lines := process(t, "train 100000000 "+dir)
	defer cmd.Process.Kill()
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "step 2") {
	}
	refused(t, dir, dir)
	if s, damaged, err := (checkpoint.Folder{Dir: dir}).Latest(); err != nil || damaged != nil || s.Store.Step() < 1 {
		t.Errorf("reading: %v, %v, %v", s, damaged, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	release, err := checkpoint.Folder{Dir: dir}.Open()
	if err != nil {
		t.Fatal(err)
	}
	release()
}
