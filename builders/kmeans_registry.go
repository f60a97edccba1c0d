package builders

import "github.com/tapestry-ml/tapestry/graph"

var (
	sizeN     = Size{"n", 150, "points in a batch", true}
	sizeD     = Size{"d", 4, "features of a point", true}
	sizeK     = Size{"k", 3, "clusters", true}
	sizeGamma = Size{"gamma", 1, "temperature γ: how sharply α prefers the nearest centre", false}
)

// points adds the input and what is learnt, as a parameter or a state.
func (m *Model) points(s Settings, dt graph.DType, learnt graph.Role) {
	g, d := m.Graph, graph.Ax("d", s.Int("d"))
	m.Input = g.Input("x", dt, graph.Ax("i", s.Int("n")), d)
	if learnt == graph.RoleState {
		m.Centres = g.State("r", dt, graph.Ax("j", s.Int("k")), d).Init(graph.Normal(0, 1))
	} else {
		m.Centres = g.Param("r", dt, graph.Ax("j", s.Int("k")), d).Init(graph.Normal(0, 1))
	}
}

// soft makes a model of a differentiable objective with a temperature.
func soft(objective func(x, r, γ *graph.Node) KMeans) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		m.points(s, dt, graph.RoleParam)
		m.Gamma = m.Graph.Scalar("γ", s["gamma"], dt)
		m.KMeans = objective(m.Input, m.Centres, m.Gamma)
		m.Loss = m.KMeans.Loss
	}
}

var lloyd = Builder{
	Name:    "kmeans-lloyd",
	Title:   "Lloyd's algorithm",
	Notes:   "k-means made differentiable, section 2",
	Formula: "aᵢ = argminⱼ ‖xᵢ − rⱼ‖²;  rⱼ ← mean of xᵢ with aᵢ = j",
	Sizes:   []Size{sizeN, sizeD, sizeK},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.points(s, dt, graph.RoleState)
		m.KMeans, m.Step = Lloyd(m.Input, m.Centres)
		m.Loss = m.KMeans.Loss
	},
}

var hardSGD = Builder{
	Name:    "kmeans-sgd",
	Title:   "k-means by SGD on the nearest centre",
	Notes:   "k-means made differentiable, section 2.1",
	Formula: "aᵢ = argminⱼ ‖xᵢ − rⱼ‖²;  loss = meanᵢ ‖xᵢ − r_aᵢ‖²",
	Sizes:   []Size{{"n", 1, "points in a mini-batch", true}, sizeD, sizeK},
	make: func(s Settings, dt graph.DType, m *Model) {
		m.points(s, dt, graph.RoleParam)
		m.KMeans = HardKMeans(m.Input, m.Centres)
		m.Loss = m.KMeans.Loss
	},
}

var softmaxKMeans = Builder{
	Name:    "kmeans-softmax",
	Title:   "soft k-means",
	Notes:   "k-means made differentiable, section 2.2, Figure 1",
	Formula: "αᵢⱼ = softmaxⱼ(−γ‖xᵢ − rⱼ‖²);  loss = meanᵢ Σⱼ αᵢⱼ‖xᵢ − rⱼ‖²",
	Sizes:   []Size{sizeN, sizeD, sizeK, sizeGamma},
	make:    soft(SoftKMeans),
}

var goofyKMeans = Builder{
	Name:    "kmeans-goofy",
	Title:   "goofy alternative",
	Notes:   "k-means made differentiable, section 2.3, Figure 3",
	Formula: "r̂ᵢ = Σⱼ αᵢⱼ rⱼ;  loss = meanᵢ ‖r̂ᵢ − xᵢ‖²",
	Sizes:   []Size{sizeN, sizeD, sizeK, sizeGamma},
	make:    soft(GoofyKMeans),
}
