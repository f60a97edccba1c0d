// Bench lets the examples train in turns with the same models in PyTorch, and prints how
// long either takes: of the training alone, and of the whole program.
//
//	go run ./bench -rounds 3
//	go run ./bench -only dates -threads 2
//	go run ./bench -table results.jsonl
//
// Each training is a process of its own on the first cores. Its figures are a JSON line in
// the file that -out names. Where Python or PyTorch is missing, Tapestry is measured alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// peers are PyTorch as it comes; with the AVX-512 that it and OpenBLAS often leave unused on
// processors that have it; and, on several cores, either with the OpenBLAS whose threads are
// those of OpenMP, as PyTorch's own are, where it is installed: the threads of Debian's
// first choice get in the way of PyTorch's.
func peers() []torch {
	avx512 := []string{"OPENBLAS_CORETYPE=SkylakeX", "ATEN_CPU_CAPABILITY=avx512"}
	all := []torch{{name: "torch"}, {name: "torch-avx512", environment: avx512}}
	if found, _ := filepath.Glob("/usr/lib/*/openblas-openmp"); len(found) > 0 {
		path := "LD_LIBRARY_PATH=" + found[0]
		all = append(all,
			torch{name: "torch-openmp", environment: []string{path}, several: true},
			torch{name: "torch-openmp-avx512", environment: append([]string{path}, avx512...), several: true})
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil && strings.Contains(string(info), " avx512f ") {
		return all
	}
	return slices.DeleteFunc(all, func(p torch) bool { return strings.HasSuffix(p.name, "avx512") })
}

// bench is what to measure, and how often.
type bench struct {
	rounds    int
	threads   []int
	only      *regexp.Regexp
	peers     []torch
	python    string
	root      string // of the module
	directory string // of what is built
}

func main() {
	rounds := flag.Int("rounds", 3, "how `often` each training is done, each time with another seed")
	threads := flag.String("threads", "1,2", "`numbers` of cores to train on")
	only := flag.String("only", "", "a regular `expression` that the names of the trainings match: "+list(trainings, name))
	python := flag.String("python", "python3", "an `interpreter` that has torch")
	peer := flag.String("peers", "", "a regular `expression` that the names of the ways to run PyTorch match: "+list(peers(), func(p torch) string { return p.name })+"; the fastest counts")
	out := flag.String("out", "results.jsonl", "`file` that a line is appended to for each training")
	table := flag.String("table", "", "print the tables of such a `file`, and measure nothing")
	maxOthers := flag.Float64("max-others", 0.1, "leave out trainings during which others had more than this `part` of the cores")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := func() error {
		if *table != "" {
			return printFile(os.Stdout, *table, *maxOthers)
		}
		b := bench{rounds: *rounds, python: *python}
		var err error
		if b.only, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		among, err := regexp.Compile(*peer)
		if err != nil {
			return fmt.Errorf("-peers: %w", err)
		}
		b.peers = slices.DeleteFunc(peers(), func(p torch) bool { return !among.MatchString(p.name) })
		for _, field := range strings.Split(*threads, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 1 || n > runtime.NumCPU() {
				return fmt.Errorf("-threads %s: want numbers from 1 to the %d cores there are", *threads, runtime.NumCPU())
			}
			b.threads = append(b.threads, n)
		}
		file, err := os.OpenFile(*out, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return err
		}
		runs, err := b.measure(ctx, json.NewEncoder(file))
		return errors.Join(err, file.Close(), tables(os.Stdout, runs, *maxOthers))
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func name(t training) string { return t.name }

// list names all of a kind.
func list[T any](all []T, name func(T) string) string {
	var names []string
	for _, t := range all {
		names = append(names, name(t))
	}
	return strings.Join(names, ", ")
}

// printFile prints the tables of lines that were measured before.
func printFile(w io.Writer, name string, maxOthers float64) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var runs []run
	for d := json.NewDecoder(file); ; {
		var r run
		if err := d.Decode(&r); err == io.EOF {
			return tables(w, runs, maxOthers)
		} else if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, len(runs)+1, err)
		}
		runs = append(runs, r)
	}
}

// measure does all trainings in rounds, the peers one after the other.
func (b *bench) measure(ctx context.Context, out *json.Encoder) (runs []run, err error) {
	var chosen []training
	for _, t := range trainings {
		if b.only.MatchString(t.name) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %s: no training has such a name: there are %s", b.only, list(trainings, name))
	}
	if err := b.build(ctx, chosen); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.directory)
	if version, err := exec.CommandContext(ctx, b.python, "-c", "import torch; print(torch.__version__)").CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(version)), "\n")
		fmt.Fprintf(os.Stderr, "bench: there is no PyTorch, Tapestry is measured alone: %s: %v %s\n", b.python, err, lines[len(lines)-1])
		b.peers = nil
	} else {
		fmt.Fprintf(os.Stderr, "bench: PyTorch %s", version)
	}
	note := func(r run, err error) error {
		if err != nil {
			return err
		}
		runs = append(runs, r)
		fmt.Fprintf(os.Stderr, "%-20s %-19s threads %d, seed %d: %8.3f s, whole program %8.3f s; others had %.0f %%\n", r.Training, r.Peer, r.Threads, r.Seed, r.Seconds, r.Whole, 100*r.Others)
		return out.Encode(r)
	}
	program := filepath.Join(b.root, "bench", "trainings.py")
	for seed := range b.rounds {
		for _, threads := range b.threads {
			for _, t := range chosen {
				if err := note(ours(ctx, t, b.directory, threads, seed)); err != nil {
					return runs, err
				}
				for _, p := range b.peers {
					if p.several && threads == 1 {
						continue
					}
					if err := note(p.of(ctx, t, b.python, program, threads, seed)); err != nil {
						return runs, err
					}
				}
			}
		}
	}
	return runs, nil
}

// build builds the examples of trainings.
func (b *bench) build(ctx context.Context, chosen []training) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("finding the module: %w", err)
	}
	b.root = strings.TrimSpace(string(root))
	if b.directory, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	args := []string{"build", "-o", b.directory + string(filepath.Separator)}
	for _, t := range chosen {
		args = append(args, "./examples/"+t.example)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = b.root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("building the examples: %w", err), os.RemoveAll(b.directory))
	}
	return nil
}
