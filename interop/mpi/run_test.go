//go:build mpi && linux && (amd64 || arm64)

package mpi

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExchange: bytes of all sizes arrive whole between all pairs of any number of ranks.
func TestExchange(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, ranks := range []int{1, 2, 3, 4, 8} {
			out := m.start(t, ranks, "exchange").ok(time.Minute)
			if want := regexp.MustCompile(fmt.Sprintf(`^%s \d\S+, %d ranks?\n$`, m.name, ranks)); !want.MatchString(out) {
				t.Errorf("%d ranks: %s", ranks, out)
			}
		}
		m.start(t, 3, "pieces").ok(time.Minute)
	})
}

// TestSums: sums over lanes have the same bits on any number of ranks, and what ranks were told
// differently has a name.
func TestSums(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
			m.start(t, ranks, "sums").ok(time.Minute)
		}
		if out := m.start(t, 2, "disagree").ok(time.Minute); !strings.Contains(out, "lanes") {
			t.Error(out)
		}
	})
}

// TestLongMessage: a message may have more bytes than MPI can count.
func TestLongMessage(t *testing.T) {
	if os.Getenv("TAPESTRY_LONG") == "" {
		t.Skip("5 GB: TAPESTRY_LONG=1 runs it")
	}
	each(t, func(t *testing.T, m implementation) { m.start(t, 2, "long").ok(3 * time.Minute) })
}

// TestAlone: without a launcher there is one rank, whichever library is named.
func TestAlone(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		out := m.start(t, 0, "exchange", Variable+"="+m.library).ok(time.Minute)
		if !strings.HasPrefix(out, m.name) || !strings.HasSuffix(out, ", 1 rank\n") {
			t.Error(out)
		}
	})
}

// TestOtherLibrary: the library of one under the launcher of the other is refused by each process,
// with both names and the way out.
func TestOtherLibrary(t *testing.T) {
	var found []implementation
	each(t, func(_ *testing.T, m implementation) { found = append(found, m) })
	if len(found) < 2 {
		t.Skip("there is one MPI here")
	}
	for i, m := range found {
		other := found[1-i]
		out, err := m.start(t, 3, "open", Variable+"="+other.library).wait(time.Minute)
		text := regexp.MustCompile(fmt.Sprintf(`error: mpi: launcher and library do not match: \w+=3, but %s \S+ \(%s\) counts 1, .*TAPESTRY_MPI`, other.name, other.library))
		if n := len(text.FindAllString(out, -1)); err == nil || n == 0 {
			t.Errorf("%s under %s: %v, %d times\n%s", other.library, m.launcher, err, n, out)
		}
	}
}

// TestMisuse: calls in wrong order and to wrong ranks are errors, and leave Go's panics as they are.
func TestMisuse(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		if out := m.start(t, 2, "wrong").ok(time.Minute); strings.Contains(out, "error") {
			t.Error(out)
		}
	})
}

// TestDeath: when a process is killed, the others end within seconds.
func TestDeath(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, rank := range []int{0, 2} {
			j := m.start(t, 4, "forever")
			j.until("is process", 4, time.Minute)
			time.Sleep(300 * time.Millisecond)
			_, text, _ := strings.Cut(j.text(), fmt.Sprintf("rank %d is process ", rank))
			pid := 0
			if _, err := fmt.Sscan(text, &pid); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if out, err := j.wait(10 * time.Second); err == nil {
				t.Errorf("the job ends well:\n%s", out)
			} else {
				t.Logf("rank %d: the job ends after %v:\n%s", rank, time.Since(begin).Round(time.Millisecond), out)
			}
		}
	})
}

// TestInterrupt: Ctrl-C at the launcher ends a job that would go on forever. The status is the
// launcher's own: MPICH's is now and then 0.
func TestInterrupt(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		j := m.start(t, 4, "forever")
		j.until("is process", 4, time.Minute)
		if err := syscall.Kill(j.cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_, err := j.wait(10 * time.Second)
		t.Logf("the launcher's status: %v", err)
	})
}

// TestFailures: a silent peer, a context that ends, lengths that differ and Abort end the job, with a
// reason.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		program string
		ranks   int
		want    string
	}{
		{"silent", 2, "after the exchange: mpi: exchange with rank 1: it was silent for 2s: a rank is lost"},
		{"ended", 2, "error: mpi: exchange with rank 1: enough"},
		{"differ", 2, "both know"},
		{"abort", 3, "mpi: rank 1 of 3 ends the job: the disk is full"},
	} {
		t.Run(c.program, func(t *testing.T) {
			each(t, func(t *testing.T, m implementation) {
				out, err := m.start(t, c.ranks, c.program).wait(15 * time.Second)
				if err == nil || !strings.Contains(out, c.want) || strings.Contains(out, "after Abort") || strings.Contains(out, "panic") {
					t.Errorf("%v:\n%s", err, out)
				}
			})
		})
	}
}

// TestWaits: a rank that waits for another, for an exchange or at the end, leaves the processor to
// others; and the end comes when all have closed, however late.
func TestWaits(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		m.start(t, 2, "idle").ok(time.Minute)
		m.start(t, 2, "late").ok(time.Minute)
	})
}
