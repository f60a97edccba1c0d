package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
)

// line is loss = mean (x·w + b − y)², with a state that counts; name is that of w.
func line(name string, width int, noise bool) (loss *graph.Node, step graph.Step) {
	g := graph.New("line")
	x := g.Input("x", graph.F32, graph.Ax("n", 5), graph.Ax("d", width))
	y := g.Input("y", graph.F32, graph.Ax("n", 5))
	end := g.Scope("fc")
	w := g.Param(name, graph.F32, graph.Ax("d", width)).Init(initial.Normal(0, 1))
	b := g.Param("b", graph.F64).Init(initial.Fill(0.1))
	end()
	runs := g.State("runs", graph.I64)
	ŷ := ops.Add(ops.Sum(ops.Mul(x, w), "d"), ops.Cast(b, graph.F32)).As("ŷ")
	if noise {
		ŷ = ops.Mul(ŷ, ops.RandomUniform(g, "u", graph.F32, graph.Ax("n", 5)))
	}
	loss = ops.Mean(ops.Square(ops.Sub(ŷ, y)), "n")
	if err := g.Err(); err != nil {
		panic(err)
	}
	return loss, graph.Step{g.Assign(w, ops.Mul(ops.Lit(w, 0.5), w)), g.Assign(runs, ops.Shift(runs, 1))}
}

// stateOf is a state of a training of line.
func stateOf(step uint64) *checkpoint.State {
	loss, updates := line("w", 3, false)
	s := tape.NewStore(loss.Graph(), tape.Seed(1<<63+7))
	s.Resume(s.Seed(), step, 2)
	return &checkpoint.State{
		Store: s, Position: data.Position{Epoch: 3, Batch: 17}, Batches: 40, Data: "shuffled(200 rows, batches of 5, seed 1)",
		Model: checkpoint.Identify(5, loss, updates),
		Meta:  map[string]string{"vocabulary": "[\"ä\",\"\\n\"]", "": "empty"},
	}
}

// equal fails the test unless two states are, bit for bit.
func equal(t *testing.T, got, want *checkpoint.State) {
	t.Helper()
	if got.Store.Seed() != want.Store.Seed() || got.Store.Step() != want.Store.Step() || got.Store.Runs() != want.Store.Runs() || got.Position != want.Position || got.Batches != want.Batches || got.Data != want.Data {
		t.Errorf("seed %d, step %d, runs %d, %v of %d of %s: want %d, %d, %d, %v of %d of %s", got.Store.Seed(), got.Store.Step(), got.Store.Runs(), got.Position, got.Batches, got.Data,
			want.Store.Seed(), want.Store.Step(), want.Store.Runs(), want.Position, want.Batches, want.Data)
	}
	if !maps.Equal(got.Meta, want.Meta) || got.Model.Name != want.Model.Name || got.Model.Rows != want.Model.Rows || got.Model.Fingerprint != want.Model.Fingerprint ||
		!slices.Equal(got.Model.Leaves, want.Model.Leaves) {
		t.Errorf("%v, %v: want %v, %v", got.Meta, got.Model, want.Meta, want.Model)
	}
	if a, b := got.Validation, want.Validation; (a == nil) != (b == nil) || a != nil && (a.Step != b.Step || math.Float64bits(a.Best) != math.Float64bits(b.Best) || a.At != b.At || a.Waiting != b.Waiting) {
		t.Errorf("validation %+v: want %+v", a, b)
	}
	if !slices.Equal(got.Store.Paths(), want.Store.Paths()) {
		t.Fatalf("paths %q: want %q", got.Store.Paths(), want.Store.Paths())
	}
	for _, p := range want.Store.Paths() {
		a, _ := got.Store.Get(p)
		b, _ := want.Store.Get(p)
		if fmt.Sprintf("%x", a.Data()) != fmt.Sprintf("%x", b.Data()) || !a.Shape().Eq(b.Shape()) {
			t.Errorf("%s is %v %v: want %v %v", p, a.Shape(), a.Data(), b.Shape(), b.Data())
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	for _, v := range []*checkpoint.Validation{nil, {Step: 9, Best: math.Inf(1), At: 3, Waiting: 2}, {Best: math.NaN()}, {Step: 1, Best: 0.1, At: 1}} {
		s := stateOf(40)
		s.Validation = v
		if err := checkpoint.Save(path, s); err != nil {
			t.Fatal(err)
		}
		got, err := checkpoint.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if equal(t, got, s); got.Path != path {
			t.Errorf("read from %q", got.Path)
		}
		first, _ := os.ReadFile(path)
		if err := checkpoint.Save(path, got); err != nil {
			t.Fatal(err)
		}
		if second, _ := os.ReadFile(path); !bytes.Equal(first, second) {
			t.Error("what was read is written with other bytes")
		}
	}
}

// TestWriteAndRead: a checkpoint passes through any stream, with the bytes of its file, and what is
// cut off or changed on the way is refused.
func TestWriteAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	s := stateOf(40)
	s.Model.Lanes = 24
	var b bytes.Buffer
	if err := errors.Join(checkpoint.Write(&b, s), checkpoint.Save(path, s)); err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile(path); err != nil || !bytes.Equal(b.Bytes(), file) {
		t.Errorf("the stream differs from the file, %v", err)
	}
	got, err := checkpoint.Read(iotest.OneByteReader(bytes.NewReader(b.Bytes())), "there/c.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if equal(t, got, s); got.Path != "there/c.safetensors" || got.Model.Lanes != 24 {
		t.Errorf("%d lanes, read from %q", got.Model.Lanes, got.Path)
	}
	if _, err := checkpoint.Read(bytes.NewReader(b.Bytes()[:b.Len()-1]), "there"); !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), "there") {
		t.Errorf("cut off: %v", err)
	}
	b.Bytes()[b.Len()-1]++
	if _, err := checkpoint.Read(&b, "there"); !errors.Is(err, safetensors.ErrChecksum) {
		t.Errorf("changed: %v", err)
	}
}

