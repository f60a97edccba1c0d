//go:build mpi && linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnderMPI: the ranks that a launcher starts learn what those learn that the program starts.
func TestUnderMPI(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "many-machines")
	if out, err := exec.Command("go", "build", "-tags", "mpi", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := func(launcher []string, flags ...string) outcome {
		args := append(append(launcher[:len(launcher):len(launcher)], bin, "-net", "digits", "-steps", "5"), flags...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		o, err := read(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		return o
	}
	socket := "unix://" + filepath.Join(t.TempDir(), "s")
	one, found := said(nil, "-ranks", socket, "-rank", "0/1"), false
	for _, launcher := range [][]string{{"mpirun.openmpi", "--oversubscribe", "-n", "4"}, {"mpirun.mpich", "-n", "4"}} {
		if _, err := exec.LookPath(launcher[0]); err != nil {
			continue
		}
		found = true
		if o := said(launcher, "-ranks", "mpi"); o.ranks != 4 || o.bits != one.bits || o.loss != one.loss {
			t.Errorf("%s: %v, want %v", launcher[0], o, one)
		}
	}
	if !found {
		t.Skip("neither mpirun.openmpi nor mpirun.mpich is here")
	}
}
