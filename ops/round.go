package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type floor struct{ floats1 }

// Floor returns the greatest whole number that is not above x, element by element, for floats x. The result is
// a float. No derivative flows through it.
func Floor(x *graph.Node) *graph.Node { return elementwise(floor{}, x) }

func (floor) Name() string       { return "Floor" }
func (floor) Kind() match.Kind   { return match.Floor }
func (floor) Doc() string        { return "greatest whole number below or equal, element by element" }
func (floor) Convention() string { return "the derivative is 0, also where it jumps, as in PyTorch" }

func (floor) Grad(y, dy *graph.Node, _ int) *graph.Node { return nil }

func (floor) Scalar(x ...float64) float64                      { return math.Floor(x[0]) }
func (floor) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.Floor} }
func (floor) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("floor", in[0]) }
func (floor) Cases() []Case                                    { return case1(Floor, Apart) }

type ceil struct{ floats1 }

// Ceil returns the least whole number that is not below x, element by element, for floats x. The result is
// a float. No derivative flows through it.
func Ceil(x *graph.Node) *graph.Node { return elementwise(ceil{}, x) }

func (ceil) Name() string       { return "Ceil" }
func (ceil) Kind() match.Kind   { return match.Ceil }
func (ceil) Doc() string        { return "least whole number above or equal, element by element" }
func (ceil) Convention() string { return "the derivative is 0, also where it jumps, as in PyTorch" }

func (ceil) Grad(y, dy *graph.Node, _ int) *graph.Node { return nil }

func (ceil) Scalar(x ...float64) float64                      { return math.Ceil(x[0]) }
func (ceil) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.Ceil} }
func (ceil) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("ceil", in[0]) }
func (ceil) Cases() []Case                                    { return case1(Ceil, Apart) }

type round struct{ floats1 }

// Round returns the nearest whole number, the even one of two that are as near, element by element, for floats x. The result is
// a float. No derivative flows through it.
func Round(x *graph.Node) *graph.Node { return elementwise(round{}, x) }

func (round) Name() string       { return "Round" }
func (round) Kind() match.Kind   { return match.Round }
func (round) Doc() string        { return "nearest whole number, halves to even, element by element" }
func (round) Convention() string { return "the derivative is 0, also where it jumps, as in PyTorch" }

func (round) Grad(y, dy *graph.Node, _ int) *graph.Node { return nil }

func (round) Scalar(x ...float64) float64                      { return math.RoundToEven(x[0]) }
func (round) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.RoundToEven} }
func (round) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("round", in[0]) }
func (round) Cases() []Case                                    { return case1(Round, Apart) }

type trunc struct{ floats1 }

// Trunc returns x without its fraction, element by element, for floats x. The result is
// a float. No derivative flows through it.
func Trunc(x *graph.Node) *graph.Node { return elementwise(trunc{}, x) }

func (trunc) Name() string       { return "Trunc" }
func (trunc) Kind() match.Kind   { return match.Trunc }
func (trunc) Doc() string        { return "number without its fraction, element by element" }
func (trunc) Convention() string { return "the derivative is 0, also where it jumps, as in PyTorch" }

func (trunc) Grad(y, dy *graph.Node, _ int) *graph.Node { return nil }

func (trunc) Scalar(x ...float64) float64                      { return math.Trunc(x[0]) }
func (trunc) Kernel(*graph.Node) kernel.Kernel                 { return kernel.Map{Of: math.Trunc} }
func (trunc) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("trunc", in[0]) }
func (trunc) Cases() []Case                                    { return case1(Trunc, Apart) }
