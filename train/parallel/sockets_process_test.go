package parallel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// socketsProcess is the environment variable that makes this test program one rank of a job: what it
// does, its rank, how many there are, the address.
const socketsProcess = "TAPESTRY_CHILD"

// TestSocketsProcess is the process of a rank; among the tests it does nothing.
func TestSocketsProcess(t *testing.T) {
	var do, address string
	var rank, ranks int
	if n, _ := fmt.Sscan(os.Getenv(socketsProcess), &do, &rank, &ranks, &address); n != 4 {
		t.Skip("no process of its own")
	}
	s, err := Dial(context.Background(), address, rank, ranks, Timeout(20*time.Second), Key(testKey))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for do == "for-ever" || do == "once" {
		if err := exchanges(context.Background(), s, lengths); err != nil {
			t.Fatal(err)
		}
		if do == "once" {
			return
		}
		fmt.Println("round")
	}
}

type process struct {
	*exec.Cmd
	out    strings.Builder
	rounds chan struct{}
}

// Write sees that a process goes on.
func (p *process) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "round") {
		select {
		case p.rounds <- struct{}{}:
		default:
		}
	}
	return p.out.Write(b)
}

func startRank(t *testing.T, do string, rank, ranks int, address string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], "-test.run=^TestSocketsProcess$"), rounds: make(chan struct{}, 1)}
	p.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %s", socketsProcess, strings.ReplaceAll(do, " ", "-"), rank, ranks, address))
	p.Stdout, p.Stderr = p, p
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSocketsProcesses(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, ranks := range []int{2, 3, 8} {
			if testing.Short() && (ranks != 3 || network == "unix") {
				continue
			}
			address := freeAddress(t, network)
			var all []*process
			for rank := range ranks { // the last first
				all = append(all, startRank(t, "once", ranks-1-rank, ranks, address))
			}
			for _, p := range all {
				if err := p.Wait(); err != nil {
					t.Errorf("%s, %d ranks: %v\n%s", network, ranks, err, &p.out)
				}
			}
		}
	}
}

// TestSocketsKill: when a process is killed, all others end at once, and name it.
func TestSocketsKill(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for victim := range 4 {
			const ranks = 4
			if testing.Short() && (victim != 2 || network == "unix") {
				continue
			}
			address := freeAddress(t, network)
			var all []*process
			for rank := range ranks {
				all = append(all, startRank(t, "for ever", rank, ranks, address))
			}
			select {
			case <-all[victim].rounds:
			case <-time.After(time.Minute):
				t.Error("the job does not go on")
			}
			all[victim].Process.Kill()
			start := time.Now()
			for rank, p := range all {
				err := p.Wait()
				if rank == victim {
					continue
				}
				want := fmt.Sprintf("parallel: rank %d is lost: its connection to rank ", victim)
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(p.out.String(), want) {
					t.Errorf("%s: rank %d without %d: %v\n%s", network, rank, victim, err, &p.out)
				}
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s: without rank %d: %v", network, victim, took)
			}
		}
	}
}