// The layout is a promise to those who read checkpoints with other programs.
func TestMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	s := stateOf(40)
	s.Validation = &checkpoint.Validation{Step: 40, Best: 0.125, At: 30, Waiting: 1}
	if err := checkpoint.Save(path, s); err != nil {
		t.Fatal(err)
	}
	r, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := r.Metadata()
	delete(got, safetensors.Checksum)
	want := map[string]string{
		"format": "tapestry.checkpoint", "version": "1", "model": "line", "rows": "5", "fingerprint": s.Model.Fingerprint,
		"leaves": `[{"path":"fc/b","role":"param","type":"f64[]"},{"path":"fc/w","role":"param","type":"f32[d=3]"},{"path":"runs","role":"state","type":"i64[]"}]`,
		"seed":   "9223372036854775815", "step": "40", "runs": "2", "epoch": "3", "batch": "17", "batches": "40", "data": "shuffled(200 rows, batches of 5, seed 1)",
		"validation":      `{"step":40,"best":"0.125","at":30,"waiting":1}`,
		"meta.vocabulary": "[\"ä\",\"\\n\"]", "meta.": "empty",
	}
	if !maps.Equal(got, want) || len(s.Model.Fingerprint) != 64 {
		t.Errorf("metadata\n%q\nwant\n%q", got, want)
	}
}

// TestSamplesGoOn: a sequence of samples continues after a checkpoint as if there had been none. A
// file without a count of runs, as older ones are, has 0.
func TestSamplesGoOn(t *testing.T) {
	g := graph.New("sampler")
	u := ops.RandomNormal(g, "u", graph.F64, graph.Ax("i", 5))
	prog, err := tape.Compile(g, tape.Fetch(u))
	if err != nil {
		t.Fatal(err)
	}
	samples := func(s *tape.Store, n int) (out []string) {
		vm := tapetest.VM(t, prog, s)
		defer vm.Close()
		for range n {
			if err := vm.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			v, err := vm.Value(u)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%x", v.Float64s()))
		}
		return out
	}
	start := func() *checkpoint.State { return stateOf(40) }
	want := samples(start().Store, 6)
	for i, a := range want {
		if slices.Index(want, a) != i {
			t.Fatalf("two samples are alike: %q", want)
		}
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	for at := range 7 {
		s := start()
		got := samples(s.Store, at)
		if err := checkpoint.Save(path, s); err != nil {
			t.Fatal(err)
		}
		again, err := checkpoint.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, samples(again.Store, 6-at)...); !slices.Equal(got, want) {
			t.Errorf("with a checkpoint after %d samples\n%q\nwant\n%q", at, got, want)
		}
	}
	r, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	old := r.Metadata()
	delete(old, "runs")
	if s, err := checkpoint.Describe(old); err != nil || s.Store.Runs() != 0 || s.Store.Step() != 40 {
		t.Errorf("an old file: %v, %v", s, err)
	}
}

