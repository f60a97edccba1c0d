package published

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	theirs "github.com/nlpodyssey/safetensors"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"gorgonia.org/tensor"
)

// types are those that safetensors.Write writes.
var types = []struct {
	of    tensor.Dtype
	their theirs.DType
	width int
}{
	{tensor.Float64, theirs.F64, 8}, {tensor.Float32, theirs.F32, 4},
	{tensor.Int64, theirs.I64, 8}, {tensor.Int32, theirs.I32, 4}, {tensor.Bool, theirs.BOOL, 1},
}

// drawn is an array and its bytes in a file. It has an axis or more: the other
// implementation takes a shape without any for one without elements.
func drawn(rng *rand.Rand, kind int) (*tensor.Dense, theirs.TensorView, error) {
	shape, theirShape, n := []int{}, []uint64{}, 1
	for range 1 + rng.IntN(3) {
		d := rng.IntN(4) // also 0: no elements
		shape, theirShape, n = append(shape, d), append(theirShape, uint64(d)), n*d
	}
	raw := make([]byte, n*types[kind].width)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
		if types[kind].of == tensor.Bool {
			raw[i] &= 1
		}
	}
	backing := reflect.MakeSlice(reflect.SliceOf(types[kind].of.Type), n, n).Interface()
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, backing); err != nil {
		return nil, theirs.TensorView{}, err
	}
	view, err := theirs.NewTensorView(types[kind].their, theirShape, raw)
	return tensor.New(tensor.WithShape(shape...), tensor.Of(types[kind].of), tensor.WithBacking(backing)), view, err
}

// TestWritten: of the same tensors and texts both write the same files. The other
// implementation sorts the header by name alone, so files of several types have the same
// header in another order.
func TestWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		file := &safetensors.File{}
		views := map[string]theirs.TensorView{}
		kinds := 1 + rng.IntN(len(types))
		first := rng.IntN(len(types))
		for i := range rng.IntN(6) {
			kind := first
			if kinds > 1 {
				kind = rng.IntN(len(types))
			}
			name := fmt.Sprintf("%cα/\"%d\"\n", 'a'+rng.IntN(26), i)
			x, view, err := drawn(rng, kind)
			if err != nil {
				t.Fatal(err)
			}
			file.Tensors = append(file.Tensors, safetensors.Tensor{Name: name, Data: x})
			views[name] = view
		}
		for i := range rng.IntN(3) {
			if file.Metadata == nil {
				file.Metadata = map[string]string{}
			}
			file.Metadata[fmt.Sprintf("key %d", i)] = "a text\twith \\ and γ"
		}
		var got bytes.Buffer
		if err := safetensors.Write(&got, file); err != nil {
			t.Fatal(err)
		}
		want, err := theirs.Serialize(views, file.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		if kinds == 1 && !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("file %d:\ngot  %q\nwant %q", round, got.Bytes(), want)
		}
		header, data := parts(t, got.Bytes())
		theirHeader, theirData := parts(t, want)
		if !reflect.DeepEqual(header, theirHeader) || !bytes.Equal(data, theirData) {
			t.Fatalf("file %d:\ngot  %v, %q\nwant %v, %q", round, header, data, theirHeader, theirData)
		}
		back, err := safetensors.Read(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("theirs: %v", err)
		}
		var again bytes.Buffer
		if err := safetensors.Write(&again, back); err != nil || !bytes.Equal(again.Bytes(), got.Bytes()) {
			t.Fatalf("file %d, theirs read and written: %v\ngot  %q\nwant %q", round, err, again.Bytes(), got.Bytes())
		}
	}
}

// parts are a file's header and its data.
func parts(t *testing.T, file []byte) (header map[string]any, data []byte) {
	t.Helper()
	end := 8 + binary.LittleEndian.Uint64(file)
	if err := json.Unmarshal(file[8:end], &header); err != nil {
		t.Fatal(err)
	}
	return header, file[end:]
}

// TestCheckpoint: the other implementation reads a checkpoint, with its checksum.
func TestCheckpoint(t *testing.T) {
	g := graph.New("model")
	w := g.Param("w", graph.F32, graph.Ax("d", 2))
	store := tape.NewStore(g)
	if err := store.Set("w", tensor.New(tensor.WithBacking([]float32{1, -2}))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	state := &checkpoint.State{Store: store, Model: checkpoint.Identify(1, w, nil)}
	if err := checkpoint.Save(path, state); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := theirs.Deserialize(raw)
	if err != nil {
		t.Fatal(err)
	}
	view, ok := file.Tensor("w")
	if got, want := fmt.Sprint(file.Names(), ok, view.DType(), view.Shape(), view.Data()), "[w] true F32 [2] [0 0 128 63 0 0 0 192]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, header, err := theirs.ReadMetadata(raw)
	if err != nil {
		t.Fatal(err)
	}
	if texts := header.Metadata(); texts["format"] != "tapestry.checkpoint" || texts["leaves"] != `[{"path":"w","role":"param","type":"f32[d=2]"}]` || len(texts[safetensors.Checksum]) < 64 {
		t.Errorf("metadata %q", texts)
	}
}
