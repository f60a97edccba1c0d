package figure

import (
	"fmt"
	"math/rand"
)

// kmeans compares soft k-means with the distance to the mixture of centres.
func kmeans() *Figure {
	f := &Figure{
		Title:    "Soft k-means and its goofy alternative",
		Subtitle: "Shared part drawn at the same place in both panels, muted; the differing part in colour. Left column of a panel: forward, read down. Right column: gradients, read up; a gradient stands in the row of its value.",
		Desc:     "Two computational graphs side by side. They share x, r, the distances D and the soft assignment alpha. A sums alpha times D; B forms the mixture mean r-hat and measures its distance to x.",
		Panels: []Panel{
			{"A · soft k-means: ℓ = meanᵢ Σⱼ αᵢⱼ‖xᵢ−rⱼ‖²", "soft k-means"},
			{"B · goofy: ℓ = meanᵢ ‖Σⱼ αᵢⱼ rⱼ − xᵢ‖²", "goofy"},
		},
		Footer: []string{
			"A: +6 nodes, B: +7 nodes, 12 shared",
			"Σⱼ αⱼ‖x−rⱼ‖² = ‖x−r̄‖² + Σⱼ αⱼ‖rⱼ−r̄‖²,  r̄ = Σⱼ αⱼ rⱼ: soft k-means is the goofy objective plus the α-weighted spread of the centres.",
		},
		Modules: []Module{
			{Path: "assign", Title: "assign"}, {Path: "assign", Title: "∂ assign", Backward: true},
			{Path: "soft", Title: "objective.SoftKMeans"}, {Path: "soft", Title: "∂ objective.SoftKMeans", Backward: true},
			{Path: "goofy", Title: "objective.Goofy"}, {Path: "goofy", Title: "∂ objective.Goofy", Backward: true},
		},
	}
	node := func(id, main, sub string, role Role, module, row string, panel int) *Node {
		n := Node{ID: id, Main: main, Sub: sub, Role: role, Module: module, Row: row, Backward: row != "", Panel: panel, Status: [2]Status{Shared, Shared}}
		if panel > 0 {
			n.Status = [2]Status{Only, Only}
		} else if row != "" {
			n.Status = [2]Status{Upstream, Upstream}
		}
		f.Nodes = append(f.Nodes, n)
		return &f.Nodes[len(f.Nodes)-1]
	}
	node("x", "xᵢ", "float64 (N,D)", Input, "assign", "", 0)
	node("r", "rⱼ", "float64 (K,D)", Param, "assign", "", 0)
	node("diff", "xᵢ − rⱼ", "broadcast", Op, "assign", "", 0)
	node("gamma", "γ = 0.7", "scalar", Const, "assign", "", 0)
	node("d", "D = ‖xᵢ−rⱼ‖²", "Σ over d", Reduce, "assign", "", 0)
	node("s", "−γ·D", "", Op, "assign", "", 0)
	node("alpha", "α = softmaxⱼ(−γD)", "Σ over j, stable", Reduce, "assign", "", 0)
	node("w", "α ⊙ D", "", Op, "soft", "", 1)
	node("sj", "Σⱼ αᵢⱼDᵢⱼ", "", Reduce, "soft", "", 1)
	node("la", "ℓ = meanᵢ", "scalar", Loss, "soft", "", 1)
	node("rh", "r̂ᵢ = Σⱼ αᵢⱼ rⱼ", "contraction α·r", Reduce, "goofy", "", 2)
	node("e", "r̂ᵢ − xᵢ", "", Op, "goofy", "", 2)
	node("q", "‖r̂ᵢ−xᵢ‖²", "Σ over d", Reduce, "goofy", "", 2)
	node("lb", "ℓ = meanᵢ", "scalar", Loss, "goofy", "", 2)
	node("gla", "∂ℓ/∂ℓ = 1", "", Gradient, "soft", "la", 1)
	node("gsj", "1/N", "", Gradient, "soft", "sj", 1)
	node("gw", "∂ℓ/∂(α⊙D)", "1/N", Gradient, "soft", "w", 1)
	node("glb", "∂ℓ/∂ℓ = 1", "", Gradient, "goofy", "lb", 2)
	node("gq", "1/N", "", Gradient, "goofy", "q", 2)
	node("ge", "∂ℓ/∂r̂", "2(r̂−x)/N", Gradient, "goofy", "e", 2)
	node("galpha", "∂ℓ/∂α", "", Gradient, "assign", "alpha", 0).PanelSub = [2]string{"D ⊙ 1/N", "∂r̂ · rᵀ"}
	node("gs", "∂ℓ/∂(−γD)", "α⊙(∂α − ⟨∂α,α⟩)", Gradient, "assign", "s", 0)
	gd := node("gd", "∂ℓ/∂D", "", Gradient, "assign", "d", 0)
	gd.PanelSub, gd.Status = [2]string{"−γ∂s + α/N", "−γ∂s"}, [2]Status{Term, Upstream}
	node("gdiff", "∂ℓ/∂(x−r)", "2(x−r)⊙∂D", Gradient, "assign", "diff", 0)
	gr := node("gr", "∂ℓ/∂rⱼ", "", Gradient, "assign", "r", 0)
	gr.PanelSub, gr.Status = [2]string{"−Σᵢ ∂(x−r)", "αᵀ·∂r̂ − Σᵢ ∂(x−r)"}, [2]Status{Upstream, Term}

	edges := func(kind Kind, panel int, ends ...string) {
		for i := 0; i < len(ends); i += 3 {
			f.Edges = append(f.Edges, Edge{From: ends[i], To: ends[i+1], Label: ends[i+2], Kind: kind, Panel: panel})
		}
	}
	edges(Forward, 0, "x", "diff", "N×D", "r", "diff", "K×D", "diff", "d", "N×K×D", "d", "s", "N×K", "gamma", "s", "", "s", "alpha", "N×K")
	edges(Forward, 1, "alpha", "w", "N×K", "d", "w", "N×K", "w", "sj", "N×K", "sj", "la", "N")
	edges(Forward, 2, "alpha", "rh", "N×K", "r", "rh", "K×D", "rh", "e", "N×D", "x", "e", "N×D", "e", "q", "N×D", "q", "lb", "N")
	edges(Grad, 1, "gla", "gsj", "", "gsj", "gw", "", "gw", "galpha", "", "gw", "gd", "+α/N")
	edges(Grad, 2, "glb", "gq", "", "gq", "ge", "", "ge", "galpha", "", "ge", "gr", "+αᵀ·∂r̂")
	edges(Grad, 0, "galpha", "gs", "", "gs", "gd", "×(−γ)", "gd", "gdiff", "", "gdiff", "gr", "")
	edges(Saved, 0, "diff", "gdiff", "", "alpha", "gs", "")
	edges(Saved, 1, "d", "galpha", "", "alpha", "gd", "")
	edges(Saved, 2, "r", "galpha", "", "alpha", "gr", "", "e", "ge", "")
	return f
}

