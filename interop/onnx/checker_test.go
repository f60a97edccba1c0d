package onnx_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/train"
)

// python is where Debian's package python3-onnx is.
const python = "/usr/bin/python3"

// TestChecker: ONNX's own checker, with strict inference of all shapes, accepts every model of the registry, with
// its loss, its derivatives and a training step.
func TestChecker(t *testing.T) {
	if testing.Short() {
		t.Skip("the checker takes its time")
	}
	if err := exec.Command(python, "-c", "import onnx").Run(); err != nil {
		t.Skipf("%s has no package onnx (Debian: python3-onnx): %v", python, err)
	}
	dir := t.TempDir()
	n := 0
	for _, bd := range builders.All() {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			m, err := bd.Build(nil, dt)
			if err != nil {
				t.Fatal(err)
			}
			options := []onnx.Option{onnx.Draws(onnx.DrawSource(n % 2))}
			if m.Output != nil {
				options = append(options, onnx.Output(m.Output))
			}
			if m.Loss != nil {
				var params []*graph.Node
				for _, p := range m.Params() {
					if m.Loss.DependsOn(p) {
						params = append(params, p)
					}
				}
				wrt := params
				for x := range m.Examples(rand.New(rand.NewPCG(1, 1))) {
					if x.DType().IsFloat() && m.Loss.DependsOn(x) {
						wrt = append(wrt[:len(wrt):len(wrt)], x)
					}
				}
				options = append(options, onnx.Loss(m.Loss), onnx.Fetch(grad.OrZero(m.Loss, wrt...)...))
				step := m.Step
				if len(step) == 0 && len(params) > 0 {
					step = train.Adam(1e-3).Minimize(m.Loss, params...)
				}
				options = append(options, onnx.Do(step))
			}
			var b bytes.Buffer
			if err := onnx.Write(&b, m.Graph, nil, options...); err != nil {
				t.Errorf("%s in %v: %v", bd.Name, dt, err)
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%v.onnx", bd.Name, dt)), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.onnx"))
	if err != nil || len(files) != n || n < 200 {
		t.Fatalf("%d files of %d: %v", len(files), n, err)
	}
	out, err := exec.Command(python, append([]string{"check.py"}, files...)...).CombinedOutput()
	if ok := strings.Count(string(out), "ok "+dir); err != nil || ok != n {
		t.Errorf("%d of %d are accepted, %v:", ok, n, err)
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "ok ") {
				t.Error(strings.TrimSpace(strings.ReplaceAll(line, dir+"/", "")))
			}
		}
	}
}
