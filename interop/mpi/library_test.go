//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestProducts: the version of a library in few words, from what each product gives.
func TestProducts(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "Open MPI 4.1.4",
		"Open MPI v5.0.7rc2, package: conda":                                                     "Open MPI 5.0.7rc2",
		"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7":                              "MPICH 4.0.2",
		"MPICH Version:\t4.3.0b1\nMPICH ABI:\t16:1:4":                                            "MPICH 4.3.0b1",
		"Intel(R) MPI Library 2021.11 for Linux* OS\n":                                           "Intel(R) MPI 2021.11",
		"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\tWed":                           "MVAPICH2 2.3.7",
		"MVAPICH Version      :  3.0":                                                            "MVAPICH 3.0",
		"MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)":                         "CRAY MPICH 8.1.25.17",
		"HPE MPT 2.30  08/15/23\nmore":                                                           "HPE MPT 2.30 08/15/23",
	} {
		if got := productOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if _, err := abiOf(0, "HPE MPT 2.30"); err == nil || !strings.Contains(err.Error(), `"HPE MPT 2.30", which is neither Open MPI nor of MPICH's ABI`) {
		t.Errorf("the ABI of HPE MPT: %v", err)
	}
}

// TestLaunchers: what the variables of launchers say, which library they ask for first, and whether
// the library counts the same processes.
func TestLaunchers(t *testing.T) {
	for _, c := range []struct {
		env  string
		want launcher
	}{
		{"", launcher{}},
		{"SLURM_NTASKS=8", launcher{}}, // a batch script's own program
		{"OMPI_COMM_WORLD_SIZE=4 SLURM_STEP_NUM_TASKS=2", launcher{openMPIFamily, "OMPI_COMM_WORLD_SIZE", 4}},
		{"PMI_SIZE=3 HYDI_CONTROL_FD=7", launcher{mpichFamily, "PMI_SIZE", 3}},
		{"SLURM_STEP_NUM_TASKS=6 PMIX_RANK=2", launcher{openMPIFamily, "SLURM_STEP_NUM_TASKS", 6}},
		{"SLURM_STEP_NUM_TASKS=6", launcher{unknown, "SLURM_STEP_NUM_TASKS", 6}},
		{"PMI_SIZE=many", launcher{}},
	} {
		if got := launcherOf(environment(c.env)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.env, got, c.want)
		}
	}
	l := launcher{mpichFamily, "PMI_SIZE", 3}
	if err := l.matches(3, "MPICH 4.0.2"); err != nil {
		t.Error(err)
	}
	if err := l.matches(1, "Open MPI 4.1.4 (libmpi.so.40)"); err == nil || !strings.Contains(err.Error(), "PMI_SIZE=3, but Open MPI 4.1.4 (libmpi.so.40) counts 1") {
		t.Errorf("a library that counts 1 of 3: %v", err)
	}
	if err := (launcher{}).matches(1, "MPICH"); err != nil {
		t.Error(err)
	}
}

func environment(pairs string) func(string) string {
	return func(name string) string {
		for _, pair := range strings.Fields(pairs) {
			if n, value, _ := strings.Cut(pair, "="); n == name {
				return value
			}
		}
		return ""
	}
}

// TestCandidates: the family that the launcher suggests is looked for first, and environments of
// their own after the loader's folders.
func TestCandidates(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the names are those of Linux")
	}
	env := environment("CONDA_PREFIX=/c I_MPI_ROOT=/i")
	files := candidates(unknown, env)
	if files[0] != "libmpi.so.40" || candidates(mpichFamily, env)[0] != "libmpich.so.12" {
		t.Errorf("looked for first: %s, %s", files[0], candidates(mpichFamily, env)[0])
	}
	for _, want := range []string{"/c/lib/libmpi.so.40", "/c/lib/libmpi.so.12", "/i/lib/release/libmpi.so.12", "/usr/lib64/mpich/lib/libmpi.so.12", "libmpi.so"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not among %v", want, files)
		}
	}
}

// TestNoLibrary: the errors of a library that is not there, or that is something else, say what was
// tried and what to install.
func TestNoLibrary(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	folder := t.TempDir()
	garbage := filepath.Join(folder, "garbage.so")
	if err := os.WriteFile(garbage, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	libc := map[string]string{"linux": "libc.so.6", "darwin": "libSystem.B.dylib"}[runtime.GOOS]
	for name, want := range map[string]string{
		"elsewhere.so": "mpi: TAPESTRY_MPI=elsewhere.so: elsewhere.so: cannot open",
		folder:         "the folder has no libmpi or libmpich",
		garbage:        "garbage.so",
		libc:           libc + ": it has no MPI_",
	} {
		l, err := load("", environment(Variable+"="+name))
		if l != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %v, want %q", name, err, want)
		}
		if _, err := load(name, environment("")); err == nil || !strings.HasPrefix(err.Error(), "mpi: "+name) {
			t.Errorf("%s as an option: %v", name, err)
		}
	}
	files := []string{"libabsent-mpi.so.1", "/nowhere/libmpi.so.40"}
	l, failures := first(files)
	if err := none(files, failures); l != nil || !strings.HasPrefix(err.Error(), "mpi: found no MPI library: install openmpi-bin or mpich (Debian") || !strings.HasSuffix(err.Error(), "tried libabsent-mpi.so.1, /nowhere/libmpi.so.40") {
		t.Errorf("where there is no library: %v", err)
	}
	files = append(files, garbage)
	_, failures = first(files)
	if err := none(files, failures); !strings.HasPrefix(err.Error(), "mpi: no MPI library can be used: "+garbage) || strings.Contains(err.Error(), "nowhere") {
		t.Errorf("where there is one that cannot be loaded: %v", err)
	}
}
