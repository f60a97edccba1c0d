package notation_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/viz"
)

const robust = `objective "robust centre"
input x[i=150,d=4]
param c[d]
D[i] = sum((x-c)^2, d)
loss = mean(log(1 + D), i)
`

// An objective from text, as a model: its formulas are read back from the graph.
func Example() {
	file, err := notation.Parse("robust.tapestry", strings.NewReader(robust))
	if err != nil {
		log.Fatal(err)
	}
	model, err := file.Build(map[string]float64{"i": 20}, graph.F32)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range viz.Equations(model.Loss) {
		fmt.Println(e)
	}
	fmt.Println(model.Params())
	// Output:
	// Dᵢ = ‖xᵢ − c‖²
	// loss = meanᵢ log(1 + Dᵢ)
	// [c[d=4]]
}

// The canonical form, as `tapestry fmt` prints it.
func ExampleFile_String() {
	file, err := notation.Parse("robust.tapestry", strings.NewReader(robust))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(file)
	// Output:
	// objective "robust centre"
	// input x[i=150, d=4]
	// param c[d]
	// D[i] = sum((x - c)^2, d)
	// loss = mean(log(1 + D), i)
}

// A mistake has its place, what is wrong, and the likely fix.
func ExampleParse() {
	_, err := notation.Parse("robust.tapestry", strings.NewReader(strings.Replace(robust, "sum((x-c)^2, d)", "(x-c)^2", 1)))
	fmt.Println(err)
	// Output:
	// robust.tapestry:4:8: D has axes [i,d], but [i] are stated: sum over d? (x[i,d] has d)
	//     D[i] = (x-c)^2
	//            ^~~~~~~
}
