// Package mpi connects the ranks of a job by MPI (https://www.mpi-forum.org), as clusters have it: a
// [parallel.Transport] over Open MPI, MPICH, or a library of MPICH's ABI such as Intel MPI or MVAPICH.
//
//	t, err := mpi.Open(ctx, mpi.Options{})
//	ranks, err := parallel.Join(ctx, t, parallel.Config{Lanes: 8})
//	defer ranks.Close()
//	fmt.Println(t) // Open MPI 4.1.4, 4 ranks
//
// # Building
//
// The package needs the build tag mpi, and a library of MPI 3 or later when the program runs. It
// calls the library without cgo, by github.com/ebitengine/purego, on Linux and macOS, amd64 and
// arm64; one program serves all libraries. A program that is built without the tag, or for another
// platform, does not contain purego and stays as it is; [Open] then returns [ErrNotBuilt].
//
//	go build -tags mpi ./cmd/tapestry
//
// Debian and Ubuntu have the libraries and launchers in openmpi-bin and mpich, Fedora and conda-forge
// in openmpi and mpich, Homebrew in open-mpi and mpich.
//
// # Running
//
// A launcher starts as many processes as it is told, on one machine or many:
//
//	mpirun.openmpi -n 4 --bind-to none ./program
//	mpirun.mpich -n 4 ./program
//	mpirun -n 16 --hostfile hosts --map-by slot:PE=4 ./program   # Open MPI: 4 cores a rank
//	mpirun -n 16 -f hosts -bind-to core:4 ./program              # MPICH
//	srun -n 16 -c 4 --mpi=pmix ./program                         # Slurm with Open MPI
//	srun -n 16 -c 4 --mpi=pmi2 ./program                         # Slurm with MPICH or Intel MPI
//
// Debian's mpirun is one of the first two, by update-alternatives. Under Kubernetes, an MPIJob of
// Kubeflow's operator runs the first line in its launcher. Open MPI binds a process to a core, or
// more than two processes to a socket, unless it is told otherwise; a rank has as many workers as it
// may use cores, so the options above matter. With more ranks than cores Open MPI wants
// --oversubscribe. Open MPI refuses to run for root, as in a container, without
// OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.
//
// The library is the one that [Options] or the environment variable TAPESTRY_MPI names, by its file
// or folder. Else the usual names are tried: those of the launcher's family first, which the
// variables tell that it sets (OMPI_COMM_WORLD_SIZE, PMI_SIZE, PMIX_RANK), where the loader looks, in
// a conda environment, and in the folders of Fedora, Homebrew and Intel. A library of the other family
// does not understand the launcher, and takes every process for a job of its own; that is an error.
//
// # Exchanges
//
// All calls come from one thread, which MPI knows as MPI_THREAD_FUNNELED, and go over a communicator
// of the package's own. Messages of any length are sent, in pieces that MPI can count; both sides
// compare the lengths first. A rank that waits for another looks for it at once, and then at growing
// intervals of up to a millisecond, so that it leaves its core to others. Exchanges allocate nothing,
// and the memory that is sent or filled is pinned until they are complete.
//
// Signals keep the handlers that Go has for them: those that MPI libraries install are undone.
//
// # Failures
//
// An error means that the job cannot go on; every later exchange returns it too. A program then ends
// with a status other than 0, or calls Abort, and the launcher ends the other ranks:
//
//   - A peer that is silent for longer than the timeout is an error that names it and wraps
//     [parallel.ErrLost]. So are errors of the network, as far as the library reports them.
//   - When a process dies, the launcher ends the others: Open MPI within about a second, with the
//     number of the rank, MPICH at once, with the process and its machine.
//   - Abort writes its cause to the standard error and calls MPI_Abort, which ends all processes.
//   - At Ctrl-C MPICH's launcher passes SIGINT on and waits. Open MPI's sends SIGTERM a second later
//     and kills after another; --mca odls_base_sigkill_timeout 10 makes ten of each. A program that
//     stops all ranks after the same step when one is told can be told by SIGTERM to any process.
//     The launcher's status does not tell that a job was interrupted: MPICH's may be 0.
//   - Close waits for all ranks, however long they take, and ends MPI. After an error it does not, so
//     that the end of the process is what the launcher sees.
//
// MPI starts once in a process: a second Open is an error, before and after Close.
package mpi
