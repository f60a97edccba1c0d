package data_test

import (
	"fmt"
	"log"
	"strings"

	"gorgonia.org/tensor"

	"github.com/tapestry-ml/tapestry/train/data"
)

func Example() {
	iris := data.Iris()
	data.Standardise(iris)
	x, err := iris.Dense(tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Shape(), iris.Classes())
	order := data.Order(1, 0, iris.Rows())
	for lo, hi := range data.Batches(len(order), 64) {
		batch, err := iris.Subset(order[lo:hi])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Rows())
	}
	// Output:
	// (150, 4) [setosa versicolor virginica]
	// 64
	// 64
	// 22
}

func ExampleReadCSV() {
	text := "width;height;kind\n1;2;cat\n3;four;dog\n"
	_, err := data.ReadCSV("pets.csv", strings.NewReader(text))
	fmt.Println(err)
	// Output: pets.csv:3: column "height": "four" is not a number
}
