package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
)

// clustering: groups without labels.
var clustering = []Builder{lloyd, hardSGD, softmaxKMeans, goofyKMeans}

var (
	sizeN     = Hyperparameter{Name: "n", Default: 150, Doc: "points in a batch", Kind: Count}
	sizeD     = Hyperparameter{Name: "d", Default: 4, Doc: "features of a point", Kind: Count}
	sizeK     = Hyperparameter{Name: "k", Default: 3, Doc: "clusters", Kind: Count}
	sizeGamma = Hyperparameter{Name: "gamma", Default: 1, Doc: "inverse temperature γ: how sharply α prefers the nearest centre"}
)

// points adds the input and the centres, as a parameter or a state.
func points(g *graph.Graph, s Settings, dt graph.DType, learnt graph.Role) (x, r *graph.Node) {
	d := graph.Ax("d", s.Int("d"))
	x = g.Input("x", dt, graph.Ax("i", s.Int("n")), d)
	j := graph.Ax("j", s.Int("k"))
	if learnt == graph.RoleState {
		r = g.State("r", dt, j, d)
	} else {
		r = g.Param("r", dt, j, d)
	}
	return x, r.Init(initial.Rows(x.Path()))
}

// cluster makes the objective of k the model's.
func (m *Model) cluster(k KMeans) {
	m.Loss, m.Output = k.Loss, k.SqDist
	m.Examples = func(rng *rand.Rand) graph.Values {
		return graph.Values{k.Points: Separated(rng, k.Points.Type(), k.Centres.Dim(0))}
	}
}

// Separated draws points [… d] from widely separated clusters, as in Figure 2 of the notes. They
// are all 0 without a source, an axis or a cluster.
func Separated(rng *rand.Rand, t graph.Type, clusters int) graph.Value {
	v := graph.NewValue(t)
	if rng == nil || t.Shape.Rank() == 0 || clusters < 1 {
		return v
	}
	d := t.Shape.Dim(t.Shape.Rank() - 1)
	clusters = min(clusters, t.Shape.Len()/d) // the points go round them, one after the other
	centres := make([]float64, clusters*d)
	for i := range centres {
		centres[i] = 3 * rng.NormFloat64()
	}
	for i := range v.Data {
		c := i / d % clusters
		v.Data[i] = t.DType.Round(centres[c*d+i%d] + 0.3*rng.NormFloat64())
	}
	return v
}

// soft makes a model of a differentiable objective with a temperature.
func soft(objective func(x, r, γ *graph.Node) KMeans) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		x, r := points(m.Graph, s, dt, graph.RoleParam)
		m.cluster(objective(x, r, m.Graph.Scalar("γ", s["gamma"], dt)))
	}
}

var lloyd = Builder{
	Name:            "kmeans-lloyd",
	Title:           "Lloyd's algorithm",
	Notes:           "k-means made differentiable, section 2",
	Formula:         "aᵢ = argminⱼ ‖xᵢ − rⱼ‖²;  rⱼ ← mean of xᵢ with aᵢ = j",
	Hyperparameters: []Hyperparameter{sizeN, sizeD, sizeK},
	make: func(s Settings, dt graph.DType, m *Model) {
		k, step := Lloyd(points(m.Graph, s, dt, graph.RoleState))
		m.cluster(k)
		m.Step = step
	},
}

var hardSGD = Builder{
	Name:            "kmeans-sgd",
	Title:           "k-means by SGD on the nearest centre",
	Notes:           "k-means made differentiable, section 2.1",
	Formula:         "aᵢ = argminⱼ ‖xᵢ − rⱼ‖²;  loss = meanᵢ ‖xᵢ − r_aᵢ‖²",
	Hyperparameters: []Hyperparameter{{Name: "n", Default: 1, Doc: "points in a mini-batch", Kind: Count, Batch: true}, sizeD, sizeK},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.cluster(HardKMeans(points(m.Graph, s, dt, graph.RoleParam)))
	},
}

var softmaxKMeans = Builder{
	Name:            "kmeans-softmax",
	Title:           "soft k-means",
	Notes:           "k-means made differentiable, section 2.2, Figure 1",
	Formula:         "αᵢⱼ = softmaxⱼ(−γ‖xᵢ − rⱼ‖²);  loss = meanᵢ Σⱼ αᵢⱼ‖xᵢ − rⱼ‖²",
	Hyperparameters: []Hyperparameter{sizeN, sizeD, sizeK, sizeGamma},
	make:            soft(SoftKMeans),
}

var goofyKMeans = Builder{
	Name:            "kmeans-goofy",
	Title:           "goofy alternative",
	Notes:           "k-means made differentiable, section 2.3, Figure 3",
	Formula:         "r̂ᵢ = Σⱼ αᵢⱼ rⱼ;  loss = meanᵢ ‖r̂ᵢ − xᵢ‖²",
	Hyperparameters: []Hyperparameter{sizeN, sizeD, sizeK, sizeGamma},
	make:            soft(GoofyKMeans),
}
