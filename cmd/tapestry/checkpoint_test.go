package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// savedRun is a folder with the checkpoints of steps 10 and 20, and the best of step 10.
func savedRun(t *testing.T) checkpoint.Folder {
	t.Helper()
	g := graph.New("line")
	w := g.Param("fc/w", graph.F32, graph.Ax("d", 3))
	model := checkpoint.Identify(5, w, nil)
	f := checkpoint.Folder{Dir: filepath.Join(t.TempDir(), "run")}
	release, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, step := range []uint64{10, 20} {
		s := tape.NewStore(g, tape.Seed(7))
		s.Resume(7, step, 0)
		if err := s.Set("fc/w", tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{3, float32(step) - 14, 0}))); err != nil {
			t.Fatal(err)
		}
		if err := s.Add("runs", tensor.New(tensor.WithShape(), tensor.WithBacking([]int64{int64(step)}))); err != nil {
			t.Fatal(err)
		}
		state := &checkpoint.State{Store: s, Position: data.Position{Epoch: 1, Batch: 2}, Batches: 4, Data: "shuffled(20 rows, batches of 5, seed 7)", Model: model,
			Validation: &checkpoint.Validation{Step: int(step), Best: 0.5, At: 10, Waiting: int(step)/10 - 1}, Meta: map[string]string{"vocabulary": "a\nb", "width": "64"}}
		if _, err := f.Save(state); err != nil {
			t.Fatal(err)
		}
		if step == 10 {
			if _, err := f.SaveBest(state); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

func TestCheckpointShow(t *testing.T) {
	f := savedRun(t)
	newest := filepath.Join(f.Dir, "step-00000020.safetensors")
	s, err := checkpoint.Load(newest)
	if err != nil {
		t.Fatal(err)
	}
	want := newest + `: checkpoint of "line"; checksum right
  after step   20
  data         epoch 1, batch 2 of 4 is next
  seed         7
  source       shuffled(20 rows, batches of 5, seed 7)
  validation   last after step 20; best 0.5 after step 10, none better in 1 measurement since
  fingerprint  ` + s.Model.Fingerprint[:16] + ` of batches of 5 rows
  vocabulary   3 bytes
  width        64

  path  role   type      bytes  min  mean  max   norm
  fc/w  param  f32[d=3]     12    0     3    6  6.708
  runs         I64[]         8   20    20   20     20
2 arrays, 20 bytes
`
	for _, path := range []string{f.Dir, newest} {
		if got := ok(t, "checkpoint", "show", path); got != want {
			t.Errorf("show %s:\n%s\nwant\n%s", path, got, want)
		}
	}
	var v shownCheckpoint
	if err := json.Unmarshal([]byte(ok(t, "checkpoint", "show", f.Dir, "--json")), &v); err != nil {
		t.Fatal(err)
	}
	if v.Step != 20 || v.Seed != 7 || !v.Checksum || v.Meta["vocabulary"] != "a\nb" || len(v.Arrays) != 2 || v.Arrays[0].Max != 6 || v.Validation.At != 10 || v.Batches != 4 || v.Data != "shuffled(20 rows, batches of 5, seed 7)" {
		t.Errorf("%+v", v)
	}
}

// A file of another origin, with numbers that are not finite, or none at all, is shown, too.
func TestCheckpointShowsForeignFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1, math.NaN(), -1, math.Inf(1)}))
	none := tensor.New(tensor.WithShape(0, 4), tensor.Of(tensor.Float32))
	if err := safetensors.Write(out, &safetensors.File{Metadata: map[string]string{"format": "pt"}, Tensors: []safetensors.Tensor{{Name: "x", Data: x}, {Name: "none", Data: none}}}); err != nil {
		t.Fatal(err)
	}
	out.Close()
	want := path + `: a safetensors file, not a checkpoint; no checksum
  format       pt

  path  role  type      bytes  min  mean  max  norm
  none        F32[0 4]      0  NaN   NaN  NaN     0
  x           F64[2 2]     32   -1     0    1   NaN  2 not finite
2 arrays, 32 bytes
`
	if got := ok(t, "checkpoint", "show", path); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	ok(t, "checkpoint", "show", path, "--json")
	if got := ok(t, "checkpoint", "diff", path, path); !strings.Contains(got, "\n2 of 2 arrays equal, bit for bit\n") {
		t.Error(got)
	}
	code, _, e := tapestry(t, "checkpoint", "verify", path)
	if code != 1 || e != "tapestry: "+path+`: not a checkpoint: metadata "format": want "tapestry.checkpoint", got "pt"`+"\n" {
		t.Errorf("verify: %d, %s", code, e)
	}
}

