package ranktrain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/internal/linkfault"
	"github.com/tapestry-ml/tapestry/internal/ranktrain"
	"github.com/tapestry-ml/tapestry/internal/simd"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// rankProcess is the environment variable that makes this test program a rank: a part in JSON.
const rankProcess = "TAPESTRY_CHILD"

// part is what a process does of a training.
type part struct {
	ranktrain.Job
	Rank, Ranks, Lanes int
	Shard              bool
	Address            string
	Timeout            time.Duration
	Naps               int // the step after which the rank sleeps for three timeouts; 0 for none
}

// TestRank is the process of a rank; among the tests it does nothing.
func TestRank(t *testing.T) {
	var p part
	switch text := os.Getenv(rankProcess); {
	case text == "":
		t.Skip("no process of its own")
	case json.Unmarshal([]byte(text), &p) != nil:
		t.Fatal(text)
	}
	p.Observers = []train.Observer{stepped(func(step int) {
		fmt.Println("step", step)
		if step == p.Naps {
			time.Sleep(3 * p.Timeout)
		}
	})}
	transport, err := parallel.Dial(t.Context(), p.Address, p.Rank, p.Ranks, parallel.Timeout(p.Timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	fmt.Println("step 0")
	if err := over(t.Context(), transport, parallel.Config{Lanes: p.Lanes, Shard: p.Shard}, p.Job); err != nil {
		t.Fatal(err)
	}
}

func stepped(do func(step int)) train.Observer {
	return train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped {
			do(e.Step)
		}
		return nil
	})
}

