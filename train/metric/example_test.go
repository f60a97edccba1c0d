package metric_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

func ExampleConfusion() {
	c := metric.NewConfusion("y", "setosa", "versicolor", "virginica")
	for label, counts := range [][]int{{10, 0, 0}, {0, 9, 1}, {0, 2, 8}} {
		for taken, n := range counts {
			for range n {
				scores := make([]float32, 3)
				scores[taken] = 1
				b := data.Batch{Rows: 1, Values: map[string]*tensor.Dense{"y": dense([]int32{int32(label)}, 1)}}
				if err := c.Add(dense(scores, 1, 3), b); err != nil {
					fmt.Println(err)
				}
			}
		}
	}
	fmt.Print(c)
	// Output:
	//             setosa  versicolor  virginica  precision  recall      F1
	// setosa          10           0          0          1       1       1
	// versicolor       0           9          1     0.8182     0.9  0.8571
	// virginica        0           2          8     0.8889     0.8  0.8421
}
