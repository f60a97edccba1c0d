package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// run is one training of one peer: a process of its own.
type run struct {
	Training string  `json:"training"`
	Peer     string  `json:"peer"` // tapestry, or one of PyTorch's
	Threads  int     `json:"threads"`
	Seed     int     `json:"seed"`
	Steps    int     `json:"steps"`
	Seconds  float64 `json:"seconds"` // of the steps, drawing batches and compiling included, measuring the model not
	Result   float64 `json:"result"`
	Whole    float64 `json:"whole_seconds"` // of the process, but for other trainings that it does
	CPU      float64 `json:"cpu_seconds"`   // of the process
	Others   float64 `json:"others_share"`  // of the time of the cores, that other programs had
}

// process is what a process printed and used.
type process struct {
	printed            []byte
	whole, cpu, others float64
}

// measure runs a command on the first cores alone, where there is taskset, and waits for it.
// An error has the end of what the command complained of.
func measure(ctx context.Context, threads int, environment []string, command ...string) (process, error) {
	cores := 0 // all
	if taskset, err := exec.LookPath("taskset"); err == nil {
		cores = threads
		command = append([]string{taskset, "-c", fmt.Sprintf("0-%d", threads-1)}, command...)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), append(environment, fmt.Sprintf("GOMAXPROCS=%d", threads), "PYTHONDONTWRITEBYTECODE=1")...)
	var printed, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &complained
	worked, begun := busy(cores), time.Now()
	err := cmd.Run()
	p := process{printed: printed.Bytes(), whole: time.Since(begun).Seconds()}
	if cmd.ProcessState != nil {
		p.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	if elapsed := busy(cores) - worked; elapsed > 0 {
		p.others = max(0, elapsed-p.cpu) / (p.whole * float64(threads))
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complained.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, lines[len(lines)-1])
	}
	return p, err
}

// busy is how many seconds the first cores, or all, have worked since the machine started,
// for whomever; 0 where nobody counts.
func busy(cores int) float64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	const perSecond = 100 // USER_HZ, which is 100 on every Linux that Go runs on
	ticks := 0
	for line := range strings.Lines(string(stat)) {
		fields := strings.Fields(line)
		core, err := strconv.Atoi(strings.TrimPrefix(fields[0], "cpu"))
		if err != nil || cores > 0 && core >= cores || len(fields) < 9 {
			continue
		}
		for i, field := range fields[1:9] { // user nice system idle iowait irq softirq steal
			if n, err := strconv.Atoi(field); err == nil && i != 3 && i != 4 {
				ticks += n
			}
		}
	}
	return float64(ticks) / perSecond
}

// ours runs the example of a training, which was built into a directory.
func ours(ctx context.Context, t training, directory string, threads, seed int) (run, error) {
	log := filepath.Join(directory, "log.jsonl")
	command := append([]string{filepath.Join(directory, t.example), "-seed", strconv.Itoa(seed), "-workers", strconv.Itoa(threads), "-log", log}, t.args...)
	p, failed := measure(ctx, threads, nil, command...)
	r := run{Training: t.name, Peer: "tapestry", Threads: threads, Seed: seed, CPU: rounded(p.cpu), Others: rounded(p.others)}
	// An example that misses what it must reach fails, too, which a single seed may.
	found := t.result.FindSubmatch(p.printed)
	if found == nil {
		return run{}, errors.Join(failed, fmt.Errorf("examples/%s prints no result like %s", t.example, t.result))
	}
	var err error
	if r.Result, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return run{}, err
	}
	file, err := os.Open(log)
	if err != nil {
		return run{}, err
	}
	defer file.Close()
	fits, err := readFits(file)
	if err != nil {
		return run{}, fmt.Errorf("the log of examples/%s: %w", t.example, err)
	}
	if t.fit >= len(fits) {
		return run{}, fmt.Errorf("examples/%s logs %d trainings, want %d: has its plan the lesson's observers?", t.example, len(fits), t.fit+1)
	}
	whole := p.whole
	for i, f := range fits {
		if i != t.fit {
			whole -= f.whole
		}
	}
	r.Steps, r.Seconds, r.Whole = fits[t.fit].steps, rounded(fits[t.fit].training), rounded(whole)
	return r, nil
}

// rounded is exact to the microsecond.
func rounded(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

// fit is a training in a log.
type fit struct {
	steps           int
	training, whole float64 // seconds without and with what measuring the model took
}

// readFits reads the log of an example: package train/watch has its form.
func readFits(r io.Reader) (fits []fit, err error) {
	var last time.Time
	for d := json.NewDecoder(r); ; {
		var e struct {
			Event string
			Step  int
			Time  time.Time
			Error string
		}
		if err := d.Decode(&e); err == io.EOF {
			return fits, nil
		} else if err != nil {
			return nil, err
		}
		if e.Event == "begun" {
			fits = append(fits, fit{})
			last = e.Time
		}
		if len(fits) == 0 || e.Error != "" {
			return nil, fmt.Errorf("%s after %d steps: %s", e.Event, e.Step, e.Error)
		}
		f := &fits[len(fits)-1]
		took := e.Time.Sub(last).Seconds()
		if f.steps, f.whole = e.Step, f.whole+took; e.Event != "validated" && e.Event != "saved" {
			f.training += took
		}
		last = e.Time
	}
}

// torch is a peer's way to run PyTorch.
type torch struct {
	name        string
	environment []string
	several     bool // only with several threads
}

// of runs a training in PyTorch.
func (p torch) of(ctx context.Context, t training, python, program string, threads, seed int) (run, error) {
	out, err := measure(ctx, threads, p.environment, python, program, t.name, "--threads", strconv.Itoa(threads), "--seed", strconv.Itoa(seed))
	if err != nil {
		return run{}, err
	}
	var r run
	if err := json.Unmarshal(out.printed, &r); err != nil {
		return run{}, fmt.Errorf("%s %s: %w", program, t.name, err)
	}
	r.Peer, r.Whole, r.CPU, r.Others = p.name, rounded(out.whole), rounded(out.cpu), rounded(out.others)
	return r, nil
}
