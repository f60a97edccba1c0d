package linear_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Two features of different spreads: both regularisers keep the direction of the large singular
// value and shrink that of the small one.
func ExampleLeastSquares_Shrink() {
	p := linear.LeastSquares{N: 4, D: 2, X: []float64{3, 0, -1, 1, 2, 0, 0, -1}, Y: []float64{3, 1, 2, -2}}
	shrunk, err := p.Shrink(context.Background(), 1, 0.02, 20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(shrunk)
	// Output:
	//       σ   length   ridge  predicted  descent  predicted
	//   3.753  -0.8316  0.9337     0.9337   1.0000     1.0000
	//   1.385   -2.076  0.6572     0.6572   0.7973     0.7973
}

func ExampleNewPCA() {
	pca, err := linear.NewPCA(data.Iris())
	if err != nil {
		log.Fatal(err)
	}
	for a, v := range pca.Variance[:2] {
		fmt.Printf("%.3f along %.2f\n", v, pca.Axes[a])
	}
	fmt.Printf("two components leave %.3f of %.3f\n", pca.Residual(2), pca.Residual(0))
	// Output:
	// 4.200 along [0.36 -0.08 0.86 0.36]
	// 0.241 along [0.66 0.73 -0.17 -0.08]
	// two components leave 0.101 of 4.542
}
