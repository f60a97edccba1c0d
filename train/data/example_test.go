package data_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
	for rows := range slices.Chunk(data.Order(1, 0, iris.Rows()), 64) {
		batch, err := iris.Subset(rows)
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

// A table from a file, the features standardised, as a set that a model is trained on.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "flowers")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "flowers.csv")
	text := "petals,height,kind\n5,20,rose\n3,45,tulip\n5,30,rose\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	flowers, err := data.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(flowers.Rows(), flowers.Columns, flowers.LabelName, flowers.Labels)
	set, err := flowers.Set("x", "y", tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set, set.Column("y").Data())
	// Output:
	// 3 [petals height] kind [rose tulip rose]
	// x[3 2] float32, y[3] int32 [0 1 0]
}

// What was found on the rows to fit is applied to those held out.
func ExampleStandardise() {
	fit := &data.Table{Columns: []string{"area"}, X: []float64{60, 80, 100, 120}}
	held := &data.Table{Columns: []string{"area"}, X: []float64{90, 150}}
	mean, std := data.Standardise(fit)
	if err := data.Scale(held, mean, std); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4g ± %.4g: %.3f and %.3f\n", mean, std, fit.X, held.X)
	// Output: [90] ± [22.36]: [-1.342 -0.447 0.447 1.342] and [0.000 2.683]
}

func ExampleCodes() {
	codes, classes := data.Codes([]string{"tulip", "rose", "tulip"})
	fmt.Println(codes, classes)
	// Output: [1 0 1] [rose tulip]
}

// letters returns a set of five rows, x[5] from 0 to 4.
func letters() *data.Set {
	x := tensor.New(tensor.WithShape(5), tensor.WithBacking([]float32{0, 1, 2, 3, 4}))
	set, err := data.NewSet(map[string]*tensor.Dense{"x": x})
	if err != nil {
		log.Fatal(err)
	}
	return set
}

// show prints the batches of an epoch.
func show(source data.Source) {
	for range source.Batches() {
		at := source.Position()
		batch, err := source.Next(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(at, batch.Values["x"].Data())
	}
}

func ExampleInOrder() {
	show(data.InOrder(letters(), 2))
	// Output:
	// epoch 0, batch 0 [0 1]
	// epoch 0, batch 1 [2 3]
	// epoch 0, batch 2 [4]
}

// Each epoch has an order of its own, which depends on the seed; a position brings it back.
func ExampleShuffled() {
	source := data.Shuffled(letters(), 2, 7, data.DropLast())
	show(source)
	show(source)
	if err := source.Seek(data.Position{Epoch: 1}); err != nil {
		log.Fatal(err)
	}
	show(source)
	// Output:
	// epoch 0, batch 0 [3 0]
	// epoch 0, batch 1 [4 2]
	// epoch 1, batch 0 [1 3]
	// epoch 1, batch 1 [0 4]
	// epoch 1, batch 0 [1 3]
	// epoch 1, batch 1 [0 4]
}

// A change of your own: each image is mirrored left to right with probability ½.
func ExampleMap() {
	mirror := func(rng *rand.Rand, b data.Batch) error {
		for i, x := 0, b.Values["x"].Float32s(); i < len(x); i += 3 { // rows of three pixels
			if rng.IntN(2) == 0 {
				slices.Reverse(x[i : i+3])
			}
		}
		return nil
	}
	x := tensor.New(tensor.WithShape(4, 3), tensor.WithBacking([]float32{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}))
	images, err := data.NewSet(map[string]*tensor.Dense{"x": x})
	if err != nil {
		log.Fatal(err)
	}
	show(data.Map(data.InOrder(images, 4), 1, mirror))
	// Output:
	// epoch 0, batch 0 [1 2 3 3 2 1 3 2 1 3 2 1]
}

func ExampleSet_Split() {
	fit, held, err := letters().Split(func(i int) bool { return i%5 == 4 })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Column("x").Data(), held.Column("x").Data())
	// Output: [0 1 2 3] [4]
}

func ExampleSet_Folds() {
	folds, err := letters().Folds(2, 1)
	if err != nil {
		log.Fatal(err)
	}
	for fit, held := range folds {
		fmt.Println(fit.Rows(), "to fit,", held.Rows(), "held out")
	}
	// Output:
	// 2 to fit, 3 held out
	// 3 to fit, 2 held out
}

func ExampleFitStandardiser() {
	set := letters()
	z, err := data.FitStandardiser(context.Background(), set, "x")
	if err != nil {
		log.Fatal(err)
	}
	scaled, err := z.Apply(set)
	if err != nil {
		log.Fatal(err)
	}
	form, err := json.Marshal(z)
	fmt.Printf("%s %v\n%.3f\n", form, err, scaled.Column("x").Data())
	// Output:
	// {"column":"x","mean":[2],"std":[1.4142135623730951]} <nil>
	// [-1.414 -0.707 0.000 0.707 1.414]
}