// training is a plain drawing with every role and kind, nested modules and
// gradients that have no row of their own.
func training() *Figure {
	f := &Figure{Title: "one training step", Subtitle: "h = tanh(x·W + b), with momentum"}
	node := func(id, main, sub string, role Role, module, row string, back bool) {
		f.Nodes = append(f.Nodes, Node{ID: id, Main: main, Sub: sub, Role: role, Module: module, Row: row, Backward: back})
	}
	node("x", "x", "f32[i=32 d=784]", Input, "", "", false)
	node("w", "W", "f32[d=784 h=128]", Param, "net/dense", "", false)
	node("b", "b", "f32[h=128]", Param, "net/dense", "", false)
	node("xw", "x·W", "MatMul", Reduce, "net/dense", "", false)
	node("z", "x·W + b", "", Op, "net/dense", "", false)
	node("h", "tanh", "", Op, "net", "", false)
	node("y", "y", "i32[i=32]", Input, "", "", false)
	node("p", "softmax", "over h", Reduce, "loss", "", false)
	node("l", "ℓ = −mean log p[y]", "scalar", Loss, "loss", "", false)
	node("acc", "accuracy", "scalar", Output, "loss", "", false)
	node("gl", "∂ℓ/∂ℓ = 1", "", Gradient, "loss", "l", true)
	node("gp", "p − onehot(y)", "∂ℓ/∂h", Gradient, "loss", "h", true)
	node("t1", "h²", "", Op, "net", "", true)
	node("t2", "1 − h²", "", Op, "net", "", true)
	node("one", "1", "", Const, "net", "", true)
	node("gz", "∂ℓ/∂z", "∂h ⊙ (1−h²)", Gradient, "net/dense", "z", true)
	node("gw", "∂ℓ/∂W", "xᵀ·∂z", Gradient, "net/dense", "w", true)
	node("gb", "∂ℓ/∂b", "Σᵢ ∂z", Gradient, "net/dense", "b", true)
	node("m", "m", "momentum of W", State, "sgd", "", true)
	node("eta", "η = 0.1", "f32", Hyper, "sgd", "", true)
	node("um", "m ← 0.9 m + ∂W", "", Update, "sgd", "", true)
	node("uw", "W ← W − η m", "", Update, "sgd", "", true)
	f.Nodes[len(f.Nodes)-1].Badge = "η = 0.1"
	f.Edges = []Edge{
		{From: "x", To: "xw", Label: "32×784"}, {From: "w", To: "xw", Label: "784×128"}, {From: "xw", To: "z", Label: "32×128"},
		{From: "b", To: "z", Label: "128"}, {From: "z", To: "h", Label: "32×128"}, {From: "h", To: "p", Label: "32×128"},
		{From: "p", To: "l"}, {From: "y", To: "l"}, {From: "y", To: "acc"}, {From: "p", To: "acc"},
		{From: "gl", To: "gp", Kind: Grad, Label: "×1/N"}, {From: "p", To: "gp", Kind: Saved}, {From: "y", To: "gp", Kind: Saved},
		{From: "h", To: "t1", Kind: Saved}, {From: "t1", To: "t2", Kind: Grad}, {From: "one", To: "t2", Kind: Grad},
		{From: "t2", To: "gz", Kind: Grad}, {From: "gp", To: "gz", Kind: Grad}, {From: "gz", To: "gw", Kind: Grad}, {From: "gz", To: "gb", Kind: Grad},
		{From: "x", To: "gw", Kind: Saved}, {From: "gw", To: "um", Kind: Grad}, {From: "m", To: "um", Kind: Grad}, {From: "um", To: "uw", Kind: Assign},
		{From: "um", To: "m", Kind: Assign}, {From: "uw", To: "w", Kind: Assign}, {From: "eta", To: "uw", Kind: Assign}, {From: "w", To: "uw", Kind: Saved},
	}
	return f
}

