package columns_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/columns"
)

func ExampleRead() {
	file := strings.NewReader("area,town,price\n70,Ulm,250\n120,Bonn,310\n")
	c, err := columns.Read("houses.csv", file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(c)
	town, err := c.Column("town")
	fmt.Println(town.Values.Data(), town.Classes, err)
	// Output:
	// houses.csv: 2 rows
	//   area   number
	//   town   2 classes: Bonn, Ulm
	//   price  number
	// [1 0] [Bonn Ulm] <nil>
}

func ExampleBuiltin() {
	c, err := columns.Builtin("karate")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(c)
	// Output:
	// karate: 34 rows
	//   adjacency  float64[34]
	//   degree     number
	//   node       34 classes: 0, 1, 2, 3, 4, …
	//   faction    2 classes: 0, 1; the label
}
