package workload

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/ops"
)

// The bones of a hand: an arm, a wrist, and five fingers of four.
const (
	fingers, fingerBones = 5, 4
	bones                = 2 + fingers*fingerBones
	poseSize             = 3 + 3 + fingers*fingerBones // three angles of arm and wrist, four of a finger
)

// parent is the bone that a bone moves with.
func parent(bone int) int {
	if bone >= 2 && (bone-2)%fingerBones == 0 {
		return 1
	}
	return bone - 1
}

// anglesOf are, for each bone, the places in a pose of its angles about x, y and z; poseSize is none.
// The first bone of a finger bends and spreads, the next two bend, and the last is stiff.
func anglesOf() []float64 {
	const none = poseSize
	at := []float64{0, 1, 2, 3, 4, 5}
	for f := range fingers {
		a := float64(6 + fingerBones*f)
		at = append(at, a, none, a+1, a+2, none, none, a+3, none, none, none, none, none)
	}
	return at
}

// chain is a hand's skin in a pose, and how it moves along 26 directions of the pose, by forward mode:
// transforms of 4×4 along the tree of bones, points that move with all bones by weights, and how far
// the ones that correspond to what is seen are from there.
func chain(points int) build {
	return func(b *builder) (*graph.Node, float64) {
		j, i, k := graph.Ax("j", bones), graph.Ax("", 4), graph.Ax("", 4)
		v, x := graph.Ax("v", points), graph.Ax("x", 3)
		pose := b.input("pose", 80, graph.Ax("a", poseSize))
		directions := b.input("directions", 81, graph.Ax("δ", poseSize), graph.Ax("a", poseSize))
		offset := b.Input("offset", b.dt, j, x)
		offsets := values(82, bones*3, 0.3)
		b.feed(offset, offsets)
		rest := b.Input("rest", b.dt, j, i, k) // from the world to the bone, before it is posed
		b.feed(rest, restTransforms(offsets))
		skin := b.Input("skin", b.dt, graph.Ax("", 4), v)
		b.feed(skin, append(values(83, 3*points, 1), ones(points)...))
		weight := b.Input("weight", b.dt, j, graph.Ax("", 1), v)
		b.feed(weight, weights(84, bones*points))
		seen := b.input("seen", 85, graph.Ax("s", points), x)
		point := b.labels("point", 86, points, graph.Ax("s", points))

		angles := ops.Gather(ops.Pad(pose, 0, 0, 1, 0), b.Constant(graph.I64, anglesOf(), j, x), "a")
		local := transforms(angles, offset)
		world := make([]*graph.Node, bones)
		for bone := range bones {
			if world[bone] = ops.At(local, "j", bone); bone > 0 {
				world[bone] = ops.MatMul(world[parent(bone)], world[bone])
			}
		}
		moved := ops.Slice(ops.MatMul(ops.Stack(0, "j", world...), rest), 1, 0, 3)
		each := ops.MatMul(moved, skin) // [j 3 v]
		posed := ops.Transpose(ops.Sum(ops.Mul(each, weight), "j"), 1, 0)
		far := ops.Sub(seen, ops.Rename(ops.Gather(posed, point, "v"), 1, "x")).As("far")
		speed := vmap.Each(func(d []*graph.Node) []*graph.Node {
			return grad.JVP([]*graph.Node{far}, []*graph.Node{pose}, d)
		}, directions)[0]
		return b.outputs(far, speed)
	}
}

// transforms are matrices [j 4 4] that turn by the angles[j x] about x, then y, then z, and move by
// offset[j x].
func transforms(angles, offset *graph.Node) *graph.Node {
	axis := func(of *graph.Node, i int) *graph.Node { return ops.At(of, 1, i) }
	sin, cos := ops.Sin(angles), ops.Cos(angles)
	sx, sy, sz := axis(sin, 0), axis(sin, 1), axis(sin, 2)
	cx, cy, cz := axis(cos, 0), axis(cos, 1), axis(cos, 2)
	o, l := ops.ZerosLike(sx), ops.OnesLike(sx)
	rows := ops.Stack(1, "",
		ops.Mul(cy, cz), ops.Sub(ops.Mul(sx, sy, cz), ops.Mul(cx, sz)), ops.Add(ops.Mul(cx, sy, cz), ops.Mul(sx, sz)), axis(offset, 0),
		ops.Mul(cy, sz), ops.Add(ops.Mul(sx, sy, sz), ops.Mul(cx, cz)), ops.Sub(ops.Mul(cx, sy, sz), ops.Mul(sx, cz)), axis(offset, 1),
		ops.Neg(sy), ops.Mul(sx, cy), ops.Mul(cx, cy), axis(offset, 2),
		o, o, o, l)
	return ops.Split(rows, 1, graph.Ax("", 4), graph.Ax("", 4))
}

// restTransforms move each bone's end to the origin, by the offsets from the bones' parents.
func restTransforms(offsets []float64) []float64 {
	out := make([]float64, bones*16)
	for bone := range bones {
		m := out[bone*16 : bone*16+16]
		m[0], m[5], m[10], m[15] = 1, 1, 1, 1
		for x := range 3 {
			m[4*x+3] = -offsets[3*bone+x]
			if bone > 0 {
				m[4*x+3] += out[parent(bone)*16+4*x+3]
			}
		}
	}
	return out
}

// weights are numbers in [0, 1/11), which add up to about one over the bones.
func weights(seed uint64, count int) []float64 {
	out := Uniform(seed, count)
	for i := range out {
		out[i] /= bones / 2
	}
	return out
}
