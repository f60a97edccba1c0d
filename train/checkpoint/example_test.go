package checkpoint_test

import (
	"fmt"
	"log"
	"os"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"gorgonia.org/tensor"
)

// An encoder that was trained is read into a larger model, under another name.
func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	g := graph.New("trained")
	w := g.Param("encoder/w", graph.F32, graph.Ax("d", 2))
	store := tape.NewStore(g)
	if err := store.Set("encoder/w", tensor.New(tensor.WithBacking([]float32{3, 4}))); err != nil {
		log.Fatal(err)
	}
	folder := checkpoint.Folder{Dir: dir}
	release, err := folder.Open() // for this training alone
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	path, err := folder.Save(&checkpoint.State{Store: store, Model: checkpoint.Identify(1, w, nil)})
	if err != nil {
		log.Fatal(err)
	}

	larger := graph.New("larger")
	larger.Param("features/w", graph.F32, graph.Ax("d", 2))
	larger.Param("head/w", graph.F32, graph.Ax("d", 2))
	into := tape.NewStore(larger)
	loaded, err := checkpoint.LoadPart(path, into, "encoder", "features")
	if err != nil {
		log.Fatal(err)
	}
	values, err := into.Get("features/w")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded, values.Data())
	// Output:
	// [features/w] [3 4]
}
