//go:build mpi && (linux || darwin) && (amd64 || arm64)

package mpi

import (
	"fmt"
	"strconv"
)

// family is a group of libraries that one kind of launcher starts.
type family int

const (
	unknown family = iota
	openMPIFamily
	mpichFamily
)

// launcher is what the environment says of the program that started this process.
type launcher struct {
	family   family
	variable string // that says the number of processes; "" if none does
	ranks    int    // what it says
}

// launcherOf reads the variables that launchers set. Slurm's are there under mpirun as well, when it
// runs in an allocation, and so count last. SLURM_NTASKS is that of the allocation, which a program
// that a batch script starts without srun has too; SLURM_STEP_NUM_TASKS is that of an srun.
func launcherOf(env func(string) string) launcher {
	for _, l := range []launcher{
		{openMPIFamily, "OMPI_COMM_WORLD_SIZE", 0},
		{mpichFamily, "PMI_SIZE", 0}, // Hydra, and srun --mpi=pmi2
		{unknown, "SLURM_STEP_NUM_TASKS", 0},
	} {
		n, err := strconv.Atoi(env(l.variable))
		if err != nil || n < 1 {
			continue
		}
		l.ranks = n
		if l.family == unknown && env("PMIX_RANK") != "" { // srun --mpi=pmix, by which Open MPI starts
			l.family = openMPIFamily
		}
		return l
	}
	return launcher{}
}

// matches compares the number of processes that the launcher started with that of the library. A
// library that does not understand its launcher takes each process for a job of one rank.
func (l launcher) matches(ranks int, library string) error {
	if l.ranks <= 1 || l.ranks == ranks {
		return nil
	}
	start := "start the program with the launcher of that library (mpirun.openmpi or mpirun.mpich on Debian; srun --mpi=pmix or --mpi=pmi2)"
	return fmt.Errorf("mpi: launcher and library do not match: %s=%d, but %s counts %d, and each process would be alone: %s, or name the launcher's library in %s",
		l.variable, l.ranks, library, ranks, start, Variable)
}
