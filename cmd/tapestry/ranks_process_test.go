package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child makes this test program a process that runs the command.
const child = "TAPESTRY_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "command" {
		main()
		return
	}
	os.Exit(m.Run())
}

// rankProcess is one of the ranks of a job, a process of its own.
type rankProcess struct {
	*exec.Cmd
	out, errOut bytes.Buffer
}

// start starts the ranks of a job in the current folder, each with the flags of the line and one
// more: that of its own, if there is one.
func start(t *testing.T, line string, ranks int, own ...string) []*rankProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(shortTemp(t), "job")
	job := make([]*rankProcess, ranks)
	for r := range job {
		args := append(strings.Fields(line), "--ranks", "unix://"+socket, "--rank", fmt.Sprintf("%d/%d", r, ranks), "--ranks-timeout", "20s")
		if r < len(own) {
			args = append(args, strings.Fields(own[r])...)
		}
		p := &rankProcess{Cmd: exec.Command(self, args...)}
		p.Env = append(os.Environ(), child+"=command")
		p.Stdout, p.Stderr = &p.out, &p.errOut
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Process.Kill() })
		job[r] = p
	}
	return job
}

// shortTemp is a folder for sockets, whose paths may have about 100 characters.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// end waits for a rank for at most so long, and returns its exit code; −1 if a signal ended it.
func (p *rankProcess) end(t *testing.T, within time.Duration) int {
	t.Helper()
	late := time.AfterFunc(within, func() { _ = p.Process.Kill() })
	_ = p.Wait()
	if !late.Stop() {
		t.Errorf("%v has not ended within %v: %s%s", p.Args[1:], within, &p.out, &p.errOut)
	}
	return p.ProcessState.ExitCode()
}

// together runs a job to its end, which must be a good one, and returns what rank 0 prints. The
// others print nothing.
func together(t *testing.T, line string, ranks int) string {
	t.Helper()
	job := start(t, line, ranks)
	for r, p := range job {
		if code := p.end(t, 2*time.Minute); code != 0 {
			t.Errorf("%s, rank %d of %d: exit code %d, %s", line, r, ranks, code, &p.errOut)
		}
		if r > 0 && p.out.Len()+p.errOut.Len() > 0 {
			t.Errorf("%s: rank %d prints %s%s", line, r, &p.out, &p.errOut)
		}
	}
	return job[0].out.String()
}

// TestRanksHaveTheSameBits: what one process trains in lanes, and what several do, is the same to the
// byte, in what is printed and in the checkpoint, for models of every kind.
func TestRanksHaveTheSameBits(t *testing.T) {
	t.Chdir(t.TempDir())
	repository := repositoryOf(t)
	writeCrossed(t, repository)
	for i, line := range []string{
		"train dropout --data iris --validation 0.2 --standardise --batch 24 --epochs 3",
		"train transformer-gpt --steps 4 --rate warmup(2,cosine(0.003,2)) --clip-norm 1",
		"train net.tapestry --data iris --steps 5",
		"train kmeans-softmax --data flowers.csv --steps 12 --seeds 1",
		"train flowers.onnx{loss=crossentropy} --data flowers.csv --steps 6 --patience 2 --validation 0.25",
		"train norm-batch --steps 5",
		"train loss-cross-entropy --steps 5 --optimiser lazyadam --ema 0.9",
	} {
		if i > 2 && testing.Short() {
			break
		}
		line += " --seed 5 --json"
		want := ok1(t, line+" --lanes 4 --checkpoint alone"+fmt.Sprint(i)+" --log alone.jsonl")
		if i == 0 && ok1(t, line) == strings.Replace(want, `"lanes":4,`, "", 1) {
			t.Error("batches are not cut into lanes")
		}
		for _, more := range []string{"", " --shard"} {
			for _, ranks := range []int{2, 4} {
				if ranks == 4 && i > 0 {
					continue
				}
				dir := fmt.Sprintf("together%d-%d%s", i, ranks, strings.TrimLeft(more, " -"))
				if got := together(t, line+" --lanes 4 --checkpoint "+dir+" --log "+dir+".jsonl"+more, ranks); got != want {
					t.Errorf("%s%s on %d ranks: %s, alone %s", line, more, ranks, got, want)
				}
				a, b := newest(t, fmt.Sprint("alone", i)), newest(t, dir)
				if code, out, errOut := tapestry(t, "checkpoint", "diff", a, b); code != 0 {
					t.Errorf("%s%s on %d ranks: %s%s", line, more, ranks, out, errOut)
				}
				if log, err := os.ReadFile(dir + ".jsonl"); err != nil || bytes.Count(log, []byte(`"event":"begun"`)) != 1 {
					t.Errorf("%s%s on %d ranks: the log is %s, %v", line, more, ranks, log, err)
				}
			}
		}
	}
}

