//go:build mpi && linux && (amd64 || arm64)

package mpi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// child is the variable by which a test tells a process of a job, which is this test program, what
// it does: the name of an entry of the table programs.
const child = "TAPESTRY_CHILD"

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(child)]; program != nil {
		if err := program(); err != nil {
			fmt.Println("error:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// implementation is an MPI of this machine.
type implementation struct {
	name, launcher, library string
	options                 []string
}

// each runs a test with every MPI whose launcher is here, under Debian's names.
func each(t *testing.T, test func(t *testing.T, m implementation)) {
	t.Helper()
	found := false
	for _, m := range []implementation{
		{"Open MPI", "mpirun.openmpi", "libmpi.so.40", []string{"--oversubscribe", "--bind-to", "none"}},
		{"MPICH", "mpirun.mpich", "libmpich.so.12", nil},
	} {
		if _, err := exec.LookPath(m.launcher); err != nil {
			continue
		}
		found = true
		t.Run(strings.ReplaceAll(m.name, " ", ""), func(t *testing.T) { test(t, m) })
	}
	if !found {
		t.Skip("neither mpirun.openmpi nor mpirun.mpich is here")
	}
}

// job is a launcher at work.
type job struct {
	t      *testing.T
	cmd    *exec.Cmd
	marker string // an argument of all its processes
	ended  chan struct{}
	err    error

	mu     sync.Mutex
	output bytes.Buffer
}

var jobs atomic.Int64

// start starts a program on so many ranks, without a launcher on none. Further variables are as in
// os.Environ.
func (m implementation) start(t *testing.T, ranks int, program string, variables ...string) *job {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, marker: fmt.Sprintf("job-%d-%d", os.Getpid(), jobs.Add(1)), ended: make(chan struct{})}
	arguments := []string{self, j.marker}
	if ranks > 0 {
		arguments = append(append([]string{m.launcher, "-n", fmt.Sprint(ranks)}, m.options...), arguments...)
	}
	j.cmd = exec.Command(arguments[0], arguments[1:]...)
	j.cmd.Env = append(os.Environ(), child+"="+program, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	j.cmd.Env = append(j.cmd.Env, variables...)
	j.cmd.Stdout, j.cmd.Stderr = j, j
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		j.err = j.cmd.Wait()
		close(j.ended)
	}()
	t.Cleanup(func() {
		select {
		case <-j.ended:
		default:
			_ = syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL)
		}
		for _, pid := range j.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return j
}

// Write collects what the job writes.
func (j *job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.output.Write(p)
}

func (j *job) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.output.String()
}

// until waits for something in the output.
func (j *job) until(text string, times int, limit time.Duration) {
	j.t.Helper()
	for end := time.Now().Add(limit); strings.Count(j.text(), text) < times; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			j.t.Fatalf("no %d times %q within %v, but:\n%s", times, text, limit, j.text())
		}
	}
}

// wait waits for the end of the job, which is to come within a limit and to leave no process.
func (j *job) wait(limit time.Duration) (string, error) {
	j.t.Helper()
	select {
	case <-j.ended:
	case <-time.After(limit):
		j.t.Fatalf("the job goes on after %v:\n%s", limit, j.text())
	}
	for end := time.Now().Add(5 * time.Second); len(j.processes()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			j.t.Fatalf("processes %v outlive the job:\n%s", j.processes(), j.text())
		}
	}
	return j.text(), j.err
}

// ok waits for a job that is to end well, and returns its output.
func (j *job) ok(limit time.Duration) string {
	j.t.Helper()
	out, err := j.wait(limit)
	if err != nil {
		j.t.Fatalf("%v:\n%s", err, out)
	}
	return out
}

// processes lists the processes of the job, launchers too.
func (j *job) processes() []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		arguments, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(arguments, []byte(j.marker+"\x00")) {
			continue
		}
		pid := 0
		if _, err := fmt.Sscanf(file, "/proc/%d/cmdline", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
