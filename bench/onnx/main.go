//go:build onnxruntime

// Onnx times ONNX files here and in ONNX Runtime, in turns, and prints how long a run of either takes.
//
//	go run -tags onnxruntime ./bench/onnx -seconds 1 -set batch=16 FILE.onnx…
//
// Both compute all outputs in float32 from the same inputs, with as many threads; results that
// differ by more than 10⁻³ of the largest element are an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/tape"
)

// tolerance is what results may differ by, of the largest element.
const tolerance = 1e-3

func main() {
	library := flag.String("library", "", "ONNX Runtime's library; by default that of "+onnxruntime.Variable)
	seconds := flag.Float64("seconds", 1, "how long to time each file")
	threads := flag.Int("threads", 1, "threads of either engine")
	set := flag.String("set", "", "sizes that files leave open: batch=16,time=20")
	listing := flag.Bool("listing", false, "print the compiled program with the time of each row")
	flag.Parse()
	rt, err := onnxruntime.Open(*library)
	if err != nil {
		fmt.Fprintln(os.Stderr, "onnx:", err)
		os.Exit(1)
	}
	fmt.Printf("| model | here, ms | ONNX Runtime %s, ms | ratio |\n|---|---:|---:|---:|\n", rt.Version())
	failed := false
	for _, name := range flag.Args() {
		t := &turns{out: os.Stdout, rt: rt, threads: *threads, time: time.Duration(*seconds * float64(time.Second)), listing: *listing}
		if err := t.measure(name, *set); err != nil {
			fmt.Fprintf(os.Stderr, "onnx: %s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// turns times one model on both engines.
type turns struct {
	out     io.Writer
	rt      *onnxruntime.Runtime
	threads int
	time    time.Duration
	listing bool
}

func (t *turns) measure(name, set string) error {
	f, err := onnx.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b := f.Builder()
	settings, err := known(b, set)
	if err != nil {
		return err
	}
	m, err := b.Build(settings, graph.F32)
	if err != nil {
		return err
	}
	values := m.Examples(rand.New(rand.NewPCG(1, 2)))
	feed := tape.Tensors(values)

	s, err := t.rt.LoadFile(name, onnxruntime.Options{Threads: t.threads})
	if err != nil {
		return err
	}
	defer s.Close()
	in, err := inputs(s, m, feed)
	if err != nil {
		return err
	}
	out, err := s.Run(context.Background(), in)
	if err != nil {
		return err
	}

	p, err := tape.Compile(m.Graph, tape.Fetch(m.Output))
	if err != nil {
		return err
	}
	vm, err := p.NewVM(tape.NewStore(m.Graph), tape.Workers(t.threads))
	if err != nil {
		return err
	}
	here := func() error { return vm.Run(context.Background(), feed) }
	if err := here(); err != nil {
		return err
	}
	if err := t.same(m, vm, s, out); err != nil {
		return err
	}
	bound, err := s.Bind(in, out)
	if err != nil {
		return err
	}
	defer bound.Close()
	there := func() error { return bound.Run(context.Background()) }

	ours, theirs, err := interleave(t.time, here, there)
	if err != nil {
		return err
	}
	a, z := median(ours), median(theirs)
	fmt.Fprintf(t.out, "| %s | %.4g (%.4g) | %.4g (%.4g) | %.2f |\n", strings.TrimSuffix(filepath.Base(name), onnx.Extension), a, ours[0], z, theirs[0], a/z)
	if t.listing {
		fmt.Fprintln(t.out, p)
	}
	return nil
}

// known reads the settings that a builder has, of those given.
func known(b builders.Builder, set string) (builders.Settings, error) {
	var has []string
	for _, part := range strings.Split(set, ",") {
		name, _, _ := strings.Cut(part, "=")
		if slices.ContainsFunc(b.Hyperparameters, func(h builders.Hyperparameter) bool { return h.Name == name }) {
			has = append(has, part)
		}
	}
	if len(has) == 0 {
		return nil, nil
	}
	return b.ParseSettings(strings.Join(has, ","))
}

// inputs returns the arrays of the model's feed by the names of the file. An input that is not fed
// here, because it is a setting, has its value.
func inputs(s *onnxruntime.Session, m *builders.Model, feed tape.Feed) (map[string]onnxruntime.Array, error) {
	in := map[string]onnxruntime.Array{}
	rest := m.Inputs()
	for _, v := range s.Inputs() {
		if v.Optional {
			continue
		}
		if x, ok := m.Settings[v.Name]; ok && v.Type == onnxruntime.Int64 && !slices.ContainsFunc(rest, func(n *graph.Node) bool { return n.Path() == v.Name }) {
			in[v.Name] = onnxruntime.Of([]int64{int64(x)}, ones(len(v.Dims))...)
			continue
		}
		if len(rest) == 0 {
			return nil, fmt.Errorf("nothing is fed for the input %s", v.Name)
		}
		a, err := onnxruntime.FromTensor(rest[0].Type(), feed[rest[0]])
		if err != nil {
			return nil, err
		}
		in[v.Name], rest = a, rest[1:]
	}
	return in, nil
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// same compares the output with ONNX Runtime's.
func (t *turns) same(m *builders.Model, vm *tape.VM, s *onnxruntime.Session, out map[string]onnxruntime.Array) error {
	got, err := vm.Value(m.Output)
	if err != nil {
		return err
	}
	a, err := onnxruntime.FromTensor(m.Output.Type(), got)
	if err != nil {
		return err
	}
	ours, err := a.Floats()
	if err != nil {
		return err
	}
	var best error = errors.New("no output is like ours")
	for _, v := range s.Outputs() {
		theirs, err := out[v.Name].Floats()
		if err != nil || len(theirs) != len(ours) {
			continue
		}
		largest, off := 0.0, 0.0
		for i, x := range theirs {
			largest, off = max(largest, math.Abs(x)), max(off, math.Abs(x-ours[i]))
		}
		if off <= tolerance*largest+1e-6 { // a sigmoid far out is that far off in ONNX Runtime
			return nil
		}
		best = fmt.Errorf("results differ by %.2g of the largest", off/largest)
	}
	return best
}

// interleave times two functions in turns and returns sorted times of single runs, in milliseconds.
// Runs are timed in bursts of about a millisecond, of which the mean counts.
func interleave(total time.Duration, f ...func() error) (a, b []float64, err error) {
	times := make([][]float64, 2)
	burst := make([]int, 2)
	for i := range f {
		start := time.Now()
		for range 3 {
			if err := f[i](); err != nil {
				return nil, nil, err
			}
		}
		burst[i] = max(1, int(time.Millisecond/max(1, time.Since(start)/3)))
	}
	for end := time.Now().Add(total); time.Now().Before(end) || len(times[1]) < 5; {
		for i := range f {
			start := time.Now()
			for range burst[i] {
				if err := f[i](); err != nil {
					return nil, nil, err
				}
			}
			times[i] = append(times[i], time.Since(start).Seconds()*1e3/float64(burst[i]))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return times[0], times[1], nil
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }
