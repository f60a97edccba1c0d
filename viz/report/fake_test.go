package report

import (
	"fmt"
	"html/template"
	"math"
)

// fake is a page with something in every section, such as the program makes it.
func fake() Page { return fakeOf(3, 24, "soft k-means", "goofy alternative") }

func fakeOf(seeds, steps int, variants ...string) Page {
	const k, rows = 3, 30
	p := Page{
		Data: Data{Name: "iris", Rows: rows, Features: []string{"sepal length", "sepal width", "petal length", "petal width"},
			Classes: []string{"setosa", "versicolor", "virginica"}},
		Setup: Setup{K: k, Steps: steps, Optimiser: "Adam, rate 0.05", Start: "k-means++", Schedule: "annealed from 0.33 to 66", Test: "A run has converged if nothing moves."},
		Drawing: Drawing{SVG: "<?xml version=\"1.0\"?>\n" + `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 80" width="200" height="80" role="group">` +
			`<title id="drawing-title">Two graphs</title><style>.box{fill:url(#ground)}</style><defs><marker id="arrow"/></defs>` +
			`<g class="node" aria-label="\alpha"><rect width="80" height="30"/><text x="8" y="20">α = softmax(−γD)</text></g></svg>`,
			Footer: "+2 −3 nodes, 12 shared"},
		Difference: Difference{Words: "What remains is the spread of the centres.", LaTeX: `\sum_j\alpha_j\lVert x-r_j\rVert^2`,
			Identity: `Σ<sub>j</sub> α<sub>j</sub>‖x−r<sub>j</sub>‖² = ‖x−r̂‖² + Σ<sub>j</sub> α<sub>j</sub>‖r<sub>j</sub>−r̂‖²`},
		Plane: Plane{Share: [2]float64{.925, .053}},
		Made:  Made{Command: "tapestry compare --data iris --k 3", Version: "v0.1.0", Machine: "one core"},
	}
	for i := range steps + 1 {
		p.Setup.Gamma = append(p.Setup.Gamma, .33*math.Pow(200, float64(i)/float64(steps)))
	}
	for i := range rows {
		turn := 2.4 * float64(i)
		p.Plane.Class = append(p.Plane.Class, i%3)
		p.Plane.Points = append(p.Plane.Points, [2]float64{2.5*float64(i%3-1) + .4*math.Cos(turn), .3 * math.Sin(turn)})
	}
	for v, name := range variants {
		m := fakeMethod(name, 79+.6*float64(v), seeds, steps)
		m.Formula = `<math display="block"><mi>ℓ</mi><mo>=</mo><mi>L</mi></math>`
		m.Chain = []Equation{{`∂ℓ/∂α<sub>ij</sub> = D<sub>ij</sub>`, "linear in α"}, {`∂ℓ/∂r<sub>j</sub>`, ""}}
		m.LaTeX = `\ell = \sum_j \alpha_j D_j`
		m.Cost = Cost{Nodes: 66 + 7*v, Instructions: 36 + 4*v, FLOPs: int64(18784 + 11000*v), Peak: 15872, Seconds: 17e-6 + 5e-6*float64(v)}
		p.Variants = append(p.Variants, m)
	}
	p.Baselines = []Method{fakeMethod("Lloyd's algorithm", 78.851, 5, 0), fakeMethod("hard SGD", 78.9, seeds, 0)}
	all := len(variants) + len(p.Baselines)
	for i := range all {
		p.Between = append(p.Between, nil)
		for j := range all {
			p.Between[i] = append(p.Between[i], 1-.1*math.Abs(float64(i-j)))
		}
	}
	for _, s := range []Sweep{{Name: "γ", Log: true, Values: []float64{.1, 1, 10}}, {Name: "k", Values: []float64{2, 3, 4}}} {
		for v := range variants {
			s.Inertia = append(s.Inertia, []float64{150 + float64(v), 79.5, 60 - float64(v)})
			s.Loss = append(s.Loss, []float64{1, .5, .4})
			s.ARI = append(s.ARI, []float64{.5, .73, math.NaN()})
		}
		p.Sweeps = append(p.Sweeps, s)
	}
	for v := range variants {
		γ := &p.Sweeps[0]
		γ.Spread, γ.Entropy = append(γ.Spread, []float64{2, .1, .01 + float64(v)}), append(γ.Entropy, []float64{1, .5, .1})
		γ.Reach, γ.Minima, γ.Starts = append(γ.Reach, []float64{.5 + 2*float64(v), 1, 1}), append(γ.Minima, []float64{1, 1, 2 + float64(v)}), 5
	}
	if len(variants) == 2 {
		p.fakeGeometry(steps)
	}
	return p
}

// fakeGeometry adds what is known of gradients. Those of the first variant are 3 and 4 together,
// and at the end of each way its own vanish.
func (p *Page) fakeGeometry(steps int) {
	p.Gradients = []Gradients{{Whole: 0, Other: 1, Term: "spread", Known: true, Identity: `<math><mi>∂s</mi><mo>=</mo><mi>∂g</mi><mo>+</mo><mi>∂d</mi></math>`,
		Lines: []Equation{{Math: `∂s/∂r`}, {Math: `∂g/∂r`}}, LaTeX: `\partial s`, Deviation: 3e-16}}
	for of := range 2 {
		w := Way{Of: of, Seed: 1}
		for i, step := range []int{0, steps} {
			s := Stop{Step: step, Gamma: 1 + float64(i), Lengths: [3]float64{5, 4, 3}, Angle: 36.87, At: [][2]float64{{-2, 0}, {0, 0}, {2, 0}}}
			if i == 1 {
				s.Lengths[of], s.Angle = 1e-9, math.NaN()
			}
			for j := range 3 {
				x := .5 - .5*float64(j)
				s.Down[1], s.Down[2], s.Down[0] = append(s.Down[1], Movement{x, 0}), append(s.Down[2], Movement{0, .5}), append(s.Down[0], Movement{x, .5})
			}
			w.Stops = append(w.Stops, s)
		}
		p.Gradients[0].Ways = append(p.Gradients[0].Ways, w)
		p.Weights = append(p.Weights, Weights{Variant: of, Node: "α", Held: `−Σ Δα`, Through: `Σ γΔα(D−E[D])`, LaTeX: `\alpha`, Words: "It pushes.", Seed: 1,
			Step: []int{0, steps / 2, steps}, Gamma: []float64{1, 2, 3}, Lengths: [][2]float64{{3, 1}, {1, 1}, {1, 3}}})
		points := []Point{
			{Loss: .5, Gradient: 1e-12, Least: .5, Most: 2, Kind: "minimum", Starts: 3, Inertia: 79, Spread: .001 * float64(1+of), Onward: .01 + float64(of), Distinct: 3, At: [][2]float64{{-2, 0}, {0, 0}, {2, 0}}},
			{Loss: 1, Gradient: 1e-12, Least: -2, Most: 2, Kind: "saddle", Inertia: 150, Spread: 1e-20, Onward: 1e-12, Distinct: 2, At: [][2]float64{{-2, 0}, {1, 0}, {1, 0}}},
		}
		for i := range 14 * of {
			q := points[0]
			q.Loss, q.Starts, q.Spread = .6+.01*float64(i), 1, .01
			points = append(points, q)
		}
		p.Stationary = append(p.Stationary, Stationary{Variant: of, Gamma: 3, Starts: 20, Moving: 1, Points: points})
	}
}

// fakeMethod falls to an inertia, which only its first two runs reach.
func fakeMethod(name string, level float64, seeds, steps int) Method {
	m := Method{Name: name, Counts: [][]int{{10, 0, 0}, {0, 9, 1}, {0, 3, 7}}, Optima: []Optimum{{level, min(seeds, 2)}}}
	for i := 2; i < seeds; i++ {
		m.Optima = append(m.Optima, Optimum{level + 5*float64(i-1), 1})
	}
	for seed := range seeds {
		r := Run{Seed: uint64(seed), ARI: .73 - .01*float64(seed)}
		end := level + 5*math.Max(0, float64(seed-1))
		for i := range steps + 1 {
			left := math.Exp(-float64(i) / 6)
			r.Loss = append(r.Loss, .5+left)
			r.Inertia = append(r.Inertia, end+500*left)
			r.Spread = append(r.Spread, .01*level/79*left)
			r.Angle = append(r.Angle, 120*left)
			if i < steps {
				r.Movement = append(r.Movement, .3*left)
			}
		}
		r.Inertia[steps] = end
		r.Angle[steps] = math.NaN()
		m.Runs = append(m.Runs, r)
	}
	for j := range 3 {
		x := float64(j)
		m.Centres = append(m.Centres, []float64{5 + x, 3.4 - .3*x, 1.5 + 2*x, .2 + .01*level})
		m.Paths = append(m.Paths, [][2]float64{{2 * x, 1}, {2.5 * (x - 1), .1}})
	}
	return m
}

// spoilt is the page with every number of its curves not finite.
func spoilt() Page {
	p := fake()
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	spoil := func(v []float64) {
		for i := range v {
			v[i] = bad[i%len(bad)]
		}
	}
	for _, m := range p.methods() {
		for i := range m.Runs {
			r := &m.Runs[i]
			r.ARI = bad[i%len(bad)]
			for _, v := range [][]float64{r.Loss, r.Inertia, r.Spread, r.Movement, r.Angle} {
				spoil(v)
			}
		}
		for j := range m.Centres {
			spoil(m.Centres[j])
			for i := range m.Paths[j] {
				m.Paths[j][i] = [2]float64{bad[0], bad[1]}
			}
		}
	}
	for i := range p.Variants {
		p.Variants[i].Cost.Seconds = bad[i%len(bad)]
	}
	for _, s := range p.Sweeps {
		spoil(s.Values)
		for v := range p.Variants {
			for _, all := range [][][]float64{s.Inertia, s.Loss, s.Spread, s.Entropy, s.Reach, s.Minima} {
				if all != nil {
					spoil(all[v])
				}
			}
		}
	}
	for _, w := range p.Gradients[0].Ways {
		for i := range w.Stops {
			s := &w.Stops[i]
			spoil(s.Lengths[:])
			s.Gamma, s.Angle = bad[0], bad[1]
			for j := range s.At {
				s.At[j], s.Down[0][j] = [2]float64{bad[1], bad[2]}, Movement{bad[0], bad[1]}
			}
		}
	}
	p.Gradients[0].Deviation = bad[0]
	for v := range p.Weights {
		spoil(p.Weights[v].Gamma)
		for i := range p.Weights[v].Lengths {
			spoil(p.Weights[v].Lengths[i][:])
		}
		of := &p.Stationary[v]
		of.Gamma = bad[0]
		for i := range of.Points {
			q := &of.Points[i]
			q.Loss, q.Gradient, q.Least, q.Most, q.Inertia, q.Spread, q.Onward = bad[0], bad[1], bad[2], bad[0], bad[1], bad[2], bad[0]
			q.At = [][2]float64{{bad[0], bad[1]}, {1, bad[2]}}
		}
	}
	for i := range p.Between {
		spoil(p.Between[i])
	}
	p.Plane.Share = [2]float64{bad[0], bad[1]}
	for i := range p.Plane.Points {
		p.Plane.Points[i] = [2]float64{bad[0], bad[2]}
	}
	spoil(p.Setup.Gamma)
	return p
}

// minimal is the least that can be reported on.
func minimal() Page {
	return Page{Variants: []Method{{Name: "a", Runs: []Run{{Seed: 7, Inertia: []float64{3}, ARI: math.NaN()}}}}}
}

// hostile is a page with names that try to break out.
func hostile(name string) Page {
	p := fake()
	p.Data.Name = name
	for i := range p.Data.Features {
		p.Data.Features[i] = name
	}
	for i := range p.Data.Classes {
		p.Data.Classes[i] = name
	}
	for i := range p.Variants {
		p.Variants[i].Name = fmt.Sprint(name, i)
		p.Variants[i].LaTeX = name
		p.Variants[i].Chain = []Equation{{Math: template.HTML(template.HTMLEscapeString(label(name))), Why: name}}
	}
	p.Baselines[0].Name = name
	p.Sweeps[0].Name = name
	p.Gradients[0].Term, p.Gradients[0].LaTeX, p.Weights[0].Node, p.Weights[0].Words, p.Weights[0].LaTeX = name, name, name, name, name
	p.Stationary[0].Points[1].Kind = name
	p.Setup.Optimiser, p.Setup.Start, p.Setup.Schedule = name, name, name
	p.Drawing.Footer, p.Difference.Words, p.Difference.LaTeX = name, name, name
	p.Made = Made{name, name, name}
	return p
}

// besides is a page of models that are judged by their loss.
func besides() Page {
	p := Page{Setup: Setup{Steps: 24, Optimiser: "adam(0.01)"}, Task: "All were trained on the same task.",
		Pairs: []Pair{{A: 0, B: 1, Mean: -.25, Error: .01, Beyond: true}, {A: 0, B: 2, Mean: .5, Error: .4}, {A: 1, B: 2, Mean: .75, Error: math.NaN()}}}
	for v, name := range []string{"one layer", "two layers", "three layers"} {
		m := fakeMethod(name, 0, 3, 24)
		m.Centres, m.Paths, m.Counts = nil, nil, nil
		m.Cost = Cost{Nodes: 20, Instructions: 10, FLOPs: 100, Peak: 1024, Params: 60 + v, Seconds: 1e-6}
		for i := range m.Runs {
			m.Runs[i] = Run{Seed: uint64(i), Loss: m.Runs[i].Loss, ARI: math.NaN(), End: .5 - .25*float64(v) + .125*float64(i)}
		}
		p.Variants = append(p.Variants, m)
	}
	return p
}