// Every cut and every wrong bit is noticed, as damage.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := checkpoint.Save(path, stateOf(40)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	damaged := func(what string, at int) {
		s, err := checkpoint.Load(path)
		if s != nil || !errors.Is(err, safetensors.ErrFormat) && !errors.Is(err, safetensors.ErrChecksum) || strings.ContainsAny(err.Error(), "\n\r") || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s %d: %v, %v", what, at, s, err)
		}
	}
	write := func(i int, b byte) {
		if _, err := file.WriteAt([]byte{b}, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range whole {
		for bit := range 8 {
			if bit == i%8 || os.Getenv("TAPESTRY_LONG") != "" {
				write(i, b^1<<bit)
				damaged(fmt.Sprintf("bit %d of byte", bit), i)
			}
		}
		write(i, b)
	}
	if _, err := checkpoint.Load(path); err != nil {
		t.Fatal(err)
	}
	write(len(whole), 0)
	for n := len(whole) + 1; n >= 0; n-- {
		if err := file.Truncate(int64(n)); err != nil {
			t.Fatal(err)
		}
		if n != len(whole) {
			damaged("cut to", n)
		}
	}
}

// Files that are whole, but say what no checkpoint says.
func TestForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := checkpoint.Save(path, stateOf(40)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(f *safetensors.File)
		is     error
		want   string
	}{
		{func(f *safetensors.File) { f.Metadata = nil }, checkpoint.ErrForeign, `not a checkpoint: metadata "format": want "tapestry.checkpoint", got ""`},
		{func(f *safetensors.File) { f.Metadata["version"] = "2" }, checkpoint.ErrForeign, `not a checkpoint of this version: metadata "version": want 1, got "2"`},
		{func(f *safetensors.File) { delete(f.Metadata, safetensors.Checksum) }, safetensors.ErrChecksum, `the checkpoint has no checksum`},
		{func(f *safetensors.File) { f.Metadata["seed"] = "-1" }, safetensors.ErrFormat, `metadata "seed": want a whole number, got "-1"`},
		{func(f *safetensors.File) { f.Metadata["runs"] = "" }, safetensors.ErrFormat, `metadata "runs": want a whole number, got ""`},
		{func(f *safetensors.File) { delete(f.Metadata, "batch") }, safetensors.ErrFormat, `metadata "batch": want a whole number, got ""`},
		{func(f *safetensors.File) { f.Metadata["leaves"] = `[{"path":1}]` }, safetensors.ErrFormat, `metadata "leaves": json: cannot unmarshal number into Go struct field Leaf.path of type string`},
		{func(f *safetensors.File) { f.Metadata["validation"] = `{"best":"x"}` }, safetensors.ErrFormat, `metadata "validation": want a number as best, got "x"`},
		{func(f *safetensors.File) { f.Tensors = f.Tensors[1:] }, safetensors.ErrFormat, `metadata "leaves": want a tensor runs of type i64[], which the file lacks`},
	} {
		f, err := safetensors.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c.change(f)
		var b bytes.Buffer
		if err := safetensors.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "other.safetensors")
		if err := os.WriteFile(other, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err := checkpoint.Load(other); s != nil || !errors.Is(err, c.is) || err.Error() != other+": "+c.want {
			t.Errorf("%v, %v: want %s", s, err, c.want)
		}
	}
}

func TestLoadPart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.safetensors")
	s := stateOf(40)
	if err := checkpoint.Save(path, s); err != nil {
		t.Fatal(err)
	}
	g := graph.New("other")
	end := g.Scope("head")
	g.Param("w", graph.F32, graph.Ax("k", 3))
	g.Param("b", graph.F64)
	end()
	g.Param("runs", graph.F64)
	into := tape.NewStore(g)
	paths, err := checkpoint.LoadPart(path, into, "fc", "head")
	if err != nil || !slices.Equal(paths, []string{"head/b", "head/w"}) {
		t.Fatalf("%q, %v", paths, err)
	}
	a, _ := into.Get("head/w")
	b, _ := s.Store.Get("fc/w")
	if !slices.Equal(a.Float32s(), b.Float32s()) {
		t.Errorf("head/w is %v: want %v", a, b)
	}
	for _, c := range []struct{ under, to, want string }{
		{"gc", "head", path + `: nothing below "gc": it has ["runs" "fc/b" "fc/w"]`},
		{"f", "head", path + `: nothing below "f": it has ["runs" "fc/b" "fc/w"]`},
		{"fc", "neck", path + `: store: nothing under "neck/b" to take fc/b: it has ["head/b" "head/w" "runs"]`},
		{"", "", path + `: store: nothing under "fc/b" to take fc/b: it has ["head/b" "head/w" "runs"]`},
		{"runs", "runs", path + `: store: runs has type f64[], runs has i64[]`},
	} {
		before := into.Clone()
		paths, err := checkpoint.LoadPart(path, into, c.under, c.to)
		if paths != nil || err == nil || err.Error() != c.want {
			t.Errorf("%q to %q: %q, %v: want %s", c.under, c.to, paths, err, c.want)
		}
		a, _ := into.Get("head/w")
		b, _ := before.Get("head/w")
		if !slices.Equal(a.Float32s(), b.Float32s()) {
			t.Error("something was written")
		}
	}
	whole, _ := os.ReadFile(path)
	whole[len(whole)-1] ^= 1
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.LoadPart(path, into, "fc", "head"); !errors.Is(err, safetensors.ErrChecksum) {
		t.Errorf("a damaged file: %v", err)
	}
}