// ok1 runs a line in this process, and fails the test if it fails.
func ok1(t *testing.T, line string) string {
	t.Helper()
	code, out, errOut := tapestry(t, strings.Fields(line)...)
	if code != 0 {
		t.Fatalf("tapestry %s: exit code %d, %s", line, code, errOut)
	}
	return out
}

// newest returns the newest checkpoint of a folder.
func newest(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+checkpointExtension))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no checkpoint: %v", dir, err)
	}
	return files[len(files)-1]
}

// repositoryOf returns the root of the repository; call it before the folder changes.
func repositoryOf(t *testing.T) string {
	t.Helper()
	_, file, _, found := runtime.Caller(0)
	if !found {
		t.Fatal("no source file")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// TestResumeOnOtherRanks: a training that goes on with another number of ranks ends as one that
// never stopped.
func TestResumeOnOtherRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	line := "train dropout --data iris --batch 24 --lanes 4 --json"
	ok1(t, line+" --steps 12 --checkpoint whole")
	together(t, line+" --steps 4 --checkpoint parts", 2)
	together(t, line+" --steps 8 --checkpoint parts --resume --shard", 4)
	ok1(t, line+" --steps 12 --checkpoint parts --resume")
	if code, out, errOut := tapestry(t, "checkpoint", "diff", newest(t, "whole"), newest(t, "parts")); code != 0 {
		t.Errorf("%s%s", out, errOut)
	}
	if code, _, errOut := tapestry(t, strings.Fields(strings.Replace(line, "--lanes 4", "--lanes 2", 1)+" --steps 14 --checkpoint parts --resume")...); code != 1 || !strings.Contains(errOut, "lanes") {
		t.Errorf("other lanes: exit code %d, %s", code, errOut)
	}
}

// underWay starts a job that trains for long, and returns once its log has some steps.
func underWay(t *testing.T, ranks int) []*rankProcess {
	t.Helper()
	job := start(t, "train dropout --data iris --batch 24 --lanes 4 --steps 100000000 --checkpoint kept --log log.jsonl", ranks)
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if log, err := os.ReadFile("log.jsonl"); err == nil && bytes.Count(log, []byte("\n")) > 20 {
			return job
		}
	}
	t.Fatalf("the training does not begin: %s%s", &job[0].errOut, &job[1].errOut)
	return nil
}

// TestInterruptedRank: an interruption of one rank ends all after the same step, and leaves a
// checkpoint.
func TestInterruptedRank(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are not interrupted on Windows")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Chdir(t.TempDir())
		job := underWay(t, 2)
		if err := job[1].Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for r, p := range job {
			if code := p.end(t, 20*time.Second); code != 130 {
				t.Errorf("%v, rank %d: exit code %d, %s", signal, r, code, &p.errOut)
			}
		}
		if said := job[0].errOut.String(); !strings.Contains(said, "tapestry: interrupted after ") || !strings.Contains(said, "--resume goes on from there") || job[1].errOut.Len() > 0 {
			t.Errorf("%v: %s, and rank 1 %s", signal, said, &job[1].errOut)
		}
		newest(t, "kept")
	}
}

// TestLostRank: the death of a rank ends the others, which name it, and the checkpoint is whole. Rank
// 0 has said which process each rank is.
func TestLostRank(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, lost := range []int{1, 0} {
		t.Chdir(t.TempDir())
		job := underWay(t, 2)
		if err := job[lost].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		left := job[1-lost]
		code, said := left.end(t, 10*time.Second), left.errOut.String()
		if lost == 1 { // what rank 0 says first
			begun := ""
			for r, p := range job {
				begun += fmt.Sprintf("tapestry: rank %d is process %d on %s\n", r, p.Process.Pid, host)
			}
			if !strings.HasPrefix(said, begun) {
				t.Errorf("%s, want first\n%s", said, begun)
			}
			said = strings.TrimPrefix(said, begun)
		}
		if code != 1 || !strings.Contains(said, fmt.Sprintf("rank %d", lost)) {
			t.Errorf("exit code %d, %s", code, said)
		}
		_ = job[lost].Wait()
		if lost == 1 { // rank 0, which is left, has written what it had
			ok1(t, "checkpoint verify "+newest(t, "kept"))
		}
	}
}

// TestRanksThatDiffer: ranks with different flags are refused on all, by the flag's name.
func TestRanksThatDiffer(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.tapestry", []byte(netOnRows), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ own0, own1, want string }{
		{"--rate 0.1", "--rate 0.2", "--rate"},
		{"--lanes 4", "--lanes 8", "lanes"},
		{"--seed 1", "--seed 2", "--seed"},
		{"--shard", "", "shard"},
	} {
		job := start(t, "train net.tapestry --data iris --steps 3", 2, c.own0, c.own1)
		for r, p := range job {
			if code := p.end(t, 20*time.Second); code != 1 || !strings.Contains(p.errOut.String(), c.want) {
				t.Errorf("%s and %s, rank %d: exit code %d, %s", c.own0, c.own1, r, code, &p.errOut)
			}
		}
	}
}
