package tapestry_test

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tapestry-ml/tapestry"

// imports is the table of what each package may import: a statement of policy.
// Packages of this module are given by their path below it; a third-party module
// by its path. Standard library packages are free. A new edge fails this test
// until the table says so.
var imports = map[string]string{
	".":                            "builders check fit graph graph/attr graph/expr graph/grad graph/initial graph/rewrite graph/trait graph/vmap infer inspect lab lab/geometry lab/linear lab/look nn nn/attention nn/augment nn/graphnet nn/rnn notation ops tape train train/checkpoint train/data train/metric train/parallel train/watch viz viz/chart viz/report train/data/array train/data/columns train/data/edges train/data/text", // the tour
	"graph":                        "graph/initial graph/attr internal/half internal/memory",
	"internal/simd":                "internal/half golang.org/x/sys",
	"internal/kernel":              "internal/half internal/simd",
	"internal/pool":                "",
	"internal/memory":              "golang.org/x/sys",
	"internal/spelling":            "",
	"internal/table":               "",
	"internal/trace":               "",
	"internal/greek":               "",
	"internal/plural":              "",
	"internal/sparkline":           "",
	"internal/terminal":            "golang.org/x/sys",
	"internal/csp":                 "",
	"internal/half":                "",
	"internal/vacant":              "gorgonia.org/tensor",
	"internal/claim":               "graph graph/grad graph/trait internal/greek internal/ref builders lab notation tape train viz gorgonia.org/tensor",
	"internal/cone":                "graph",
	"internal/derive":              "graph",
	"internal/exact":               "",
	"ops":                          "graph graph/attr graph/trait internal/kernel internal/derive internal/match internal/simd graph/expr internal/subscript",
	"graph/attr":                   "",
	"graph/initial":                "graph/attr",
	"graph/expr":                   "graph/attr",
	"graph/trait":                  "graph graph/attr graph/expr",
	"internal/subscript":           "",
	"internal/match":               "graph graph/attr graph/trait",
	"internal/lanes":               "graph ops internal/match",
	"internal/linkfault":           "",
	"graph/vmap":                   "graph graph/trait ops internal/derive internal/match",
	"graph/grad":                   "graph graph/trait ops graph/vmap internal/derive internal/match",                    // a Jacobian is one row or column, mapped
	"graph/rewrite":                "graph graph/attr graph/trait ops graph/grad graph/vmap internal/match internal/ref", // gradients follow: they are derived again from what was rewritten; a history is checked by the definitions
	"internal/ref":                 "graph graph/trait",
	"tape":                         "graph graph/initial graph/rewrite graph/trait internal/half internal/kernel internal/memory internal/plural internal/pool internal/simd internal/spelling internal/trace internal/vacant gorgonia.org/tensor",
	"train":                        "graph graph/attr graph/trait ops graph/grad graph/rewrite tape infer inspect train/checkpoint train/data train/metric train/parallel internal/cone internal/fed internal/lanes internal/match internal/memory internal/plural internal/pool internal/simd internal/spelling internal/trace gorgonia.org/tensor", // a training that diverges is opened up
	"train/checkpoint":             "graph graph/attr internal/half internal/plural tape train/data interop/safetensors gorgonia.org/tensor",
	"train/parallel":               "internal/plural internal/simd", // its sums run at the speed of memory, three times that of a loop in Go
	"train/data":                   "graph/attr internal/plural gorgonia.org/tensor train/data/internal/encoding train/data/internal/input train/data/internal/tensors",
	"train/data/array":             "train/data/internal/encoding train/data/internal/input gorgonia.org/tensor",
	"train/data/columns":           "train/data train/data/array train/data/edges train/data/internal/input train/data/internal/tensors train/data/text gorgonia.org/tensor",
	"train/data/edges":             "train/data/internal/input gorgonia.org/tensor",
	"train/data/text":              "train/data/internal/input",
	"train/data/internal/datatest": "train/data/internal/encoding train/data/internal/input gorgonia.org/tensor",
	"train/data/internal/encoding": "internal/half internal/vacant train/data/internal/input gorgonia.org/tensor",
	"train/data/internal/input":    "internal/spelling",
	"train/data/internal/tensors":  "train/data/internal/input gorgonia.org/tensor",
	"train/metric":                 "internal/spelling train/data gorgonia.org/tensor",
	"train/watch":                  "train train/data train/metric internal/terminal",
	"nn":                           "graph graph/trait graph/initial ops internal/build internal/match",
	"nn/attention":                 "graph graph/initial ops nn internal/build",
	"nn/rnn":                       "graph graph/initial ops nn nn/attention internal/build",
	"nn/graphnet":                  "graph graph/initial ops nn internal/build",
	"nn/augment":                   "graph ops internal/build",
	"builders":                     "graph graph/initial ops nn nn/attention nn/rnn nn/graphnet nn/augment internal/build internal/memory internal/spelling",
	"infer":                        "graph graph/trait ops tape infer/quantise internal/fed train/checkpoint train/data train/data/text gorgonia.org/tensor",
	"infer/quantise":               "graph graph/trait ops tape internal/cone internal/match gorgonia.org/tensor",
	"notation":                     "graph graph/initial ops builders internal/greek internal/plural internal/ref internal/spelling internal/terminal graph/trait", // examples are evaluated by the definitions
	"fit":                          "graph graph/trait builders infer internal/half internal/match lab train train/data gorgonia.org/tensor internal/plural train/data/columns",
	"lab":                          "graph graph/initial ops graph/grad internal/cone internal/match internal/memory internal/table tape train train/data builders gonum.org/v1/gonum gorgonia.org/tensor internal/plural lab/linear train/metric train/parallel",
	"lab/geometry":                 "graph graph/grad ops internal/plural internal/cone internal/table lab tape train train/data builders gonum.org/v1/gonum gorgonia.org/tensor lab/linear",
	"inspect":                      "graph graph/grad graph/rewrite graph/trait ops internal/match tape internal/ref gorgonia.org/tensor internal/greek internal/sparkline internal/plural", // the float64 shadow, rewrites that are tried as a cure, and derivatives by operands
	"viz":                          "graph graph/attr graph/grad graph/trait ops internal/match viz/figure graph/expr internal/subscript internal/greek internal/plural",                    // functions of several operations are told by their graphs and derivatives
	"lab/linear":                   "graph builders train train/data gonum.org/v1/gonum",
	"lab/look":                     "graph graph/grad graph/trait builders inspect internal/cone internal/match lab tape train gonum.org/v1/gonum",
	"viz/figure":                   "github.com/awalterschulze/gographviz",
	"viz/chart":                    "internal/plural",
	"viz/report":                   "viz/chart internal/csp internal/plural",
	"interop/gorgonia":             "graph graph/grad graph/initial builders internal/match nn ops tape gorgonia.org/gorgonia gorgonia.org/tensor",
	"interop/mpi":                  "train/parallel github.com/ebitengine/purego",                                                                  // purego under the tag mpi alone
	"interop/onnxruntime":          "graph internal/half internal/spelling tape github.com/ebitengine/purego golang.org/x/sys gorgonia.org/tensor", // purego under the tag onnxruntime alone
	"interop/onnxruntime/engine":   "graph internal/kernel interop/onnx interop/onnxruntime tape gorgonia.org/tensor",
	"interop/safetensors":          "internal/half internal/vacant gorgonia.org/tensor",
	"internal/parity":              "",
	"internal/randgraph":           "graph ops graph/grad",
	"internal/ref/reftest":         "graph tape gorgonia.org/tensor",
	"check":                        "graph graph/trait internal/match ops graph/grad graph/vmap tape internal/ref internal/ref/reftest gorgonia.org/tensor graph/expr",
	"internal/niltest":             "",
	"internal/build":               "graph ops",
	"internal/layertest":           "graph graph/trait internal/match ops tape train builders internal/ref internal/ref/reftest internal/tapetest",
	"internal/newcomer":            "",
	"internal/tapetest":            "graph tape",
	"internal/fed":                 "graph graph/trait internal/match tape",
	"internal/ranktrain":           "graph ops nn nn/attention builders train train/checkpoint train/data train/data/text train/metric train/parallel gorgonia.org/tensor",
	"internal/scaling":             "internal/lanes internal/spelling train/parallel",
	"internal/workload":            "graph graph/grad graph/initial graph/vmap ops nn nn/attention tape train train/data builders internal/spelling gorgonia.org/tensor",

	"interop/onnx":                   "graph graph/trait builders internal/match internal/terminal nn ops tape interop/onnx/internal/exporter interop/onnx/internal/format interop/onnx/internal/importer interop/onnx/internal/symbolic",
	"interop/onnx/internal/exporter": "graph graph/attr graph/rewrite graph/trait internal/half internal/match interop/onnx/internal/format ops tape gorgonia.org/tensor",
	"interop/onnx/internal/symbolic": "interop/onnx/internal/format",
	"interop/onnx/internal/format":   "internal/half google.golang.org/protobuf",
	"interop/onnx/internal/importer": "graph graph/grad graph/initial graph/trait internal/match internal/ref internal/terminal interop/onnx/internal/format ops",
}

