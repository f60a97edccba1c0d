//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// install says where a library comes from.
const install = "install openmpi-bin or mpich (Debian, Ubuntu), openmpi or mpich (Fedora, conda-forge), open-mpi or mpich (Homebrew)"

// load finds and loads a library: the one that is named, or the first of the usual ones that can be
// loaded and has a known ABI, those of the launcher's family first. It stays on one thread, because
// the loader keeps the reason of a failure, which a second call asks for, by thread.
func load(name string, env func(string) string) (*library, error) {
	from := ""
	if name == "" {
		name = env(Variable)
		from = Variable + "="
	}
	files := candidates(launcherOf(env).family, env)
	if name != "" {
		files = []string{name}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if files = within(name); len(files) == 0 {
				return nil, fmt.Errorf("mpi: %s%s: the folder has no libmpi or libmpich", from, name)
			}
		}
	}
	l, failures := first(files)
	switch {
	case l != nil:
		return l, nil
	case name != "":
		return nil, fmt.Errorf("mpi: %s%s: %w", from, name, failures[len(failures)-1])
	}
	return nil, none(files, failures)
}

// first loads the first of the files that can be used, and returns why others cannot.
func first(files []string) (*library, []error) {
	var failures []error
	for _, file := range files {
		// The plugins of Open MPI look for its symbols among the global ones.
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			var l *library
			if l, err = bind(file, handle); err == nil {
				return l, nil
			}
			err = fmt.Errorf("%s: %w", file, err)
		}
		failures = append(failures, errors.New(strings.Join(strings.Fields(err.Error()), " ")))
	}
	return nil, failures
}

// none returns the error of a machine on which no library can be used. Those that are there, and why
// they cannot be used, say more than the names of those that are not.
func none(files []string, failures []error) error {
	var found []string
	for _, err := range failures {
		if !strings.Contains(err.Error(), noSuchFile) {
			found = append(found, err.Error())
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("mpi: no MPI library can be used: %s: %s, or name the library in %s", strings.Join(found, "; "), install, Variable)
	}
	return fmt.Errorf("mpi: found no MPI library: %s, or name the library in %s; tried %s", install, Variable, strings.Join(files, ", "))
}

// noSuchFile is a part of the loader's message for a name that it does not find.
var noSuchFile = map[string]string{"linux": "No such file", "darwin": "no such file"}[runtime.GOOS]

// within lists the libraries of a folder, the one without a version first.
func within(folder string) []string {
	var files []string
	for _, stem := range []string{"libmpi", "libmpich"} {
		for _, pattern := range []string{stem + ".so*", stem + ".*dylib"} {
			found, _ := filepath.Glob(filepath.Join(folder, pattern))
			files = append(files, found...)
		}
	}
	return files
}

// candidates lists the usual names: where the loader looks, in a conda environment, and where
// Fedora, Homebrew and Intel put a library.
func candidates(first family, env func(string) string) []string {
	named := map[family][]string{
		openMPIFamily: {"libmpi.so.40"},
		mpichFamily:   {"libmpich.so.12", "libmpi.so.12"},
		unknown:       {"libmpi.so"}, // of either family
	}
	folders := map[family][]string{openMPIFamily: {"/usr/lib64/openmpi/lib"}, mpichFamily: {"/usr/lib64/mpich/lib"}}
	if runtime.GOOS == "darwin" {
		named = map[family][]string{
			openMPIFamily: {"libmpi.40.dylib"},
			mpichFamily:   {"libmpi.12.dylib", "libmpich.12.dylib"},
			unknown:       {"libmpi.dylib"},
		}
		folders = map[family][]string{unknown: {"/opt/homebrew/lib", "/usr/local/lib"}}
	}
	if prefix := env("CONDA_PREFIX"); prefix != "" {
		folders[unknown] = append(folders[unknown], filepath.Join(prefix, "lib"))
	}
	if root := env("I_MPI_ROOT"); root != "" {
		folders[mpichFamily] = append(folders[mpichFamily], filepath.Join(root, "lib", "release"), filepath.Join(root, "lib"))
	}
	order := []family{openMPIFamily, mpichFamily, unknown}
	if first == mpichFamily {
		order = []family{mpichFamily, openMPIFamily, unknown}
	}
	var files []string
	for _, f := range order {
		for _, folder := range slices.Concat([]string{""}, folders[f], folders[unknown]) {
			for _, name := range named[f] {
				files = append(files, filepath.Join(folder, name))
			}
		}
	}
	return files
}

// bind finds the library's functions and its ABI.
func bind(file string, handle uintptr) (*library, error) {
	l := &library{file: file, c: &cells{}}
	for symbol, function := range map[string]*uintptr{
		"MPI_Get_library_version": &l.getVersion, "MPI_Initialized": &l.initialized, "MPI_Finalized": &l.finalized,
		"MPI_Init_thread": &l.initThread, "MPI_Finalize": &l.finalize, "MPI_Abort": &l.abortJob,
		"MPI_Comm_set_errhandler": &l.setErrorHandler, "MPI_Comm_dup": &l.duplicate,
		"MPI_Comm_rank": &l.getRank, "MPI_Comm_size": &l.getSize, "MPI_Error_string": &l.getError,
		"MPI_Isend": &l.isend, "MPI_Irecv": &l.irecv, "MPI_Ibarrier": &l.ibarrier, "MPI_Test": &l.test,
	} {
		var err error
		if *function, err = purego.Dlsym(handle, symbol); err != nil {
			return nil, errors.New("it has no " + symbol + ": want a library of MPI 3 or later")
		}
	}
	for symbol, function := range map[string]*uintptr{"usleep": &l.usleep, "sched_yield": &l.yield} {
		var err error
		if *function, err = purego.Dlsym(purego.RTLD_DEFAULT, symbol); err != nil {
			return nil, err
		}
	}
	version, err := l.version()
	if err != nil {
		return nil, err
	}
	l.product = productOf(version)
	l.abi, err = abiOf(handle, version)
	return l, err
}
