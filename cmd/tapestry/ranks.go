package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/mpi"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// sharing holds the flags of a training whose steps are shared out in lanes over ranks, the
// processes of one job, and this process's place among them.
type sharing struct {
	lanes   int
	at      string // mpi, tcp://HOST:PORT or unix:///PATH; "" for one rank
	place   string // R/N
	keyFile string
	timeout time.Duration
	shard   bool

	ranks  *parallel.Ranks // nil for a step without lanes
	begins bool            // what is left is the training itself
}

// ranksFlags are the flags that have no effect without --ranks.
var ranksFlags = []string{"rank", "ranks-key-file", "ranks-timeout", "shard"}

func (s *sharing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&s.lanes, "lanes", 0, fmt.Sprintf("cut each batch into so many lanes, whose gradients are added in one fixed order: the result has the same bits on any number of ranks that divides them (default: none; with --ranks %d)", parallel.DefaultLanes))
	f.StringVar(&s.at, "ranks", "", "share the lanes out over the processes of mpirun or srun, mpi, or over processes that meet where rank 0 listens, tcp://HOST:PORT or unix:///PATH")
	f.StringVar(&s.place, "rank", "", "which rank this process is, from 0, and of how many, for --ranks with an address: 0/2")
	f.StringVar(&s.keyFile, "ranks-key-file", "", "file with a key that all ranks have, for TLS, which connections beyond this machine want")
	f.DurationVar(&s.timeout, "ranks-timeout", time.Minute, "how long a rank waits for another before the training ends")
	f.BoolVar(&s.shard, "shard", false, "each rank keeps the optimiser's states of a part of the parameters alone; the result has the same bits")
}

// on reports whether steps are cut into lanes.
func (s *sharing) on() bool { return s.lanes != 0 || s.at != "" }

// check returns an error for flags that contradict each other.
func (s *sharing) check(cmd *cobra.Command) error {
	switch {
	case s.lanes < 0 || s.lanes > parallel.MaxLanes || s.lanes == 0 && cmd.Flags().Changed("lanes"):
		return usagef("--lanes %d: want 1 to %d", s.lanes, parallel.MaxLanes)
	case s.at == "":
		return idle(cmd, "want --ranks, too", ranksFlags...)
	case s.timeout <= 0:
		return usagef("--ranks-timeout %v: want a positive duration, as 90s", s.timeout)
	case s.at == "mpi":
		return idle(cmd, "MPI knows its ranks and how to reach them", "rank", "ranks-key-file")
	case !strings.HasPrefix(s.at, "tcp://") && !strings.HasPrefix(s.at, "unix://"):
		return usagef("--ranks %s: want mpi, tcp://HOST:PORT or unix:///PATH", s.at)
	}
	_, n, err := s.numbers()
	if lanes := s.laneCount(); err == nil && lanes%n != 0 {
		err = usagef("--rank %s: %d ranks do not divide %s: want --lanes %d", s.place, n, plural.Count(lanes, "lane"), (lanes/n+1)*n)
	}
	return err
}

// laneCount returns the number of lanes.
func (s *sharing) laneCount() int {
	if s.lanes == 0 {
		return parallel.DefaultLanes
	}
	return s.lanes
}

// numbers reads --rank.
func (s *sharing) numbers() (rank, of int, err error) {
	r, n, _ := strings.Cut(s.place, "/")
	rank, err1 := strconv.Atoi(r)
	of, err2 := strconv.Atoi(n)
	if errors.Join(err1, err2) != nil || rank < 0 || rank >= of {
		return 0, 0, usagef("--rank %q: want the number of this rank, from 0, and that of all, as 0/2", s.place)
	}
	return rank, of, nil
}

// transport connects this process to the other ranks.
func (s *sharing) transport(ctx context.Context) (parallel.Transport, error) {
	if s.at == "" {
		return nil, nil
	}
	if s.at == "mpi" {
		t, err := mpi.Open(ctx, mpi.Options{Timeout: s.timeout})
		if err != nil {
			return nil, fmt.Errorf("--ranks mpi: %w", err)
		}
		return t, nil
	}
	rank, of, err := s.numbers()
	if err != nil {
		return nil, err
	}
	options := []parallel.DialOption{parallel.Timeout(s.timeout)}
	if s.keyFile != "" {
		key, err := os.ReadFile(s.keyFile)
		if err != nil {
			return nil, fmt.Errorf("--ranks-key-file: %w", err)
		}
		options = append(options, parallel.Key(bytes.TrimSpace(key)))
	}
	t, err := parallel.Dial(ctx, s.at, rank, of, options...)
	if err != nil {
		return nil, fmt.Errorf("--ranks %s: %w", s.at, err)
	}
	return t, nil
}

