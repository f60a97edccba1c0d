//go:build unix

package ranktrain_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestStopped: a process that is stopped, which ends no connection, ends the job all the same, and
// ends itself when it wakes up.
func TestStopped(t *testing.T) {
	if !long() {
		t.Skip("it waits for timeouts")
	}
	want := undisturbed(t, "mlp")
	for victim := range 4 {
		job := disturbed("mlp", t.TempDir())
		all := start(t, part{Job: job, Ranks: 4, Lanes: 24, Shard: true, Address: meeting(t), Timeout: 10 * time.Second}, victim, 30)
		if err := all[victim].Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		errs, took := ends(t, "a rank that is stopped", all, victim)
		say(t, "a rank that is stopped", all, errs, victim, fmt.Sprintf("rank %d is lost: ", victim))
		t.Logf("rank %d is stopped: the others end after %v", victim, took)
		if took > 25*time.Second {
			t.Error(took)
		}
		all[victim].Process.Signal(syscall.SIGCONT)
		if err := all[victim].Wait(); err == nil {
			t.Errorf("rank %d, which was stopped, ends well: %s", victim, all[victim].output())
		}
		goesOn(t, "a rank that is stopped", job, want, 30, others[victim])
	}
}
