// Browser writes a page that trains a net for handwritten digits in a browser: the training step is
// exported from Go, and the page runs it in ONNX Runtime, from one file and without a network.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/template"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// net is 64-32-10 with ReLU between the layers, and its training step.
type net struct {
	g              *graph.Graph
	x, y           *graph.Node // pixels[n p=64] and digits[n]
	logits, loss   *graph.Node
	step           graph.Step
	rate           *graph.Node
	counted, count *graph.Node // the rate by the count of steps, which is a state
}

// rows in a batch, and how the rate goes.
const rows = 64

var (
	optimiser = train.AdamW(0.01, train.ClipNorm(1))
	schedule  = func(steps int) train.Schedule { return train.Warmup(20, train.Cosine(0.01, steps-20)) }
)

func build(rows, steps int) *net {
	g := graph.New("digits")
	p, h, k := graph.Ax("p", 64), graph.Ax("h", 32), graph.Ax("k", 10)
	ink, y := digits.Inputs(g, rows)
	hidden := ops.ReLU(nn.NewLinear(g, "fc1", graph.F32, p, h).Of(ink)).As("h")
	z := nn.NewLinear(g, "fc2", graph.F32, h, k).Of(hidden).As("z")
	n := &net{g: g, x: g.Lookup("x"), y: y, logits: z, loss: nn.CrossEntropy(z, y).As("loss")}
	n.step = optimiser.Minimize(n.loss)
	n.rate = optimiser.Rate(g)
	n.count = g.State("step", graph.I32)
	n.counted = ops.Cast(schedule(steps).Node(ops.Cast(n.count, graph.F64), steps), graph.F32)
	return n
}

// write writes the step for any number of rows, and what it begins with.
func write(step, begin *bytes.Buffer, store *tape.Store, steps int) error {
	return onnx.WriteSymbolic(step, "n", store, func(size int) (*graph.Graph, []onnx.Option, error) {
		n := build(size, steps)
		count := graph.Step{n.g.Assign(n.count, ops.Shift(n.count, 1))}
		return n.g, []onnx.Option{onnx.Loss(n.loss), onnx.Output(n.logits), onnx.Do(n.step, count), onnx.Let(n.rate, n.counted), onnx.Begin(begin)}, nil
	})
}

// course is a training as it goes in Go: the rows of each batch, and the losses.
type course struct {
	Steps   int       `json:"steps"`
	Rows    int       `json:"rows"`
	Batches []int     `json:"batches"` // of all steps, one after the other
	Losses  []float64 `json:"losses"`
	Net     string    `json:"net"`
}

// run trains on the tape.
func run(ctx context.Context, set *data.Set, store *tape.Store, steps int) (*course, error) {
	n := build(rows, steps)
	prog, err := tape.Compile(n.g, tape.Fetch(n.loss), tape.Do(n.step))
	if err != nil {
		return nil, err
	}
	vm, err := prog.NewVM(store)
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	c := &course{Steps: steps, Rows: rows, Net: "64-32-10, " + optimiser.Under(schedule(steps))}
	rng := rand.New(rand.NewPCG(1, 1))
	var order []int
	for t := range steps {
		if len(order) < rows {
			order = rng.Perm(set.Rows())
		}
		batch := order[:rows]
		order = order[rows:]
		c.Batches = append(c.Batches, batch...)
		x, y := pick(set, batch)
		rate := tape.Scalar(graph.F32, schedule(steps).At(t, steps))
		if err := vm.Run(ctx, tape.Feed{n.x: x, n.y: y, n.rate: rate}); err != nil {
			return nil, err
		}
		loss, err := vm.Float(n.loss)
		if err != nil {
			return nil, err
		}
		c.Losses = append(c.Losses, loss)
	}
	return c, nil
}

// pick returns rows of the set.
func pick(set *data.Set, at []int) (x, y *tensor.Dense) {
	pixels, digits := all(set)
	px, dg := make([]float32, 0, 64*len(at)), make([]int32, 0, len(at))
	for _, i := range at {
		px, dg = append(px, pixels[64*i:64*i+64]...), append(dg, digits[i])
	}
	return tensor.New(tensor.WithShape(len(at), 64), tensor.WithBacking(px)), tensor.New(tensor.WithShape(len(at)), tensor.WithBacking(dg))
}

// all returns the pixels, from 0 to 16, and the digits of a set.
func all(set *data.Set) ([]float32, []int32) {
	return set.Column("x").Float32s(), set.Column("y").Int32s()
}

//go:embed page.html
var pageText string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(pageText))

// runtimeFiles are what of npm's onnxruntime-web the page has in it.
var runtimeFiles = map[string]string{"ort": "ort.wasm.min.mjs", "glue": "ort-wasm-simd-threaded.mjs", "wasm": "ort-wasm-simd-threaded.wasm"}

func main() {
	out := flag.String("o", "digits.html", "`file` to write the page to")
	runtime := flag.String("runtime", "node_modules/onnxruntime-web/dist", "`folder` with ONNX Runtime for browsers: npm install onnxruntime-web@1.20.1")
	steps := flag.Int("steps", 400, "training steps")
	flag.Parse()
	if err := made(context.Background(), *out, *runtime, *steps); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// made writes the page.
func made(ctx context.Context, out, runtime string, steps int) error {
	if steps < 21 {
		return fmt.Errorf("-steps %d: want more than the 20 in which the rate rises", steps)
	}
	embedded := map[string]string{}
	for name, file := range runtimeFiles {
		b, err := os.ReadFile(filepath.Join(runtime, file))
		if err != nil {
			return fmt.Errorf("%w: want -runtime FOLDER, where npm put onnxruntime-web's dist", err)
		}
		embedded[name] = base64.StdEncoding.EncodeToString(b)
	}
	fit, test, err := digits.Split()
	if err != nil {
		return err
	}
	store := tape.NewStore(build(rows, steps).g, tape.Seed(1))
	var step, begin bytes.Buffer
	if err := write(&step, &begin, store, steps); err != nil {
		return err
	}
	c, err := run(ctx, fit, store, steps)
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	for name, b := range map[string][]byte{"step": step.Bytes(), "begin": begin.Bytes(), "fit": packed(fit), "test": packed(test)} {
		embedded[name] = base64.StdEncoding.EncodeToString(b)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{"Style": style, "Script": script, "Course": string(text), "Embedded": embedded}); err != nil {
		return err
	}
	if err := os.WriteFile(out, b.Bytes(), 0o666); err != nil {
		return err
	}
	fmt.Printf("%s: a page that trains %s in %d steps; the step takes %d bytes, what it begins with %d\n", out, c.Net, steps, step.Len(), begin.Len())
	return nil
}

// packed returns a set as bytes: 64 pixels and the digit of each row.
func packed(set *data.Set) []byte {
	pixels, digits := all(set)
	var b []byte
	for i, d := range digits {
		for _, v := range pixels[64*i : 64*i+64] {
			b = append(b, byte(v))
		}
		b = append(b, byte(d))
	}
	return b
}