// process is a rank that runs, and what it has printed.
type process struct {
	*exec.Cmd
	mu   sync.Mutex
	text strings.Builder
	line string        // to wait for
	seen chan struct{} // closed when the line has been printed
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	if p.line != "" && strings.Contains(p.text.String(), p.line+"\n") {
		p.line = ""
		close(p.seen)
	}
	return len(b), nil
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// start starts all ranks of a training. One of them is waited for until it has taken a step; it alone
// naps.
func start(t *testing.T, of part, watched, step int) []*process {
	t.Helper()
	all := make([]*process, of.Ranks)
	naps := of.Naps
	for rank := range all {
		of.Rank, of.Naps = rank, 0
		if rank == watched {
			of.Naps = naps
		}
		text, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		p := &process{Cmd: exec.Command(os.Args[0], "-test.run=^TestRank$"), seen: make(chan struct{})}
		if rank == watched {
			p.line = fmt.Sprint("step ", step)
		}
		p.Env = append(os.Environ(), rankProcess+"="+string(text))
		p.Stdout, p.Stderr = p, p
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		all[rank] = p
		t.Cleanup(func() { p.Process.Kill() })
	}
	select {
	case <-all[watched].seen:
	case <-time.After(2 * time.Minute):
		for rank, p := range all {
			t.Errorf("rank %d takes no step %d: %s", rank, step, p.output())
		}
		t.FailNow()
	}
	return all
}

// disturbed is a training of 60 steps that keeps a checkpoint every 4 and measures every 12.
func disturbed(net, folder string) ranktrain.Job {
	return ranktrain.Job{Net: net, Steps: 60, Every: 4, Measure: 12, Workers: 1, Folder: folder}
}

// undisturbed returns the hash of the same on one rank that nothing happens to.
func undisturbed(t *testing.T, net string) string {
	t.Helper()
	dir := t.TempDir()
	run{1, 24, "local", 1, false}.train(t, disturbed(net, dir))
	return sum(t, dir)
}

// goesOn looks at what a training that came to an untimely end has left behind, and lets it go on
// with other ranks.
func goesOn(t *testing.T, name string, job ranktrain.Job, want string, step int, as run) {
	t.Helper()
	s, damaged, err := checkpoint.Folder{Dir: job.Folder}.Latest()
	switch {
	case len(damaged) > 0:
		t.Errorf("%s: the newest checkpoint is damaged: %v", name, damaged)
	case errors.Is(err, checkpoint.ErrNone) && step < 8:
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case s.Store.Step()+8 < uint64(step): // one that was due may be lost
		t.Errorf("%s: the newest checkpoint is of step %d", name, s.Store.Step())
	}
	as.train(t, disturbed(job.Net, job.Folder))
	if got := sum(t, job.Folder); got != want {
		t.Errorf("%s: it goes on to %.16s; undisturbed it is %.16s", name, got, want)
	}
}

// TestGoesOn: a training that has ended goes on to more steps as if it had been told of them at once.
// The source lines in its checkpoints are those of this test, below however many calls a net is built.
func TestGoesOn(t *testing.T) {
	for _, net := range ranktrain.Nets() {
		job := disturbed(net, t.TempDir())
		job.Steps = 8
		run{2, 24, "local", 1, false}.train(t, job)
		goesOn(t, net, job, undisturbed(t, net), job.Steps, others[0])
	}
}

// others are how trainings go on after four ranks.
var others = []run{{2, 24, "local", 1, false}, {1, 24, "local", 2, true}, {3, 24, "unix", 1, true}, {8, 24, "local", 1, false}}

// TestKilled: when a rank is killed at any moment, all others end within seconds and name it, the
// newest checkpoint is whole, and other ranks go on from it to the same bits. With TAPESTRY_LONG each
// of the four ranks is killed at 20 moments, of trainings of all nets.
func TestKilled(t *testing.T) {
	nets := ranktrain.Nets()
	want := map[string]string{}
	const ranks, moments = 4, 20
	slowest := time.Duration(0)
	for moment := range moments {
		for victim := range ranks {
			if !long() && (moment != 2+7*victim || victim == 1) {
				continue
			}
			rng := rand.New(rand.NewPCG(uint64(moment), uint64(victim)))
			step := 3 * moment // 0 is before the model is compiled
			delay := time.Duration(rng.IntN(5000)) * time.Microsecond
			net := nets[(moment/2+victim)%len(nets)]
			if want[net] == "" {
				want[net] = undisturbed(t, net)
			}
			name := fmt.Sprintf("%s, rank %d at step %d and %v", net, victim, step, delay)
			of := part{Ranks: ranks, Lanes: 24, Shard: moment%2 == 1, Timeout: time.Minute}
			var all []*process
			var errs []error
			for range 10 { // on a busy machine the kill may come when all is over
				of.Job, of.Address = disturbed(net, t.TempDir()), meeting(t)
				all = start(t, of, victim, step)
				time.Sleep(delay)
				all[victim].Process.Kill()
				var took time.Duration
				errs, took = ends(t, name, all, victim)
				all[victim].Wait()
				if errors.Join(errs...) != nil {
					slowest = max(slowest, took)
					break
				}
			}
			say(t, name, all, errs, victim, fmt.Sprintf("rank %d is lost: ", victim))
			goesOn(t, name, of.Job, want[net], step, others[moment%len(others)])
		}
	}
	t.Logf("the last rank ended %v after the kill at the most", slowest)
	if slowest > 10*time.Second {
		t.Errorf("the other ranks ended after %v", slowest)
	}
}

// meeting returns an address for the ranks of a job.
func meeting(t *testing.T) string {
	dir, err := os.MkdirTemp("", "ranks") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return "unix://" + dir + "/job"
}

// ends waits for the end of all processes but one, and returns their errors and how long they took.
func ends(t *testing.T, name string, all []*process, but int) ([]error, time.Duration) {
	t.Helper()
	begun := time.Now()
	hang := time.AfterFunc(2*time.Minute, func() {
		for rank, p := range all {
			t.Errorf("%s: rank %d hangs: %s", name, rank, p.output())
			p.Process.Kill()
		}
	})
	defer hang.Stop()
	errs := make([]error, len(all))
	for rank, p := range all {
		if rank != but {
			errs[rank] = p.Wait()
		}
	}
	return errs, time.Since(begun)
}

// say looks at what all processes but one have said at their end.
func say(t *testing.T, name string, all []*process, errs []error, but int, want string) {
	t.Helper()
	for rank, p := range all {
		if exit := (*exec.ExitError)(nil); rank != but && (!errors.As(errs[rank], &exit) || !strings.Contains(p.output(), want)) {
			t.Errorf("%s: rank %d does not say %q but %v: %s", name, rank, want, errs[rank], p.output())
		}
	}
}

// TestEndsWhileMeasuring: a training that ends after its last step, while it is measured, goes on to
// the checkpoints of one that does not.
func TestEndsWhileMeasuring(t *testing.T) {
	want := undisturbed(t, "mlp")
	job := disturbed("mlp", t.TempDir())
	stop := errors.New("the disk of the log is full")
	broken := job
	broken.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Validated && e.Step == job.Steps {
			return stop
		}
		return nil
	})}
	alone, err := parallel.Alone(parallel.Config{Lanes: 24})
	if err != nil {
		t.Fatal(err)
	}
	if err := broken.Run(t.Context(), alone); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	goesOn(t, "a training that ends while it is measured", job, want, job.Steps, others[0])
}

