package geometry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Soft k-means on iris is trained for 100 steps. The curvature at its end says how large a step
// gradient descent could take there.
func ExampleSite_Curvature() {
	ctx := context.Background()
	b, err := builders.Lookup("kmeans-softmax")
	if err != nil {
		log.Fatal(err)
	}
	start, err := geometry.ClusterSite(data.Iris(), b, 3, 0, 1, graph.F64)
	if err != nil {
		log.Fatal(err)
	}
	trained, err := start.Train(ctx, train.Adam(0.05), 100)
	if err != nil {
		log.Fatal(err)
	}
	curvature, err := trained.Site.Curvature(ctx, geometry.CurvatureConfig{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("eigenvalues from %.4f to %.4f, converged: %v\n", curvature.Smallest.Value, curvature.Largest.Value, curvature.Converged)
	fmt.Printf("stable below a rate of %.3f\n", 2/curvature.Largest.Value)
	// Output:
	// eigenvalues from 0.3375 to 0.8357, converged: true
	// stable below a rate of 2.393
}

// Two objectives pull the same prototypes: the angles between their gradients, along the training
// of the first.
func ExampleAngles() {
	ctx := context.Background()
	var sites []geometry.Site
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		b, err := builders.Lookup(name)
		if err != nil {
			log.Fatal(err)
		}
		s, err := geometry.ClusterSite(data.Iris(), b, 3, 0, 1, graph.F64)
		if err != nil {
			log.Fatal(err)
		}
		sites = append(sites, s)
	}
	trained, err := sites[0].Train(ctx, train.Adam(0.05), 100)
	if err != nil {
		log.Fatal(err)
	}
	angles, err := geometry.Angles(ctx, trained.Path, sites...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(angles)
	// Output:
	// gradients, angle in degrees     step 0    step 25    step 50    step 75    step 100
	//   kmeans-softmax, kmeans-goofy      2.62       2.60       7.23      45.97       82.84
	//   kmeans-softmax, length           1.974     0.9647     0.3712     0.0863    0.005799
	//   kmeans-goofy, length             2.022     0.9636     0.3341    0.08439     0.07107
}
