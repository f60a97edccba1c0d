package viz

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// stepSigns is the number of signs of a step from which named quantities share signs.
const stepSigns = 40

// pin is what a step of a loop reads, or a result of the step.
type pin struct {
	loop   *graph.Node
	number int
	result bool
}

// step returns the sketch of a step of a loop: what it reads at the left, its results at the
// right.
func (s *sketcher) step(n *graph.Node, id string) *figure.Sketch {
	b := trait.LoopBody(n)
	o := s.options
	v, err := newView(b.Out(), o)
	if err != nil {
		return nil // not for a body that was built without mistakes
	}
	in := &sketcher{view: v, batch: s.batch, single: s.single, prefix: id + "-", body: b, given: map[*graph.Node]bool{}, detail: s.detail}
	in.detail.depth, in.detail.apart, in.detail.names = 0, false, true
	for i, x := range b.In() {
		of := s.source(n.In(i), n)
		in.given[x] = len(of) == 1 && of[0].Role() == graph.RoleParam && len(s.users[of[0]]) == 1
	}
	in.prepare()
	out := in.sketch()
	if len(out.Signs) > stepSigns {
		in.detail.names = false
		out = in.sketch()
	}
	if s.pins == nil {
		s.pins = map[pin]string{}
	}
	for i, x := range b.In() {
		if g := in.member[x]; g != nil {
			s.pins[pin{n, i, false}] = g.id
		}
	}
	loop := n.Op().(trait.Looped).Loop()
	results := b.Out()
	for k, y := range results[:loop.Carries+loop.Outs] {
		if first := slices.Index(results, y); first < k && first >= 0 {
			s.pins[pin{n, k, true}] = s.pins[pin{n, first, true}]
			continue
		}
		p := figure.Sign{ID: in.prefix + "out" + strconv.Itoa(k), Form: figure.Bare, Role: figure.Op, Side: 1, Title: "result of a step: " + in.describe(y)}
		p.Lines = []string{in.resultName(y, k)}
		s.pins[pin{n, k, true}] = p.ID
		out.Signs = append(out.Signs, p)
		if g := in.member[y]; g != nil {
			out.Arrows = append(out.Arrows, figure.Arrow{From: g.id, To: p.ID, FromPin: in.outPin(y, g.last())})
		}
	}
	return out
}

// resultName returns what result k of a step is called.
func (s *sketcher) resultName(n *graph.Node, k int) string {
	if s.named(n) {
		return s.plain(n)
	}
	if k < len(s.body.In()) {
		if name := strings.TrimSuffix(s.body.In()[k].Label(), "₋₁"); name != s.body.In()[k].Label() {
			return name
		}
	}
	return "y"
}

// loopTitle says what a loop is.
func (s *sketcher) loopTitle(n *graph.Node) string {
	loop := n.Op().(trait.Looped).Loop()
	title := "one of " + plural.Count(loop.Steps, "step")
	if loop.Reverse {
		title += ", from the last to the first"
	}
	if path := s.path(n); path != "" {
		return path[strings.LastIndexByte(path, '/')+1:] + ": " + title
	}
	return title
}

// fold adds the arrows that lead what a step passes on back to the next step.
func (s *sketcher) fold(add func(figure.Arrow), g *group) {
	n := g.last()
	if trait.LoopBody(n) == nil || g.closed != "" {
		return
	}
	loop := n.Op().(trait.Looped).Loop()
	label := "t → t+1"
	if loop.Reverse {
		label = "t → t−1"
	}
	for k := range loop.Carries {
		from, to := s.pins[pin{n, k, true}], s.pins[pin{n, k, false}]
		if from == "" || to == "" {
			continue
		}
		add(figure.Arrow{From: g.id, To: g.id, FromPin: from, ToPin: to, Fold: true, Label: label, Title: plural.Count(loop.Steps, "step")})
		label = ""
	}
}

// outPin returns the sign of the result of a loop that an operand takes.
func (s *sketcher) outPin(operand, loop *graph.Node) string {
	for {
		if k, ok := s.part[operand]; ok {
			return s.pins[pin{loop, k, true}]
		}
		if operand.NumIn() != 1 || operand == loop {
			return ""
		}
		operand = operand.In(0)
	}
}

// loopPart returns the result of a loop that n is a slice of.
func loopPart(n *graph.Node) (k int, ok bool) {
	if !match.Is(n, match.Slice) || trait.LoopBody(n.In(0)) == nil {
		return 0, false
	}
	start, _, ok := match.Strided(n)
	if !ok || len(start) != 1 {
		return 0, false
	}
	b := trait.LoopBody(n.In(0))
	for k, p := range n.In(0).Op().(trait.Looped).Loop().Parts(b) {
		if p.At <= start[0] && start[0] < p.At+p.Rows*p.Size {
			return k, true
		}
	}
	return 0, false
}
