package page

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// termsView has the terms of the identity soft = goofy + spread for the centres of a clustering,
// whatever it is trained by, and how hard each pulls at them.
type termsView struct {
	Step   int      `json:"step"`
	Gamma  number   `json:"gamma"`
	Soft   termView `json:"soft"`
	Goofy  termView `json:"goofy"`
	Spread termView `json:"spread"`
	Angle  number   `json:"angle"` // in degrees, between the derivatives of soft and goofy by the centres
}

// termView is a term and the length of its derivative by the centres.
type termView struct {
	Value    number `json:"value"`
	Gradient number `json:"gradient"`
}

// terms answers with the terms of the identity at a state. A model that is no clustering with a
// temperature has none.
func (s *Service) terms(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	return d.termsAt(r.ctx, step)
}

func (d *document) termsAt(ctx context.Context, step int) (*termsView, error) {
	m := d.model
	if m.Gamma() == nil {
		return nil, failf(notFound, "%s has no such terms: they are of a clustering with a temperature γ", m.Builder.Name)
	}
	feed, store, err := d.session.at(ctx, step, m.Graph)
	if err != nil {
		return nil, err
	}
	if d.terms == nil {
		if d.terms, err = newIdentityTerms(ctx, d.model); err != nil {
			return nil, err
		}
	}
	t := d.terms
	centres, err := store.Get(m.Centres().Path())
	if err != nil {
		return nil, err
	}
	own := inspect.Feed(feed, t.γ.Graph())
	own[t.r] = centres
	if _, fed := own[t.γ]; !fed {
		usual, _ := m.Gamma().Default()
		own[t.γ] = tape.Scalar(t.γ.DType(), usual)
	}
	record, err := t.recorder.Take(ctx, own, tape.NewStore(t.γ.Graph()))
	if err != nil {
		return nil, err
	}
	wanted := t.wanted
	value := func(i int) number { return number(record.Value(wanted[i]).At(0)) }
	cos := float64(value(7)) / float64(value(2)*value(4))
	return &termsView{Step: step, Angle: number(math.Acos(min(1, max(-1, cos))) * 180 / math.Pi), Gamma: value(0), Soft: termView{value(1), value(2)}, Goofy: termView{value(3), value(4)}, Spread: termView{value(5), value(6)}}, nil
}

// identityTerms computes the terms of the identity at one state after another.
type identityTerms struct {
	r, γ     *graph.Node
	wanted   []*graph.Node // γ; each term and the length of its derivative; the product of the first two derivatives
	recorder *inspect.Recorder
}

func newIdentityTerms(ctx context.Context, m *builders.Model) (*identityTerms, error) {
	g := graph.New("terms")
	like := func(n *graph.Node) *graph.Node { return g.Input(n.Path(), n.DType(), n.Shape().Axes()...) }
	x, r, γ := like(m.Points()), like(m.Centres()), like(m.Gamma())
	soft, goofy := builders.SoftKMeans(x, r, γ), builders.GoofyKMeans(x, r, γ)
	t := &identityTerms{r: r, γ: γ, wanted: []*graph.Node{γ}}
	var slopes []*graph.Node
	for _, loss := range []*graph.Node{soft.Loss, goofy.Loss, builders.Spread(soft.Alpha, r)} {
		slope := grad.Of(loss, r)[0]
		slopes, t.wanted = append(slopes, slope), append(t.wanted, loss, ops.Sqrt(ops.Sum(ops.Square(slope))))
	}
	t.wanted = append(t.wanted, ops.Sum(ops.Mul(slopes[0], slopes[1])))
	var err error
	if t.recorder, err = inspect.NewRecorder(ctx, t.wanted...); err != nil {
		return nil, err
	}
	return t, nil
}
