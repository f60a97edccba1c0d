// Package geometry looks at the shape of losses around given parameters: curvature, symmetries,
// stationary points, angles between gradients, gradients as sums, collapse of prototypes, surfaces
// and fields.
//
// It takes sites. A [Site] is a model with what it is fed and the values of its parameters;
// [NewSite] makes one of a model's own examples, [ClusterSite] of a clustering and a table, and
// [Site.Train] moves it along a [Trajectory]. It gives a value per question, which prints as a
// table:
//
//   - [Site.Curvature]: the extreme eigenvalues of the Hessian, each with a bound on its error.
//   - [Site.Stationary]: where descents from many starts end, and whether these are minima.
//   - [Site.Invariance]: which transformations of data and parameters leave the loss alone.
//   - [Site.Collapse]: how many prototypes are still distinct, used and alive.
//   - [Angles]: the angles between the gradients of several losses.
//   - [Decompose]: whether a loss and its gradient are the sums of others. [Site.Minus] makes the
//     difference of two losses such a term, [Site.Spread] names that of soft k-means and the goofy
//     alternative, and [Site.Through] splits a gradient at a node.
//   - [Surface]: several losses over one plane of their parameters.
//   - [Field]: where several losses pull one prototype.
//
// The last four compare sites, whose parameters must agree in path and type. It promises that the
// site's model, feed and store stay as they are, that the same arguments give the same bits for any
// number of workers, and that random draws inside a model are those of the store's step everywhere.
//
//	track, err := site.Train(ctx, train.Adam(0.05), 100)
//	curvature, err := track.Site.Curvature(ctx, geometry.CurvatureConfig{})
//	fmt.Print(curvature)
//
// prints
//
//	kmeans-softmax: second derivatives by 12 numbers, 13 products H·v, converged
//	  largest eigenvalue       0.835681  ± 2.1e-11
//	  smallest eigenvalue      0.337465  ± 8.0e-15
//	  gradient descent is stable along the steepest direction at rates below 2/λ = 2.393
package geometry