// among runs a command as one of the ranks that its flags ask for, which all run it with the same
// flags. Rank 0 alone prints; an error of another rank says which it is. An error of one rank ends
// all.
func (s *sharing) among(cmd *cobra.Command, args []string, do func() error) error {
	if err := s.check(cmd); err != nil {
		return err
	}
	if !s.on() {
		return do()
	}
	ctx := cmd.Context()
	t, err := s.transport(ctx)
	if err != nil {
		return err
	}
	if s.ranks, err = parallel.Join(ctx, t, parallel.Config{Lanes: s.lanes, Shard: s.shard, Timeout: s.timeout}); err != nil {
		if t != nil {
			t.Abort(err)
			err = errors.Join(err, t.Close())
		}
		return err
	}
	if !s.first() {
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
	}
	if s.ranks.Count() > 1 {
		if err = s.ranks.Agree(ctx, facts(cmd, args)...); err == nil {
			err = s.settle(ctx, cmd.ErrOrStderr())
		}
	}
	if err == nil {
		err = do()
	}
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !(interrupted && s.begins) { // an interrupted training has ended on all ranks
		s.ranks.Abort(err)
	}
	if closed := s.close(interrupted); err == nil {
		err = closed
	}
	switch {
	case err == nil || s.first():
		return err
	case interrupted: // rank 0 says what was kept
		return exitError{error: errors.New("interrupted"), code: 130, quiet: true}
	}
	return fmt.Errorf("rank %d: %w", s.ranks.Rank(), err)
}

// closing is how long an interrupted rank waits for the others to take their leave. A launcher that
// ends them may not answer any more, and kills what is left after a second.
const closing = 300 * time.Millisecond

// close closes the connections to the other ranks.
func (s *sharing) close(interrupted bool) error {
	if !interrupted {
		return s.ranks.Close()
	}
	closed := make(chan error, 1)
	go func() { closed <- s.ranks.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(closing):
		return nil
	}
}

// first reports whether this process prints and writes: it is rank 0, or the only one.
func (s *sharing) first() bool { return s == nil || s.ranks == nil || s.ranks.Rank() == 0 }

// lanes returns the number of lanes into which ranks cut a batch; 0 for none.
func lanes(r *parallel.Ranks) int {
	if r == nil {
		return 0
	}
	return r.Lanes()
}

// printLanes says how steps were shared out, if they were.
func printLanes(w io.Writer, r *parallel.Ranks) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "each batch in %s on %s", plural.Count(r.Lanes(), "lane"), plural.Count(r.Count(), "rank"))
	if r.Sharded() {
		fmt.Fprint(w, ", the optimiser's states sharded")
	}
	fmt.Fprintln(w)
}

// wholeOnly returns an error for flags that steps in lanes do not go with.
func (s *sharing) wholeOnly(cmd *cobra.Command, b builders.Builder) error {
	if !s.on() {
		return nil
	}
	if cmd.Flags().Lookup("engine").Value.String() != "native" {
		return idle(cmd, "it runs a batch as a whole: want no --lanes, and no --ranks", "engine")
	}
	if movesItself(b) {
		return idle(cmd, "Lloyd's algorithm moves a centre to the mean of all its points at once: no lane could", "lanes", "ranks")
	}
	if s.shard {
		return idle(cmd, "with --shard each rank commits the updates of its own parameters before the others are known to be finite: want no --shard, which gives the same bits", "watch-nan")
	}
	return nil
}

// Flags that may differ between ranks: those of the process, and those of what rank 0 alone writes.
// Of some only whether they are given must be the same, because more is measured for them; of files
// that are read the contents.
var (
	rankOwn   = []string{"rank", "ranks-key-file", "ranks-timeout", "out", "svg", "json", "help"}
	rankGiven = []string{"log", "checkpoint"}
	rankReads = []string{"data", "centres", "predict"}
)

// facts returns what must be the same on all ranks: the program, the model, and its flags.
func facts(cmd *cobra.Command, args []string) []parallel.Fact {
	out := []parallel.Fact{{Name: "version", Value: version()}}
	for _, model := range args {
		file, braces, _ := strings.Cut(model, "{")
		out = append(out, parallel.Fact{Name: "model", Value: strings.TrimSpace(contents(file) + " " + braces)})
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case slices.Contains(rankOwn, f.Name):
			return
		case slices.Contains(rankGiven, f.Name):
			value = strconv.FormatBool(f.Changed)
		case slices.Contains(rankReads, f.Name):
			parts := commas(value)
			for i, p := range parts {
				parts[i] = contents(p)
			}
			value = strings.Join(parts, ",")
		}
		out = append(out, parallel.Fact{Name: "--" + f.Name, Value: value})
	})
	return out
}

// contents returns a hash of a file, which may lie elsewhere on another machine, and what is no file
// as it is.
func contents(name string) string {
	if !isRegular(name) {
		return name
	}
	f, err := os.Open(name)
	if err != nil {
		return name // whoever reads it says why it cannot
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return name
	}
	return fmt.Sprintf("sha256 %x", h.Sum(nil)[:8])
}
