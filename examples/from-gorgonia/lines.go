package main

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// linearRegression is gorgonia's example_linearregression_test.go, in float64.
func linearRegression(r *rand.Rand, _ bool) (program, error) {
	const vecSize = 10000
	xs, ys := make([]float64, vecSize), make([]float64, vecSize)
	for i := range xs {
		xs[i] = float64(i + 1)
		ys[i] = 2*xs[i] + r.Float64()
	}
	xT := tensor.New(tensor.WithBacking(xs), tensor.WithShape(vecSize))
	yT := tensor.New(tensor.WithBacking(ys), tensor.WithShape(vecSize))

	g := G.NewGraph()
	x := G.NewVector(g, G.Float64, G.WithShape(vecSize), G.WithName("x"), G.WithValue(xT))
	y := G.NewVector(g, G.Float64, G.WithShape(vecSize), G.WithName("y"), G.WithValue(yT))
	m := G.NewScalar(g, G.Float64, G.WithName("m"), G.WithValue(r.Float64()))
	c := G.NewScalar(g, G.Float64, G.WithName("c"), G.WithValue(r.Float64()))

	pred := G.Must(G.Add(G.Must(G.Mul(x, m)), c))
	se := G.Must(G.Square(G.Must(G.Sub(pred, y))))
	cost := G.Must(G.Mean(se))
	if _, err := G.Grad(cost, m, c); err != nil {
		return program{}, err
	}
	p := program{name: "linear-regression", within: 1e-9, steps: 500, g: g, loss: cost, learned: G.Nodes{m, c}}
	p.step, p.close = onTape(g, cost, G.NewVanillaSolver(G.WithLearnRate(0.001), G.WithClip(5)), p.learned)
	p.ours = func(m *gorgonia.Imported) graph.Step {
		return train.SGD(0.001, train.ClipValue(5)).Minimize(m.Node(cost), m.Nodes(p.learned...)...)
	}
	return p, nil
}

// iris is gorgonia's examples/iris: species as a linear function of measurements.
func iris(r *rand.Rand, _ bool) (program, error) {
	set, err := data.Iris().Set("x", "species", tensor.Float64)
	if err != nil {
		return program{}, err
	}
	rows := set.Rows()
	var xs, ys []float64
	for i, v := range set.Column("x").Float64s() {
		if xs = append(xs, v); i%4 == 3 {
			xs = append(xs, 1) // the bias
		}
	}
	for _, class := range set.Column("species").Int32s() {
		ys = append(ys, float64(class+1))
	}
	g := G.NewGraph()
	X := G.NodeFromAny(g, tensor.New(tensor.WithShape(rows, 5), tensor.WithBacking(xs)), G.WithName("x"))
	Y := G.NodeFromAny(g, tensor.New(tensor.WithShape(rows), tensor.WithBacking(ys)), G.WithName("y"))
	theta := G.NewVector(g, G.Float64, G.WithName("theta"), G.WithShape(5), G.WithValue(normal(r, G.Float64, 1, 5)))

	pred := G.Must(G.Mul(X, theta))
	squaredError := G.Must(G.Square(G.Must(G.Sub(pred, Y))))
	cost := G.Must(G.Mean(squaredError))
	if _, err := G.Grad(cost, theta); err != nil {
		return program{}, err
	}
	p := program{name: "iris", within: 1e-9, steps: 10000, g: g, loss: cost, learned: G.Nodes{theta}}
	p.step, p.close = onTape(g, cost, G.NewVanillaSolver(G.WithLearnRate(0.001)), p.learned)
	p.ours = func(m *gorgonia.Imported) graph.Step {
		return train.SGD(0.001).Minimize(m.Node(cost), m.Node(theta))
	}
	return p, nil
}

