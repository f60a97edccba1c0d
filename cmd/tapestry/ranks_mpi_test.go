//go:build mpi && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// launchers has the commands that start ranks under the MPIs of Debian.
var launchers = map[string][]string{
	"OpenMPI": {"mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n"},
	"MPICH":   {"mpirun.mpich", "-n"},
}

// launched runs the command on so many ranks under each MPI that is here.
func launched(t *testing.T, test func(t *testing.T, run func(ranks, line string) *rankProcess)) {
	found := false
	for name, launcher := range launchers {
		if _, err := exec.LookPath(launcher[0]); err != nil {
			continue
		}
		found = true
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			test(t, func(ranks, line string) *rankProcess {
				args := append(append(launcher[1:len(launcher):len(launcher)], ranks, self), strings.Fields(line)...)
				p := &rankProcess{Cmd: exec.Command(launcher[0], args...)}
				p.Env = append(os.Environ(), child+"=command", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
				p.Stdout, p.Stderr = &p.out, &p.errOut
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Process.Kill() })
				return p
			})
		})
	}
	if !found {
		t.Skip("neither mpirun.openmpi nor mpirun.mpich is here")
	}
}

// TestTrainUnderMPI: what is trained under MPI has the bits of one process, also if that is resumed.
func TestTrainUnderMPI(t *testing.T) {
	launched(t, func(t *testing.T, run func(ranks, line string) *rankProcess) {
		line := "train dropout --data iris --batch 24 --seed 3 --json --lanes 4"
		want := ok1(t, line+" --steps 20 --checkpoint alone")
		ok1(t, line+" --steps 10 --checkpoint parts")
		for _, c := range []struct{ ranks, more string }{
			{"2", " --steps 20 --checkpoint two"},
			{"4", " --steps 20 --shard --checkpoint four --log log.jsonl"},
			{"2", " --steps 20 --checkpoint parts --resume"},
		} {
			p := run(c.ranks, line+c.more+" --ranks mpi")
			code, said := p.end(t, time.Minute), p.errOut.String()
			if n := fmt.Sprint(strings.Count(said, " is process ")); code != 0 || n != c.ranks || n != fmt.Sprint(strings.Count(said, "rank ")) {
				t.Fatalf("%s ranks,%s: exit code %d, %s", c.ranks, c.more, code, said)
			}
			if !strings.Contains(c.more, "--resume") && p.out.String() != want {
				t.Errorf("%s ranks,%s: %s, alone %s", c.ranks, c.more, &p.out, want)
			}
			folder, _, _ := strings.Cut(c.more[strings.Index(c.more, "--checkpoint ")+len("--checkpoint "):], " ")
			if code, out, errOut := tapestry(t, "checkpoint", "diff", newest(t, "alone"), newest(t, folder)); code != 0 {
				t.Errorf("%s ranks,%s: %s%s", c.ranks, c.more, out, errOut)
			}
		}
	})
}

// TestInterruptedUnderMPI: the launcher, interrupted, leaves the ranks the time for a checkpoint, and
// rank 0 says so.
func TestInterruptedUnderMPI(t *testing.T) {
	launched(t, func(t *testing.T, run func(ranks, line string) *rankProcess) {
		p := run("2", "train dropout --data iris --batch 24 --lanes 4 --steps 1000000000 --checkpoint kept --log log.jsonl --ranks mpi")
		begun := false
		for since := time.Now(); !begun && time.Since(since) < time.Minute; time.Sleep(10 * time.Millisecond) {
			log, err := os.ReadFile("log.jsonl")
			begun = err == nil && bytes.Count(log, []byte("\n")) > 20
		}
		if err := p.Process.Signal(syscall.SIGTERM); err != nil || !begun {
			t.Fatalf("it does not begin: %v, %s", err, &p.errOut)
		}
		p.end(t, 20*time.Second) // with an exit code of the launcher's own
		if said := p.errOut.String(); strings.Count(said, "tapestry: interrupted after ") != 1 || !strings.Contains(said, "--resume goes on from there") {
			t.Errorf("it says %s", said)
		}
		ok1(t, "checkpoint verify "+newest(t, "kept"))
	})
}

// TestRefusedUnderMPI: a mistake of all ranks is said by each, and ends the job.
func TestRefusedUnderMPI(t *testing.T) {
	launched(t, func(t *testing.T, run func(ranks, line string) *rankProcess) {
		p := run("3", "train dropout --data iris --ranks mpi")
		if code := p.end(t, time.Minute); code == 0 || !strings.Contains(p.errOut.String(), "3 ranks do not divide 8 lanes") {
			t.Errorf("exit code %d, %s", code, &p.errOut)
		}
	})
}
