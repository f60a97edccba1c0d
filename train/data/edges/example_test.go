package edges_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/edges"
	"gorgonia.org/tensor"
)

func ExampleRead() {
	friends, err := edges.Read("friends.csv", strings.NewReader("# who knows whom\nAnn Bob\nBob Cleo\n"))
	if err != nil {
		log.Fatal(err)
	}
	a, err := friends.Adjacency(tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(friends.Names, a.Data())
	// Output: [Ann Bob Cleo] [0 1 0 1 0 1 0 1 0]
}