// logisticRegression is gorgonia's examples/logisticregression. It has no solver: the new values of
// its weights are nodes of the graph, made with gorgonia's derivatives, and the step here is these
// nodes, imported.
func logisticRegression(r *rand.Rand, quick bool) (program, error) {
	N, feats := 26733, 10
	if quick {
		N = 300
	}
	xT := normal(r, G.Float64, 1, N, feats)
	wT := normal(r, G.Float64, 1, feats)
	ys := make([]float64, N)
	for i := range ys {
		ys[i] = float64(r.IntN(2))
	}
	yT := tensor.New(tensor.WithBacking(ys), tensor.WithShape(N))

	g := G.NewGraph()
	x := G.NewMatrix(g, G.Float64, G.WithName("x"), G.WithShape(N, feats))
	y := G.NewVector(g, G.Float64, G.WithName("y"), G.WithShape(N))
	w := G.NewVector(g, G.Float64, G.WithName("w"), G.WithShape(feats))
	b := G.NewScalar(g, G.Float64, G.WithName("bias"))
	one := G.NewConstant(1.0)

	xwmb := G.Must(G.Add(G.Must(G.Mul(x, w)), b))
	prob := G.Must(G.Sigmoid(xwmb))
	G.WithName("prob")(prob)
	pred := G.Must(G.Gt(prob, G.NewConstant(0.5), false))
	G.WithName("pred")(pred)

	logProb := G.Must(G.Log(prob))
	fstTerm := G.Must(G.HadamardProd(G.Must(G.Neg(y)), logProb))
	oneMinusY := G.Must(G.Sub(one, y))
	logOneMinusProb := G.Must(G.Log(G.Must(G.Sub(one, prob))))
	sndTerm := G.Must(G.HadamardProd(oneMinusY, logOneMinusProb))
	crossEntropy := G.Must(G.Sub(fstTerm, sndTerm))
	G.WithName("crossEntropy")(crossEntropy)
	loss := G.Must(G.Mean(crossEntropy))
	G.WithName("loss")(loss)

	sumSq := G.Must(G.Sum(G.Must(G.Square(w))))
	l2reg := G.NewConstant(0.01, G.WithName("l2reg"))
	cost := G.Must(G.Add(loss, G.Must(G.Mul(l2reg, sumSq))))
	G.WithName("cost")(cost)

	grads, err := G.Grad(cost, w, b)
	if err != nil {
		return program{}, err
	}
	learnRate := G.NewConstant(0.1)
	wUpd := G.Must(G.Sub(w, G.Must(G.Mul(learnRate, grads[0]))))
	bUpd := G.Must(G.Sub(b, G.Must(G.Mul(learnRate, grads[1]))))

	var costVal G.Value
	prog, locMap, err := G.CompileFunction(g, G.Nodes{x, y}, G.Nodes{wUpd, bUpd, G.Read(cost, &costVal)})
	if err != nil {
		return program{}, err
	}
	machine := G.NewTapeMachine(g, G.WithPrecompiled(prog, locMap))
	for n, v := range map[*G.Node]any{w: wT, b: 0.0, x: xT, y: yT} {
		if err := machine.Let(n, v); err != nil {
			return program{}, err
		}
	}
	return program{
		name: "logistic-regression", within: 1e-9, steps: 500, drawn: true, g: g, loss: cost, learned: G.Nodes{w, b},
		step: func() (float64, error) {
			machine.Reset()
			if err := machine.Let(x, xT); err != nil {
				return 0, err
			}
			if err := machine.Let(y, yT); err != nil {
				return 0, err
			}
			if err := machine.RunAll(); err != nil {
				return 0, err
			}
			if err := machine.Set(w, wUpd); err != nil {
				return 0, err
			}
			if err := machine.Set(b, bUpd); err != nil {
				return 0, err
			}
			return number(costVal)
		},
		ours: func(m *gorgonia.Imported) graph.Step {
			return graph.Step{
				m.Graph.Assign(m.Node(w), m.Node(wUpd)),
				m.Graph.Assign(m.Node(b), m.Node(bUpd)),
			}
		},
		close: machine.Close,
	}, nil
}