// isProgram reports whether a package is a program, which may import everything.
func isProgram(pkg string) bool {
	return strings.HasPrefix(pkg+"/", "bench/") || strings.HasPrefix(pkg+"/", "cmd/") || strings.HasPrefix(pkg+"/", "examples/")
}

func TestImportTable(t *testing.T) {
	everywhere := build.Default
	everywhere.UseAllFiles = true // what any machine imports
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "docs") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return filepath.SkipDir // another module
		}
		pkg, err := everywhere.ImportDir(path, 0)
		if err != nil {
			if _, none := err.(*build.NoGoError); none {
				return nil
			}
			return err
		}
		name := filepath.ToSlash(path)
		seen[name] = true
		if isProgram(name) {
			return nil
		}
		policy, ok := imports[name]
		if !ok {
			t.Errorf("package %s is not in the table", name)
			return nil
		}
		allowed := strings.Fields(policy)
		used := map[string]bool{}
		for _, imp := range pkg.Imports {
			edge, ours := strings.CutPrefix(imp, module+"/")
			switch {
			case ours:
			case !strings.Contains(strings.Split(imp, "/")[0], "."):
				continue // standard library
			default:
				i := slices.IndexFunc(allowed, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") })
				if i < 0 {
					t.Errorf("%s imports %s, which the table does not allow", name, imp)
					continue
				}
				edge = allowed[i]
			}
			used[edge] = true
			if !slices.Contains(allowed, edge) {
				t.Errorf("%s imports %s, which the table does not allow", name, edge)
			}
		}
		for _, a := range allowed {
			if !used[a] {
				t.Errorf("%s does not import %s: take it off the table", name, a)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range imports {
		if !seen[name] {
			t.Errorf("the table has %s, which is no package", name)
		}
	}
}

// TestOneUserOfGorgonia holds that the second engine's module reaches programs
// only through interop.
func TestOneUserOfGorgonia(t *testing.T) {
	for pkg, policy := range imports {
		if strings.Contains(policy, "gorgonia.org/gorgonia") && pkg != "interop/gorgonia" {
			t.Errorf("%s may import gorgonia.org/gorgonia", pkg)
		}
	}
}
