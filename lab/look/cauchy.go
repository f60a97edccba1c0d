package look

import (
	"context"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/lab"
)

// Ratio compares the elbows −b/w of fresh parameters with the Cauchy distribution, which the ratio
// of two independent normal numbers of mean 0 has: its scale is the ratio of their spreads.
type Ratio struct {
	At           []float64 // the elbows, ascending
	Scale        float64   // of the Cauchy distribution: deviation of b over that of w
	BMean, WMean float64
	BStd, WStd   float64
	// Distance is the largest difference of the two distribution functions (Kolmogorov and Smirnov),
	// and Chance what it exceeds in one of twenty samples of this size of the Cauchy distribution.
	Distance, Chance float64
}

// mostRatios is the number of elbows after which no further parameters are drawn.
const mostRatios = 4000

// Cauchy draws the model's parameters anew from seed after seed and gathers the elbows of the layer
// that [Run.Elbows] describes. It returns nil where there is none, and where b or w does not vary.
func (r *Run) Cauchy(ctx context.Context) (*Ratio, error) {
	if ok, err := r.measurable(); !ok {
		return nil, err
	}
	e := r.elbows()
	if e == nil {
		return nil, nil
	}
	l := r.line(e)
	defer l.close()
	var ws, bs []float64
	out := &Ratio{}
	for seed := r.seed; len(out.At) < mostRatios; seed++ {
		store, err := lab.NewStore(r.Model, seed)
		if err != nil {
			return nil, err
		}
		if l.vm == nil {
			if err := l.at(ctx, Moment{Store: store}); err != nil {
				return nil, err
			}
		}
		if err := l.vm.Store().Load(store); err != nil {
			return nil, err
		}
		w, b, _, ok, err := l.read(ctx, r.Feeds[0])
		if err != nil || !ok {
			return nil, err
		}
		for h := range w {
			out.At = append(out.At, -b[h]/w[h])
		}
		ws, bs = append(ws, w...), append(bs, b...)
	}
	out.WMean, out.WStd = moments(ws)
	out.BMean, out.BStd = moments(bs)
	if !(out.WStd > 0 && out.BStd > 0) {
		return nil, nil
	}
	out.Scale = out.BStd / out.WStd
	slices.Sort(out.At)
	n := float64(len(out.At))
	for i, x := range out.At {
		p := out.Distribution(x)
		out.Distance = max(out.Distance, p-float64(i)/n, float64(i+1)/n-p)
	}
	out.Chance = 1.358 / math.Sqrt(n)
	return out, nil
}

// Distribution returns the probability of the Cauchy distribution below x.
func (r *Ratio) Distribution(x float64) float64 { return .5 + math.Atan(x/r.Scale)/math.Pi }

// Density returns the density of the Cauchy distribution at x.
func (r *Ratio) Density(x float64) float64 {
	return 1 / (math.Pi * r.Scale * (1 + x*x/(r.Scale*r.Scale)))
}

// Within returns the share of the elbows that are at most so far from 0, and what the Cauchy
// distribution has there.
func (r *Ratio) Within(x float64) (measured, predicted float64) {
	n := 0
	for _, at := range r.At {
		if math.Abs(at) <= x {
			n++
		}
	}
	return float64(n) / float64(len(r.At)), 2*r.Distribution(x) - 1
}

func moments(v []float64) (mean, std float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		std += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(std)
}

// entropy returns the mean entropy of rows of weights, relative to that of equal weights.
func entropy(rows [][]float64) float64 {
	sum := 0.0
	for _, row := range rows {
		h := 0.0
		for _, p := range row {
			if p > 0 {
				h -= p * math.Log(p)
			}
		}
		if len(row) > 1 {
			h /= math.Log(float64(len(row)))
		}
		sum += h
	}
	return sum / float64(max(1, len(rows)))
}