// chain is n operations in a row.
func chain(n int) *Figure {
	f := &Figure{Title: "chain"}
	for i := range n {
		f.Nodes = append(f.Nodes, Node{ID: fmt.Sprint("n", i), Main: fmt.Sprintf("f%d", i), Sub: "f32[i=8]", Role: Op})
		if i > 0 {
			f.Edges = append(f.Edges, Edge{From: fmt.Sprint("n", i-1), To: fmt.Sprint("n", i), Label: "8"})
		}
	}
	return f
}

// network is a random figure of about n nodes: blocks of ten values and six
// gradients in two levels of modules, with skips within and between blocks.
func network(n int, seed int64) *Figure {
	r := rand.New(rand.NewSource(seed))
	f := &Figure{Title: fmt.Sprintf("network %d", n)}
	edge := func(from, to, label string, k Kind) {
		f.Edges = append(f.Edges, Edge{From: from, To: to, Label: label, Kind: k})
	}
	value := func(m, i int) string { return fmt.Sprintf("f%d-%d", m, i) }
	grad := func(m, i int) string { return fmt.Sprintf("g%d-%d", m, i) }
	names := []string{"γ‖x−r‖²", "x·W + b", "tanh", "Σⱼ αᵢⱼ", "layer norm"}
	for m := range max(1, n/16) {
		path := fmt.Sprintf("stage%d/block%d", m/5, m)
		for i := range 10 {
			role := Op
			if i < 2 {
				role = Param
			} else if r.Intn(3) == 0 {
				role = Reduce
			}
			f.Nodes = append(f.Nodes, Node{ID: value(m, i), Main: names[r.Intn(len(names))], Sub: "f32[32 128]", Role: role, Module: path})
		}
		for i := 3; i < 10; i++ {
			edge(value(m, i-1), value(m, i), "32×128", Forward)
		}
		edge(value(m, 0), value(m, 2), "128", Forward)
		edge(value(m, 1), value(m, 3+r.Intn(4)), "128", Forward)
		edge(value(m, 3+r.Intn(3)), value(m, 8), "32×128", Forward)
		for i := range 6 {
			f.Nodes = append(f.Nodes, Node{ID: grad(m, i), Main: "∂ℓ/∂f", Sub: names[r.Intn(len(names))], Role: Gradient, Module: path, Row: value(m, 9-i), Backward: true})
			if i > 0 {
				edge(grad(m, i-1), grad(m, i), "", Grad)
			}
			if i%2 == 1 {
				edge(value(m, 9-i), grad(m, i), "", Saved)
			}
		}
		if m > 0 {
			edge(value(m-1, 9), value(m, 2), "32×128", Forward)
			edge(grad(m, 5), grad(m-1, 0), "", Grad)
			if r.Intn(3) == 0 {
				edge(value(m-1, 9), value(m, 9), "32×128", Forward)
			}
		}
	}
	return f
}