// TestSlowRank: a rank that others have waited for longer than the timeout ends the job.
func TestSlowRank(t *testing.T) {
	if !long() {
		t.Skip("it waits for timeouts")
	}
	want := undisturbed(t, "mlp")
	job := disturbed("mlp", t.TempDir())
	timeout := 10 * time.Second
	all := start(t, part{Job: job, Ranks: 4, Lanes: 24, Address: meeting(t), Timeout: timeout, Naps: 21}, 2, 21)
	errs, took := ends(t, "a rank that naps", all, -1)
	say(t, "a rank that naps", all, errs, -1, "rank 2 is lost: ")
	for rank, p := range all {
		if text := p.output(); !strings.Contains(text, "has waited for it for 10s, and it is at work still") {
			t.Errorf("rank %d: %s", rank, text)
		}
	}
	if took > 3*timeout+20*time.Second {
		t.Error(took)
	}
	goesOn(t, "a rank that naps", job, want, 21, others[0])
}

// TestBrokenLink: whatever a link between two ranks does while they train, both end with an error,
// and the training goes on from the newest checkpoint to the same bits. A link that is slow changes
// nothing. With TAPESTRY_LONG each fault happens at six moments in both directions.
func TestBrokenLink(t *testing.T) {
	want := undisturbed(t, "mlp")
	count := 0
	for i, kind := range linkfault.Kinds() {
		for moment := range 6 {
			for _, back := range []bool{false, true} {
				waits := kind == linkfault.Silence || kind == linkfault.Delay
				if !long() && (waits || kind == linkfault.Reset || kind == linkfault.Repeat || moment != i%6 || back != (i%2 == 0)) {
					continue
				}
				timeout := time.Minute
				if waits {
					timeout = 5 * time.Second
				}
				// A step sends some 5 kB.
				f := linkfault.Fault{Kind: kind, Connection: 1, Back: back, After: 20000 + moment*37003, Wait: 10 * time.Second}
				if kind == linkfault.Slow {
					f.Wait = time.Second
				}
				job := disturbed("mlp", t.TempDir())
				errs, hit := overLink(t, f, timeout, job)
				switch {
				case !hit:
					t.Errorf("%v: the fault did not happen: %v", f, errs)
				case kind == linkfault.Slow && errors.Join(errs...) != nil,
					kind != linkfault.Slow && (errs[0] == nil || errs[1] == nil):
					t.Errorf("%v: %v", f, errs)
				}
				goesOn(t, f.String(), job, want, 0, others[(i+moment)%len(others)])
				count++
			}
		}
	}
	t.Logf("%d faults", count)
}

// overLink does a job on two ranks, with a fault between them.
func overLink(t *testing.T, f linkfault.Fault, timeout time.Duration, job ranktrain.Job) (errs []error, hit bool) {
	t.Helper()
	port := 10000 + rand.IntN(10000)
	real := fmt.Sprintf("127.0.0.1:%d", port)
	p, err := linkfault.New(real, f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	errs = make([]error, 2)
	var all sync.WaitGroup
	for rank, address := range []string{real, p.Address()} {
		all.Go(func() {
			errs[rank] = func() error {
				transport, err := parallel.Dial(context.Background(), "tcp://"+address, rank, 2, parallel.Timeout(timeout))
				if err != nil {
					return err
				}
				defer transport.Close()
				return over(context.Background(), transport, parallel.Config{Lanes: 24}, job)
			}()
		})
	}
	all.Wait()
	return errs, p.Hit()
}

// TestInstructionSets: ranks that compute with other instructions give other bits, so they do not
// train together.
func TestInstructionSets(t *testing.T) {
	if simd.Best() == simd.Portable {
		t.Skip("this machine has one instruction set")
	}
	t.Setenv("TAPESTRY_ISA", simd.Best().String())
	address, begun := meeting(t), make(chan []byte)
	for rank, isa := range []string{simd.Best().String(), simd.Portable.String()} {
		text, err := json.Marshal(part{Job: disturbed("mlp", t.TempDir()), Rank: rank, Ranks: 2, Lanes: 8, Address: address, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c := exec.Command(os.Args[0], "-test.run=^TestRank$")
			c.Env = append(os.Environ(), rankProcess+"="+string(text), "TAPESTRY_ISA="+isa)
			out, _ := c.CombinedOutput()
			begun <- out
		}()
	}
	want := fmt.Sprintf("ranks differ in instruction set: %v on rank 0; portable on rank 1", simd.Best())
	for range 2 {
		if out := string(<-begun); !strings.Contains(out, want) || strings.Contains(out, "step 1\n") {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
}
