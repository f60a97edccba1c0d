package data_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
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

// What is to be predicted are numbers: in memory, and from a file that is read when it is
// asked for.
func ExampleTargets() {
	text := "area,age,price,rent\n70,3,250,9.5\n120,40,310,8\n"
	houses, err := data.ReadCSV("houses.csv", strings.NewReader(text), data.Targets("price", "rent"))
	if err != nil {
		log.Fatal(err)
	}
	set, err := houses.Set("x", "y", tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set, set.Column("y").Data())

	dir, err := os.MkdirTemp("", "houses")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "houses.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	file, err := data.OpenCSV(context.Background(), path, "x", "y", tensor.Float32, data.Targets("price", "rent"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	batch, err := data.InOrder(file, 2).Next(context.Background())
	fmt.Println(batch.Values["y"].Shape(), batch.Values["y"].Data(), err)
	// Output:
	// x[2 2] float32, y[2 2] float32 [250 9.5 310 8]
	// (2, 2) [250 9.5 310 8] <nil>
}

func ExampleFillMean() {
	train, err := data.ReadCSV("train.csv", strings.NewReader("a,b\n1,?\n3,5\n"), data.Missing())
	if err != nil {
		log.Fatal(err)
	}
	test, err := data.ReadCSV("test.csv", strings.NewReader("a,b\nNA,7\n"), data.Missing())
	if err != nil {
		log.Fatal(err)
	}
	mean, err := data.FillMean(train)
	if err != nil {
		log.Fatal(err)
	}
	if err := data.Fill(test, mean); err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.X, test.X)
	// Output: [1 5 3 5] [2 7]
}
