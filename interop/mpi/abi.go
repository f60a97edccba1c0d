//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ebitengine/purego"
)

// abi is what an implementation's mpi.h has where MPI says no more than a name. There are two: that
// of Open MPI, and that of MPICH, which Intel MPI, MVAPICH and Cray MPICH keep as well
// (https://www.mpich.org/abi).
type abi struct {
	world, bytes, errorsReturn uintptr // MPI_COMM_WORLD, MPI_BYTE, MPI_ERRORS_RETURN
	statusIgnore               uintptr // MPI_STATUS_IGNORE
	pointers                   bool    // a handle is a pointer, not an int
}

// funneled is MPI_THREAD_FUNNELED of both: calls come from the thread that started MPI.
const funneled = 1

// mpich has handles of 32 bits, with the kind of the object in the high bits.
var mpich = abi{world: 0x44000000, bytes: 0x4c00010d, errorsReturn: 0x54000001, statusIgnore: 1}

// abiOf returns the ABI of a loaded library. Open MPI's handles are addresses of its variables.
func abiOf(handle uintptr, version string) (abi, error) {
	a := abi{pointers: true}
	found := 0
	for symbol, value := range map[string]*uintptr{"ompi_mpi_comm_world": &a.world, "ompi_mpi_byte": &a.bytes, "ompi_mpi_errors_return": &a.errorsReturn} {
		if address, err := purego.Dlsym(handle, symbol); err == nil {
			*value = address
			found++
		}
	}
	switch {
	case found == 3:
		return a, nil
	case mpichKin.MatchString(version):
		return mpich, nil
	}
	return abi{}, fmt.Errorf("it is %q, which is neither Open MPI nor of MPICH's ABI", firstLine(version))
}

var (
	mpichKin = regexp.MustCompile(`MPICH|MVAPICH|Intel\(R\) MPI`)
	product  = regexp.MustCompile(`(Open MPI|CRAY MPICH|MPICH|MVAPICH2?|Intel\(R\) MPI)(?: Library| Version| version)?\s*:?\s*v?(\d[\w.]*)`)
)

// productOf finds the name and the version in what MPI_Get_library_version gives: "Open MPI 4.1.4".
func productOf(version string) string {
	if m := product.FindStringSubmatch(version); m != nil {
		return m[1] + " " + m[2]
	}
	return firstLine(version)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.Join(strings.Fields(s), " ")
}