// layered is a random figure of n nodes in layers with edges to any later
// layer and modules by stripes, in two panels if compare is set.
func layered(n int, seed int64, compare bool) *Figure {
	r := rand.New(rand.NewSource(seed))
	f := &Figure{Title: "layered", Footer: []string{"seed " + fmt.Sprint(seed)}}
	if compare {
		f.Panels = []Panel{{"A", "a"}, {"B", "b"}}
	}
	modules := []string{"", "a", "a/b", "a/c", "d", "d/e/f"}
	for i := range n {
		node := Node{ID: fmt.Sprint("n", i), Main: fmt.Sprintf("v%d = f(x)", i), Role: Role(r.Intn(int(roles))), Module: modules[r.Intn(len(modules))]}
		if node.Role == Gradient || node.Role == Loss {
			node.Role = Op
		}
		if r.Intn(2) == 0 {
			node.Sub = "f32[i=3]"
		}
		if compare && r.Intn(3) == 0 {
			node.Panel = 1 + r.Intn(2)
			node.Status[node.Panel-1] = Only
		}
		f.Nodes = append(f.Nodes, node)
	}
	for i := 1; i < n; i++ {
		for range 1 + r.Intn(2) {
			j := r.Intn(i)
			if r.Intn(3) > 0 {
				j = max(0, i-1-r.Intn(4))
			}
			if p, q := f.Nodes[i].Panel, f.Nodes[j].Panel; p == 0 || q == 0 || p == q {
				f.Edges = append(f.Edges, Edge{From: fmt.Sprint("n", j), To: fmt.Sprint("n", i), Label: "3×4"})
			}
		}
	}
	for i := n - 1; i >= 0; i -= 2 {
		if f.Nodes[i].Role >= Op {
			g := f.Nodes[i]
			g.ID, g.Main, g.Role, g.Row, g.Backward = "g"+g.ID, "∂"+g.Main, Gradient, g.ID, true
			f.Nodes = append(f.Nodes, g)
			f.Edges = append(f.Edges, Edge{From: f.Nodes[i].ID, To: g.ID, Kind: Saved})
		}
	}
	return f
}

// samples are the figures that the promises are checked on, by name.
func samples() map[string]*Figure {
	return map[string]*Figure{
		"empty": {}, "one": {Nodes: []Node{{ID: "a", Main: "x"}}},
		"panels of nothing": {Panels: []Panel{{"A", "a"}, {"B", "b"}}},
		"chain":             chain(8), "kmeans": kmeans(), "training": training(),
		"network": network(160, 3), "layered": layered(30, 1, false), "layered 2": layered(60, 5, false),
		"compared": layered(40, 2, true), "compared 2": layered(70, 7, true), "bus": bussed(), "level": levelled(), "titled": titled(), "overlaid": overlaid(),
	}
}

// bussed has one constant that every step of a chain uses.
func bussed() *Figure {
	f := chain(12)
	f.Nodes = append(f.Nodes, Node{ID: "mask", Main: "mask", Role: Const})
	for i := 1; i < 12; i += 2 {
		f.Edges = append(f.Edges, Edge{From: "mask", To: fmt.Sprint("n", i), Label: "8"})
	}
	return f
}

// levelled has several gradients in the row of one value, joined by edges.
func levelled() *Figure {
	f := chain(3)
	for _, id := range []string{"a", "b", "c"} {
		f.Nodes = append(f.Nodes, Node{ID: id, Main: "∂" + id, Role: Gradient, Row: "n1", Backward: true})
	}
	f.Edges = append(f.Edges, Edge{From: "a", To: "b", Kind: Grad, Label: "a label"}, Edge{From: "b", To: "c", Kind: Grad}, Edge{From: "a", To: "c", Kind: Grad, Label: "over"},
		Edge{From: "n1", To: "b", Kind: Saved}, Edge{From: "n2", To: "c", Kind: Saved, Label: "far"}, Edge{From: "c", To: "n0", Kind: Assign})
	return f
}

// titled is a chain into nested modules whose titles fill their boxes.
func titled() *Figure {
	f := chain(6)
	for i := 2; i < 6; i++ {
		f.Nodes[i].Module = "a_module_with_a_long_title/a_module_with_a_long_title/a_module_with_a_long_title"
	}
	return f
}
