package data_test

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
)

// Seven rows in batches of three: what is left over of an epoch comes first in the next one.
func ExampleCut() {
	rows := data.Cut{Rows: 7, Size: 3}.Orders(1)
	for step := range 5 {
		fmt.Println(rows(step))
	}
	// Output:
	// [2 1 0]
	// [3 6 4]
	// [5 3 4]
	// [2 5 6]
	// [1 0 3]
}