func TestCheckpointDamaged(t *testing.T) {
	f := savedRun(t)
	newest := filepath.Join(f.Dir, "step-00000020.safetensors")
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(newest, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := ok(t, "checkpoint", "show", f.Dir); !strings.HasPrefix(got, "passed over: "+newest+": ") || !strings.Contains(got, "after step   10") {
		t.Errorf("%s", got)
	}
	code, out, e := tapestry(t, "checkpoint", "verify", f.Dir)
	if code != 1 || out != filepath.Join(f.Dir, "step-00000010.safetensors")+": intact, step 10\n"+filepath.Join(f.Dir, "best.safetensors")+": intact, step 10\n" ||
		!strings.HasPrefix(e, "tapestry: "+newest+": ") || !strings.Contains(e, "the file is damaged") {
		t.Errorf("verify: %d\n%s%s", code, out, e)
	}
	if code, out, e := tapestry(t, "checkpoint", "show", newest); code != 1 || out != "" || !strings.HasPrefix(e, "tapestry: "+newest+": ") {
		t.Errorf("show: %d\n%s%s", code, out, e)
	}
	empty := t.TempDir()
	for _, command := range []string{"show", "verify"} {
		if code, _, e := tapestry(t, "checkpoint", command, empty); code != 1 || e != "tapestry: "+empty+": no checkpoint there\n" {
			t.Errorf("%s: %d, %s", command, code, e)
		}
	}
}

// TestCheckpointRuns: show and diff tell of runs that drew after the step.
func TestCheckpointRuns(t *testing.T) {
	f := savedRun(t)
	newest := filepath.Join(f.Dir, "step-00000020.safetensors")
	s, err := checkpoint.Load(newest)
	if err != nil {
		t.Fatal(err)
	}
	for runs, want := range map[uint64]string{0: "20", 1: "20 and 1 run that drew random numbers", 3: "20 and 3 runs that drew random numbers"} {
		s.Store.Resume(7, 20, runs)
		path := filepath.Join(f.Dir, "other.safetensors")
		if err := checkpoint.Save(path, s); err != nil {
			t.Fatal(err)
		}
		if got := ok(t, "checkpoint", "show", path); !strings.Contains(got, "\n  after step   "+want+"\n") {
			t.Errorf("%s\nwant %s", got, want)
		}
		if got := ok(t, "checkpoint", "diff", newest, path); !strings.Contains(got, "\n"+path+": \"line\" after step "+want+", seed 7, ") {
			t.Errorf("%s\nwant %s", got, want)
		}
		var v shownCheckpoint
		if err := json.Unmarshal([]byte(ok(t, "checkpoint", "show", path, "--json")), &v); err != nil || v.Runs != runs || v.Step != 20 {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestCheckpointDiff(t *testing.T) {
	f := savedRun(t)
	best, newest := filepath.Join(f.Dir, "best.safetensors"), filepath.Join(f.Dir, "step-00000020.safetensors")
	differ := func(args ...string) string {
		t.Helper()
		code, out, e := tapestry(t, append([]string{"checkpoint", "diff"}, args...)...)
		if code != 1 || e != "" {
			t.Errorf("diff %q: exit code %d, %q", args, code, e)
		}
		return out
	}
	got := differ(best, f.Dir)
	fp := strings.Split(strings.SplitAfter(got, "fingerprint ")[1], "\n")[0] // and the data
	if !strings.HasSuffix(fp, ", data shuffled(20 rows, batches of 5, seed 7)") {
		t.Errorf("no data in %s", fp)
	}
	want := best + `: "line" after step 10, seed 7, fingerprint ` + fp + "\n" + newest + `: "line" after step 20, seed 7, fingerprint ` + fp + `
  path  differ  most  share
  fc/w  1 of 3    10      2
  runs  1 of 1    10      1
0 of 2 arrays equal, bit for bit
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := ok(t, "checkpoint", "diff", f.Dir, f.Dir); !strings.HasSuffix(got, "\n2 of 2 arrays equal, bit for bit\n") {
		t.Errorf("%s", got)
	}
	s, err := checkpoint.Load(newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.Add("more", tensor.New(tensor.WithShape(2), tensor.Of(tensor.Bool))); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(f.Dir, "other.safetensors")
	if err := checkpoint.Save(other, s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want string }{{newest, other, "  more  only in the second: BOOL[2]\n"}, {other, newest, "  more  only in the first: BOOL[2]\n"}} {
		if got := differ(c.a, c.b); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := differ(best, f.Dir, "--json"); strings.Count(got, "\n") != 2 {
		t.Errorf("%s", got)
	}
	if got := ok(t, "checkpoint", "diff", f.Dir, f.Dir, "--json"); got != "" {
		t.Errorf("%s", got)
	}
	absent := filepath.Join(f.Dir, "absent")
	if code, out, e := tapestry(t, "checkpoint", "diff", best, absent); code != 2 || out != "" || e != "tapestry: "+absent+": cannot open: no such file or directory\n" {
		t.Errorf("trouble: %d, %q, %q", code, out, e)
	}
	var e strings.Builder
	if code := run(t.Context(), []string{"checkpoint", "diff", f.Dir, f.Dir}, full{}, &e); code != 2 || e.String() != "tapestry: standard output: no space left\n" {
		t.Errorf("no room for the output: %d, %q", code, e.String())
	}
}

func TestCheckpointBadUse(t *testing.T) {
	for args, want := range map[string]string{
		"checkpoint":             "tapestry: checkpoint: want show, verify or diff",
		"checkpoint shwo x":      `tapestry: checkpoint: unknown command "shwo": want show, verify or diff`,
		"checkpoint show":        "tapestry: checkpoint show: want a file or a folder, got 0",
		"checkpoint verify":      "tapestry: checkpoint verify: want files or folders, got 0",
		"checkpoint diff a":      "tapestry: checkpoint diff: want two files or folders, got 1",
		"checkpoint show --what": "tapestry: unknown flag: --what",
	} {
		code, out, e := tapestry(t, strings.Fields(args)...)
		if code != 2 || out != "" || strings.TrimSuffix(e, "\n") != want {
			t.Errorf("%s: %d, %q, %q, want %q", args, code, out, e, want)
		}
	}
}
