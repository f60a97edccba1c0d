package train_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// child is what a process of its own does, which is this test program with TAPESTRY_CHILD
// set to a task and its arguments.
const child = "TAPESTRY_CHILD"

// TestChild is the other process; among the tests it does nothing.
func TestChild(t *testing.T) {
	task := strings.SplitN(os.Getenv(child), " ", 3) // the last, a folder, may have spaces
	if task[0] == "" {
		t.Skip("no process of its own")
	}
	number := func(i int) int {
		n, err := strconv.Atoi(task[i])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	switch task[0] {
	case "train":
		tr := stochasticTrainer(t)
		plan := patientPlan(t, tr, number(1))
		plan.Checkpoints, plan.Resume = train.Checkpoints{Dir: task[2], Every: 1, Keep: 2}, task[2]
		plan.Observers = []train.Observer{sampling(t, tr), train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				fmt.Println("step", e.Step)
			}
			return nil
		})}
		if err := tr.Fit(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(task[2], "end"), []byte(bits(t, tr.Store())), 0o666); err != nil {
			t.Fatal(err)
		}
	case "wide":
		before := runtime.NumGoroutine()
		tr := wideTrainer(t, number(1))
		fmt.Printf("bits %x\n", sha256.Sum256([]byte(bits(t, tr.Store()))))
		fmt.Println("goroutines", runtime.NumGoroutine()-before)
	}
}

// process starts the other process.
func process(t *testing.T, task string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(append(os.Environ(), child+"="+task), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Skipf("starting a process: %v", err)
	}
	return cmd, bufio.NewScanner(out)
}

// patientPlan trains for some steps, measures every third, and restores the best.
func patientPlan(t testing.TB, tr *train.Trainer, steps int) train.Plan {
	held := data.InOrder(iris(t), 60)
	return train.Plan{
		Data: data.Shuffled(iris(t), 64, 3), Steps: steps, Rate: train.Cosine(0.05, steps),
		Every: 3, Patience: steps, Validate: func(ctx context.Context) (metric.Scores, error) { return tr.Evaluate(ctx, held) },
	}
}

// TestKill kills a training, which writes a checkpoint after each step, at random moments. It
// draws random numbers in its steps, between them, and in the measurements that it stops by.
// The newest checkpoint is whole every time, and in the end every bit is that of a
// training that was left alone.
func TestKill(t *testing.T) {
	kills := 3
	if os.Getenv("TAPESTRY_LONG") != "" {
		kills = 50
	}
	steps := 20*kills + 20
	dir := filepath.Join(t.TempDir(), "runs")
	rng := rand.New(rand.NewPCG(1, 2))
	task := fmt.Sprintf("train %d %s", steps, dir)
	newest := uint64(0)
	for k := range kills {
		cmd, lines := process(t, task)
		seen, more := 0, 1+rng.IntN(18)
		for more > 0 && lines.Scan() {
			if n, err := fmt.Sscanf(lines.Text(), "step %d", &seen); n == 1 && err == nil {
				more--
			}
		}
		time.Sleep(time.Duration(rng.Int64N(int64(6 * time.Millisecond))))
		cmd.Process.Kill()
		for lines.Scan() { // it may have come further
			fmt.Sscanf(lines.Text(), "step %d", &seen)
		}
		cmd.Wait()
		s, damaged, err := checkpoint.Folder{Dir: dir}.Latest()
		if seen < 1 || seen >= steps {
			t.Fatalf("kill %d: after step %d of %d: no moment to kill at", k, seen, steps)
		}
		if err != nil || damaged != nil || s.Store.Step() < newest || s.Store.Step() < uint64(seen)-1 {
			t.Fatalf("kill %d, after step %d: %v, %v, %v", k, seen, s, damaged, err)
		}
		newest = s.Store.Step()
		entries, _ := os.ReadDir(dir)
		t.Logf("kill %d: after step %d, the newest is %s among %v", k, seen, filepath.Base(s.Path), entries)
	}
	cmd, lines := process(t, task)
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "end"))
	if err != nil {
		t.Fatal(err)
	}
	tr := stochasticTrainer(t)
	plan := patientPlan(t, tr, steps)
	plan.Observers = []train.Observer{sampling(t, tr)}
	if err := tr.Fit(context.Background(), plan); err != nil {
		t.Fatal(err)
	}
	if want := bits(t, tr.Store()); string(got) != want {
		t.Errorf("killed %d times, the training ends with\n%s\nnot\n%s", kills, got, want)
	}
	release, err := checkpoint.Folder{Dir: dir}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if paths, err := filepath.Glob(filepath.Join(dir, ".*")); len(paths) > 0 || err != nil {
		t.Errorf("left behind: %q, %v", paths, err)
	}
}

// wideTrainer trains some steps of a net whose work is worth sharing out.
func wideTrainer(t testing.TB, workers int) *train.Trainer {
	const rows, in, hidden = 256, 128, 256
	build := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("wide")
		n, d, h, c := graph.Ax("n", rows), graph.Ax("d", in), graph.Ax("h", hidden), graph.Ax("c", 10)
		v := nn.NewLinear(g, "fc1", graph.F32, d, h).Of(g.Input("x", graph.F32, n, d))
		v = nn.Dropout(ops.ReLU(v), g.Scalar("drop", 0.2))
		v = nn.NewLayerNorm(g, "norm", graph.F32, h).Of(v)
		return &train.Net{Loss: nn.CrossEntropy(nn.NewLinear(g, "fc2", graph.F32, h, c).Of(v), g.Input("y", graph.I32, n))}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float32, 3*rows/2*in), make([]int32, 3*rows/2) // the second batch is half as large
	for i := range x {
		x[i] = rng.Float32()
	}
	for i := range y {
		y[i] = rng.Int32N(10)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(len(y), in), tensor.WithBacking(x)), "y": tensor.New(tensor.WithShape(len(y)), tensor.WithBacking(y))})
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Build: build, Optimiser: train.AdamW(1e-3, train.ClipNorm(1)), Seed: 5, Workers: workers}
	t.Cleanup(tr.Close)
	if err := tr.Fit(context.Background(), train.Plan{Data: data.Shuffled(set, rows, 6), Steps: 8}); err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestWorkersAcrossProcesses: the same seed gives the same bits on 1, 2 and 8 workers, in
// processes of their own.
func TestWorkersAcrossProcesses(t *testing.T) {
	want := ""
	for _, workers := range []int{1, 2, 8} {
		cmd, lines := process(t, fmt.Sprint("wide ", workers), "GOMAXPROCS=8")
		got, goroutines := "", -1
		for lines.Scan() {
			fmt.Sscanf(lines.Text(), "bits %s", &got)
			fmt.Sscanf(lines.Text(), "goroutines %d", &goroutines)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = got
		}
		if got == "" || got != want || goroutines < workers-1 || workers == 1 && goroutines != 0 {
			t.Errorf("%d workers: %s with %d goroutines more, want %s", workers, got, goroutines, want)
		}
	}
}
