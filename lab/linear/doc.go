// Package linear has the linear models whose solutions are known, to measure trained ones by: least
// squares, ridge regression and principal components, all by singular value decomposition in float64.
//
// [LeastSquares] takes observations X and targets y. [LeastSquares.Solve] gives the solution, and
// [LeastSquares.Shrink] compares what ridge regression and gradient descent that is stopped early
// leave of it along each singular direction. A [Shrinkage] prints as
//
//	    σ   length   ridge  predicted  descent  predicted
//	3.753  -0.8316  0.9337     0.9337   1.0000     1.0000
//	1.385   -2.076  0.6572     0.6572   0.7973     0.7973
//
// [NewPCA] takes a table and gives its principal components; no linear autoencoder reconstructs the
// table better ([PCA.Residual]). [NewPlane] gives the plane of the first two, on which points are
// drawn. The package promises that results depend on the arguments alone.
package linear
