package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/ops"
)

// What a camera's row holds: its rotation, its place, the focal length, the centre of the image,
// and how it distorts along the radius.
const (
	rotation, place, focal, middle, radial = 0, 3, 6, 7, 9
	cameraSize                             = 11
)

// reprojection is the evaluation that adjusts a bundle (Triggs et al., 2000): how far so many
// points are seen from where a camera should see them, with the derivatives of each of these rows by
// its camera, its point and its weight.
func reprojection(cameras, points, rows int) build {
	return func(b *builder) (*graph.Node, float64) {
		c, k, n, m := graph.Ax("c", cameras), graph.Ax("k", cameraSize), graph.Ax("n", points), graph.Ax("v", 3)
		p := graph.Ax("p", rows)
		camera, point := b.Input("camera", b.dt, c, k), b.input("point", 71, n, m)
		start := values(70, camera.Shape().Len(), 0.3)
		for i := 0; i < len(start); i += cameraSize {
			start[i+place+2] -= 4 // before the points
			start[i+focal]++
		}
		b.feed(camera, start)
		weight, seen := b.input("weight", 72, p, graph.Ax("w", 1)), b.input("seen", 73, p, graph.Ax("u", 2))
		byCamera := ops.Gather(camera, b.labels("byCamera", 74, cameras, p), "c")
		byPoint := ops.Gather(point, b.labels("byPoint", 75, points, p), "n")
		row := ops.Concat(1, byCamera, ops.Rename(byPoint, "v", "k"), ops.Rename(weight, "w", "k"))
		out := vmap.Each(func(x []*graph.Node) []*graph.Node {
			r := reprojected(x[0], x[1])
			return []*graph.Node{r, grad.Jacobian(r, x[0])}
		}, row, seen)
		return b.outputs(out[0].As("residual"), out[1].As("jacobian"))
	}
}

// reprojected is the weighted distance, in the image, between where a point of the world is seen and
// where a camera shows it.
func reprojected(row, seen *graph.Node) *graph.Node {
	part := func(from, to int, axis string) *graph.Node {
		return ops.Rename(ops.Slice(row, "k", from, to), "k", axis)
	}
	scalar := func(i int) *graph.Node { return ops.At(row, "k", i) }
	x := rotated(part(rotation, place, "v"), ops.Sub(part(cameraSize, cameraSize+3, "v"), part(place, focal, "v")))
	u := ops.Rename(ops.Div(ops.Slice(x, "v", 0, 2), ops.At(x, "v", 2)), "v", "u")
	r2 := ops.Sum(ops.Square(u)) // of the distance to the middle
	bent := ops.Shift(ops.Mul(r2, ops.Add(scalar(radial), ops.Mul(r2, scalar(radial+1)))), 1)
	shown := ops.Add(ops.Mul(u, ops.Mul(bent, scalar(focal))), part(middle, radial, "u"))
	return ops.Mul(ops.Sub(shown, seen), scalar(cameraSize+3))
}

// rotated is x turned about the axis r by as many radians as r is long, which is not zero (Rodrigues'
// formula).
func rotated(r, x *graph.Node) *graph.Node {
	θ := ops.Norm(r)
	axis := ops.Div(r, θ)
	cross := ops.Sub(ops.Mul(turned(axis, 1), turned(x, 2)), ops.Mul(turned(axis, 2), turned(x, 1)))
	along := ops.Mul(axis, ops.Mul(ops.Sum(ops.Mul(axis, x)), ops.OneMinus(ops.Cos(θ))))
	return ops.Add(ops.Mul(x, ops.Cos(θ)), ops.Mul(cross, ops.Sin(θ)), along)
}

// turned is x with element i + by in place i, counted in a circle.
func turned(x *graph.Node, by int) *graph.Node {
	return ops.Concat(0, ops.Slice(x, 0, by, 3), ops.Slice(x, 0, 0, by))
}
